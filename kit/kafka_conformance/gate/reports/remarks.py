"""What a report says of a rule besides its counts and findings: what was not answered, and why; what was not counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_conformance.core.events import Everyday, RuleEnded
from kafka_conformance.gate.completeness import LEAST
from kafka_conformance.gate.diagnosis.keyed_candidates import KEYED
from kafka_conformance.gate.reports.outline import RuleRow
from kafka_conformance.gate.reports.release_ranges import Places
from kafka_conformance.reports.terminal import plural

__all__ = ["Remark", "remarks"]

_KINDS = 3


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a rule, the same in several releases; ``reason`` is the target's own text, not escaped."""

    rule: str
    where: str
    text: str
    reason: str = ""

    @property
    def line(self) -> str:
        """The whole remark in one line; not escaped."""
        return f"{self.rule} in {self.where}: {self.text}{': ' if self.reason else ''}{self.reason}"


def remarks(rows: Sequence[RuleRow]) -> list[Remark]:
    """The remarks on these rows: first what was not judged, then each reason for what is unsupported, then the rest."""
    places = Places(rows)
    notes: dict[tuple[str, str], list[str]] = {}
    reasons: dict[tuple[str, str], Counter[str]] = {}
    after: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.ended is None:
            continue
        for text in _shortages(row.ended):
            notes.setdefault((row.rule, text), []).append(row.release)
        for reason, times in row.ended.reasons.items():
            reasons.setdefault((row.rule, reason), Counter())[row.release] += times
        for text in _notes(row.ended):
            after.setdefault((row.rule, text), []).append(row.release)
    return [
        *(Remark(rule, places(rule, at), text) for (rule, text), at in notes.items()),
        *(
            Remark(rule, places(rule, at), f"unsupported, {plural(at.total(), 'question')}", reason)
            for (rule, reason), at in reasons.items()
        ),
        *(Remark(rule, places(rule, at), text) for (rule, text), at in after.items()),
    ]


def _everyday(ended: RuleEnded, everyday: Everyday) -> Iterator[str]:
    """Yield how many everyday questions agree and how many of the others, unless all do; and how many were not judged."""
    edge = f"edge cases: {' '.join(_share(ended.agreed - everyday.agreed, ended.asked - everyday.asked))}"
    share, counts = _share(everyday.agreed, everyday.asked)
    if ended.agreed != ended.asked:
        subject = (
            f"places {share} of everyday keys" if ended.rule == KEYED else f"answers {share} of everyday questions"
        )
        every = f"{subject} as Java does {counts}" if everyday.asked else "everyday questions: none was judged"
        yield f"{every}; {edge}"
    if everyday.unsupported:
        yield f"not judged, because the target does not support it: {plural(everyday.unsupported, 'everyday question')}"


def _share(agreed: int, asked: int) -> tuple[str, str]:
    """Return a share in percent, and its counts; 0 % and 100 % only where none or all agree."""
    if not asked:
        return "none", "was judged"
    percent = 100 if agreed == asked else min(99, max(1 if agreed else 0, round(100 * agreed / asked)))
    return f"{percent} %", f"({agreed:,} of {asked:,})"


def _shortages(ended: RuleEnded) -> Iterator[str]:
    if ended.verdict != "not judged":
        return
    kinds = [f"{one.answered:,} of {one.asked:,} of the kind '{one.kind}'" for one in ended.missing[:_KINDS]]
    more = len(ended.missing) - _KINDS
    kinds += [plural(more, "other kind")] if more > 0 else []
    yield f"not judged: too few answers, {', '.join(kinds)}; {LEAST:.0%} of each kind are needed"


def _notes(ended: RuleEnded) -> Iterator[str]:
    if ended.not_run:
        yield f"not run, because the target was lost: {plural(ended.not_run, 'question')}"
    if ended.halves:
        yield "; ".join(f"{half}: {verdict}" for half, verdict in ended.halves.items())
    if ended.left_out:
        parts = [
            one.kind if not one.answered else f"{one.kind} ({one.answered:,} of {one.asked:,} given)"
            for one in ended.left_out
        ]
        yield f"left out of the answers and not judged: {', '.join(parts)}"
    if ended.everyday is not None and ended.asked:
        yield from _everyday(ended, ended.everyday)
    for what, count in ended.harmless.items():
        yield f"differs, harmless, {plural(count, 'answer')}: {what}"
    for fields, count in ended.fields.items():
        yield f"fields {fields}, in {plural(count, 'answer')}; everything else in them is compared"
    if ended.unsigned:
        hashes = plural(ended.unsigned, "hash") if ended.unsigned == 1 else f"{ended.unsigned:,} hashes"
        yield f"{hashes} as 32 bits without a sign: another way to write the same hash, no difference"
    if (out := ended.out_of_domain) is not None:
        counts = (
            (out.differed, "differ"),
            (out.known, "known to differ"),
            (out.failed, "failed"),
            (out.unsupported, "unsupported"),
        )
        counted = ", ".join([plural(out.asked, "question"), *(f"{count:,} {what}" for count, what in counts if count)])
        yield f"out of domain, not counted: {counted}"
