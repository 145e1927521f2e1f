"""Kinds of differences between a broker and Kafka, and what each means for users.

Two differences are of one kind if they are in the same field of an answer to the same API, and their values differ in the
same way: ``Produce: responses.partitionResponses.errorCode is 0, not 45``. A table says what users notice; the first row
that fits a difference counts:

======== ==============================================================================================================
severity meaning
======== ==============================================================================================================
critical a record that was acknowledged is lost or stored twice
high     wrong data is shown; a correct request is refused, or is not answered; a damaged one is taken
medium   another error or another state, to which a client may react otherwise
low      cosmetic: a field that programs may show
======== ==============================================================================================================

A difference that no client acts on is harmless: a case with no other difference agrees, and the report has the reason.

What follows from an error is not a difference by itself: a field that an answer with an error lacks is not counted beside
the error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from kafka_conformance.core.events import Severity
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.wire.broker_gate.runner import ABSENT, CaseOutcome, CaseVerdict, Difference
from kafka_conformance.wire.codec.messages import error_name

__all__ = [
    "EFFECTS",
    "HARMLESS",
    "DifferenceKind",
    "by_kind",
    "difference_of",
    "harmless_reason",
    "kinds_of",
    "own_differences",
]

HARMLESS: Final = "harmless"
_NUMBER = re.compile(r"\[\d+\]")
_ERROR_FIELD = "errorcode"
_EVERYWHERE_LEAST = 5
_SHORT = 40
_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")

_Fits: TypeAlias = Callable[[Any, Any], bool]
"""Whether a row is about Kafka's value and the broker's."""


def _any(_expected: object, _actual: object) -> bool:
    return True


def _accepts(*refused: int) -> _Fits:
    """The broker accepts what Kafka refuses with one of these errors; with none, with any error."""
    return lambda expected, actual: actual == 0 and (expected in refused if refused else bool(expected))


def _refuses(expected: object, actual: object) -> bool:
    return expected == 0 and isinstance(actual, int) and actual != 0


def _lower(expected: object, actual: object) -> bool:
    return isinstance(expected, int) and isinstance(actual, int) and actual < expected


def _both_empty(expected: object, actual: object) -> bool:
    return not expected and not actual and ABSENT not in (expected, actual)


def _reordered(expected: object, actual: object) -> bool:
    return (
        isinstance(expected, list)
        and isinstance(actual, list)
        and sorted(map(_text, expected)) == sorted(map(_text, actual))
    )


@dataclass(frozen=True, slots=True)
class _Row:
    severity: Severity | str
    api: str
    field: str
    fits: _Fits
    effect: str


_SEQUENCE, _FENCED, _TRANSACTION = (45, 46, 59), (47, 90), (48, 49, 51, 53)
EFFECTS: Final[tuple[_Row, ...]] = (
    _Row(HARMLESS, "Fetch", "abortedTransactions", _both_empty,
         "clients take null and an empty list of aborted transactions for the same"),
    _Row(HARMLESS, "Produce", "logStartOffset", _any,
         "beside a stored batch no client acts on the start of the log"),
    _Row(HARMLESS, "ConsumerGroupHeartbeat", "topicPartitions.partitions", _reordered,
         "the protocol leaves the order of a member's partitions open"),
    _Row("critical", "Produce", "errorCode", _accepts(*_SEQUENCE),
         "A batch that a producer sends twice is stored twice, and one behind a gap is stored: duplicates and losses."),
    _Row("critical", "Produce", "errorCode", _accepts(*_FENCED),
         "A producer that was replaced goes on writing: records are stored twice, or in an aborted transaction."),
    _Row("critical", "Produce", "errorCode", _accepts(*_TRANSACTION),
         "Records are stored outside of a transaction that is open: an abort does not hide them."),
    _Row("high", "Produce", "errorCode", _accepts(),
         "A batch that Kafka refuses is stored: consumers get it, or cannot read it."),
    _Row("high", "Produce", "errorCode", _refuses,
         "A batch that Kafka stores is refused: a correct producer fails, or sends for ever."),
    _Row("critical", "Produce", "baseOffset", _any,
         "The acknowledged offset is wrong: it belongs to another record, or a batch is stored twice."),
    _Row("low", "Produce", "logAppendTimeMs", _any, "The producer's metadata of a record shows another timestamp."),
    _Row("low", "Fetch", "codec", _any,
         "Batches are stored with another compression: size and speed change, no record does."),
    _Row("high", "Fetch", "records", _any, "Consumers get other records."),
    _Row("high", "Fetch", "abortedTransactions", _any,
         "Consumers that read committed records get aborted ones, or lose committed ones."),
    _Row("high", "Fetch", "lastStableOffset", _any,
         "Consumers that read committed records wait at another offset, or read an open transaction."),
    _Row("high", "Fetch", "highWatermark", _any, "The end of the partition is wrong, and so is the lag of a group."),
    _Row("high", "ListOffsets", "offset", _any,
         "A search for an offset ends elsewhere: consumers skip records, or read them again."),
    _Row("high", "OffsetFetch", "committedOffset", _any,
         "A group starts at another offset: records are skipped, or read again."),
    _Row("high", "OffsetFetch", "metadata", _any, "A group gets back metadata that it did not commit."),
    _Row("high", "*", "assignment", _any, "Members of a group get other partitions."),
    _Row("low", "*", "configs", _any, "Tools show other settings of a topic."),
    _Row("low", "CreateTopics", "numPartitions", _any, "Tools show another count of partitions in the answer."),
    _Row("low", "CreateTopics", "replicationFactor", _any, "Tools show another replication factor in the answer."),
    _Row("critical", "InitProducerId", "producerEpoch", _lower,
         "A producer that starts again has no newer epoch: the one that it replaces is not fenced, and both write."),
    _Row("critical", "InitProducerId", "producerId", _any,
         "A producer that starts again has another id: the one that it replaces is not fenced, and both write."),
    _Row("high", "EndTxn", "errorCode", _accepts(),
         "A transaction seems to be completed that was not: its records may be lost."),
    _Row("high", "*", "errorCode", _refuses, "A request that Kafka carries out is refused: a correct client fails."),
    _Row("high", "*", "errorCode", _accepts(), "A request that Kafka refuses seems to succeed."),
    _Row("medium", "*", "errorCode", _any,
         "The error is another: a client may retry where it has to give up, or the reverse."),
)  # fmt: skip
"""What users notice: the severity, the API, the end of the path of the field, which values, and the sentence."""

_UNREAD: Final = {
    "InitProducerId": ("producerId", "producerEpoch"),
    "CreateTopics": ("numPartitions", "replicationFactor", "configs"),
}
"""Fields that clients read only in an answer without an error, by API."""
_BESIDE_ERROR = "beside the same error no client reads the field"

_OTHER = "The answer has another value."
_BY_VERDICT = {
    CaseVerdict.DIFFERS: "No client can read the answer: it is not in the form of its version.",
    CaseVerdict.NO_ANSWER: "The client waits until its request times out.",
    CaseVerdict.CLOSED: "The client loses its connection, connects again, and repeats the request.",
}
_NOT_CLOSED = "A request that Kafka ends the connection for is answered; no correct client sends it."


@dataclass(frozen=True, slots=True)
class DifferenceKind:
    """A kind of difference: its name, severity or ``harmless``, and what users notice or why they do not."""

    name: str
    severity: Severity | str
    effect: str

    @property
    def is_harmless(self) -> bool:
        """Whether no client acts on it."""
        return self.severity == HARMLESS

    @property
    def rank(self) -> int:
        """A sort key: the worst severity first, harmless last."""
        return RANKS.get(self.severity, len(RANKS))


def kinds_of(outcome: CaseOutcome) -> list[DifferenceKind]:
    """Return the kinds of a case's differences in the order of its requests; or one for the API that was not answered."""
    if outcome.verdict is CaseVerdict.DIFFERS and outcome.differences:
        return list(dict.fromkeys(_kind(outcome, each) for each in own_differences(outcome.differences)))
    what = "an answer that is not one" if outcome.verdict is CaseVerdict.DIFFERS else outcome.verdict.value
    step = outcome.case.steps[len(outcome.raw)]
    return [DifferenceKind(f"{step.api}: {what}", "high", _BY_VERDICT[outcome.verdict])]


