"""Mistakes that ports of Kafka's client have made, each as a target of the gate, and the frozen case that finds it.

::

    python ci/historical_bugs.py           # writes the table into kit/docs/selftest.md
    python ci/historical_bugs.py --check   # exit code 1 if the table is not as it would be written

From the folder ``ci``, ``kafka-conformance gate python:historical_bugs:TARGETS.sign_by_abs`` gates one of them. A target
answers the rules in which its mistake shows, and no others. Nothing is random; a few seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from kafka_conformance.answerers.recorded_outcomes import RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.protocol import Answer, Answered, Differs, Question, answered
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.gate.grades import GradedComparison
from kafka_conformance.gate.runner import newest_with
from kafka_conformance.reports.page_block import block_of, read_page, write_block
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.mutations import on_clusters, only_led, renumbered
from kafka_conformance.rules.mutants import mutant_named
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_conformance.rules.producer_sequences.adapter import ask_sender
from kafka_jars.pins import load
from kafka_reference.idempotence.sender import Sender
from kafka_reference.idempotence.sequence_tracker import Partition
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.releases import Release, parse_release

__all__ = ["BUGS", "COMMAND", "PAGE", "TARGETS", "Bug", "first_case", "main", "release_of", "table"]

PAGE = Path(__file__).parents[1] / "kit" / "docs" / "selftest.md"
COMMAND = "python ci/historical_bugs.py"
_KEYED = "partition-for-key"


@dataclass(frozen=True)
class Bug:
    """A mistake: its name, what is done wrong, and how each rule in which it shows is then answered."""

    slug: str
    description: str
    asks: Mapping[str, Ask]

    @property
    def target(self) -> str:
        """The name under which the command ``gate`` opens it."""
        return f"python:historical_bugs:TARGETS.{self.slug.replace('-', '_')}"


class _Target:
    """A callable as ``gate`` takes it, which answers the rules of a bug."""

    def __init__(self, bug: Bug) -> None:
        self.name, self.rules, self._asks = bug.slug, sorted(bug.asks), bug.asks

    def __call__(self, rule: str, release: str, question: Mapping[str, Any]) -> Answer:
        asked = msgspec.convert(question, type=RULES[rule].question)
        answer: Answer = answered(self._asks[rule], asked, parse_release(release))
        return answer


def _mutants(*slugs: str) -> Mapping[str, Ask]:
    """Return how these mutants of the rules answer."""
    return {mutant.rule: mutant.ask for mutant in map(mutant_named, slugs)}


def _hash(slug: str) -> Mapping[str, Ask]:
    """Return how a mutant of ``murmur2`` answers, and where a client places keys by its hash."""
    ask = mutant_named(slug).ask

    def place(question: PartitionForKeyQuestion, release: Release) -> Answer:
        hashed = ask(RULES["murmur2"].question(question.key), release)["hash"]
        return {"partition": to_positive(hashed) % question.partitions}

    return {"murmur2": ask, _KEYED: place}


def _index_among_available(rule: str) -> Ask:
    """Return the reference's answers, with the index among the partitions that have a leader in place of the id."""
    return on_clusters(rule, lambda partitions: renumbered(only_led(partitions) or partitions))


class _RestartsOne(TransactionManager):
    """In another epoch, a partition that is idle at the time continues its sequences."""

    def _restart_idle(self, partition: Partition) -> None:
        partition.producer = self.current


_RESTARTS_ONE: Callable[[Any, Release], Answer] = partial(
    ask_sender, type("_Sender", (Sender,), {"manager_class": _RestartsOne})
)

