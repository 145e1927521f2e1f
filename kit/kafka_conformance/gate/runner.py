"""The gate: asks a target, and judges its answers.

``partition-for-key`` is first: where a key goes is what matters most, and it can refute diagnoses of other rules. For each
rule in each release, in this order:

======= ===============================================================================================================
earlier failures that an earlier gate saved for this target, asked again
frozen  the cases that ship, with Java's own answers
fresh   everyday questions, and what Hypothesis generates from the seed, with the reference's answers
======= ===============================================================================================================

Differences are grouped by kind; the smallest of each kind is searched for through the target itself, saved, and emitted as
an event with what explains it. Differences that the known failures cover are counted apart. A question that a target left
unanswered because it broke the protocol is not judged: it is a protocol error, emitted with a hint.

Questions are in domain: a user of some client can bring them about (``Rule.domain``). With ``out_of_domain`` the others are
asked as well, after them; their findings are counted apart and never change the verdict.

A rule of which too few questions of a core kind are answered is not judged (``coverage``).

A rule is asked in the newest release that has it, unless releases are named: the verdict says nothing of older ones. With
eras, each distinct behaviour of a rule is asked, in one release (``rules.eras``).

A target that makes its own draws reports that in its hello (``grades``); ``grading`` defines how its answers are judged.

The exit code: 1 if anything differs that is not known, or an entry of the known failures is wrong; else 2 if something
could not be judged, nothing was asked, or a rule is not judged that the target or the user names, or that the target
answers in part; else 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kafka_conformance.answerers.target import TargetAnswerer
from kafka_conformance.cases.failures import FOLDER, FailureFolder
from kafka_conformance.cases.sets import current_label
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import (
    Began,
    Coverage,
    Differed,
    Ended,
    Event,
    Grade,
    OutOfDomain,
    ProtocolError,
    RuleBegan,
    RuleEnded,
    Verdict,
)
from kafka_conformance.core.pipeline import Judgement, Tally
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answer, Crashed, Question, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.core.version import kit_version
from kafka_conformance.gate.completeness import Answers, conforming_rules
from kafka_conformance.gate.diagnosis.keyed_candidates import KEYED, placed_keys
from kafka_conformance.gate.findings import Finder
from kafka_conformance.gate.grades import GradedComparison, judge_distributions
from kafka_conformance.gate.known_failures import KnownFailures, invalid_entries
from kafka_conformance.gate.protocol_errors import protocol_errors
from kafka_conformance.gate.questions import gate_sources, loaded_modules_ignored
from kafka_conformance.gate.selection import EVERYTHING, Selection
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import Era
from kafka_reference.releases import Release

__all__ = ["GatePlan", "GateResult", "gate", "newest_with"]

BATCH = 20_000
"""Questions that the target receives at once: a driver that ends at some of them is asked all others first."""


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What to ask: rules, each in its releases; the number of fresh questions; their seed; the folder of failures."""

    asked: Sequence[tuple[Rule, Release]]
    examples: int
    seed: int
    folder: Path = FOLDER
    named: bool = False
    """Whether the user named the rules: then one that the target does not have is asked too."""
    by: str = "target"
    """The target's name in a saved failure, with which ``replay`` opens it again."""
    out_of_domain: bool = False
    """Whether to ask also what no user can bring about."""
    selection: Selection = EVERYTHING
    """Which of the questions to ask."""
    unproven: Sequence[str] = ()
    """The releases among those asked that no proof covers."""
    known_flaky: bool = False
    """Whether answers that change when the target is asked again are known failures."""
    eras: Mapping[str, Sequence[Era]] = field(default_factory=dict)
    """The eras of each rule, if ``asked`` has their newest releases: then fewer questions are asked in older ones."""

    def era(self, rule: Rule, release: Release) -> tuple[str, ...]:
        """Return the releases that this one stands for; none without eras."""
        found = (era for era in self.eras.get(rule.slug, ()) if era.newest == release)
        return tuple(map(str, next(found).releases)) if self.eras else ()


@dataclass(slots=True)
class GateResult:
    """Every event, and the findings that no known failure covers."""

    events: list[Event] = field(default_factory=list)
    unknown: list[tuple[Differed, str]] = field(default_factory=list)
    """A finding, and the mutant that explains all of its kind, or an empty text."""
    warning: str = ""
    """Why failed questions could not be saved, or an empty text."""
    placed: list[tuple[Question, Answer]] = field(default_factory=list)
    """The target's answers to ``partition-for-key``, right and wrong ones."""

    @property
    def ended(self) -> Ended:
        """The verdict."""
        return next(event for event in reversed(self.events) if isinstance(event, Ended))


