"""Producers of a log: sequences, epochs and transactions of each producer id, across all segments.

A broker accepts a batch of a producer it knows only in sequence: the base sequence follows the last one, 2^31-1 is
followed by 0, and a new epoch begins with 0. An epoch never goes back. What a log may legally show beyond that:

- The first batch of a producer may have any sequence: earlier batches were deleted by retention.
- Compaction drops batches. A jump with missing offsets in between is judged as these are.
- A broker forgets a producer that wrote nothing for ``producer.id.expiration.ms`` (one day; up to 3.3.x
  ``transactional.id.expiration.ms``, seven days): then it accepts any sequence.
- The end of a transaction may raise the epoch: by the coordinator's fencing, and since 4.0.0 at every end (KIP-890).

The marker that ends a transaction is read as a broker reads it when it recovers the log, also without ``--records``.

Java source mirrored: ``ProducerAppendInfo.append`` and ``checkSequence``; ``kafka_reference.broker`` has them by release.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.findings import Severity
from kafka_conformance.log_inspect.header import HEADER, BatchHeader
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import EndTransactionMarker, decode_end_marker, decode_header

__all__ = ["AbortedTransaction", "ProducerCheck", "ProducerState"]

EXPIRATION_MS = 86_400_000
_LARGEST_MARKER = 2**20
"""Bytes of the largest control batch that is decoded: a marker has 78."""
_UNKNOWN = -2
"""In place of a last sequence: any may follow."""


class ProducerState:
    """What the log says of a producer so far. ``sequence`` is the last one: -1 after a new epoch without batches."""

    __slots__ = ("begun", "data_gaps", "epoch", "gaps", "offset", "records", "sequence", "timestamp", "transaction")

    def __init__(self, epoch: int, gaps: int) -> None:
        self.epoch, self.gaps, self.data_gaps = epoch, gaps, gaps
        self.sequence, self.offset, self.timestamp = _UNKNOWN, -1, -1
        self.transaction: int | None = None
        self.records = 0
        self.begun = False  # is the beginning of the open transaction certain? it may be in a deleted segment


class AbortedTransaction:
    """A transaction that the log aborts: its producer, its first offset, and the offset of its marker.

    ``certain`` tells whether it cannot have begun before the first batch of its producer that is left.
    """

    __slots__ = ("certain", "first_offset", "last_offset", "producer_id")

    def __init__(self, producer_id: int, first_offset: int, last_offset: int, *, certain: bool) -> None:
        self.producer_id, self.first_offset, self.last_offset = producer_id, first_offset, last_offset
        self.certain = certain


class ProducerCheck:
    """Checks the batches of all producers. ``aborted`` has the aborted transactions of the current segment."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._states: dict[int, ProducerState] = {}
        self.aborted: list[AbortedTransaction] = []
        self.abort_markers: dict[int, int] = {}
        self.markers = 0
        self.last_marker = -1
        """The offset of the last batch that ends a transaction."""
        self._file = ""

    @property
    def states(self) -> Mapping[int, ProducerState]:
        """The producers by id."""
        return self._states

    def states_since(self, gaps: int) -> Mapping[int, ProducerState]:
        """Return the producers whose last batch is certain: no offset is missing after it, of ``gaps`` places so far."""
        return {producer: state for producer, state in self._states.items() if state.gaps == gaps}

    def begin(self, file: str) -> None:
        """Begin a segment."""
        self._file = file
        self.aborted, self.abort_markers = [], {}

    def forget(self) -> None:
        """Forget all producers: a batch could not be read, which may be of any of them."""
        self._states.clear()

    def batch(self, position: int, header: BatchHeader, gaps: int) -> None:
        """Check a batch with a producer id; ``gaps`` is the number of places with missing offsets so far."""
        state = self._states.get(header.producer_id)
        certain = state is not None or header.base_sequence == 0
        if state is None:
            state = self._states[header.producer_id] = ProducerState(header.producer_epoch, gaps)
        elif header.producer_epoch != state.epoch:
            if header.producer_epoch < state.epoch:
                self._epoch_back(position, header, state)
            elif header.base_sequence != 0:
                self._gap(position, header, state, 0, gaps)
        elif state.sequence != _UNKNOWN and header.base_sequence != (expected := (state.sequence + 1) & 0x7FFFFFFF):
            self._gap(position, header, state, expected, gaps)
        state.epoch, state.sequence, state.gaps, state.data_gaps = (
            header.producer_epoch,
            header.last_sequence,
            gaps,
            gaps,
        )
        state.offset, state.timestamp = header.last_offset, header.max_timestamp
        if header.transactional:
            if state.transaction is None:
                state.transaction, state.records, state.begun = header.base_offset, 0, certain
            state.records += header.records

    def control(self, position: int, header: BatchHeader, payload: memoryview | None, gaps: int) -> None:
        """Check a control batch of a producer, with the bytes of its records: it ends a transaction."""
        self.markers += 1
        self.last_marker = header.base_offset
        marker = self._marker(position, header, payload)
        state = self._states.get(header.producer_id)
        if state is None:
            state = self._states[header.producer_id] = ProducerState(header.producer_epoch, gaps)
        elif header.producer_epoch < state.epoch:
            self._epoch_back(position, header, state)
        if header.producer_epoch > state.epoch:
            state.epoch, state.sequence, state.offset = header.producer_epoch, -1, -1
        state.timestamp, state.gaps = header.max_timestamp, gaps
        if marker is not None and not marker.commit:
            self.abort_markers[header.base_offset] = header.producer_id
            if state.transaction is not None and state.records:
                self.aborted.append(
                    AbortedTransaction(header.producer_id, state.transaction, header.base_offset, certain=state.begun)
                )
        state.transaction, state.records = None, 0

    def _marker(
        self, position: int, header: BatchHeader, payload: memoryview | None
    ) -> EndTransactionMarker | None:  # fmt: skip
        """Return the marker in a control batch; None if compaction has removed it, or with a finding."""
        kind, what = "bad-marker", "the batch has no record that can be read"
        if payload is None or header.size > _LARGEST_MARKER:
            kind, what = "record-unread", f"a control batch of {header.size:,} bytes is not read: a marker has 78"
        elif not header.records:
            return None
        else:
            try:
                batch = decode_header(HEADER.pack(*header) + bytes(payload))
                first = next(iter(batch.records()), None) if batch is not None else None
                if first is not None:
                    return decode_end_marker(first.key, first.value)
            except JavaException as thrown:
                what = f"{thrown.java_name}{f': {thrown.message}' if thrown.message else ''}"
        self._context.findings.add(
            kind, self._file, what, position=position, size=header.size, offset=header.base_offset
        )
        return None

    def _gap(self, position: int, header: BatchHeader, state: ProducerState, expected: int, gaps: int) -> None:
        severity = Severity.BROKEN
        if header.max_timestamp - state.timestamp >= EXPIRATION_MS and state.timestamp >= 0:
            severity = Severity.NOTE
        elif gaps != state.data_gaps:  # a marker may remain of batches that compaction removed
            severity = self._context.gap_severity
        what = "repeat" if 0 <= header.base_sequence < expected else "skip"
        self._context.findings.add(
            "sequence-gap", self._file, f"sequences of producer {header.producer_id}, epoch {header.producer_epoch}, "
            f"{what}: {header.base_sequence} where {expected} should follow", position=position,
            size=header.size, offset=header.base_offset, severity=severity,
        )  # fmt: skip

    def _epoch_back(self, position: int, header: BatchHeader, state: ProducerState) -> None:
        expired = header.max_timestamp - state.timestamp >= EXPIRATION_MS and state.timestamp >= 0
        self._context.findings.add(
            "producer-epoch-back", self._file, f"epoch {header.producer_epoch} of producer {header.producer_id} follows "
            f"epoch {state.epoch}", position=position, size=header.size, offset=header.base_offset,
            severity=Severity.NOTE if expired else None,
        )  # fmt: skip
