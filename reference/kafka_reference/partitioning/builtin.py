"""BuiltInPartitioner: the choice for records without a key since 3.3.0 (KIP-794), one partitioner per topic.

**Sticky.** Records go to the current partition until enough *bytes* went there; batches do not count. The accumulator
peeks at the current partition (the first peek chooses one) and reports the bytes after it has appended. A sticky partition
info sums up the bytes; a new one starts at 0. The partitioner switches, possibly to the same partition again, when ::

    produced >= batch_size and the caller allows it    or    produced >= 2 * batch_size

The caller forbids it while the partition's last batch is open, so that linger.ms does not send two fractional batches
(KAFKA-14156); the second half is the cap on that. All numbers are Java ints and wrap: twice a batch size of 2^30 or more
is negative, and every update switches. An update of a stale info still adds its bytes to that info and can switch, too;
an update of None does nothing.

**The next partition** uses exactly one draw, first, an int32 whose sign bit is cleared.

- Without load statistics: ``round_robin.pick``, among the available partitions, or, if none is, an index among all. No
  partition at all is an ArithmeticException (``% 0``); the draw is used up and the current partition stays.
- With load statistics: by a table made when they were loaded. Each of the first ``length`` queue sizes is inverted,
  ``biggest + 1 - size``, and summed up: sizes 0, 3, 1 give 4, 1, 3 and the table 4, 5, 8. The draw modulo the last entry
  is looked up: the first entry above it names the partition. The cluster is not used.

**Loading** drops the statistics when ``queue_sizes`` is None, when ``length < 1``, when there are fewer than two queue
sizes, and when all sizes are equal with none left out. A single size that remains of several is kept.

**Racks** (KIP-1123), if configured: the draw is among the available partitions led from the client's own rack, if there
are any. Loading makes a second table, of the entries led from that rack, with its own biggest size (-1 if all are below),
and uses it unless it is empty; whether statistics are dropped is decided on all entries. Racks are compared as text, the
empty text included: a node without a rack is in no rack, a node whose rack is "" is in "".

What changed is in :class:`~kafka_reference.partitioning.behaviour.BuiltInPartitionerBehaviour`.

**Any int is accepted.** Queue sizes may be negative and sums may wrap, so the table need not ascend. The answer is
still Java's: ``%`` by a negative last entry is ``%`` by its absolute value (the draw is not negative), by 0
ArithmeticException; the lookup is Java's binary search, step by step. It may end one past ``length``, and the array of
ids is read there unchecked: the id of a left-out entry (0 in the rack's table, whose arrays Java makes ``length`` long),
or, past the end of the array, ArrayIndexOutOfBoundsException. Loading throws that for a ``length`` above the number of
sizes.

**Asserts** are off unless the JVM runs with ``-ea``; the rule here is without them. With ``-ea``, AssertionError is
thrown for an update of a stale info; when queue sizes, ids and (4.4.0) racks differ in length or ``length``
exceeds them; for an index past ``length``; and for the range end without statistics, which otherwise is a
NullPointerException in Java and None here.

Java reuses the arrays and folds the queue sizes in place; every question brings new ones, so copies are equivalent.

Java source mirrored: ``BuiltInPartitioner.peekCurrentPartitionInfo``, ``updatePartitionInfo``, ``nextPartition`` and
``updatePartitionLoadStats``, since 3.3.0,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/producer/internals/BuiltInPartitioner.java
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from kafka_reference.arguments import INT32, checked, proven_by
from kafka_reference.errors import (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    IllegalArgumentException,
    NotInThisRelease,
    NullPointerException,
)
from kafka_reference.java.int32 import int32
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import pick
from kafka_reference.releases import NEWEST, Release

__all__ = ["BuiltInPartitioner", "LoadTable", "StickyPartitionInfo", "binary_search"]

_T = TypeVar("_T")


@dataclass(eq=False, slots=True)
class StickyPartitionInfo:
    """A sticky partition info: a partition's id, and the bytes appended to it since, both int32. Compared by identity.

    >>> from kafka_reference import Cluster
    >>> BuiltInPartitioner().peek(Cluster.of(1))
    StickyPartitionInfo(partition=0, produced=0)
    """

    partition: int
    produced: int = 0


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Cumulative frequencies, at least one, and the partition ids they stand for, which may be more or fewer.

    >>> LoadTable(range_ends=(3, 4), partition_ids=(7, 9)).partition(3)
    9
    """

    range_ends: tuple[int, ...]
    partition_ids: tuple[int, ...]

    def partition(self, number: int) -> int:
        """Return the partition id for ``number``, 0 to 2^31-1. Raises as Java's array access and ``%`` throw."""
        span = abs(self.range_ends[-1])
        if span == 0:
            raise ArithmeticException
        return _at(self.partition_ids, abs(binary_search(self.range_ends, number % span) + 1))


