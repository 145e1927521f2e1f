"""The rule ``sticky-distribution``: where many records without a key go, with the producer's loop around the partitioner.

::

    {"partitioner": "default" | "uniform-sticky" | "round-robin" | "builtin", "seed": 7, "cluster": C,
     "records": 300, "batch_records": 16, "drain_after": [4, null, …] or null, "queue_sizes": [0, 5, …] or null}

    {"counts": [[partition id, records], …], "switches": 75}

The loop is ``kafka_reference.partitioning.spread``'s, and so are the words: a batch is full at ``batch_records``, and
drained before the record that comes ``drain_after`` of the producer's records after the one that opened it. Both lists,
if given, have one entry for each partition. Counts are in the order of ids, without the partitions that got nothing.
``switches`` counts the calls of ``onNewBatch``, or the stays the built-in partitioner ended.

Draw k is ``mix32(seed + k·0x9e3779b97f4a7c15)``, so counts are compared exactly, with nothing left to chance. No release
has all four partitioners but 3.3.0 to 3.9.x: elsewhere a question about one that is not there is *unsupported*, which is
what both sides have to say. Whether the counts are those that the rule predicts is another question, which the command
``skew`` asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from typing import Annotated, Literal, TypeAlias

import msgspec
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Int32, Question
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.clusters import AskedCluster, clusters, to_reference
from kafka_conformance.rules.common.partitioner_steps import EXTREME_SEEDS, Seed
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, cluster_labels
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.keyless_distribution import LARGEST_BATCH, PARTITIONERS, Distribution, distribute
from kafka_reference.releases import Release, since

__all__ = ["RULE", "StickyDistributionQuestion", "answer_of"]

Partitioner: TypeAlias = Literal["default", "uniform-sticky", "round-robin", "builtin"]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Age: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class StickyDistributionQuestion(Question, frozen=True):
    """So many records to one topic, by one producer, at the pace of its brokers."""

    partitioner: Partitioner
    seed: Seed
    cluster: AskedCluster
    records: Count
    batch_records: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_BATCH)]
    drain_after: tuple[Age | None, ...] | None = None
    queue_sizes: tuple[Int32, ...] | None = None

    def __post_init__(self) -> None:
        if not -(2**63) <= int(self.seed) < 2**63:
            raise ValueError("the seed is no int64")
        for name, given in (("drain_after", self.drain_after), ("queue_sizes", self.queue_sizes)):
            if given is not None and len(given) != len(self.cluster.partitions):
                raise ValueError(f"{name} has {len(given)} entries for {len(self.cluster.partitions)} partitions")


def answer_of(found: Distribution) -> Answer:
    """The answer's fields."""
    return {"counts": [[partition, n] for partition, n in sorted(found.counts.items())], "switches": found.switches}


def _ask(question: StickyDistributionQuestion, at: Release) -> Answer:
    return answer_of(
        distribute(
            question.partitioner,
            at,
            to_reference(question.cluster),
            SeededDraws(int(question.seed)),
            records=question.records,
            batch_records=question.batch_records,
            drain_after=question.drain_after,
            queue_sizes=question.queue_sizes,
        )
    )


def _labels(question: StickyDistributionQuestion) -> Iterator[str]:
    yield question.partitioner
    yield from cluster_labels(question.cluster, ())
    if question.records > 1:
        yield "one record" if question.batch_records == 1 else "batches fill" if _fills(question) else "no batch fills"
    ages = {age for age in question.drain_after or () if age is not None and age < question.batch_records}
    if ages:
        yield "every batch is drained at once" if ages == {1} else "batches are drained"
    if question.drain_after is not None and len(set(question.drain_after)) > 1:
        yield "partitions at different paces"
    if question.partitioner == "builtin" and question.queue_sizes is not None:
        yield "queue sizes known"


def _fills(question: StickyDistributionQuestion) -> bool:
    return question.records >= question.batch_records


