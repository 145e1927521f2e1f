"""The gate: a target is asked what is known, and judged.

For each rule in each release, in this order:

======= ===============================================================================================================
earlier failures that an earlier gate saved for this target, asked again
frozen  the cases that ship, with Java's own answers
fresh   questions that Hypothesis makes from the seed; the reference says what is right
======= ===============================================================================================================

What differs is sorted into kinds; the smallest of each kind is looked for, through the target itself, saved, and told as an
event with what explains it. Differences that the known failures cover are counted apart. A target that breaks the
protocol is not judged by what it left unanswered: that is a *trouble*, told with what to mend.

Rules are asked about the newest release that has them, unless releases are named. A target that does not take the draws
it is given says so in its hello (``grades``), and is held to what ``grading`` says.

The verdict: 1 if anything differs that is not known, or an entry of the known failures is wrong; else 2 if something could
not be judged, or nothing was asked; else 0.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kafka_conformance.answerers.target import TargetAnswerer
from kafka_conformance.cases.failures import FOLDER
from kafka_conformance.core.events import (
    Began,
    Differed,
    Ended,
    Event,
    Grade,
    RuleBegan,
    RuleEnded,
    Source,
    Trouble,
    Verdict,
)
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import (
    Agrees,
    Answer,
    Crashed,
    Differs,
    Errored,
    Question,
    Unsupported,
    question_id,
)
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.gate.findings import Finder
from kafka_conformance.gate.grading import Judgement, judge_batch, judge_shares
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.questions import Asked, asked_of
from kafka_reference.releases import Release

__all__ = ["GatePlan", "Gated", "gate", "newest_with"]

BATCH = 500


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What is asked: rules, each in its releases; how many fresh questions; the seed; where failures are kept."""

    asked: Sequence[tuple[Rule, Release]]
    examples: int
    seed: int
    folder: Path = FOLDER
    named: bool = False
    """Whether the rules were named by the user: one that the target does not have is then no answer to the question."""
    by: str = "target"
    """How the target is named in a saved failure, so that ``replay`` can ask it again."""


@dataclass(slots=True)
class Gated:
    """What came out, for whoever goes on with it: every event, and what is not known of those that differ."""

    events: list[Event] = field(default_factory=list)
    unknown: list[tuple[Differed, str]] = field(default_factory=list)
    """A finding, and the mutant that explains all of its kind, or an empty text."""

    @property
    def ended(self) -> Ended:
        """The verdict."""
        return next(event for event in reversed(self.events) if isinstance(event, Ended))


@dataclass(slots=True)
class _Counts:
    """One rule in one release, as it is being asked."""

    agreed: int = 0
    differed: int = 0
    known: int = 0
    failed: int = 0
    unsupported: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    right: list[tuple[Question, Answer]] = field(default_factory=list)
    wrong: list[tuple[Source, Difference]] = field(default_factory=list)
    """Source and difference."""
    troubles: dict[tuple[str, str, str], int] = field(default_factory=dict)
    crashed: bool = False

    def add(self, source: Source, judgement: Judgement) -> None:
        """Count one verdict."""
        question, verdict = judgement.question, judgement.verdict
        self.sources[source] += not isinstance(verdict, Unsupported)
        match verdict:
            case Agrees():
                self.agreed += 1
                if judgement.expected is not None:
                    self.right.append((question, judgement.expected))
            case Differs(expected, actual):
                self.wrong.append((source, Difference(question, expected, actual)))
            case Unsupported():
                self.unsupported += 1
            case Errored(_, what):
                self.failed += 1
                self._trouble("failed", what, "answer the question, or say unsupported and why")
            case Crashed(_, lost):
                self.failed += 1
                self.crashed = True
                self._trouble(lost.trouble, lost.what, lost.mend)

    def _trouble(self, trouble: str, what: str, mend: str) -> None:
        self.troubles[trouble, what, mend] = self.troubles.get((trouble, what, mend), 0) + 1

    @property
    def asked(self) -> int:
        return self.agreed + self.differed + self.known + self.failed

    @property
    def verdict(self) -> Verdict:
        if self.differed:
            return "differs"
        if self.failed:
            return "crashed" if self.crashed else "errored"
        if not self.asked:
            return "unsupported"
        return "known" if self.known else "agrees"


def newest_with(rule: Rule, releases: Sequence[Release]) -> Release:
    """The newest of these releases that has the rule; each rule is in one of them at least."""
    return max(at for at in releases if at in rule.releases)


