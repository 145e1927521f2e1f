from __future__ import annotations

import pytest

from kafka_reference.accumulator.pool import BufferPool
from kafka_reference.errors import (
    BufferExhaustedException,
    IllegalArgumentException,
    JavaException,
    KafkaException,
    TimeoutException,
)


def test_free_batch_size_buffers_are_released_for_a_larger_allocation() -> None:
    pool = BufferPool("4.4.0", 300, 100)
    pool.allocate(100)
    pool.allocate(100)
    pool.deallocate(100)
    pool.deallocate(100)
    assert pool.available == 300
    pool.allocate(250)
    assert pool.available == 50
    pool.deallocate(250)
    pool.allocate(100)
    assert pool.available == 200


@pytest.mark.parametrize(("version", "raised"), [("2.5.1", TimeoutException), ("2.6.0", BufferExhaustedException)])
def test_allocation_beyond_free_memory_throws_timeout_before_2_6_and_buffer_exhausted_since(
    version: str, raised: type[JavaException]
) -> None:
    pool = BufferPool(version, 150, 100)
    pool.allocate(100)
    with pytest.raises(raised):
        pool.allocate(100)
    assert pool.available == 50


def test_allocation_larger_than_buffer_memory_throws_illegal_argument() -> None:
    with pytest.raises(IllegalArgumentException):
        BufferPool("4.4.0", 150, 100).allocate(151)


def test_closed_buffer_pool_refuses_allocation_since_2_4() -> None:
    for version in ("2.3.1", "2.4.0"):
        pool = BufferPool(version, 150, 100)
        pool.close()
        if version == "2.3.1":
            pool.allocate(100)
        else:
            with pytest.raises(KafkaException):
                pool.allocate(100)
