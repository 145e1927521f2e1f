"""The decision table for appending a client's batch: its dimensions and its verdicts.

Two facts decide about a batch: how its epoch relates to the producer's entry, and how its first sequence relates to the
last one appended under that epoch. The rows of the table are fields of
:class:`~.behaviour.ProducerStateBehaviour`, so each change of a row has its releases and its ticket; all cells that no
batch can reach are ``UNREACHABLE``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, unique

from kafka_reference.errors import (
    DuplicateSequenceException,
    DuplicateSequenceNumberException,
    InvalidProducerEpochException,
    JavaException,
    OutOfOrderSequenceException,
    ProducerFencedException,
    UnknownProducerIdException,
)

__all__ = ["EpochRelation", "SequenceRelation", "Verdict", "Verdicts"]


@unique
class EpochRelation(Enum):
    """A batch's epoch relative to the epoch of its producer's entry. The value is the name of the row."""

    OLDER = "older_epoch"
    """Lower: another instance of the producer has taken over."""
    CURRENT = "current_epoch"
    """Equal."""
    NEWER = "newer_epoch"
    """Higher: the producer bumped its epoch."""
    UNKNOWN_PRODUCER = "unknown_producer"
    """The broker has no entry for the producer."""
    STARTED_IN_REQUEST = "started_in_request"
    """Equal, but there was no entry before this request: its second batch, or a batch without an epoch."""


@unique
class SequenceRelation(Enum):
    """A batch's first sequence relative to the last sequence appended under its epoch. The value names the column."""

    NEXT = "next"
    """One more; 0 after 2^31-1; 0 if nothing was appended under the epoch."""
    REPEATED = "repeated"
    """The batch equals the last one. Only within a request: earlier batches are found as duplicates before."""
    GAP = "gap"
    """Any other sequence, too high or too low; also a duplicate that is no longer remembered."""
    NONZERO_START = "nonzero_start"
    """Nothing was appended under the epoch, and the batch does not start at 0 (0.11: the last batch had no sequence)."""


@unique
class Verdict(Enum):
    """The outcome for a batch. The value is the exception that the broker throws, if any."""

    APPENDED = None
    OUT_OF_ORDER = OutOfOrderSequenceException
    UNKNOWN_PRODUCER_ID = UnknownProducerIdException
    DUPLICATE = DuplicateSequenceNumberException
    DUPLICATE_SEQUENCE = DuplicateSequenceException
    FENCED = ProducerFencedException
    INVALID_EPOCH = InvalidProducerEpochException
    UNREACHABLE = "unreachable"

    @property
    def exception(self) -> type[JavaException] | None:
        """The exception that refuses the batch, or None if it is appended."""
        return self.value if isinstance(self.value, type) else None

    def check(self) -> None:
        """Raise the exception that refuses the batch, if any."""
        if self.exception is not None:
            raise self.exception

    def __str__(self) -> str:  # unreached: the text of a record, for ``kafka-conformance behaviour``
        return self.name.lower().replace("_", " ") if self.exception is None else self.exception.java_name


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A row of the table: the verdict for each :class:`SequenceRelation`."""

    next: Verdict
    repeated: Verdict
    gap: Verdict
    nonzero_start: Verdict

    def __getitem__(self, sequence: SequenceRelation) -> Verdict:
        verdict: Verdict = getattr(self, sequence.value)
        return verdict

    def __str__(self) -> str:  # unreached: the text of a record, for ``kafka-conformance behaviour``
        columns: dict[Verdict, list[str]] = {}
        for sequence in SequenceRelation:
            if self[sequence] is not Verdict.UNREACHABLE:
                columns.setdefault(self[sequence], []).append(sequence.value)
        if len(columns) == 1:
            return str(next(iter(columns)))
        return "; ".join(f"{', '.join(names)}: {verdict}" for verdict, names in columns.items())
