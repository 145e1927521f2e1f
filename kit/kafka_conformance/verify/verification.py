"""The proof: the reference against the real Java, rule by rule, release by release.

The questions of a rule are the same in every release, so a difference between two releases is the releases' own. Rules
with columns are also asked every key up to a length, in bulk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.names import REFERENCE
from kafka_conformance.answerers.reference import LabellingAnswerer, ReferenceAnswerer
from kafka_conformance.cases.failures import FOLDER, save_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import Comparison, Difference, Tally, group_by_kind, shrink_difference, tally
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Agrees, Answered, Differs, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, key_columns, sources
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.oracle.session import jvm_name
from kafka_conformance.rules.eras import newest_of_eras
from kafka_conformance.verify.columns import ColumnResult, compare_column, key_file
from kafka_conformance.verify.reference_digests import AgreedAnswers, OncePerBehaviour
from kafka_reference.releases import NEWEST, Release

__all__ = ["RuleResult", "VerificationPlan", "VerifiedDifference", "Verifier", "exit_code"]

# Kinds of difference that are shrunk and printed for one rule in one release; the others are counted.
_KINDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """All that decides which questions are asked.

    ``examples`` is the number of generated questions of a rule with share 1; keys up to ``longest_key`` bytes are asked
    exhaustively (-1: none). With ``eras``, a rule is asked in those releases only that stand for an era of it. Slugs and
    releases in ``proven`` are not asked again.
    """

    rules: Sequence[Rule]
    releases: Sequence[Release]
    examples: int
    seed: int
    longest_key: int
    eras: bool = False
    proven: frozenset[tuple[str, str]] = frozenset()

    def examples_of(self, rule: Rule) -> int:
        """Return how many questions the rule's strategy generates."""
        return rule.examples_of(self.examples)

    def generate(self, rule: Rule) -> list[Source]:
        """Return the sources of a rule's questions.

        In the newest release alone, they have no labels: :class:`Verifier` takes these from the run that answers.
        """
        unlabelled = replace(rule, labels=lambda _: iter(()))
        return sources(unlabelled if list(self.releases) == [NEWEST] else rule, self.examples_of(rule), self.seed)

    def tasks(self) -> list[tuple[Rule, Release]]:
        """Return each release with each rule to ask in it, in the order of the report."""
        found = [
            (rule, release)
            for release in self.releases
            for rule in self.rules
            if release in rule.releases and (rule.slug, str(release)) not in self.proven
        ]
        if not self.eras:
            return found
        standing = {rule.slug: newest_of_eras(rule) for rule in self.rules}
        return [(rule, release) for rule, release in found if release in standing[rule.slug]]


