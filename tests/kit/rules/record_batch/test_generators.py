"""Generated questions: they reach the kinds of question that are required, and make Java allocate little."""

from __future__ import annotations

from contextlib import suppress

from questions import generated

from kafka_conformance.core.sources import collect
from kafka_conformance.rules.record_batch.generators import MARKER_KEYS, MARKER_VALUES, ODD_VARINTS
from kafka_conformance.rules.record_batch.labels import labels
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_reference.record_batch import decode_batches
from kafka_reference.record_batch.varints import read_varint

_MOST_RECORDS = 1 << 16


def questions() -> tuple[RecordBatchQuestion, ...]:
    return generated(RULE.slug, 600)


def test_generated_record_batch_questions_are_equal_for_equal_seed() -> None:
    assert collect(RULE, 40, 7) == collect(RULE, 40, 7)


def test_record_batch_hypothesis_strategy_misses_at_most_five_required_labels() -> None:
    found = {label for question in questions() for label in labels(question)}
    assert len(found) >= len(RULE.required_labels) - 5
    assert found <= RULE.required_labels


def test_generated_record_batch_questions_have_over_50_of_each_operation_and_decode_most_often() -> None:
    sorts = [
        sum(getattr(question, name) is not None for question in questions())
        for name in ("encode", "compress", "decode")
    ]
    assert min(sorts) > 50
    assert sorts[2] == max(sorts), "mostly bytes to read"


def test_generated_compressed_batch_declares_at_most_65536_records() -> None:
    declared = []
    for question in questions():
        # A header that cannot be read, or no batch, ends it.
        with suppress(Exception):
            for batch in decode_batches(bytes.fromhex(question.decode or "")):
                if batch.magic == 2 and batch.attributes & 7:
                    declared.append(batch.record_count)  # noqa: PERF401  until one cannot be read
    assert len(declared) > 10
    assert all(count is not None and count <= _MOST_RECORDS for count in declared)


def test_distinct_unusual_varints_include_0_1_5_and_10_bytes_and_complete_short_decode() -> None:
    assert {len(odd) for odd in ODD_VARINTS} >= {0, 1, 2, 3, 5, 6, 10}
    assert len(set(ODD_VARINTS)) == len(ODD_VARINTS)
    readable = [odd for odd in ODD_VARINTS if odd and len(odd) <= 5 and odd[-1] < 0x80]
    assert all(read_varint(odd, 0)[1] == len(odd) for odd in readable)


def test_control_record_keys_and_values_have_valid_and_invalid_lengths() -> None:
    assert {len(key) for key in MARKER_KEYS} == {0, 1, 3, 4, 5}
    assert {len(value) for value in MARKER_VALUES} >= {0, 1, 2, 5, 6, 7, 8}


def test_generated_timestamps_offsets_and_producers_vary_in_bit_length() -> None:
    batches = [batch for one in questions() if (batch := one.encode or one.compress) is not None]
    stamps = {int(record.timestamp) for batch in batches for record in batch.records}
    assert {stamp % 10 for stamp in stamps} == set(range(10))
    assert len({stamp.bit_length() for stamp in stamps}) > 25
    assert len({int(batch.base_offset).bit_length() for batch in batches}) > 15
    producers = [batch.producer for batch in batches if batch.producer is not None]
    assert len({int(producer.id).bit_length() for producer in producers}) > 12
    assert len({producer.first_sequence.bit_length() for producer in producers}) > 10
    assert len({producer.epoch.bit_length() for producer in producers}) > 8
    assert len({batch.leader_epoch.bit_length() for batch in batches}) > 15