def difference_of(outcome: CaseOutcome, kind: DifferenceKind) -> Difference | None:
    """Return the first difference of this kind; None if the kind is of a case that ended without an answer."""
    if outcome.verdict is not CaseVerdict.DIFFERS:
        return None
    return next((each for each in outcome.differences if _kind(outcome, each).name == kind.name), None)


def harmless_reason(outcome: CaseOutcome) -> str:
    """Return why a case that differs is harmless; empty if it is not."""
    kinds = kinds_of(outcome)
    return kinds[0].effect if all(kind.is_harmless for kind in kinds) else ""


def by_kind(outcomes: Iterable[CaseOutcome]) -> dict[DifferenceKind, list[CaseOutcome]]:
    """Return failed cases by the kind that stands for each: its first difference that is neither everywhere nor cosmetic.

    A kind is everywhere if half of the cases have it, such as a field that a broker never fills: it hides no other. Values
    of one kind may differ in how bad they are: the worst counts.
    """
    found = [(each, [kind for kind in kinds_of(each) if not kind.is_harmless]) for each in outcomes]
    counts = Counter(kind for _, kinds in found for kind in kinds)
    everywhere = {kind for kind, count in counts.items() if count >= max(_EVERYWHERE_LEAST, len(found) / 2)}
    groups: dict[str, list[tuple[DifferenceKind, CaseOutcome]]] = {}
    for each, kinds in found:
        kind = _standing(kinds, everywhere)
        groups.setdefault(kind.name, []).append((kind, each))
    return {min((kind for kind, _ in alike), key=_rank): [each for _, each in alike] for alike in groups.values()}


