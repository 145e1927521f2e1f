"""What a consumer delivers of a fetch response: offsets, the next position, the exception.

    >>> from kafka_reference.consumer import AbortedTransaction, consume_fetch
    >>> from kafka_reference.record_batch import NewBatch, NewRecord, encode_batch
    >>> records = [NewRecord(0, None, b"a"), NewRecord(0, None, b"b"), NewRecord(0, None, b"c")]
    >>> data = encode_batch(NewBatch(records=records, base_offset=10))
    >>> consume_fetch(data, fetch_offset=11)
    FetchOutcome(delivered=(11, 12), position=13, thrown=None, cause=None, again=None)

A broker returns whole batches, so the first one may begin below the fetch offset. Batches are read one after another:

1. A CRC is checked: of a batch of magic 2, before its records; of magic 0 and 1, of each message that is not skipped.
2. With read_committed, transactions from the aborted list that begin at or below the last offset of the batch make their
   producers aborted. A marker that aborts ends that; another transactional batch of an aborted producer is skipped whole.
3. Records below the next offset are skipped; records of control batches move it, and are not delivered.
4. Behind the last batch the position is its next offset, also where compaction removed its last records.

Records before an exception of Kafka's are delivered, and the next poll throws. An exception of the JVM, such as an
IndexOutOfBoundsException, loses what the same poll has read; the position stays.

Java source mirrored: ``CompletedFetch`` and ``FetchCollector`` (since 3.7.0), ``Fetcher`` (before), since 0.11.0.1.

In 0.11.0.0 a poll after an exception reads on in the middle of the batch, or returns one record up to 500 times: it is not
mirrored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop
from typing import NamedTuple

from kafka_reference.arguments import checked
from kafka_reference.consumer.behaviour import ConsumerFetchBehaviour
from kafka_reference.errors import JavaException, KafkaException, NullPointerException
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch import Batch, DefaultBatch, Message, Record, control_type, decode_batches
from kafka_reference.record_batch.errors import CorruptRecordException, InvalidRecordException
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["AbortedTransaction", "CompletedFetch", "FetchOutcome", "consume_fetch"]

_MAGIC_V2 = 2
_OF_KAFKA = (KafkaException, CorruptRecordException, InvalidRecordException)


@checked
class AbortedTransaction(NamedTuple):
    """An entry of the list of aborted transactions in a fetch response."""

    producer_id: int
    first_offset: int
    """The offset of the first record of the transaction."""


class FetchOutcome(NamedTuple):
    """What polls deliver until the response is used up, or one throws."""

    delivered: tuple[int, ...]
    """The offsets of the records that are delivered, in order."""
    position: int
    """The offset that the next fetch asks for."""
    thrown: str | None = None
    """The class of the exception that a poll throws, behind these records."""
    cause: str | None = None
    """The class of the exception that it wraps."""
    again: str | None = None
    """What the poll after the exception throws; None if it returns nothing."""


@checked
def consume_fetch(
    data: bytes,
    fetch_offset: int,
    *,
    read_committed: bool = False,
    aborted: Iterable[AbortedTransaction] = (),
    check_crcs: bool = True,
    release: str | Release = NEWEST,
) -> FetchOutcome:
    """Return what a consumer at ``fetch_offset`` delivers of the records of a fetch response, and its position then."""
    fetch = CompletedFetch(data, fetch_offset, read_committed, aborted, check_crcs, parse_release(release))
    delivered: list[int] = []
    while True:
        try:
            more = fetch.poll()
        except JavaException as thrown:
            position = fetch.position
            return FetchOutcome(tuple(delivered), position, thrown.java_name, _cause(thrown), _again(fetch))
        if not more:
            return FetchOutcome(tuple(delivered), fetch.position)
        delivered += more


def _cause(thrown: JavaException) -> str | None:
    return thrown.__cause__.java_name if isinstance(thrown.__cause__, JavaException) else None


def _again(fetch: CompletedFetch) -> str | None:
    try:
        fetch.poll()
    except JavaException as thrown:
        return thrown.java_name
    return None


def _stuck() -> KafkaException:
    return KafkaException("Received exception when fetching the next record. If needed, please seek past the record")


class CompletedFetch:
    """The records of one fetch response, and the consumer's position in the partition."""

    def __init__(
        self,
        data: bytes,
        fetch_offset: int,
        read_committed: bool,
        aborted: Iterable[AbortedTransaction],
        check_crcs: bool,
        release: Release,
    ) -> None:
        self._data, self._read_committed, self._check_crcs, self._release = data, read_committed, check_crcs, release
        self._behaviour = ConsumerFetchBehaviour.of(release)
        self.position = self._next_offset = fetch_offset
        self._records = self._read()
        self._failed: JavaException | None = None
        self._queue = [(each.first_offset, each.producer_id) for each in aborted]
        heapify(self._queue)
        self._aborted_producers: set[int] = set()

    def poll(self) -> list[int]:
        """Return the offsets that a poll delivers; raises JavaException where it throws."""
        self._ensure_whole_batch()
        delivered: list[int] = []
        # A poll that threw has lost what it read: what follows is not next in line, and dropped.
        if self._next_offset == self.position:
            if self._failed is not None:
                raise _stuck() from (self._failed if isinstance(self._failed, _OF_KAFKA) else None)
            self._read_into(delivered)
        return delivered

    def _read_into(self, delivered: list[int]) -> None:
        try:
            for offset in self._records:
                delivered.append(offset)
                self._next_offset = int64(offset + 1)
        except _OF_KAFKA as error:
            self._failed = error
            if not delivered:
                raise _stuck() from error
        except JavaException as error:
            self._failed = error
            raise
        back = self._behaviour.position_may_go_back
        self.position = self._next_offset if back else max(self.position, self._next_offset)

    def _ensure_whole_batch(self) -> None:
        # What this throws is not wrapped, and thrown again by each poll.
        if self._data and next(decode_batches(self._data, self._release), None) is None:
            raise KafkaException("Failed to make progress reading messages: no complete records were found")

    def _read(self) -> Iterator[int]:
        """Yield the offsets to deliver."""
        batch: Batch | None = None
        for batch in decode_batches(self._data, self._release):
            self._ensure_valid(batch)
            if self._read_committed and isinstance(batch, DefaultBatch) and self._skips(batch):
                self._next_offset = self._offset_behind(batch)
                continue
            for record in batch.streaming_records():
                if record is None:
                    raise NullPointerException
                if not self._is_wanted(batch, record.offset):
                    continue
                self._ensure_valid_record(record)
                if batch.control:
                    self._next_offset = int64(record.offset + 1)
                else:
                    yield record.offset
        if batch is not None:
            # Also where compaction removed the last records: otherwise the same batch is fetched again and again.
            self._next_offset = self._offset_behind(batch)

    def _is_wanted(self, _: Batch, offset: int, /) -> bool:
        return offset >= self._next_offset

    def _offset_behind(self, batch: Batch, /) -> int:
        return batch.next_offset

    def _ensure_valid(self, batch: Batch) -> None:
        if not self._check_crcs or batch.magic < _MAGIC_V2:
            return
        try:
            batch.ensure_valid()
        except (CorruptRecordException, InvalidRecordException) as error:
            raise KafkaException(f"Record batch is invalid, cause: {error.message}") from None

    def _ensure_valid_record(self, record: Record | Message) -> None:
        if self._check_crcs and isinstance(record, Message) and not record.valid:
            raise KafkaException(f"Record at offset {record.offset} is invalid")

    def _skips(self, batch: DefaultBatch) -> bool:
        """Return whether the batch is part of an aborted transaction; takes the transactions that begin by its end."""
        if batch.producer_id < 0:
            return False
        self._take_aborted(batch.last_offset)
        if self._is_abort_marker(batch):
            self._end_aborted(batch.producer_id)
            return False
        return batch.transactional and batch.producer_id in self._aborted_producers

    def _take_aborted(self, last_offset: int, /) -> None:
        while self._queue and self._queue[0][0] <= last_offset:
            self._aborted_producers.add(heappop(self._queue)[1])

    def _end_aborted(self, producer_id: int, /) -> None:
        self._aborted_producers.discard(producer_id)

    def _is_abort_marker(self, batch: DefaultBatch, /) -> bool:
        if not batch.control:
            return False
        records = batch.records()
        try:
            first = next(records)
        except StopIteration:
            if self._behaviour.empty_control_batch_fails:
                raise InvalidRecordException("a control batch without records") from None
            return False
        if first is None:
            raise NullPointerException
        return control_type(first.key, self._release) == "ABORT"
