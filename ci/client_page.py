"""The page of the clients: a table that answers "are keyed records placed as Java places them?", then the details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from client_gates import Gated

from kafka_conformance.gate.reports.markdown import block, code, diagnosis, link, words
from kafka_conformance.gate.reports.outline import UNEXPLAINED, Finding, Row, as_json, findings, protocol_errors

__all__ = ["page"]

KEYED, SEQUENCES = "partition-for-key", "sequence-increment"
WITHOUT_KEY = ("round-robin-partitioner", "default-partitioner", "builtin-partitioner", "sticky-distribution")

_ABOUT = """\
# Clients compared with Java

Does a client place records with a key as Java does? "No" says how many of the keyed records that were asked go elsewhere.

- *Setting*: what to set for Java's placement of keyed records. *None* means that the client has no such setting.
- *Records without a key*: where they go without settings, as the client's source says. Since 2.4 Java keeps to one partition
  for a batch.
- *Sequences*: whether the sequence numbers of an idempotent producer go on as Java's do, also after 2,147,483,647.
"""

_DETAILS = """\
## Every setting and rule

Each client answers through its own code, called by a driver of fewer than 60 lines in `ci/drivers`. A cell shows answers
that match of questions asked, then known failures (`ci/known-failures` has the reason of each), then questions that the
client cannot express or rejects, which are unsupported and never count as agreement. Reports not yet sent to a project
are in `ci/findings`.

A division by zero is reported under Java's name, `ArithmeticException`. Any other exception that is not a documented
rejection has failed, and fails the gate.

node-rdkafka and `@confluentinc/kafka-javascript` are not gated: both are librdkafka, and their npm packages hold no binary
to install.

`tox -e clients` writes this page: it runs `python ci/clients.py`, and fails if anything differs that is not a known failure.
"""


def page(gated: Sequence[Gated]) -> str:
    """Return the page: the answer for each client, the matrix of settings and rules, then each client's deviations."""
    parts = [_ABOUT, _answers(gated), _DETAILS, _matrix(gated), *(part for one in gated for part in _deviations(one))]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _answers(gated: Sequence[Gated]) -> str:
    heads = (
        "client",
        "version",
        "keyed as Java by default?",
        "setting",
        "with it?",
        "records without a key",
        "sequences",
    )
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    clients = [[one for one in gated if one.name == name] for name in dict.fromkeys(one.name for one in gated)]
    return "\n".join([*lines, *(f"| {' | '.join(_answer(settings))} |" for settings in clients)])


def _answer(settings: Sequence[Gated]) -> list[str]:
    first = next((one for one in settings if "default" in one.settings), settings[0])
    row = [words(first.driver.client), words(first.version)]
    if not first.finished:
        return [*row, "could not be judged", "", "", "", ""]
    default, without = _verdict(first, KEYED), _without_key(first)
    if default == "yes":
        chosen = ["not needed", ""]
    else:
        best = next((one for one in settings if one is not first and _verdict(one, KEYED) == "yes"), None)
        best = best or next((one for one in settings if one is not first and "java" in one.settings), None)
        chosen = ["none", ""] if best is None else [code(_chosen_by(best)), _verdict(best, KEYED)]
    return [
        *row,
        default or "not asked",
        *chosen,
        without,
        _verdict(first, SEQUENCES) or words(first.driver.sequences or "not asked"),
    ]


def _chosen_by(one: Gated) -> str:
    return one.driver.settings[one.setting].chosen_by or one.setting


def _without_key(one: Gated) -> str:
    judged = [f"{rule}: {_verdict(one, rule)}" for rule in WITHOUT_KEY if _verdict(one, rule)]
    return "; ".join(filter(None, [words(one.driver.settings[one.setting].without_key), *judged])) or "not asked"


def _verdict(one: Gated, rule: str) -> str:
    """``yes``, ``no`` with how many answers differ, or ``not judged``; nothing if the rule was not asked."""
    ends = [row.ended for row in one.seen.rows if row.rule == rule and row.ended and row.ended.asked]
    asked, agreed = sum(end.asked for end in ends), sum(end.agreed for end in ends)
    if asked != agreed:
        return f"no: {asked - agreed:,} of {asked:,}"
    return "not judged" if any(end.verdict == "not judged" for end in ends) else "yes" if ends else ""


def _matrix(gated: Sequence[Gated]) -> str:
    rules = list(dict.fromkeys(row.rule for one in gated for row in one.seen.rows if row.ended))
    lines = [f"| client | version | setting | {' | '.join(rules)} |", "|---|---|---|" + "---|" * len(rules)]
    for one in gated:
        asked = {rule: [row for row in one.seen.rows if row.rule == rule and row.ended] for rule in rules}
        cells = [_cell(rows) if one.finished else "could not be judged" for rows in asked.values()]
        lines.append(f"| {words(one.driver.client)} | {words(one.version)} | {_settings(one)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _settings(one: Gated) -> str:
    return words(", ".join(one.settings))


def _cell(rows: Sequence[Row]) -> str:
    ends = [row.ended for row in rows if row.ended]
    if not sum(end.asked + end.unsupported for end in ends):
        return "–"
    asked, agreed = sum(end.asked for end in ends), sum(end.agreed for end in ends)
    others = {name: sum(getattr(end, name) for end in ends) for name in ("known", "differed", "failed", "unsupported")}
    counts = [f"{agreed:,} of {asked:,}", *(f"{count:,} {name}" for name, count in others.items() if count)]
    return "; ".join([*counts, *dict.fromkeys(end.verdict for end in ends if end.verdict == "not judged")])


def _deviations(one: Gated) -> Iterator[str]:
    found, broken = findings(one.seen.rows), protocol_errors(one.seen.rows)
    if not found and not broken and one.finished:
        return
    yield f"## {words(one.driver.client)} {words(one.version)}, {_settings(one)}"
    if not one.finished:
        yield f"The gate ended with exit code {one.exit_code} before it finished: {code(one.why)}"
    yield from map(_deviation, found)
    for error in broken:
        yield f"{words(error.first.rule)} in {words(error.where)}: {code(error.first.what)}"


def _deviation(finding: Finding) -> str:
    first, known = finding.first, finding.first.known
    impact = f"{finding.impact.capitalize()}. " if finding.impact else ""
    lines = [
        f"{impact}{words(first.rule)}: {code(first.kind, 200)}, {finding.times:,} times, in {words(finding.where)}"
    ]
    if known is not None:
        issue = "" if not known.issue else f" ({_issue(known.issue)})"
        lines[0] += f". Known until {words(known.expires)}: {words(known.reason)}{issue}"
    if first.effect:
        lines.append(f"\nWhat this means for users: {words(first.effect)}")
    if first.diagnosis is not None:
        lines.append(f"\n{diagnosis(first.diagnosis)}")
    elif finding.unexplained:
        lines.append(f"\nDiagnosis: {UNEXPLAINED}.")
    sides = [("question", first.question), ("Java    ", first.expected), ("client  ", first.actual)]
    return "\n".join([*lines, "", block([f"{name}  {as_json(value)}" for name, value in sides])])


def _issue(issue: str) -> str:
    return f"[{words(Path(issue).name)}](../../{issue})" if issue.startswith("ci/") else link(issue)