BUGS = (
    Bug("sign-by-abs", "the sign of the hash is dropped by `abs`", _mutants("sign-abs")),
    Bug("sign-by-negation", "a negative hash is negated", _mutants("sign-negate")),
    Bug("sign-by-unsigned-shift", "the sign is dropped by `>>> 0`", _mutants("unsigned")),
    Bug("sign-by-wide-mask", "the sign is masked by `0xffffffff`, in a language with wide integers", _mutants("unsigned")),
    Bug("sign-by-int32-mask", "the sign is masked by `0xffffffff`, where that is an int32 and keeps it",
        _mutants("sign-kept")),
    Bug("signed-tail", "left-over bytes of 0x80 and more are negative", _hash("signed-tail")),
    Bug("seed-left-out", "the hash has no seed", _hash("seed-left-out")),
    Bug("big-endian-words", "words are read big-endian", _hash("big-endian")),
    Bug("length-in-characters", "the length is taken in characters, not bytes", _hash("length-in-characters")),
    Bug("float-arithmetic", "the partition is computed in doubles", _mutants("float-arithmetic")),
    Bug("float-multiplication", "the hash is computed in doubles",
        _mutants("murmur2-by-doubles", "kafkajs-legacy")),
    Bug("empty-key-as-null", "an empty key is taken as null",
        _mutants("empty-taken-for-null", "empty-key-is-none", "default-empty-key-is-none")),
    Bug("null-key-as-empty", "a null key is hashed as an empty one", _mutants("null-key-is-empty", "default-null-is-empty")),
    Bug("crc32", "CRC32 in place of murmur2", {**_hash("crc32"), **_mutants("librdkafka-consistent")}),
    Bug("fnv-1a", "FNV-1a in place of murmur2", {**_hash("fnv-1a"), **_mutants("sarama-hash")}),
    Bug("string-hash-code", "Java's `String.hashCode` in place of murmur2", _hash("string-hash-code")),
    Bug("arrays-hash-code", "Java's `Arrays.hashCode` in place of murmur2",
        {**_hash("arrays-hash-code"), **_mutants("scala-producer")}),
    Bug("murmur3", "murmur3 in place of murmur2", _hash("murmur3")),
    Bug("murmur2-64a", "murmur2-64A in place of murmur2", _hash("murmur2-64a")),
    Bug("modulo-of-available", "keys are placed over the available partitions only",
        _mutants("available-only", "default-available-only")),
    Bug("index-for-id", "an index among the available partitions is returned where an id is meant",
        {**_mutants("index-for-id"),
         **{rule: _index_among_available(rule) for rule in ("builtin-partitioner", "round-robin-partitioner")}}),
    Bug("sequence-wraps-to-negative", "the sequence after 2147483647 is negative", _mutants("increment-never-wraps")),
    Bug("sequence-wraps-early", "the sequence wraps one too early", _mutants("increment-wraps-early")),
    Bug("epoch-restarts-one", "in another epoch, only one partition restarts its sequences",
        {"producer-sequences": _RESTARTS_ONE}),
    Bug("epoch-restarts-all", "in another epoch, every partition restarts, where one has to", _mutants("all-begin-anew")),
)  # fmt: skip

TARGETS = SimpleNamespace(**{bug.slug.replace("-", "_"): _Target(bug) for bug in BUGS})


@cache
def release_of(slug: str) -> Release:
    """Return the release in which a gate asks this rule by default."""
    return newest_with(RULES[slug], [parse_release(version) for version in load().releases])


@cache
def _frozen_cases(slug: str) -> tuple[Mapping[Question, Case], Source]:
    """Return the cases of the release that a gate asks by question, and the questions in domain."""
    rule, found = RULES[slug], frozen(RULES[slug])
    cases = {case.typed_question(rule): case for case in (found.at(str(release_of(slug))) if found else ())}
    return cases, Source("frozen", tuple(question for question in cases if not rule.domain(question)))


def first_case(rule: Rule, ask: Ask) -> Case | None:
    """Return the first frozen case, of those that a gate asks by default, that ``ask`` answers incorrectly."""
    cases, asked = _frozen_cases(rule.slug)
    expected = RecordedAnswerer("kafka", {question: Answered(case.answer) for question, case in cases.items()})
    comparison = GradedComparison(expected, ReferenceAnswerer("target", ask), release_of(rule.slug))
    judged = comparison.judgements(rule, asked, len(cases))
    return next((cases[one.question] for one in judged if isinstance(one.verdict, Differs)), None)


def table() -> str:
    """Return the table of the page."""
    lines = ["| mistake | what is done wrong | rule | first frozen case that finds it |", "|---|---|---|---|"]
    for bug in BUGS:
        for number, (slug, ask) in enumerate(bug.asks.items()):
            case = first_case(RULES[slug], ask)
            name, description = ("", "") if number else (f"`{bug.slug}`", bug.description)
            lines.append(
                f"| {name} | {description} | [{slug}](rules/{slug}.md) | {f'`{case.id}`' if case else 'none'} |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the table into the page, or with ``--check`` compare it; return the exit code."""
    made = table()
    if "--check" not in arguments:
        write_block(PAGE, COMMAND, made)
        return 0
    if block_of(read_page(PAGE), COMMAND) == made.strip("\n"):
        return 0
    print(f"{PAGE} is not as it would be written: run {COMMAND}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
