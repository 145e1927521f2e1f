"""The bound of a batch's decompressed size: never below the size, and far above it for no ordinary batch."""

from __future__ import annotations

import random

import pytest
from batch_files import batch_of, bombs

from kafka_conformance.log_inspect import expansion
from kafka_conformance.log_inspect.expansion import LARGEST_BYTES, most_bytes, too_large
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import compress, open_stream
from kafka_reference.releases import NEWEST

CODECS = list(Codec)[1:]
RANDOM = random.Random(7)
CONTENTS = {
    "empty": b"",
    "short": b"x",
    "noise": RANDOM.randbytes(300_000),
    "words": b"the same words " * 40_000,
    "zeros": bytes(3 * 2**20),
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("content", CONTENTS)
def test_decompressed_size_bound_is_at_least_the_actual_size_and_close_except_for_gzip(
    codec: Codec, content: str
) -> None:
    data = CONTENTS[content]
    compressed = compress(codec, data, 2)
    bound = most_bytes(codec, compressed)
    assert bound >= len(data)
    if codec is not Codec.GZIP:  # of which nothing is inflated where its best ratio is not too much
        assert bound <= 2 * len(data) + 128 * 1024
    assert most_bytes(codec, compressed + compressed) >= len(
        open_stream(codec, compressed + compressed, 2, BEHAVIOUR).data
    )


BEHAVIOUR = RecordBatchBehaviour.of(NEWEST)


@pytest.mark.parametrize("codec", CODECS)
def test_decompressed_size_bound_is_at_least_the_actual_size_of_malformed_data(codec: Codec) -> None:
    good, opened = compress(codec, CONTENTS["words"][:2_000], 2), 0
    for _ in range(300):
        changed = bytearray(good)
        for _ in range(RANDOM.randint(1, 4)):
            changed[RANDOM.randrange(len(changed))] = RANDOM.randrange(256)
        bad = bytes(changed[: RANDOM.randint(1, len(changed))])
        try:
            read = len(open_stream(codec, bad, 2, BEHAVIOUR).data)
        except Exception:  # noqa: BLE001, S112  it is not opened at all
            continue
        opened += 1
        assert most_bytes(codec, bad) >= read, bad.hex()
    assert opened > 100


@pytest.mark.parametrize("name", bombs())
def test_decompression_bomb_is_too_large_unless_only_record_count_or_zstd_header_declares_much(name: str) -> None:
    data = bombs()[name]
    assert len(data) < 3 * 2**20
    assert too_large(data) == (name not in {"many records", "many records, compressed", "zstd, declared"})


def test_gzip_batch_with_bound_above_limit_is_inflated_to_measure_actual_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "LARGEST_BYTES", 400_000)
    noise = batch_of(compress(Codec.GZIP, CONTENTS["noise"], 2), Codec.GZIP)
    assert not too_large(noise)
    assert most_bytes(Codec.GZIP, noise[61:]) == len(CONTENTS["noise"])
    assert too_large(batch_of(compress(Codec.GZIP, CONTENTS["zeros"], 2), Codec.GZIP))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS[:3])
def test_compressed_message_of_format_0_or_1_above_limit_is_too_large(
    magic: int, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = encode_batch(NewBatch(records=[NewRecord(1, b"k", bytes(50_000))], magic=magic, codec=codec))
    assert not too_large(batch)
    assert not too_large(batch[:20])
    monkeypatch.setattr(expansion, "LARGEST_BYTES", 40_000)
    assert too_large(batch)
    assert not too_large(encode_batch(NewBatch(records=[NewRecord(1, b"k", bytes(50_000))], magic=magic)))


def test_decompressed_size_limit_of_a_batch_is_at_least_64_mib() -> None:
    assert LARGEST_BYTES >= 64 * 2**20
