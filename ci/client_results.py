"""The results of gates, as ``ci/client-results.ndjson`` and ``ci/broker-gates.ndjson`` record them.

A file has a line for each client and setting, or for each broker. ``ci/clients.py`` writes that of the clients from the
events of their gates, ``ci/matrix.py`` that of the brokers from saved events. All pages of the matrix are written from
these two, without a gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from client_gates import ROOT, Gated

from kafka_conformance.gate.reports.markdown import diagnosis
from kafka_conformance.gate.reports.outline import Outline, ReportedFinding, RuleRow, findings, protocol_errors
from kafka_reference.releases import parse_release

__all__ = [
    "BROKERS",
    "RECORD",
    "Deviation",
    "GateResult",
    "RuleCount",
    "Unanswered",
    "broker_result",
    "merged",
    "read_results",
    "replaced",
    "result_of",
    "results_text",
]

RECORD = ROOT / "ci" / "client-results.ndjson"
BROKERS = ROOT / "ci" / "broker-gates.ndjson"


class RuleCount(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Answers to the questions of a rule, in all releases; ``asked`` excludes the unsupported ones.

    ``harmless`` of the answers agree but for what no user notices. ``release`` is the newest release that was asked.
    """

    rule: str
    asked: int
    agreed: int
    known: int = 0
    differed: int = 0
    failed: int = 0
    unsupported: int = 0
    judged: bool = True
    harmless: int = 0
    release: str = ""


class Deviation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Answers that differ from Java's in one way, and the first of them.

    ``reason``, ``expires`` and ``issue`` are those of a known failure. ``diagnosis`` is Markdown.
    """

    rule: str
    kind: str
    where: str
    times: int
    question: Any
    expected: Any
    actual: Any
    impact: str = ""
    effect: str = ""
    diagnosis: str = ""
    unexplained: bool = False
    reason: str = ""
    expires: str = ""
    issue: str = ""


class Unanswered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A protocol error: the rule, the releases, and what failed."""

    rule: str
    where: str
    what: str


class GateResult(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The gate of a client in one setting, or of a broker.

    ``case_set`` is the set of frozen cases that was asked, as the gate named it; brokers have none.
    ``name`` is the folder in ``ci/drivers``, or the broker's name; ``settings`` are the settings with the same arguments, or
    the release that the broker is compared with; ``unfinished`` is the exit code and the last line of a gate that did not
    finish.
    """

    name: str
    settings: tuple[str, ...]
    version: str
    rules: tuple[RuleCount, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    unfinished: tuple[int, str] | None = None
    case_set: str = ""

    def count(self, rule: str) -> RuleCount | None:
        """Return the answers to a rule, or None if it was not asked."""
        return next((one for one in self.rules if one.rule == rule), None)


def result_of(gated: Gated) -> GateResult:
    """Return what is recorded of a gate."""
    return _result(
        gated.name,
        gated.settings,
        gated.version,
        gated.seen,
        None if gated.finished else (gated.exit_code, gated.why),
    )


def broker_result(name: str, version: str, seen: Outline) -> GateResult:
    """Return what is recorded of the gate of a broker, whose events do not know its name."""
    unfinished = None if seen.ended else (2, "the events end before the gate did")
    return _result(name, seen.releases, version, seen, unfinished)


def _result(
    name: str, settings: Sequence[str], version: str, seen: Outline, unfinished: tuple[int, str] | None
) -> GateResult:
    rows = seen.rows
    return GateResult(
        name,
        tuple(settings),
        version,
        tuple(_counts(rows)),
        tuple(map(_deviation, findings(rows))),
        tuple(Unanswered(one.first.rule, one.where, one.first.what) for one in protocol_errors(rows)),
        unfinished,
        seen.began.case_set if seen.began else "",
    )


def merged(recorded: Sequence[GateResult], fresh: Sequence[GateResult], rules: Sequence[str]) -> list[GateResult]:
    """Return the recorded results with what ``fresh`` gates found of these rules in place of what was recorded of them.

    The result of a gate that did not finish stays as recorded, and so does that of another version of a client.
    """
    found = {(one.name, one.settings, one.version): one for one in fresh if not one.unfinished}
    return [_with_rules(one, found.get((one.name, one.settings, one.version)), rules) for one in recorded]


def replaced(recorded: Sequence[GateResult], fresh: Sequence[GateResult]) -> list[GateResult]:
    """Return the recorded results with ``fresh`` ones in place of those of the same client and setting, by name.

    A gate that did not finish changes nothing.
    """
    found = {(one.name, one.settings): one for one in recorded}
    found |= {(one.name, one.settings): one for one in fresh if not one.unfinished}
    return sorted(found.values(), key=lambda one: one.name)


def _with_rules(recorded: GateResult, fresh: GateResult | None, rules: Sequence[str]) -> GateResult:
    if fresh is None:
        return recorded
    kept, new = (
        {
            name: tuple(each for each in getattr(one, name) if (each.rule in rules) == inside)
            for name in ("rules", "deviations", "unanswered")
        }
        for one, inside in ((recorded, False), (fresh, True))
    )
    return msgspec.structs.replace(recorded, **{name: (*kept[name], *new[name]) for name in kept})


def results_text(results: Sequence[GateResult]) -> str:
    """Return the text of the record."""
    return msgspec.json.Encoder().encode_lines(results).decode()


def read_results(path: Path = RECORD) -> list[GateResult]:
    """Return the recorded results. Raises msgspec.MsgspecError if the file is damaged."""
    return msgspec.json.Decoder(GateResult).decode_lines(path.read_bytes())


def _counts(rows: Sequence[RuleRow]) -> Iterator[RuleCount]:
    for rule in dict.fromkeys(row.rule for row in rows):
        ends = [row.ended for row in rows if row.rule == rule and row.ended]
        names = ("asked", "agreed", "known", "differed", "failed", "unsupported")
        counts = {name: sum(getattr(end, name) for end in ends) for name in names}
        if counts["asked"] + counts["unsupported"]:
            judged = all(end.verdict != "not judged" for end in ends)
            harmless = sum(sum(end.harmless.values()) for end in ends)
            release = max((end.release for end in ends), key=parse_release)
            yield RuleCount(rule, **counts, judged=judged, harmless=harmless, release=release)


def _deviation(finding: ReportedFinding) -> Deviation:
    first, known = finding.first, finding.first.known
    return Deviation(
        *(first.rule, first.kind, finding.where, finding.times, first.question, first.expected, first.actual),
        impact=finding.impact,
        effect=first.effect,
        diagnosis="" if first.diagnosis is None else diagnosis(first.diagnosis),
        unexplained=finding.unexplained,
        reason="" if known is None else known.reason,
        expires="" if known is None else known.expires,
        issue="" if known is None else known.issue or "",
    )