def newest_with(rule: Rule, releases: Sequence[Release]) -> Release:
    """Return the newest of these releases that has the rule; one of them must."""
    return max(release for release in releases if release in rule.releases)


def gate(target: TargetAnswerer, plan: GatePlan, known: KnownFailures, emit: Callable[[Event], None],
         progress: Steps) -> GateResult:  # fmt: skip
    """Ask everything, and emit each event as it happens. Raises KitError if a failure cannot be saved."""
    result, begun = GateResult(), time.monotonic()

    def record(event: Event) -> None:
        result.events.append(event)
        emit(event)

    asked = [each for each in plan.asked if plan.named or target.rules is None or each[0].slug in target.rules]
    asked = [each for each in asked if plan.selection.may_select(each[0])]
    asked.sort(key=lambda each: each[0].slug != KEYED)  # its answers can refute diagnoses of the other rules
    releases = tuple(map(str, sorted({release for _, release in asked})))
    rules = tuple(dict.fromkeys(rule.slug for rule, _ in asked))
    record(Began(kit_version(), target.description, releases, rules, plan.seed, plan.examples, tuple(plan.unproven),
                 str(plan.selection), current_label()))  # fmt: skip
    ended, failures = [], FailureFolder(plan.folder)
    for rule, release in asked:
        progress.doing(f"{rule.slug} in {release}")
        with loaded_modules_ignored():
            ended.append(_judge_rule(target, rule, release, plan, known, record, result, failures))
        progress.advance()
    result.warning = failures.warning
    last = target.finish()
    if last is not None:
        record(ProtocolError("", "", last.error, last.what, last.hint))
    known.partial |= bool(plan.selection)
    wrong = known.wrong()
    for stale in wrong:
        record(stale)
    claimed = plan.named or target.rules is not None
    record(_ended(ended, len(wrong), last is not None, claimed, time.monotonic() - begun))
    return result


def _judge_rule(target: TargetAnswerer, rule: Rule, release: Release, plan: GatePlan, known: KnownFailures,
                record: Callable[[Event], None], result: GateResult, failures: FailureFolder) -> RuleEnded:  # fmt: skip
    """Judge one rule in one release, from its first event to its last."""
    begun = time.monotonic()
    grade: Grade = target.grades.get(rule.slug, "exact")
    sources = gate_sources(rule, release, grade, plan.examples, plan.seed, plan.folder, plan.by,
                           selection=plan.selection, eras=plan.eras.get(rule.slug, ()))  # fmt: skip
    record(RuleBegan(rule.slug, str(release), grade, sum(len(s.questions) for s, _ in sources if s.name == "frozen"),
                     plan.era(rule, release)))  # fmt: skip
    distribution, too_few = None, None
    judgements: Iterable[Judgement] = _judgements(target, rule, release, grade, sources, known, plan)
    if grade == "statistical":
        distribution, judgements, too_few = judge_distributions(target, rule, release, plan.seed)
    answers = Answers(Tally(rule), own_draws=grade == "admissible")
    for judgement in judgements:
        answers.add(judgement)
    finder = Finder(
        target, plan.by, rule, release, grade, plan.examples, plan.seed, failures, known_flaky=plan.known_flaky
    )  # fmt: skip
    covered, counts = 0, answers.tally
    known_questions: list[Question] = []
    new_questions: list[Question] = []
    if rule.slug == KEYED and grade == "exact":
        result.placed = placed_keys([*answers.right, *((one.question, one.actual) for one in counts.differences)])
    for finding in finder.findings(counts.differences, answers.right, known, result.placed):
        if finding.event.known is None:
            result.unknown.append((finding.event, finding.explained))
            new_questions += finding.questions
        else:
            covered += finding.event.times
            known_questions += finding.questions
        record(finding.event)
    for event in protocol_errors(rule, release, counts.errors, plan.by, {"seed": plan.seed}, failures):
        record(event)
    outside = None
    if plan.out_of_domain and grade != "statistical":
        outside = _judge_outside(target, rule, release, plan, known, record, failures)
    missing = answers.missing if too_few is None else too_few
    ended = RuleEnded(
        rule.slug, str(release), grade, _verdict(counts, covered, missing), counts.total, counts.agreed,
        counts.differ - covered, covered, len(counts.errors), counts.unsupported, counts.asked["frozen"],
        counts.asked["fresh"], counts.asked["earlier"], round(time.monotonic() - begun, 3), finder.diagnoses, distribution,
        answers.reasons, missing, answers.unsigned, outside, answers.left_out, dict(answers.harmless), answers.fields_seen,
        answers.halves(new_questions, known_questions), answers.everyday if grade != "statistical" else None,
    )  # fmt: skip
    record(ended)
    return ended


