from __future__ import annotations

import numpy as np

from kafka_conformance.audit.record_hash import mixed


def test_hash_of_partition_and_offset_equals_xxhash64_with_seed_42() -> None:
    """From the library xxhash, seeded with 42; tests/pipeline asks Spark."""
    partitions, offsets = np.array([0, 1, 11, 3], np.int32), np.array([0, 2, 123_456_789_012, 1 << 62])
    assert mixed(partitions, offsets).tolist() == [
        -2_984_540_310_115_537_990, 2_360_248_972_619_621_018, -4_089_462_490_963_816_914, -7_092_475_919_414_963_189,
    ]  # fmt: skip