@checked(sticky_batch_size=INT32, version=proven_by("builtin-partitioner"))
class BuiltInPartitioner:
    """The partitioner of one topic, as of release ``version``.

    ``sticky_batch_size`` is ``batch.size``, an int32, in bytes; ``draws`` gives the random int32 it uses, None random ones;
    ``rack_aware`` and ``rack`` are ``partitioner.rack.aware`` and ``client.rack`` of 4.4.0.

        >>> from kafka_reference import Cluster
        >>> partitioner, cluster = BuiltInPartitioner(draws=[4, 0]), Cluster.of(3)
        >>> stay = partitioner.peek(cluster)
        >>> partitioner.update(stay, appended_bytes=20_000, cluster=cluster)
        >>> stay.partition, partitioner.is_changed(stay), partitioner.peek(cluster).partition
        (1, True, 0)

    Raises NotInThisRelease before 3.3.0, and before 4.4.0 if ``rack_aware``; IllegalArgumentException, since 3.3.2, for
    a batch size below 1.
    """

    def __init__(
        self,
        version: str | Release = NEWEST,
        sticky_batch_size: int = 16_384,
        draws: Draws = None,
        rack_aware: bool = False,
        rack: str = "",
    ) -> None:
        behaviour = BuiltInPartitionerBehaviour.of(version)
        if rack_aware and not behaviour.rack_aware:
            raise NotInThisRelease(f"Kafka {version} has no partitioner.rack.aware: it came in 4.4.0")
        if sticky_batch_size < 1 and behaviour.batch_size_below_1_refused:
            raise IllegalArgumentException(f"stickyBatchSize must be >= 1 but got {sticky_batch_size}")
        self._batch_size = sticky_batch_size
        self._draws = draw_source(draws)
        self._rack_aware = rack_aware
        self._rack = rack
        self._current: StickyPartitionInfo | None = None
        self._table: LoadTable | None = None
        self._rack_table: LoadTable | None = None

    def peek(self, cluster: Cluster) -> StickyPartitionInfo:
        """Return the current info, made now if there is none. Mirrors ``peekCurrentPartitionInfo``.

        Raises as :meth:`next_partition`.
        """
        if self._current is None:
            self._current = StickyPartitionInfo(self.next_partition(cluster))
        return self._current

    def is_changed(self, info: StickyPartitionInfo | None) -> bool:
        """Return whether ``info`` is stale; False for None. Mirrors ``isPartitionChanged``."""
        return info is not None and info is not self._current

    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        """Add ``appended_bytes``, an int32, to ``info``, and switch if that is enough.

        Raises as :meth:`next_partition`; the bytes are added by then. Mirrors ``updatePartitionInfo``.
        """
        if info is None:
            return
        info.produced = int32(info.produced + appended_bytes)
        enough = enable_switch and info.produced >= self._batch_size
        if enough or info.produced >= int32(2 * self._batch_size):
            self._current = StickyPartitionInfo(self.next_partition(cluster))

    def next_partition(self, cluster: Cluster) -> int:
        """Choose a partition, an int32, by one draw. Mirrors the private ``nextPartition(Cluster)``.

        Raises DrawsExhausted, ArithmeticException and ArrayIndexOutOfBoundsException, the last two as described above.
        """
        number = to_positive(self._draws.next())
        table = self._rack_table or self._table
        if table is not None:
            return table.partition(number)
        return pick(number, self._nearby(cluster) or cluster.available, len(cluster.partitions))

    def load(
        self,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        racks: Sequence[str | None] | None = None,
        length: int = 0,
    ) -> int | None:
        """Load queue sizes, int32, one per partition; the first ``length`` count, the others are left out.

        ``partition_ids`` and ``racks`` are those partitions and the racks of their leaders; racks are read only by a
        rack-aware partitioner. Returns the end of the range that draws are mapped to, or None without statistics.
        Mirrors ``updatePartitionLoadStats`` followed by ``loadStatsRangeEnd``.

        Raises ArrayIndexOutOfBoundsException if an array is shorter than what is read of it, NullPointerException if
        racks are needed and None; the statistics loaded before stay.
        """
        if queue_sizes is None or length < 1 or len(queue_sizes) < 2:
            self._table = self._rack_table = None
            return None
        if length > len(queue_sizes):
            raise ArrayIndexOutOfBoundsException
        sizes = queue_sizes[:length]
        if length == len(queue_sizes) and min(sizes) == max(sizes):
            self._table = self._rack_table = None
            return None
        self._rack_table = self._table_of_my_rack(sizes, partition_ids, racks) if self._rack_aware else None
        self._table = LoadTable(_fold(sizes, max(sizes)), tuple(partition_ids))
        return self._table.range_ends[-1]

    def _nearby(self, cluster: Cluster) -> list[Partition]:
        if not self._rack_aware:
            return []
        return [p for p in cluster.available if p.leader is not None and cluster.racks.get(p.leader) == self._rack]

    def _table_of_my_rack(
        self, sizes: Sequence[int], partition_ids: Sequence[int], racks: Sequence[str | None] | None
    ) -> LoadTable | None:
        if racks is None:
            raise NullPointerException
        mine = [place for place in range(len(sizes)) if _at(racks, place) == self._rack]
        if not mine:
            return None
        my_sizes = [sizes[place] for place in mine]
        my_ids = [_at(partition_ids, place) for place in mine]
        zeros = [0] * (len(sizes) - len(mine))
        return LoadTable(_fold(my_sizes, max(-1, *my_sizes)), (*my_ids, *zeros))


def binary_search(values: Sequence[int], wanted: int) -> int:
    """Return the index of ``wanted`` in ``values``, or ``-place - 1`` with the place to insert it.

    Mirrors ``java.util.Arrays.binarySearch(int[], int, int, int)`` step by step, so also on values that do not ascend.
    """
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        if values[middle] == wanted:
            return middle
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -low - 1


def _fold(sizes: Sequence[int], biggest: int) -> tuple[int, ...]:
    return tuple(int32(total) for total in accumulate(biggest + 1 - size for size in sizes))


def _at(array: Sequence[_T], place: int) -> _T:
    if not 0 <= place < len(array):
        raise ArrayIndexOutOfBoundsException
    return array[place]
