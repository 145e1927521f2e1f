"""The proof: the reference against the real Java, rule by rule, release by release.

The questions are made once, from one seed, and put to every release: what a release answers differently is then the
release's doing, and generating costs nothing per release. Rules with columns are also asked about every key up to a
length, in bulk.

Java is on the left, since it is believed; the reference, or a mutant in its place, is on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cases.failures import save_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import Difference, Pair, Tally, compare, kind_of, shrunk
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Agrees, Answered, Differs, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, key_columns, sources
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.verify.columns import SweptColumn, key_file, sweep_column
from kafka_reference.releases import Release

__all__ = ["Found", "Judged", "Plan", "verify"]

# Kinds of difference that are shrunk and printed for one rule in one release; the rest are counted.
_KINDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What to verify: everything that decides which questions are asked."""

    rules: Sequence[Rule]
    releases: Sequence[Release]
    examples: int
    seed: int
    longest_key: int

    def examples_of(self, rule: Rule) -> int:
        """How many examples the rule's strategy is asked for."""
        return rule.examples_of(self.examples)


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of difference: how often, the smallest question, and the file it was saved in."""

    rule: Rule
    release: Release
    names: tuple[str, str]
    difference: Difference
    count: int
    saved_as: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One rule in one release: the counts, what was found, and the jar that answered."""

    release: Release
    tally: Tally
    found: tuple[Found, ...]
    jar_sha256: str
    pinned: bool


def verify(oracle: Oracle, judged_one: Answerer, plan: Plan, progress: Steps) -> list[Judged]:
    """Carry out the plan. Raises KitError or JarError when nothing can be said."""
    asked = {}
    for rule in plan.rules:
        progress.doing(f"making questions for {rule.slug}")
        asked[rule.slug] = sources(rule, plan.examples_of(rule), plan.seed)
    java = JavaAnswerer(oracle)
    results = []
    for at in plan.releases:
        for rule in plan.rules:
            progress.doing(f"{rule.slug} in {at}")
            if at in rule.releases:
                pair = Pair(java, judged_one, at, at)
                results.append(_judge(oracle, rule, pair, asked[rule.slug], plan))
            progress.advance()
        oracle.close_release(str(at))
    return results


def _judge(oracle: Oracle, rule: Rule, pair: Pair, asked: Sequence[Source], plan: Plan) -> Judged:
    opened = oracle.open_broker(str(pair.left_release)) if rule.broker else oracle.open(str(pair.left_release))
    jar_sha256 = opened.broker_sha256 if rule.broker else opened.jar_sha256
    tally = compare(rule, pair, asked, lambda _: None)
    if rule.columns is not None and plan.longest_key >= 0:
        _columns(oracle, rule, pair, plan, tally)
    return Judged(
        pair.left_release,
        tally,
        _findings(rule, pair, tally, plan, jar_sha256),
        jar_sha256,
        opened.pinned,
    )


def _columns(oracle: Oracle, rule: Rule, pair: Pair, plan: Plan, tally: Tally) -> None:
    """Every key of up to the length planned, in bulk. A mutant is not asked: it has no bulk form."""
    assert rule.columns is not None  # noqa: S101  the caller looked
    if pair.right.name != "reference":
        return
    opened = oracle.open(str(pair.left_release))
    with key_file() as file:
        for argument in rule.columns.arguments:
            over = f", {argument} partitions" if argument else ""
            name = f"every key of up to {plan.longest_key} bytes{over}"
            for column in key_columns(plan.longest_key):
                swept = sweep_column(rule, rule.columns, opened, file, column, argument)
                tally.asked[name] += swept.asked
                tally.agreed += swept.asked - swept.differing
                _ask_again(rule, pair, swept, tally)


def _ask_again(rule: Rule, pair: Pair, swept: SweptColumn, tally: Tally) -> None:
    """The first keys on which the columns differ, as single questions; the first of them stands for all that follow.

    If the scalar reference agrees with Java on a key after all, the bulk code alone is wrong, and the answer says so.
    """
    times = swept.differing - len(swept.questions) + 1
    for question in swept.questions:
        (verdict,) = pair.verdicts(rule, [question])
        match verdict:
            case Differs(expected, actual):
                tally.differences.append(Difference(question, expected, actual, times))
            case Agrees():
                (java,) = pair.left.answer(rule, pair.left_release, [question])
                expected = java.answer if isinstance(java, Answered) else {}
                bulk = {"bulk": "differs, the scalar does not"}
                tally.differences.append(Difference(question, expected, bulk, times))
            case broken:
                tally.errors.append((question, str(broken)))
        times = 1


def _findings(rule: Rule, pair: Pair, tally: Tally, plan: Plan, jar_sha256: str) -> tuple[Found, ...]:
    kinds: dict[str, list[Difference]] = {}
    for difference in tally.differences:
        kinds.setdefault(kind_of(rule, difference), []).append(difference)
    found: dict[str, Found] = {}
    for differences in list(kinds.values())[:_KINDS_SHOWN]:
        one = _kept(rule, pair, differences, plan, jar_sha256)
        known = found.get(one.saved_as)  # two kinds may shrink to one question
        found[one.saved_as] = one if known is None else replace(one, count=one.count + known.count)
    return tuple(found.values())


def _kept(rule: Rule, pair: Pair, differences: Sequence[Difference], plan: Plan, jar_sha256: str) -> Found:
    """Save the first, shrink it, save that instead."""
    said = (pair.left.name, pair.left_release), (pair.right.name, pair.right_release)
    count = sum(difference.times for difference in differences)
    how = {
        "seed": plan.seed,
        "examples": plan.examples_of(rule),
        "jar_sha256": jar_sha256,
        "of_this_kind": count,
    }
    first = save_failure(rule, differences[0], said, how)
    smallest = shrunk(rule, pair, differences, plan.examples_of(rule), plan.seed)
    path = save_failure(rule, smallest, said, how)
    if path != first:
        first.unlink(missing_ok=True)
    name = question_id(rule.slug, str(pair.right_release), smallest.question)
    return Found(rule, pair.left_release, pair.names, smallest, count, name)
