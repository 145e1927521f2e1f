"""The rule ``partition-for-key``: the partition of a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Columns, Rule, Space
from kafka_conformance.rules.common.keys import HASHES, REQUIRED_LABELS, every_tail, key_labels, key_with_hash, keys
from kafka_conformance.rules.partition_for_key.domain import domain, nearest, plain
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.java.int32 import INT_MAX, INT_MIN
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.releases import Release, since

__all__ = ["RULE"]

# Numbers of partitions at which ports differ: powers of two hide a wrong sign, odd numbers show it.
_COUNTS = (1, 2, 3, 12, 1000, INT_MAX)
_ODD_COUNTS = (0, -1, -7, -INT_MAX, INT_MIN)


def _ask(question: PartitionForKeyQuestion, _: Release) -> Answer:
    key = None if question.key is None else bytes.fromhex(question.key)
    return {"partition": partition_for_key(key, question.partitions)}  # type: ignore[arg-type]


def _question(key: bytes | None, partitions: int) -> PartitionForKeyQuestion:
    return PartitionForKeyQuestion(None if key is None else key.hex(), partitions)


def _labels(question: PartitionForKeyQuestion) -> Iterator[str]:
    yield from key_labels(None if question.key is None else bytes.fromhex(question.key))
    count = question.partitions
    if count == 0:
        yield "no partitions"
    elif count < 0:
        yield "negative count"
    else:
        yield "one partition" if count == 1 else "several"
    if abs(count) >= INT_MAX:
        yield "count at the end of the ints"


def _edges() -> Iterator[PartitionForKeyQuestion]:
    edge_keys = [None, b"", b"\x80", *(key_with_hash(b"", hashed) for hashed in HASHES)]
    for count in (*_COUNTS, *_ODD_COUNTS):
        yield from (_question(key, count) for key in edge_keys)
    yield from (_question(key, 12) for key in every_tail())
    yield from (_question(b"\x80\xff", count) for count in range(1, 1025))


def _column(offsets: Any, data: Any, partitions: int) -> Any:
    from kafka_reference import bulk

    return bulk.partition_for_key_columns(offsets, data, partitions)


_counts = st.one_of(
    st.integers(1, 64), st.integers(1, INT_MAX), st.sampled_from((*_COUNTS, *_ODD_COUNTS)), st.integers(INT_MIN, -1)
)

RULE = Rule(
    slug="partition-for-key",
    title="the partition of a key",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=PartitionForKeyQuestion,
    ask=_ask,
    strategy=lambda: st.builds(_question, st.one_of(keys(), st.none()), _counts),
    spaces=(Space("edge keys × edge counts; every tail over 12; one key over every count 1-1024", _edges),),
    labels=_labels,
    required_labels=REQUIRED_LABELS
    | {"no partitions", "negative count", "one partition", "several", "count at the end of the ints"},
    domain=domain,
    nearest=nearest,
    plain=plain,
    java=(
        (since("3.3.0"), "kafkaoracle.partition_for_key.PartitionForKeyRule"),
        (since("0.10.0.0", until="3.2.x"), "kafkaoracle.partition_for_key.PartitionForKeyByDefaultPartitioner"),
    ),
    source="BuiltInPartitioner.partitionForKey(byte[], int) since 3.3.0, before that DefaultPartitioner.partition",
    harness=(
        "Since 3.3.0 none. Up to 3.2.x DefaultPartitioner.partition is called over a list of partitions of the kit's, "
        "which has any size, and a null key is put to Utils.murmur2."
    ),
    links=("https://cwiki.apache.org/confluence/display/KAFKA/KIP-794",),
    columns=Columns((12, 1000), _column, partition_for_key, _question, "partition"),
)
