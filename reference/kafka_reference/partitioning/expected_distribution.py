"""The exact distribution of records without a key that each release's rule predicts, computed without sending any.

The loop is that of ``keyless_distribution``. Chances and shares are fractions that follow from the rule:

============== =========================================================================================================
built-in       Independent visits, to i with chance w(i), or by the weights of the table of queue sizes. A visit ends when
               batch_records are sent and no batch is open: after batch_records records, or, if batches are drained every
               d < batch_records, in whole batches, ceil(batch_records / d) * d records. That is less than twice
               batch_records, so the cap of BuiltInPartitioner never applies: only records with a key could reach it.
sticky         A Markov chain of visits. A draw falls on place i with chance w(i), and is repeated while it is the place
               being left: from i to j with w(j) / (1 - w(i)). The chain is reversible, and visits i in proportion to
               w(i) * (1 - w(i)). A visit to i takes min(batch_records, drain_after(i)) records. While no partition is
               available a partition may follow itself, and visits are independent.
counter        Each partition in turn, the same number of records, but for the last, incomplete turn. If every record
               begins a batch and is counted twice (2.4.0 to 3.9.1, KAFKA-9965), each *second* place in turn: with an even
               number of partitions one half gets everything.
============== =========================================================================================================

w is not quite uniform: ``(draw & 0x7fffffff) % n`` favours the first 2^31 mod n places by one in 2^31.

A share of records is the share of visits times the records of one visit, over the sum of all.

These are consequences of ``keyless_distribution``, not code of Kafka's; the command ``skew`` and tests compare Java's
counts with them by chi-square.
"""

# unreached file: consequences for reports, which tests compare with Java's counts
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from kafka_reference.errors import QuestionError
from kafka_reference.partitioning.behaviour import (
    DefaultPartitionerBehaviour,
    PartitionerBehaviour,
    RoundRobinPartitionerBehaviour,
)
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyless_distribution import check_arguments
from kafka_reference.releases import Release

__all__ = ["Turns", "Visits", "expected"]


@dataclass(frozen=True, slots=True)
class Turns:
    """One partition after the other, round and round: only the start is random.

    (A counter that passes 2^31-1 continues at 0, which breaks one turn in the middle.)
    """

    ids: tuple[int, ...]

    @property
    def shares(self) -> dict[int, Fraction]:
        """The share of records, by partition id."""
        return dict.fromkeys(self.ids, Fraction(1, len(self.ids)))


@dataclass(frozen=True, slots=True)
class Visits:
    """Visits, one after another: by partition id the chance of a draw, and the records that one visit takes.

    ``repeats`` is True if a partition may follow itself; otherwise the draw is repeated until it does not.
    """

    chances: dict[int, Fraction]
    lengths: dict[int, int]
    repeats: bool

    @property
    def frequencies(self) -> dict[int, Fraction]:
        """The share of visits, in the long run."""
        weights = {i: w if self.repeats else w * (1 - w) for i, w in self.chances.items()}
        return {i: weight / sum(weights.values()) for i, weight in weights.items()}

    @property
    def shares(self) -> dict[int, Fraction]:
        """The share of records, in the long run."""
        records = {i: often * self.lengths[i] for i, often in self.frequencies.items()}
        return {i: part / sum(records.values()) for i, part in records.items()}


def expected(
    partitioner: str,
    version: str | Release,
    cluster: Cluster,
    *,
    batch_records: int,
    drain_after: Sequence[int | None] | None = None,
    queue_sizes: Sequence[int] | None = None,
) -> Turns | Visits:
    """Return the distribution that the rule predicts; the arguments are those of ``keyless_distribution.distribute``.

    Raises NotInThisRelease; QuestionError for a topic without partitions, and where there is no closed form: round robin,
    2.4.0 to 3.9.1, if some records begin a batch and others do not.
    """
    check_arguments(partitioner, version, cluster, batch_records, drain_after, queue_sizes)
    ids = tuple(p.id for p in cluster.available) or tuple(range(len(cluster.partitions)))
    if not ids or len(set(ids)) < len(ids):
        raise QuestionError("a distribution needs partitions, each with an id of its own")
    ages = dict(zip((p.id for p in cluster.partitions), drain_after or [None] * len(cluster.partitions), strict=True))
    lengths = {i: min(batch_records, ages.get(i) or batch_records) for i in ids}
    if partitioner == "builtin":
        return _built_in(cluster, ids, lengths, batch_records, queue_sizes)
    if partitioner == "round-robin":
        return Turns(_every_second(ids, lengths) if _counts_twice(version) else ids)
    if partitioner == "default" and not DefaultPartitionerBehaviour.of(version).sticks_without_key:
        return Turns(ids)
    chances = _chances([1] * len(ids))
    return Visits(dict(zip(ids, chances, strict=True)), lengths, repeats=len(ids) == 1 or not cluster.available)


def _built_in(
    cluster: Cluster,
    ids: tuple[int, ...],
    lengths: dict[int, int],
    batch_records: int,
    queue_sizes: Sequence[int] | None,
) -> Visits:
    stays = {i: -(-batch_records // length) * length for i, length in lengths.items()}
    weights = [1] * len(ids)
    if queue_sizes is not None and len(queue_sizes) > 1 and cluster.available:
        sizes = [size for size, p in zip(queue_sizes, cluster.partitions, strict=True) if p.leader is not None]
        weights = [max(sizes) + 1 - size for size in sizes]
        if min(sizes) < 0 or sum(weights) >= 2**31:
            raise QuestionError("no closed form for queue sizes below 0, or whose sums are no int")
    return Visits(dict(zip(ids, _chances(weights), strict=True)), stays, repeats=True)


def _counts_twice(version: str | Release) -> bool:
    """Return whether the counter of round robin moves twice for a record that begins a batch."""
    keeps = RoundRobinPartitionerBehaviour.of(version).new_batch_keeps_partition
    return PartitionerBehaviour.of(version).has_on_new_batch and not keeps


def _every_second(ids: tuple[int, ...], lengths: dict[int, int]) -> tuple[int, ...]:
    """Return the places 1, 3, 5, …: ``partition()`` is called twice for each record, and the second result counts."""
    if any(length > 1 for length in lengths.values()):
        raise QuestionError(
            "round robin counts twice where a batch begins: no closed form unless every record begins one"
        )
    return tuple(dict.fromkeys(ids[(2 * turn + 1) % len(ids)] for turn in range(len(ids))))


def _chances(weights: Sequence[int]) -> list[Fraction]:
    """Return the chance that ``(draw & 0x7fffffff) % sum(weights)`` falls on each place, over all draws."""
    total = sum(weights)
    rounds, rest = divmod(2**31, total)
    below = [rounds * end + min(rest, end) for end in (0, *accumulate(weights))]
    return [Fraction(upper - lower, 2**31) for lower, upper in pairwise(below)]
