"""Add to an audit of segment files what they show of producers, and which of their batches break a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from kafka_conformance.audit.attribution.candidates import registered
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.segments.idempotence import check_sequences
from kafka_conformance.audit.segments.producers import Judging, TaskEvidence, by_rule, known_rules, producers_of
from kafka_conformance.audit.segments.result import Problem, SegmentEvidence
from kafka_conformance.audit.segments.topic import Runner, SegmentTopic
from kafka_conformance.audit.topics import Span

__all__ = ["with_evidence"]

_PRODUCERS, _PROBLEMS = 1_000, 1_000


class Surveyed(Protocol):
    """A topic in segment files, and the offsets that were read of it."""

    topic: SegmentTopic
    spans: Mapping[int, Span]


def with_evidence(audit: Audit, source: Surveyed, run: Runner) -> Audit:
    """Return the audit with its field ``segments``. Raises KitError."""
    topic = source.topic
    tasks, rules = topic.tasks(source.spans), known_rules(audit)
    made = run(Judging(rules, topic.partitions, tuple(registered())), tasks, f"judging the producers of {topic.name}")
    found = [msgspec.json.decode(one, type=TaskEvidence) for one in made]
    pairs = list(zip(tasks, found, strict=True))
    producers = producers_of(((task.file.partition, one) for task, one in pairs), audit, rules)
    undecodable = [
        Problem("corrupt", True, task.file.partition, task.file.name, position, offset, what)
        for task, one in pairs for position, offset, what in one.bad
    ]  # fmt: skip
    problems = sorted([*_problems(topic), *undecodable], key=lambda one: (one.partition, one.file, one.position))
    notes = [*topic.notes(), *audit.notes]
    if undecodable:
        first = undecodable[0]
        notes.insert(0, f"the records of {len(undecodable):,} batches cannot be decoded, and are not judged; the first is "
                     f"in {first.file} at byte {first.position:,}: {first.what}")  # fmt: skip
    if gone := sum(one.gone for one in found):
        notes.insert(0, f"segments that were deleted before their producers were judged: {gone:,}")
    runs = [each for of in topic.surveys.values() for seen in of for each in seen.runs]
    evidence = SegmentEvidence(
        topic.files.folders, sum(map(len, topic.files.files.values())), topic.files.size, topic.partitions_known,
        tuple(producers[:_PRODUCERS]), len(producers), by_rule(producers), tuple(problems[:_PROBLEMS]), len(problems),
        sum(problem.certain for problem in problems), sum(each.batches for each in runs),
    )  # fmt: skip
    return msgspec.structs.replace(audit, segments=evidence, notes=tuple(notes))


def _problems(topic: SegmentTopic) -> list[Problem]:
    found: list[Problem] = []
    for number, files in topic.files.files.items():
        surveys = topic.surveys[number]
        found += check_sequences(files, surveys)
        for file, seen in zip(files, surveys, strict=True):
            found += [
                Problem("corrupt", True, number, file.name, each.position, each.expected, each.what)
                for each in seen.damaged
            ]
    return found