def gate(target: TargetAnswerer, plan: GatePlan, known: KnownFailures, tell: Callable[[Event], None],
         progress: Steps) -> Gated:  # fmt: skip
    """Ask everything, and tell what happens as it happens. Raises KitError if a failure cannot be saved."""
    gated, begun = Gated(), time.monotonic()

    def say(event: Event) -> None:
        gated.events.append(event)
        tell(event)

    asked = [(rule, at) for rule, at in plan.asked if plan.named or target.rules is None or rule.slug in target.rules]
    releases = tuple(map(str, sorted({at for _, at in asked})))
    rules = tuple(dict.fromkeys(rule.slug for rule, _ in asked))
    say(Began(kit_version(), target.said, releases, rules, plan.seed, plan.examples))
    ended = []
    for rule, at in asked:
        progress.doing(f"{rule.slug} in {at}")
        ended.append(_rule(target, rule, at, plan, known, say, gated))
        progress.advance()
    last = target.finish()
    if last is not None:
        say(Trouble("", "", last.trouble, last.what, last.mend))
    wrong = known.wrong()
    for stale in wrong:
        say(stale)
    say(_ended(ended, len(wrong), last is not None, plan, time.monotonic() - begun))
    return gated


def _rule(target: TargetAnswerer, rule: Rule, at: Release, plan: GatePlan, known: KnownFailures,
          say: Callable[[Event], None], gated: Gated) -> RuleEnded:  # fmt: skip
    """One rule in one release, from its first event to its last."""
    begun = time.monotonic()
    grade: Grade = target.grades.get(rule.slug, "exact")
    sources = asked_of(rule, at, grade, plan.examples, plan.seed, plan.folder, plan.by)
    frozen = sum(len(source.asked) for source in sources if source.name == "frozen")
    say(RuleBegan(rule.slug, str(at), grade, frozen))
    counts = _Counts()
    distribution = None
    if grade == "statistical":
        distribution, judgements = judge_shares(target, rule, at, plan.seed)
        for judgement in judgements:
            counts.add("fresh", judgement)
    else:
        _ask(target, rule, at, grade, sources, counts, known)
    finder = Finder(target, plan.by, rule, at, grade, plan.examples, plan.seed, plan.folder)
    for finding in finder.findings(counts.wrong, counts.right, known):
        if finding.event.known is None:
            counts.differed += finding.event.times
            gated.unknown.append((finding.event, finding.explained))
        else:
            counts.known += finding.event.times
        say(finding.event)
    for (trouble, what, mend), times in counts.troubles.items():
        say(Trouble(rule.slug, str(at), trouble, what, mend, times))
    ended = RuleEnded(
        rule.slug, str(at), grade, counts.verdict, counts.asked, counts.agreed, counts.differed, counts.known,
        counts.failed, counts.unsupported, counts.sources["frozen"], counts.sources["fresh"], counts.sources["earlier"],
        round(time.monotonic() - begun, 3), finder.diagnoses, distribution,
    )  # fmt: skip
    say(ended)
    return ended


def _ask(target: TargetAnswerer, rule: Rule, at: Release, grade: Grade, sources: Sequence[Asked], counts: _Counts,
         known: KnownFailures) -> None:  # fmt: skip
    for source in sources:
        known.asked(rule.slug, str(at), map(partial(question_id, rule.slug, str(at)), (one for one, _ in source.asked)))
        for start in range(0, len(source.asked), BATCH):
            batch = source.asked[start : start + BATCH]
            for judgement in judge_batch(target, rule, at, grade, batch):
                counts.add(source.name, judgement)


def _ended(ended: Sequence[RuleEnded], stale: int, broken: bool, plan: GatePlan, seconds: float) -> Ended:
    def total(what: Callable[[RuleEnded], int]) -> int:
        return sum(map(what, ended))

    differed, failed, asked = total(lambda e: e.differed), total(lambda e: e.failed), total(lambda e: e.asked)
    absent = [e.rule for e in ended if e.verdict == "unsupported"]
    if differed or stale:
        parts = [f"{differed:,} of {asked:,} answers are not Kafka's"] if differed else []
        parts += [f"{stale} of the known failures no longer true"] if stale else []
        code, why = 1, ", and ".join(parts)
    elif not asked:
        code, why = 2, "nothing was judged: the target answered no question of any rule"
    elif failed or broken:
        code, why = (
            2,
            f"{failed:,} of {asked:,} questions could not be judged" if failed else "it said more than answers",
        )
    elif plan.named and absent:
        code, why = 2, f"the target does not answer {', '.join(absent)}"
    else:
        code, why = 0, f"{asked:,} questions: {total(lambda e: e.agreed):,} answered as Kafka does"
        if known := total(lambda e: e.known):
            why += f", {known:,} otherwise, as is known"
    return Ended(
        code, why, asked, total(lambda e: e.agreed), differed, total(lambda e: e.known), failed,
        total(lambda e: e.unsupported), round(seconds, 3),
    )  # fmt: skip
