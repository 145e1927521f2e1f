"""Finite spaces: no question twice within one, and each has the questions that its name promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from kafka_conformance.rules.record_batch import codec_spaces, spaces
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_reference.releases import NEWEST

Space = Callable[[], Iterator[RecordBatchQuestion]]


def records(question: RecordBatchQuestion) -> int:
    return sum(
        record is None or "raises" not in record
        for batch in ask(question, NEWEST)["batches"]
        for record in batch["records"]
    )


def test_record_batch_rule_has_all_question_spaces_of_both_modules() -> None:
    defined = {getattr(module, name) for module in (spaces, codec_spaces) for name in module.__all__}
    assert {space.questions for space in RULE.spaces} == defined
    assert len({space.name for space in RULE.spaces}) == len(RULE.spaces)


def test_codec_question_space_has_valid_levels_and_refused_levels_next_to_limits() -> None:
    levels: dict[str, set[int]] = {}
    refused: dict[str, set[int]] = {}
    for question in spaces.every_codec_and_level():
        batch = question.compress
        assert batch is not None
        if batch.level is not None and batch.magic == 2:
            levels.setdefault(batch.compression, set()).add(batch.level)
            if "raises" in ask(question, NEWEST):
                refused.setdefault(batch.compression, set()).add(batch.level)
    assert levels.keys() == {"gzip", "lz4", "zstd"}
    assert refused == {"gzip": {-2, 0, 10}, "lz4": {0, 18}, "zstd": {-131073, 23}}
    assert levels["gzip"] - refused["gzip"] == {-1, *range(1, 10)}
    assert levels["lz4"] - refused["lz4"] == set(range(1, 18))


def test_bit_flip_question_space_covers_all_bits_of_batch_and_message() -> None:
    found = [bytes.fromhex(question.decode or "") for question in spaces.every_bit()]
    sizes = Counter(len(data) for data in found)
    batch, message = 70, 36
    assert sizes == {batch: 8 * (batch + batch - 21), message: 8 * (message + message - 16)}


@pytest.mark.parametrize(
    ("space", "codec"),
    [
        (codec_spaces.every_gzip_header, 1),
        (codec_spaces.every_snappy_frame, 2),
        (codec_spaces.every_lz4_frame, 3),
        (codec_spaces.every_zstd_frame, 4),
    ],
)
def test_codec_frame_question_space_has_readable_and_unreadable_frames(space: Space, codec: int) -> None:
    found = [bytes.fromhex(question.decode or "") for question in space()]
    assert {(data[22] if data[16] == 2 else data[17]) & 7 for data in found} == {codec}
    counts = Counter(records(question) > 0 for question in space())
    assert min(counts[True], counts[False]) > 5


def test_gzip_members_near_8192_bytes_give_one_or_two_records() -> None:
    large = [question for question in spaces.every_gzip_end() if len(question.decode or "") > 8192]
    assert Counter(map(records, large)) == {1: 24, 2: 8}