def _rank(kind: DifferenceKind) -> int:
    return kind.rank


def _standing(kinds: Sequence[DifferenceKind], everywhere: set[DifferenceKind]) -> DifferenceKind:
    """Return the kind that a case is reported under."""
    others = [kind for kind in kinds if kind not in everywhere] or list(kinds)
    return next((kind for kind in others if kind.severity != "low"), others[0])


def own_differences(differences: Sequence[Difference]) -> list[Difference]:
    """Return the differences without those that follow from another error in the same part of an answer."""
    errors = [(each.step, each.path.rpartition(".")[0]) for each in differences if _is_error(each.path)]
    return [
        each for each in differences
        if _is_error(each.path) or each.path == "connection"
        or not any(each.step == step and each.path.startswith(f"{parent}." if parent else "") for step, parent in errors)
    ]  # fmt: skip


def _is_error(path: str) -> bool:
    return path.lower().endswith(_ERROR_FIELD)


def _kind(outcome: CaseOutcome, difference: Difference) -> DifferenceKind:
    api = outcome.case.steps[difference.step].api
    if difference.path == "connection":
        return DifferenceKind(f"{api}: the connection is not closed", "low", _NOT_CLOSED)
    field = _NUMBER.sub("", difference.path)
    name = f"{api}: {field} {_how(difference)}"
    if field.rpartition(".")[2] in _UNREAD.get(api, ()) and _has_error(outcome, difference):
        return DifferenceKind(name, HARMLESS, _BESIDE_ERROR)
    for row in EFFECTS:
        if row.api in {"*", api} and _ends(field, row.field) and row.fits(difference.expected, difference.actual):
            return DifferenceKind(name, row.severity, row.effect + _error_name(difference))
    return DifferenceKind(name, "medium", _OTHER)


def _has_error(outcome: CaseOutcome, difference: Difference) -> bool:
    """Whether the part of the answer has an error; it is Kafka's, else the field would not be judged by itself."""
    part = outcome.answers[difference.step]
    for name, number in _STEP.findall(difference.path.rpartition(".")[0]):
        part = part[name][int(number)] if number else part[name]
    return any(value for name, value in part.items() if _is_error(name))


def _error_name(difference: Difference) -> str:
    """Return the name of Kafka's error as a sentence; empty for another field, and for no error."""
    code = difference.expected if _is_error(difference.path) else None
    return f" Kafka's error is {error_name(code)}." if isinstance(code, int) and code else ""


def _ends(path: str, field: str) -> bool:
    """Whether a path has this field: as its end for a value, or further up for all below it."""
    if field == "errorCode":
        return _is_error(path)
    return f".{field}." in f".{path}."


def _how(difference: Difference) -> str:
    """Return how two values differ: both for an error code, a flag or null; of others only that they do."""
    expected, actual = difference.expected, difference.actual
    if ABSENT in [expected, actual]:
        return "is missing" if actual == ABSENT else "should be missing"
    if _reordered(expected, actual):
        return "is in another order"
    if _is_error(difference.path) or any(each is None or isinstance(each, bool) for each in (expected, actual)):
        return f"is {_shown(actual)}, not {_shown(expected)}"
    return "differs"


def _shown(value: Any) -> str:
    """Return a value in the name of a kind: cases differ in the lists and objects that they have."""
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else _text(value)[:_SHORT]


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
