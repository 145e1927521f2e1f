"""Generated questions: they reach the kinds of question that are required, and make Java allocate little."""

from __future__ import annotations

from functools import cache

from kafka_conformance.core.sources import collect
from kafka_conformance.rules.record_batch.generators import MARKER_KEYS, MARKER_VALUES, ODD_VARINTS
from kafka_conformance.rules.record_batch.labels import labels
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_reference.record_batch import decode_batches
from kafka_reference.record_batch.varints import read_varint

_MOST_RECORDS = 1 << 16


@cache
def questions() -> tuple[RecordBatchQuestion, ...]:
    return tuple(collect(RULE, 600, 7))  # type: ignore[arg-type]


def test_the_same_seed_generates_the_same() -> None:
    assert collect(RULE, 40, 7) == collect(RULE, 40, 7)


def test_most_kinds_of_question_are_generated() -> None:
    found = {label for question in questions() for label in labels(question)}
    assert len(found) >= len(RULE.required_labels) - 5
    assert found <= RULE.required_labels


def test_each_sort_of_question_is_generated() -> None:
    sorts = [
        sum(getattr(question, name) is not None for question in questions())
        for name in ("encode", "compress", "decode")
    ]
    assert min(sorts) > 50
    assert sorts[2] == max(sorts), "mostly bytes to read"


def test_a_compressed_batch_counts_no_more_records_than_java_has_memory_for() -> None:
    for question in questions():
        data = bytes.fromhex(question.decode or "")
        try:
            for batch in decode_batches(data):
                if batch.magic == 2 and batch.attributes & 7:
                    assert batch.record_count is not None
                    assert batch.record_count <= _MOST_RECORDS
        except Exception:  # noqa: BLE001, S112  a header that cannot be read, or no batch
            continue


def test_odd_varints_are_of_every_length() -> None:
    assert {len(odd) for odd in ODD_VARINTS} >= {0, 1, 2, 3, 5, 6, 10}
    assert len(set(ODD_VARINTS)) == len(ODD_VARINTS)
    readable = [odd for odd in ODD_VARINTS if odd and len(odd) <= 5 and odd[-1] < 0x80]
    assert all(read_varint(odd, 0)[1] == len(odd) for odd in readable)


def test_markers_are_right_and_wrong() -> None:
    assert {len(key) for key in MARKER_KEYS} == {0, 1, 3, 4, 5}
    assert {len(value) for value in MARKER_VALUES} >= {0, 1, 2, 5, 6, 7, 8}


def test_timestamps_to_encode_are_of_every_size_and_last_digit() -> None:
    batches = [batch for one in questions() if (batch := one.encode or one.compress) is not None]
    stamps = {int(record.timestamp) for batch in batches for record in batch.records}
    assert {stamp % 10 for stamp in stamps} == set(range(10))
    assert len({stamp.bit_length() for stamp in stamps}) > 25
    assert len({int(batch.base_offset).bit_length() for batch in batches}) > 20
    producers = [batch.producer for batch in batches if batch.producer is not None]
    assert len({int(producer.id).bit_length() for producer in producers}) > 12
    assert len({producer.first_sequence.bit_length() for producer in producers}) > 10
    assert len({producer.epoch.bit_length() for producer in producers}) > 8
    assert len({batch.leader_epoch.bit_length() for batch in batches}) > 15
