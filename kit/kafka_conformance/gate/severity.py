"""What a finding means for users: its severity, and a sentence.

======== ==============================================================================================================
severity meaning
======== ==============================================================================================================
critical records with a key go to other partitions than those of Java's producer
high     records are refused, lost, duplicated or reordered, or go to another partition than the record names; no member
         of a group reads a partition, or two members read it
medium   records without a key are spread differently, batches have other sizes or times, members of a group get other
         partitions; only an optional part of the answer differs, such as the state of a producer; a damaged batch is
         taken for a valid one
low      only the error, or the behaviour after an invalid argument, differs; fields of the answer are missing or$
         expected; a damaged batch is read differently before the error
======== ==============================================================================================================

The table is also in ``kit/docs/gate.md``. Findings are listed by severity, then by the number of different keys, then by the
number of questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from kafka_conformance.core.events import Differed, Severity
from kafka_conformance.core.pipeline import Difference, first_difference, size_of
from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.rule import Area, Rule
from kafka_conformance.gate.answer_parts import differing_optional_parts, field_kind
from kafka_conformance.gate.diagnosis.diagnosis import key_of

__all__ = ["RANKS", "Harm", "harm_of", "rank"]

_THROWN = b'"raises":'
RANKS = {severity: number for number, severity in enumerate(get_args(Severity))}

_MISPLACED = (
    "Records with these keys go to other partitions than those of Java producers: "
    "joins, compaction and order by key break."
)
_DRAWN = "Records with one key go to different partitions from one send to the next: order and compaction by key break."
_NAMED = "Records that name a partition go to another one, or are refused."
_SPREAD = "Records without a key are spread over other partitions than by Java producers: load and batch sizes change."
_REFUSED = "The client refuses records, or calls, that Java accepts."
_ERROR = "Only the error is another; no record is affected."
_NO_ERROR = "The client goes on where Java reports an invalid argument or state; no valid record is affected."
_UNMET = "No user of any client can bring this about."
_BY_RULE = {
    "sequence-increment": "Sequence numbers go wrong after the last one, 2147483647: the broker refuses later batches.",
    "sequence-decrement": "Sequence numbers go wrong before the first one: a batch sent again has another sequence.",
    "producer-sequences": "Batches can be lost, duplicated or reordered after a retry or an error.",
    "producer-send": "Records can be lost, duplicated, reordered or held back differently from Java's producer.",
    "idempotence-config": "A producer is idempotent where Java's is not, or the reverse: retries can duplicate records.",
    "broker-producer-state": "A broker appends duplicates, or refuses batches that Java's broker appends.",
    "delivery": "Records can be lost, duplicated or reordered where Java's are not.",
    "consumer-fetch": "A consumer skips records, returns some that Java's does not, or fetches the same batch for ever.",
    "record-batch": "Java reads other records than those that were written, or records of Java are decoded incorrectly.",
    "offset-index": "A broker finds another position in a segment: a fetch returns other records, or fails.",
    "time-index": "A broker finds another offset for a time: a search by time starts at other records.",
    "log-segment": "A broker finds, rolls, truncates or recovers a segment differently: records are lost or not found.",
}
_REFUSED_GROUP = "The leader fails where Java's assigns: no member of the group gets partitions."
_UNREAD = "No member reads a partition, two members read it, or one that does not subscribe to its topic."
_SHARES = (
    "Members get other partitions than from a Java leader: shares differ, and partitions move when the leader changes."
)
_FIELDS = (
    "Only fields of the answer are missing or unexpected ({fields}): correct the driver. Everything else in it matches."
)
_DAMAGED = "A damaged batch is read otherwise before the error that both report; no valid record is affected."
_TAKEN = "A damaged batch is taken for a valid one: what a disk or a network broke is read as records."
_DELIVERED = "Of a response with a damaged batch, other records are returned before the error than by Java."
_BESIDE = (
    "What is sent, thrown and read as records is Kafka's; only an optional part of the answer is another: {parts}."
)
_BATCHES = "Batches have other sizes, or other times: throughput, latency and memory change; no record is lost."


@dataclass(frozen=True, slots=True)
class Harm:
    """How bad a finding is: ``effect`` is what it means for users, ``keys`` counts the different keys in its questions."""

    severity: Severity
    effect: str
    keys: int = 0


def rank(one: Harm | Differed) -> tuple[int, int]:
    """Return a sort key: the worst severity first, then most keys."""
    return RANKS[one.severity], -one.keys


def harm_of(rule: Rule, differences: Sequence[Difference], *, changing: bool = False) -> Harm:
    """Return the harm of differences of one kind; ``changing`` answers are others when the target is asked again."""
    example = min(differences, key=size_of)
    keys = len({key for one in differences if (key := key_of(one.question)) is not None})
    severity, effect = _judged(rule, example, changing)
    return Harm(severity, effect, keys)


def _judged(rule: Rule, example: Difference, changing: bool) -> tuple[Severity, str]:
    question = example.question
    expected, actual = ((side or {}) for side in first_difference(example))
    if rule.domain(question):
        return "low", _UNMET
    if (partial := _in_part(rule, example)) is not None:
        return partial
    if "raises" in expected:
        return "low", _ERROR if "raises" in actual else _NO_ERROR
    if rule.area is Area.ASSIGNMENT:
        return _assigned(expected, actual)
    if rule.area is not Area.PLACEMENT:
        return ("high", _BY_RULE[rule.slug]) if rule.slug in _BY_RULE else ("medium", _BATCHES)
    if "raises" in actual:
        return "high", _REFUSED
    if _names_partition(question):
        return "high", _NAMED
    if key_of(question) is not None:
        return "critical", _DRAWN if changing else _MISPLACED
    return "medium", _SPREAD


def _in_part(rule: Rule, example: Difference) -> tuple[Severity, str] | None:
    """Return the harm of a difference in a part of the answer only, or after damage; else None."""
    question, expected, actual = example.question, example.expected, example.actual
    if fields := field_kind(rule, question, expected, actual):
        return "low", _FIELDS.format(fields=fields)
    if parts := differing_optional_parts(rule, question, expected, actual):
        return "medium", _BESIDE.format(parts=", ".join(parts))
    if rule.slug == "record-batch" and _THROWN in to_json(expected):
        return ("low", _DAMAGED) if _THROWN in to_json(actual) else ("medium", _TAKEN)
    if rule.slug == "consumer-fetch" and "raises" in expected:
        if "raises" not in actual:
            return "medium", _TAKEN
        same = all(actual.get(name) == expected[name] for name in ("delivered", "position"))
        return ("low", _ERROR) if same else ("medium", _DELIVERED)
    return None


def _assigned(expected: Answer, actual: Answer) -> tuple[Severity, str]:
    """Return the harm of another assignment: whether each partition that Java gives still has one member."""
    if "raises" in actual:
        return "high", _REFUSED_GROUP
    if "each partition once" in expected:
        return "high", _UNREAD
    if "assignment" in expected and _given(expected) != _given(actual):
        return "high", _UNREAD
    return "medium", _SHARES


def _given(answer: Answer) -> list[bytes]:
    """Return the partitions that an assignment gives to anybody, sorted; none for another answer."""
    assignment = answer.get("assignment")
    lists = assignment.values() if isinstance(assignment, dict) else ()
    return sorted(to_json(partition) for owned in lists if isinstance(owned, list) for partition in owned)


def _names_partition(question: Question) -> bool:
    """Whether the record, or the custom partitioner, of a question names its partition."""
    record: Any = getattr(question, "record", None)
    config: Any = getattr(question, "config", None)
    return getattr(record, "partition", None) is not None or getattr(config, "partitioner", None) is not None
