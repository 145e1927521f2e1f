"""What a consumer delivers of a fetch response: offsets, positions, aborted transactions, exceptions by release."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.consumer import AbortedTransaction, FetchOutcome, consume_fetch
from kafka_reference.record_batch import (
    Codec,
    EndTransactionMarker,
    NewBatch,
    NewRecord,
    encode_batch,
    encode_end_marker,
)

_CRC, _COUNT, _HEADER = 20, 60, 61


def batch(base_offset: int, count: int, **fields: Any) -> bytes:
    records = [NewRecord(0, b"k", b"v") for _ in range(count)]
    return encode_batch(NewBatch(records=records, base_offset=base_offset, **fields))


def transactional(base_offset: int, count: int, producer: int) -> bytes:
    owner = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0}
    return batch(base_offset, count, transactional=True, **owner)


def marker(base_offset: int, producer: int, *, commit: bool) -> bytes:
    record = NewRecord(0, *encode_end_marker(EndTransactionMarker(commit, 0)))
    owner: dict[str, Any] = {"producer_id": producer, "producer_epoch": 0, "transactional": True, "control": True}
    return encode_batch(NewBatch(records=[record], base_offset=base_offset, **owner))


def damaged(data: bytes) -> bytes:
    return data[:_CRC] + bytes((data[_CRC] ^ 1,)) + data[_CRC + 1 :]


def emptied(data: bytes) -> bytes:
    """The batch as compaction leaves it when it removes all records; its CRC is that of the batch before."""
    size = (_HEADER - 12).to_bytes(4, "big")
    return data[:8] + size + data[12 : _COUNT - 3] + bytes(4)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("offset", [10, 12, 14])
def test_fetch_at_offset_within_a_batch_skips_records_below_the_offset(codec: Codec, offset: int) -> None:
    data = batch(10, 4, codec=codec) + batch(14, 1, codec=codec)
    assert consume_fetch(data, offset) == FetchOutcome(tuple(range(offset, 15)), 15)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_message_formats_0_and_1_deliver_absolute_offsets(magic: int, codec: Codec) -> None:
    data = batch(10, 4, magic=magic, codec=codec)
    assert consume_fetch(data, 12) == FetchOutcome((12, 13), 14)


def test_batch_emptied_by_compaction_moves_the_position_behind_the_batch() -> None:
    data = emptied(batch(4, 3))
    assert consume_fetch(data, 5, check_crcs=False) == FetchOutcome((), 7)
    assert consume_fetch(batch(3, 1) + data, 3, check_crcs=False) == FetchOutcome((3,), 7)


def test_control_records_are_never_delivered_at_either_isolation_level() -> None:
    data = transactional(0, 2, 7) + marker(2, 7, commit=True) + batch(3, 1)
    for committed in (False, True):
        assert consume_fetch(data, 0, read_committed=committed) == FetchOutcome((0, 1, 3), 4)


def test_aborted_transaction_is_skipped_until_the_marker_with_read_committed() -> None:
    data = transactional(0, 2, 7) + transactional(2, 1, 8) + marker(3, 7, commit=False) + transactional(4, 1, 7)
    aborted = (AbortedTransaction(7, 0),)
    assert consume_fetch(data, 0, read_committed=True, aborted=aborted) == FetchOutcome((2, 4), 5)
    assert consume_fetch(data, 0, aborted=aborted) == FetchOutcome((0, 1, 2, 4), 5)
    assert consume_fetch(data, 0, read_committed=True) == FetchOutcome((0, 1, 2, 4), 5)


def test_aborted_transactions_in_descending_order_hide_records_like_ascending() -> None:
    first = transactional(0, 1, 7) + marker(1, 7, commit=False)
    data = first + transactional(2, 1, 7) + marker(3, 7, commit=False)
    for aborted in ([(7, 0), (7, 2)], [(7, 2), (7, 0)]):
        entries = tuple(AbortedTransaction(*each) for each in aborted)
        assert consume_fetch(data, 0, read_committed=True, aborted=entries) == FetchOutcome((), 4)


def test_commit_marker_does_not_end_an_aborted_transaction() -> None:
    data = marker(4, 7, commit=True) + transactional(5, 1, 7)
    outcome = consume_fetch(data, 4, read_committed=True, aborted=(AbortedTransaction(7, 3),))
    assert outcome == FetchOutcome((), 6)


def test_polls_deliver_records_before_wrong_crc_then_throw_only_if_crcs_are_checked() -> None:
    data = batch(0, 2) + damaged(batch(2, 1))
    kafka = "KafkaException"
    assert consume_fetch(data, 0) == FetchOutcome((0, 1), 2, kafka, kafka, kafka)
    assert consume_fetch(data, 0, check_crcs=False) == FetchOutcome((0, 1, 2), 3)


def test_fetch_response_without_a_complete_batch_throws_unless_empty() -> None:
    assert consume_fetch(b"", 5) == FetchOutcome((), 5)
    assert consume_fetch(batch(0, 1)[:-1], 0).thrown == "KafkaException"


@pytest.mark.parametrize(("release", "position"), [("2.2.2", 3), ("2.3.0", 9)])
def test_batches_below_the_position_move_the_position_back_up_to_2_2(release: str, position: int) -> None:
    assert consume_fetch(batch(0, 3), 9, release=release) == FetchOutcome((), position)


@pytest.mark.parametrize(("release", "thrown"), [("2.0.0", "KafkaException"), ("2.0.1", None)])
def test_empty_control_batch_throws_with_read_committed_up_to_2_0_0(release: str, thrown: str | None) -> None:
    data = emptied(marker(0, 7, commit=False)) + batch(1, 1)
    outcome = consume_fetch(data, 0, read_committed=True, check_crcs=False, release=release)
    assert outcome.thrown == thrown
    assert outcome.position == (2 if thrown is None else 0)
    assert consume_fetch(data, 0, check_crcs=False, release=release) == FetchOutcome((1,), 2)


@pytest.mark.parametrize(
    ("release", "position", "thrown"), [("2.2.2", 4, "KafkaException"), ("2.3.0", 5, None), ("4.4.0", 5, None)]
)
def test_damaged_batch_after_delivered_records_below_fetch_offset_throws_up_to_2_2(
    release: str, position: int, thrown: str | None
) -> None:
    data = transactional(0, 2, 7) + batch(2, 2) + damaged(batch(4, 1))
    aborted = (AbortedTransaction(7, 0),)
    outcome = consume_fetch(data, 5, read_committed=True, aborted=aborted, release=release)
    assert outcome == FetchOutcome((2, 3), position, thrown, thrown, thrown)
