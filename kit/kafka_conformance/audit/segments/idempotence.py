"""Check sequences and epochs of producers, by the rules with which a broker of the newest release appends batches.

The log of a partition is replayed through ``kafka_reference.broker``: a batch that a client could not have appended after
those before it is a problem. What a log may legally show beyond that is told apart:

- The first batch of a producer may have any sequence: earlier ones may be deleted.
- Offsets may be missing since the producer's batch before: compaction, or retention, has removed batches, and kept markers.
- A broker forgets a producer that wrote nothing for ``producer.id.expiration.ms`` (one day; up to 3.3.x seven).
- After bytes that cannot be read, nothing is known of any producer.

Batches in sequence are one run of a survey, which is replayed as its first batch, those in between, and the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge

from kafka_conformance.audit.segments.folders import SegmentFile
from kafka_conformance.audit.segments.result import Problem
from kafka_conformance.audit.segments.survey import BatchRun, Damaged, MarkerSeen, Survey
from kafka_reference.broker import DataBatch, Duplicate, Marker, Origin, ProducerStateManager
from kafka_reference.broker.producer_state import DAY_MS
from kafka_reference.errors import (
    InvalidProducerEpochException,
    JavaException,
    TransactionCoordinatorFencedException,
)

__all__ = ["check_sequences"]

_RANGE = 2**31


def check_sequences(files: Sequence[SegmentFile], surveys: Sequence[Survey]) -> Iterator[Problem]:
    """Yield the problems of a partition, in the order of its log."""
    replay = _Replay()
    end = 0  # of a log that begins later, batches of every producer may be gone
    for file, seen in zip(files, surveys, strict=True):
        if file.base_offset > end:
            replay.gaps += 1
        yield from replay.segment(file, seen)
        end = seen.end_offset


class _Replay:
    def __init__(self) -> None:
        self.gaps = 0
        """Places with missing offsets in the segments before."""
        self._file: SegmentFile
        self._forget()

    def _forget(self) -> None:
        self._state = ProducerStateManager()
        self._times: dict[int, int] = {}
        """By producer, the time of its last batch or marker."""
        self._gaps: dict[int, int] = {}
        """By producer, the places with missing offsets before its last batch: the cleaner keeps markers longer."""

    def segment(self, file: SegmentFile, seen: Survey) -> Iterator[Problem]:
        self._file = file
        for event in _events(seen):
            if isinstance(event, Damaged):
                self._forget()
            elif isinstance(event, MarkerSeen):
                yield from self._marker(event)
            else:
                yield from self._run(event)
        self.gaps += seen.gaps

    def _run(self, run: BatchRun) -> Iterator[Problem]:
        sequence, count = run.first
        first = _batch(run, sequence, count, run.first_offset)
        try:
            if isinstance(self._state.append([first], Origin.CLIENT), Duplicate):
                yield self._sequence(run, repeated=True)
                self._state.append([first], Origin.REPLICATION)
        except InvalidProducerEpochException:
            yield self._epoch_back(run.producer_id, run.epoch, run.position, run.first_offset, run.first_ms)
            self._state.append([first], Origin.REPLICATION)
        except JavaException:
            yield self._sequence(run, repeated=False)
            self._state.append([first], Origin.REPLICATION)
        between = run.sequences - count - (run.last[1] if run.batches > 1 else 0)
        if between:
            middle = _batch(run, (sequence + count) % _RANGE, between, run.first_offset + count)
            self._state.append([middle], Origin.REPLICATION)
        if run.batches > 1:
            last = _batch(run, *run.last, run.last_offset - run.last[1] + 1)
            self._state.append([last], Origin.REPLICATION)
        self._times[run.producer_id], self._gaps[run.producer_id] = run.last_ms, self.gaps + run.gaps

    def _marker(self, seen: MarkerSeen) -> Iterator[Problem]:
        marker = Marker(seen.producer_id, seen.epoch, seen.offset, seen.time_ms, seen.commit, seen.coordinator_epoch)
        try:
            self._state.append([marker], Origin.COORDINATOR)
        except TransactionCoordinatorFencedException:
            what = f"the marker's coordinator epoch {seen.coordinator_epoch} is lower than that of an earlier one"
            yield self._problem("coordinator epoch back", seen.position, seen.offset, what, certain=True)
            self._state.append([marker], Origin.REPLICATION)
        except JavaException:
            yield self._epoch_back(seen.producer_id, seen.epoch, seen.position, seen.offset, seen.time_ms)
            self._state.append([marker], Origin.REPLICATION)
        self._times[seen.producer_id] = seen.time_ms

    def _epoch_back(self, producer: int, epoch: int, position: int, offset: int, time_ms: int) -> Problem:
        entry = self._state.producers.get(producer)
        before = "a newer one" if entry is None else f"epoch {entry.epoch}"
        what = f"epoch {epoch} of producer id {producer} follows {before}"
        return self._problem("epoch back", position, offset, what, certain=not self._expired(producer, time_ms))

    def _sequence(self, run: BatchRun, *, repeated: bool) -> Problem:
        entry, producer = self._state.producers.get(run.producer_id), run.producer_id
        last = entry.batches[-1].last_sequence if entry is not None and entry.batches else -1
        expected = 0 if entry is None or entry.epoch != run.epoch else (last + 1) % _RANGE
        back = repeated or (run.first[0] - expected) % _RANGE > _RANGE // 2
        what = f"sequence {run.first[0]} of producer id {producer}, epoch {run.epoch}, where {expected} should follow"
        gone = self._gaps.get(producer, 0) != self.gaps + run.gaps_before
        certain = not self._expired(producer, run.first_ms) and (back or not gone)
        kind = "sequence repeated" if back else "sequence gap"
        return self._problem(kind, run.position, run.first_offset, what, certain=certain)

    def _expired(self, producer: int, time_ms: int) -> bool:
        before = self._times.get(producer, time_ms)
        return before >= 0 and time_ms - before >= DAY_MS

    def _problem(self, kind: str, position: int, offset: int, what: str, *, certain: bool) -> Problem:
        return Problem(kind, certain, self._file.partition, self._file.name, position, offset, what)


def _batch(run: BatchRun, sequence: int, count: int, offset: int) -> DataBatch:
    return DataBatch(run.producer_id, run.epoch, sequence, count, offset, run.last_ms, run.transactional)


def _events(seen: Survey) -> Iterable[BatchRun | MarkerSeen | Damaged]:
    return merge(seen.runs, seen.markers, seen.damaged, key=lambda event: event.position)
