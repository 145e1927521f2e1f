"""Rules that are as good as a present one, in its place."""

from __future__ import annotations

import audit_truth
import numpy as np
import pyarrow as pa

from kafka_conformance.audit.attribution.alternatives import contenders
from kafka_conformance.audit.initial_sample import look
from kafka_conformance.audit.result import Placed

JAVA = Placed("murmur2", 12)
KEYS = [b"customer-%d" % number for number in range(600)]


def topic(rules: dict[str, int], partitions: int = 12) -> pa.Table:
    """Return a topic in which these rules, each with its number of keys, have placed keys one after another."""
    slugs = [slug for slug, count in rules.items() for _ in range(count)]
    keys = KEYS[: len(slugs)]
    where = [audit_truth.place(slug, key, partitions) for slug, key in zip(slugs, keys, strict=True)]
    return pa.table(
        {"partition": np.array(where, np.int32), "offset": np.arange(len(keys)), "key": pa.array(keys, pa.binary())}
    )


def column(rows: pa.Table, partitions: int = 12) -> audit_truth.KeyColumn:
    return audit_truth.column(rows["key"].to_pylist(), rows["partition"].to_numpy(), partitions)


def test_crc32_variant_is_first_alternative_to_wrongly_named_crc32_and_none_remains_if_named() -> None:
    keys = column(topic({"murmur2": 500, "crc32-floor-mod": 60}))
    named = (JAVA, Placed("librdkafka-consistent", 12))
    assert contenders(keys, named, JAVA)[0] == "crc32-floor-mod"
    assert contenders(keys, (JAVA, Placed("crc32-floor-mod", 12)), JAVA) == ()


def test_topic_fully_explained_by_murmur2_has_no_alternative_partitioner() -> None:
    assert contenders(column(topic({"murmur2": 500})), (JAVA,), JAVA) == ()
    assert contenders(column(topic({"murmur2": 500})), (), JAVA) == ()


def test_rare_crc32_variant_is_named_instead_of_the_common_crc32_partitioner() -> None:
    """Part of what it places is where sarama's CRC32 would put it."""
    found = look(topic({"murmur2": 560, "crc32-floor-mod": 40}), 12, JAVA)
    assert found.known == (JAVA, Placed("crc32-floor-mod", 12))