@dataclass(frozen=True, slots=True)
class VerifiedDifference:
    """One kind of difference: its smallest question, how many questions showed it, and the id it is saved under."""

    rule: Rule
    release: Release
    names: tuple[str, str]
    difference: Difference
    count: int
    id: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule in one release: the counts, the findings, and the sha256 of the jar that answered."""

    release: Release
    tally: Tally
    findings: tuple[VerifiedDifference, ...]
    jar_sha256: str
    pinned: bool

    @property
    def matches(self) -> bool:
        """Whether every answer was judged and matches, and every required kind of question was asked."""
        counts = self.tally
        return bool(counts.total) and not (counts.differences or counts.errors or counts.missing_labels)


def exit_code(results: Sequence[RuleResult]) -> int:
    """Return 1 for a difference, whatever else failed; 0 only where everything was judged; else 2."""
    if any(result.tally.differences for result in results):
        return 1
    return 0 if results and all(result.matches for result in results) else 2


class Verifier:
    """Compares ``actual`` with Java, one rule in one release at a time; one release is open at once.

    ``questions`` gives the sources of a rule (default: generated, and kept for the next release); differences are saved in
    ``folder``; ``answered`` receives the number of questions in each batch that is answered. With ``agreed``, the reference
    runs once for each distinct behaviour.
    """

    def __init__(self, oracle: Oracle, actual: Answerer, plan: VerificationPlan,
                 questions: Callable[[Rule], Sequence[Source]] | None = None, folder: Path = FOLDER,
                 answered: Callable[[int], None] = lambda _: None, agreed: AgreedAnswers | None = None) -> None:  # fmt: skip
        self._oracle, self._actual, self._plan, self._folder = oracle, actual, plan, folder
        self._questions, self._answered, self._agreed = questions or self._generate, answered, agreed
        self._generated: dict[str, Sequence[Source]] = {}
        self._open: Release | None = None
        if plan.longest_key >= 0 and any(rule.columns for rule in plan.rules):
            # Hypothesis learns constants from loaded code of a checkout: load all of it before any question is generated.
            import_module("kafka_reference.bulk")

    @property
    def jvm(self) -> str:
        """The JVM's version and how it was found."""
        return jvm_name(self._oracle)

    def results(self, tasks: Sequence[tuple[Rule, Release]], progress: Steps) -> Iterator[RuleResult]:
        """Verify each task. Raises KitError or JarError when Java cannot be asked."""
        for rule, release in tasks:
            progress.doing(f"{rule.slug} in {release}")
            yield self.verify(rule, release)
            progress.advance()
        self.close()

    def verify(self, rule: Rule, release: Release) -> RuleResult:
        """Verify a rule in a release. Raises KitError or JarError when Java cannot be asked."""
        if release != self._open:
            self.close()
            self._open = release
        questions = self._questions(rule)
        oracle, name = self._oracle, str(release)
        opened = oracle.open_broker(name) if rule.broker else oracle.open(name)
        jar_sha256 = opened.broker_sha256 if rule.broker else opened.jar_sha256
        comparison = Comparison(JavaAnswerer(oracle), self._actual, release)
        counts = self._tally(rule, comparison, questions)
        if rule.columns is not None and self._plan.longest_key >= 0 and self._actual.name == REFERENCE:
            self._compare_columns(rule, comparison, counts)  # a mutant has no bulk form
        findings = _findings(rule, comparison, counts, self._plan, jar_sha256, self._folder)
        return RuleResult(release, counts, findings, jar_sha256, opened.pinned)

    def close(self) -> None:
        """Unload the classes of the open release."""
        if self._open is not None:
            self._oracle.close_release(str(self._open))
            self._open = None

    def _generate(self, rule: Rule) -> Sequence[Source]:
        if rule.slug not in self._generated:
            self._generated[rule.slug] = self._plan.generate(rule)
        return self._generated[rule.slug]

    def _tally(self, rule: Rule, comparison: Comparison, questions: Sequence[Source]) -> Tally:
        """Count the judgements; label questions that have no labels yet, with their answers."""
        shared = self._agreed if self._actual.name == REFERENCE else None  # a mutant may read a release differently
        agreed = shared.read(rule, comparison.release) if shared else None
        counted = OncePerBehaviour(
            comparison.expected, self._actual, comparison.release, agreed=agreed, count=self._answered
        )
        if any(source.labels for source in questions) or not isinstance(self._actual, ReferenceAnswerer):
            counts = tally(rule, counted, questions)
        else:
            actual = LabellingAnswerer(self._actual)
            counts = tally(rule, replace(counted, actual=actual), questions)
            counts.labels += actual.labels
        if shared and agreed:
            shared.write(rule, comparison.release, agreed)
        return counts

    def _compare_columns(self, rule: Rule, comparison: Comparison, counts: Tally) -> None:
        """Compare the answers to every key of up to the planned length, in bulk."""
        assert rule.columns is not None  # noqa: S101  checked by the caller
        longest, opened = self._plan.longest_key, self._oracle.open(str(comparison.release))
        with key_file() as file:
            for argument in rule.columns.arguments:
                name = f"every key of up to {longest} bytes{f', {argument} partitions' if argument else ''}"
                for column in key_columns(longest):
                    result = compare_column(rule, rule.columns, opened, file, column, argument)
                    counts.asked[name] += result.asked
                    counts.agreed += result.asked - result.differing
                    self._answered(result.asked)
                    _add_column_differences(rule, comparison, result, counts)


def _add_column_differences(rule: Rule, comparison: Comparison, result: ColumnResult, counts: Tally) -> None:
    """Ask the first keys that differ again, as single questions; the first stands for those that are not asked again.

    If the scalar reference matches Java on a key, the bulk code alone is wrong, and the answer shows it.
    """
    times = result.differing - len(result.questions) + 1
    for question in result.questions:
        judgement = comparison.judge_one(rule, question)
        match judgement.verdict:
            case Differs(expected, actual):
                counts.differences.append(Difference(question, expected, actual, times))
            case Agrees():
                expected = judgement.expected.answer if isinstance(judgement.expected, Answered) else {}
                bulk = {"bulk": "differs, the scalar does not"}
                counts.differences.append(Difference(question, expected, bulk, times))
            case _:
                counts.errors.append(judgement)
        times = 1


def _findings(rule: Rule, comparison: Comparison, counts: Tally, plan: VerificationPlan, jar_sha256: str,
              folder: Path) -> tuple[VerifiedDifference, ...]:  # fmt: skip
    findings: dict[str, VerifiedDifference] = {}
    for differences in list(group_by_kind(rule, counts.differences).values())[:_KINDS_SHOWN]:
        finding = _saved_finding(rule, comparison, differences, plan, jar_sha256, folder)
        known = findings.get(finding.id)  # two kinds may shrink to one question
        findings[finding.id] = finding if known is None else replace(finding, count=finding.count + known.count)
    return tuple(findings.values())


def _saved_finding(rule: Rule, comparison: Comparison, differences: Sequence[Difference], plan: VerificationPlan,
                   jar_sha256: str, folder: Path) -> VerifiedDifference:  # fmt: skip
    """Save the first difference, shrink it, and save the smallest in its place."""
    release, examples = comparison.release, plan.examples_of(rule)
    sides = (comparison.expected.name, release), (comparison.actual.name, release)
    count = sum(difference.times for difference in differences)
    found = {"seed": plan.seed, "examples": examples, "jar_sha256": jar_sha256, "of_this_kind": count}
    first = save_failure(rule, differences[0], sides, found, folder)
    smallest = shrink_difference(rule, comparison, differences, examples, plan.seed)
    if save_failure(rule, smallest, sides, found, folder) != first:
        first.unlink(missing_ok=True)
    name = question_id(rule.slug, str(release), smallest.question)
    return VerifiedDifference(rule, release, comparison.names, smallest, count, name)