def _path(question: StickyDistributionQuestion) -> str:
    """Where releases part ways: at the partitioner, and at a topic without partitions."""
    return question.partitioner if question.cluster.partitions else "a topic without partitions"


def _for_each(cluster: AskedCluster, pattern: Sequence[int | None]) -> tuple[int | None, ...]:
    """One of the pattern for each partition, round and round."""
    return tuple(islice(cycle(pattern), len(cluster.partitions)))


def _small() -> Iterator[StickyDistributionQuestion]:
    paces: tuple[tuple[int | None, ...] | None, ...] = (None, (1,), (1, None), (2, 3), (3, None, 2))
    for partitioner, cluster, batch, pace, sizes in product(
        PARTITIONERS, SMALL_CLUSTERS, (1, 2, 5, 31), paces, (None, (0, 3, 1))
    ):
        drain = None if pace is None else _for_each(cluster, pace)
        queues = None if sizes is None else tuple(islice(sizes, len(cluster.partitions)))
        yield StickyDistributionQuestion(partitioner, 0, cluster, 30, batch, drain, queues)  # type: ignore[arg-type]


# One string of bytes spells everything but the seed and the cluster; bytes shrink towards 0, and 0 is the simplest.
_BATCHES = (16, 1, 2, 3, 4, 5, 7, 8, 16, 16, 100, LARGEST_BATCH)
_AGES = (None, 1, 2, 3, 4, 5, 8, 16, 20, None)
_QUEUES = (0, 1, 0, 5, 2, 9, 100, -1, 2**31 - 1)
_EXACT = 2**53
_SEEDS = st.one_of(st.integers(-_EXACT, _EXACT), st.sampled_from(tuple(EXTREME_SEEDS.values())))
_LETTERS = st.binary(min_size=3, max_size=10)
_RECORDS = st.one_of(st.integers(0, 40), st.integers(0, 250))
_CLUSTERS = st.one_of(clusters(most=8), clusters())


@st.composite
def _questions(draw: st.DrawFn) -> StickyDistributionQuestion:
    partitioner: Partitioner = draw(st.sampled_from(PARTITIONERS))
    cluster, records, seed = draw(_CLUSTERS), draw(_RECORDS), draw(_SEEDS)
    batch, known, *rest = draw(_LETTERS)
    half = len(rest) // 2 + 1
    drain = None if known & 1 else _for_each(cluster, [_AGES[letter % len(_AGES)] for letter in rest[:half]])
    queues = (
        None if known & 2 or not rest[half:] else _for_each(cluster, [_QUEUES[x % len(_QUEUES)] for x in rest[half:]])
    )
    return StickyDistributionQuestion(
        partitioner,
        seed,
        cluster,
        records,
        _BATCHES[batch % len(_BATCHES)],
        drain,
        queues,  # type: ignore[arg-type]
    )


_QUESTIONS = _questions()

RULE = Rule(
    slug="sticky-distribution",
    title="Many records without a key: how each era's partitioner spreads them",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=StickyDistributionQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("four partitioners × five clusters × four batch sizes × five paces × queue sizes or none", _small),),
    labels=_labels,
    path=_path,
    required_labels=frozenset(
        {*PARTITIONERS, "no partitions", "no leader", "some led", "all led", "one record", "batches fill"}
        | {"no batch fills", "every batch is drained at once", "batches are drained", "partitions at different paces"}
        | {"queue sizes known"}
    ),
    java=((since("0.10.0.0"), "kafkaoracle.sticky_distribution.StickyDistributionRule"),),
    source="KafkaProducer.doSend and RecordAccumulator.append, around the real partitioners",
    harness=(
        "The loop of KafkaProducer.doSend and RecordAccumulator.append around Kafka's partitioner is the kit's, with "
        "batches reduced to counts: they are full at a number of records and drained at an age in records."
    ),
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-10888",
        "https://issues.apache.org/jira/browse/KAFKA-9965",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-480%3A+Sticky+Partitioner",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
    ),
)
