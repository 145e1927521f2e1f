"""The rule ``producer-partition``: what ``KafkaProducer`` itself says before anything is appended.

``{"record": {"partition", "key"}, "config": {"ignore_keys", "partitioner"}, "cluster": C}`` gives ``{"partition": n}``,
where -1 is UNKNOWN_PARTITION, or raises. Before 3.3 a record without a key consumes one draw: ``"draws": [int32]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Hex, Int32, Question
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters, to_reference
from kafka_conformance.rules.common.keys import small_keys
from kafka_reference.partitioning.producer import CustomPartitioner, choose_partition
from kafka_reference.releases import Release, since

__all__ = ["RULE", "ProducerPartitionQuestion"]


class AskedRecord(Question, frozen=True):
    """The partition named in the record, or null, and the serialized key, or null."""

    partition: Int32 | None = None
    key: Hex | None = None


class AskedPartitioner(Question, frozen=True):
    """A plugged partitioner, by what it returns."""

    returns: Int32


class AskedConfig(Question, frozen=True):
    """``partitioner.ignore.keys`` and ``partitioner.class``."""

    ignore_keys: bool = False
    partitioner: AskedPartitioner | None = None


class ProducerPartitionQuestion(Question, frozen=True, omit_defaults=True):
    """A record, a configuration, a cluster, and the draws for releases that take one."""

    record: AskedRecord
    config: AskedConfig
    cluster: AskedCluster
    draws: tuple[Int32, ...] = ()


def _ask(question: ProducerPartitionQuestion, at: Release) -> Answer:
    record, config = question.record, question.config
    chosen = choose_partition(
        partition=record.partition,
        key=None if record.key is None else bytes.fromhex(record.key),
        cluster=to_reference(question.cluster),
        ignore_keys=config.ignore_keys,
        partitioner=None if config.partitioner is None else CustomPartitioner(config.partitioner.returns),
        draws=question.draws,
        version=at,
    )
    return {"partition": chosen}


def _labels(question: ProducerPartitionQuestion) -> Iterator[str]:
    record, config = question.record, question.config
    known = {partition.id for partition in question.cluster.partitions}
    if record.partition is not None:
        yield (
            "explicit, negative"
            if record.partition < 0
            else "explicit"
            if record.partition in known
            else "explicit, not there"
        )
    elif config.partitioner is not None:
        yield "plugged, negative" if config.partitioner.returns < 0 else "plugged"
    elif record.key is None:
        yield "no key"
    else:
        yield "keyed, ignore_keys" if config.ignore_keys else "empty key" if not record.key else "keyed"
    if not known:
        yield "no partitions"
    elif not any(partition.leader is not None for partition in question.cluster.partitions):
        yield "no leader"


_NODES = (AskedNode(0), AskedNode(1, "a"))
_CLUSTERS = tuple(
    AskedCluster(_NODES, tuple(AskedPartition(number, leader) for number, leader in layout))
    for layout in ((), ((0, None),), ((0, 0), (1, None), (2, 1)), ((5, None), (3, 1)))
)


def _combinations() -> Iterator[ProducerPartitionQuestion]:
    partitions = (None, -(2**31), -1, 0, 2, 3, 2**31 - 1)
    plugs = (None, -(2**31), -1, 0, 7)
    for partition, key, ignore, returns, cluster, draw in product(
        partitions, (None, "", "80", "616263"), (False, True), plugs, _CLUSTERS, (0, -1, 2**31 - 1)
    ):
        plugged = None if returns is None else AskedPartitioner(returns)
        yield ProducerPartitionQuestion(AskedRecord(partition, key), AskedConfig(ignore, plugged), cluster, (draw,))


_INTS = st.integers(-(2**31), 2**31 - 1)
_CLUSTER = clusters()
_EXPLICIT = st.one_of(st.none(), st.none(), st.integers(-2, 6), _INTS)
_KEY = st.one_of(st.none(), small_keys().map(bytes.hex))
_CONFIG = st.builds(
    AskedConfig,
    st.booleans(),
    st.one_of(st.none(), st.none(), st.integers(-3, 9).map(AskedPartitioner), _INTS.map(AskedPartitioner)),
)
_QUESTIONS = st.builds(
    ProducerPartitionQuestion, st.builds(AskedRecord, _EXPLICIT, _KEY), _CONFIG, _CLUSTER, st.tuples(_INTS)
)

RULE = Rule(
    slug="producer-partition",
    title="KafkaProducer's own choice, before appending",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=ProducerPartitionQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=(Space("explicit × key × ignore_keys × plugged × four clusters × three draws", _combinations),),
    labels=_labels,
    path=lambda question: next(_labels(question)),
    required_labels=frozenset(
        {"explicit", "explicit, negative", "explicit, not there", "plugged", "plugged, negative", "no key", "empty key"}
        | {"keyed", "keyed, ignore_keys", "no partitions", "no leader"}
    ),
    java=((since("0.10.0.0"), "kafkaoracle.producer_partition.ProducerPartitionRule"),),
    source="KafkaProducer.partition(ProducerRecord, byte[], byte[], Cluster)",
    harness=(
        "Only the private method partition of a closed KafkaProducer is called, with a serialized key; each question "
        "gives the producer a new default partitioner, and the draw or the start of the counter."
    ),
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794",
        "https://issues.apache.org/jira/browse/KAFKA-7572",
    ),
)