def _judge_outside(target: TargetAnswerer, rule: Rule, release: Release, plan: GatePlan, known: KnownFailures,
                   record: Callable[[Event], None], failures: FailureFolder) -> OutOfDomain:  # fmt: skip
    """Ask what no user can bring about, after everything else; count it apart."""
    grade: Grade = target.grades.get(rule.slug, "exact")
    sources = gate_sources(
        rule, release, grade, plan.examples, plan.seed, plan.folder, plan.by, out_of_domain=True,
        selection=plan.selection, eras=plan.eras.get(rule.slug, ()),
    )  # fmt: skip
    answers = Answers(Tally(rule), own_draws=grade == "admissible")
    for judgement in _judgements(target, rule, release, grade, sources, known, plan):
        answers.add(judgement)
    finder = Finder(
        target, plan.by, rule, release, grade, plan.examples, plan.seed, failures, out_of_domain=True,
        known_flaky=plan.known_flaky,
    )  # fmt: skip
    covered, counts = 0, answers.tally
    for finding in finder.findings(counts.differences, answers.right, known):
        covered += finding.event.times if finding.event.known else 0
        record(finding.event)
    differed = counts.differ - covered
    return OutOfDomain(counts.total, counts.agreed, differed, covered, len(counts.errors), counts.unsupported)


def _judgements(target: TargetAnswerer, rule: Rule, release: Release, grade: Grade,
                sources: Sequence[tuple[Source, Answerer]], known: KnownFailures,
                plan: GatePlan) -> Iterable[Judgement]:  # fmt: skip
    for source, expected in sources:
        ids = (question_id(rule.slug, str(release), one) for one in source.questions)
        known.asked(rule.slug, str(release), ids, plan.era(rule, release))
        yield from GradedComparison(expected, target, release, grade=grade).judgements(rule, source, BATCH)


def _verdict(counts: Tally, covered: int, missing: Sequence[Coverage]) -> Verdict:
    if counts.differ > covered:
        return "differs"
    if counts.errors:
        return "crashed" if any(isinstance(error.verdict, Crashed) for error in counts.errors) else "errored"
    if not counts.total:
        return "unsupported"
    if missing:
        return "not judged"
    return "known" if covered else "agrees"


def _ended(ended: Sequence[RuleEnded], stale: int, broken: bool, claimed: bool, seconds: float) -> Ended:
    """Return the verdict. ``claimed``: the target or the user named the rules, so each of them has to be judged."""

    def total(what: Callable[[RuleEnded], int]) -> int:
        return sum(map(what, ended))

    differed, failed, asked = total(lambda e: e.differed), total(lambda e: e.failed), total(lambda e: e.asked)
    agreed, known = total(lambda e: e.agreed), total(lambda e: e.known)
    short = [e for e in ended if e.verdict == "not judged" or (claimed and e.verdict == "unsupported")]
    agree = {e.rule for e in ended} - {e.rule for e in ended if e.verdict != "agrees"}
    in_part = agree & {e.rule for e in ended if "not asked" in e.halves.values()}
    conform = agree - in_part
    had = {e.rule for e in ended if claimed or e.verdict != "unsupported"}
    share = conforming_rules(len(conform), len(had), len(RULES), len(in_part))
    if differed or stale:
        parts = [f"{differed:,} of {asked:,} answers are not Kafka's"] if differed else []
        parts += [invalid_entries(stale)] if stale else []
        code, why = 1, ", and ".join(parts)
    elif not asked:
        code, why = 2, "nothing was judged: the target answered no question of any rule"
    elif failed:
        code, why = 2, f"{failed:,} of {asked:,} questions could not be judged"
    elif broken:
        code, why = 2, "the target wrote more than its answers"
    elif short:
        code, why = 2, f"too few answers: {'; '.join(map(_shortage, short[:3]))}"
        why += f"; and {len(short) - 3} more" if len(short) > 3 else ""
    else:
        code, why = 0, f"{share}: {agreed:,} of {asked:,} answers match Kafka"
        why += f", {known:,} known failures" if known else ""
    if code and asked:
        why += f"; {share}"
    return Ended(
        code, why, asked, agreed, differed, known, failed, total(lambda e: e.unsupported), round(seconds, 3), len(conform),
        len(RULES), len(in_part), len(had),
    )  # fmt: skip


def _shortage(ended: RuleEnded) -> str:
    """Return a text that says what was not answered of a rule."""
    if not ended.missing:
        return f"the target does not answer {ended.rule}"
    kind = ended.missing[0]
    return f"{ended.rule} is not judged, of the kind '{kind.kind}' {kind.answered:,} of {kind.asked:,} are answered"
