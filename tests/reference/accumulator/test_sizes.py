"""Every number here is one that Kafka's own classes gave, or that the protocol of varints gives by hand."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator import ratios
from kafka_reference.accumulator.behaviour import CompressionRatioEstimatorBehaviour, MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.sizes import (
    BatchSize,
    SizedRecord,
    buffer_size,
    message_size,
    record_size,
    upper_bound,
    utf8_length,
    utf8_written,
    varint_size,
    varlong_size,
)
from kafka_reference.errors import IllegalArgumentException

EMPTY = SizedRecord(0, None, None)
sizes = MemoryRecordsBuilderBehaviour.of


def next_ratio(version: str, ratio: float, observed: float) -> float:
    return ratios.next_ratio(CompressionRatioEstimatorBehaviour.of(version), ratio, observed)


def filled(
    version: str, *records: SizedRecord, batch_size: int = 16384, magic: int = 2, ratio: float | None = None
) -> BatchSize:
    """A batch with what it has room for; compressed if a ratio is given."""
    compressed = ratio is not None
    buffer = buffer_size(sizes(version), batch_size, records[0], magic=magic, compressed=compressed)
    batch = BatchSize(sizes(version), batch_size, buffer, magic, compressed, ratio if ratio is not None else 1.0)
    for record in records:
        if batch.has_room_for(record):
            batch.append(record)
    return batch


@pytest.mark.parametrize("bytes_of", [varint_size, varlong_size])
@pytest.mark.parametrize(
    ("value", "size"),
    [(0, 1), (63, 1), (-64, 1), (64, 2), (-65, 2), (8191, 2), (8192, 3), (-8193, 3), (1 << 20, 4), (1 << 27, 5),
     (2**31 - 1, 5), (-(2**31), 5)],
)  # fmt: skip
def test_varint_size_follows_zig_zag_encoding(bytes_of: type, value: int, size: int) -> None:
    assert bytes_of(value) == size


def test_varlong_of_64_bit_extremes_has_ten_bytes() -> None:
    assert [varlong_size(value) for value in (2**62 - 1, 2**62, 2**63 - 1, -(2**63))] == [9, 10, 10, 10]


@pytest.mark.parametrize(
    ("record", "size"),
    [
        ((0, 0, None, None), 7),
        ((0, 0, 0, 0), 7),
        ((-65, 64, 64, 63), 138),
        ((0, 0, None, None, [("", None)]), 9),
        ((0, 0, None, None, [("", None)] * 64), 137),
        ((0, 0, 2**31 - 1, None), -2147483634),
    ],
)
def test_record_size_counts_deltas_key_value_and_headers_and_wraps_at_32_bits(
    record: tuple[int, ...], size: int
) -> None:
    assert record_size(*record) == size


def test_message_size_depends_on_magic_and_newest_magic_is_2_since_0_11() -> None:
    assert [message_size(magic, None, 3) for magic in (0, 1)] == [29, 37]
    assert [sizes(version).newest_magic for version in ("0.10.0.1", "0.10.2.2", "0.11.0.0", "4.4.0")] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("version", "magic", "compressed", "bound"),
    [("4.4.0", 2, False, 185), ("4.4.0", 2, True, 185), ("4.4.0", 1, False, 134), ("4.4.0", 1, True, 156),
     ("4.4.0", 0, True, 140), ("0.10.0.1", 1, True, 134)],
)  # fmt: skip
def test_size_upper_bound_of_100_byte_value_depends_on_magic_compression_and_release(
    version: str, magic: int, compressed: bool, bound: int
) -> None:
    assert upper_bound(sizes(version), magic, compressed, None, 100) == bound + (magic == 2)


def test_compressed_message_can_exceed_upper_bound() -> None:
    batch = filled("4.4.0", SizedRecord(0, None, 100), magic=1, ratio=1.0)
    assert (batch.estimated, batch.max_record_size) == (174, 156)


@pytest.mark.parametrize(
    ("name", "counted", "written"),
    [("", 0, 0), ("name", 4, 4), ("é", 2, 2), ("€", 3, 3), ("😀", 4, 4), ("\ud800", 4, 1), ("\udc00", 3, 1),
     ("\ud800a", 4, 2), ("a\ud800", 5, 2), ("\ud800\ud800\udc00", 7, 5), ("\ud83d\ude00", 4, 4)],
)  # fmt: skip
def test_header_key_with_unpaired_surrogate_is_counted_longer_than_written(
    name: str, counted: int, written: int
) -> None:
    assert (utf8_length(name), utf8_written(name)) == (counted, written)


@pytest.mark.parametrize(("version", "estimated"), [("0.11.0.3", 71), ("1.1.1", 74), ("4.4.0", 74)])
def test_batch_with_unpaired_surrogate_is_estimated_larger_than_built_since_1_1(version: str, estimated: int) -> None:
    batch = filled(version, SizedRecord(0, None, None, (("\ud800", None),)))
    assert (batch.estimated, batch.built) == (estimated, 71)


def test_batch_size_after_two_appends_of_50_bytes_is_175() -> None:
    batch = filled("4.4.0", SizedRecord(0, None, 50))
    assert batch.estimated == 118
    batch.append(SizedRecord(0, None, 50))
    assert (batch.estimated, batch.built, batch.max_record_size) == (175, 175, 135)


def test_timestamp_deltas_are_relative_to_first_record_and_wrap_at_64_bits() -> None:
    assert (
        filled("4.4.0", SizedRecord(64, None, None), SizedRecord(0, None, None), SizedRecord(64, None, None)).built
        == 61 + 7 + 7 + 7
    )
    assert (
        filled("4.4.0", SizedRecord(0, None, None), SizedRecord(64, None, None), SizedRecord(128, None, None)).built
        == 61 + 7 + 8 + 8
    )
    assert filled("4.4.0", SizedRecord(-1, None, None), SizedRecord(2**63 - 1, None, None)).built == 84


def test_record_65_of_a_batch_has_one_byte_more_for_offset_delta() -> None:
    assert filled("4.4.0", *[EMPTY] * 65).built == 61 + 65 * 7 + 1


@pytest.mark.parametrize(("version", "records", "buffer"), [("0.10.0.1", 1, 35), ("0.11.0.3", 3, 86), ("4.4.0", 3, 86)])
def test_batch_size_0_holds_one_record_in_0_10_and_a_full_buffer_since_0_11(
    version: str, records: int, buffer: int
) -> None:
    batch = filled(
        version, SizedRecord(0, None, 1), EMPTY, EMPTY, EMPTY, batch_size=0, magic=sizes(version).newest_magic
    )
    assert (batch.records, batch.buffer) == (records, buffer)


def test_batch_room_and_fullness_are_exact_to_the_byte() -> None:
    for size, records, full in ((88, 3, False), (82, 3, True), (81, 2, False)):
        batch = BatchSize(sizes("4.4.0"), size, size)
        for _ in range(3):
            if batch.has_room_for(EMPTY):
                batch.append(EMPTY)
        assert (batch.records, batch.full) == (records, full)


@pytest.mark.parametrize(
    ("version", "full"), [("0.10.0.1", True), ("0.10.1.1", True), ("0.10.2.2", False), ("4.4.0", False)]
)
def test_empty_batch_of_size_0_accepts_a_record_though_full_up_to_0_10_1(version: str, full: bool) -> None:
    batch = BatchSize(sizes(version), 0, 86, sizes(version).newest_magic)
    assert batch.full is full
    assert batch.has_room_for(EMPTY)
    batch.closed = True
    assert batch.full
    assert not batch.has_room_for(EMPTY)


@pytest.mark.parametrize(("version", "estimated"), [("0.10.0.1", 0), ("0.11.0.3", 0), ("1.0.0", 61), ("4.4.0", 61)])
def test_compressed_size_estimate_omits_batch_header_up_to_0_11(version: str, estimated: int) -> None:
    batch = BatchSize(sizes(version), 100, 100, sizes(version).newest_magic, True, 0.5)
    assert batch.estimated == estimated


def test_compressed_size_estimate_uses_32_bit_float_arithmetic_of_java() -> None:
    assert ratios.compressed_estimate(20, 1.0) == 21
    assert int(20 * ratios.float32(1.05)) == 20
    assert ratios.compressed_estimate(16777217, 1.0) == 17616076
    assert int(16777217 * 1.05) == 17616077


def test_compressed_estimate_saturates_at_int32_unless_64_bits_wide_but_estimated_batch_size_wraps() -> None:
    assert ratios.compressed_estimate(20, 1e9) == 2**31 - 1
    assert ratios.compressed_estimate(20, -1e9) == -(2**31)
    assert ratios.compressed_estimate(20, 1e9, 64) > 2**31
    assert filled("4.4.0", SizedRecord(0, None, 13), ratio=1e9).estimated == -2147483588


def test_float32_of_out_of_range_double_is_infinity() -> None:
    assert [ratios.float32(number) for number in (1e39, -1e39)] == [float("inf"), float("-inf")]


@pytest.mark.parametrize(
    ("version", "observed", "after"),
    [("0.10.0.1", 0.5, 0.95), ("2.4.1", 0.998, 0.995), ("2.5.0", 0.998, 0.998), ("4.4.0", 0.5, 0.995),
     ("4.4.0", 1.01, 1.05), ("4.4.0", 3.0, 3.0), ("4.4.0", 1.0, 1.0)],
)  # fmt: skip
def test_compression_ratio_averages_in_0_10_falls_exactly_0_005_before_2_5_and_rises_0_05_minimum(
    version: str, observed: float, after: float
) -> None:
    assert next_ratio(version, 1.0, ratios.float32(observed)) == pytest.approx(after, abs=1e-7)


def test_expected_compression_ratio_can_fall_below_0_up_to_2_4() -> None:
    observed = ratios.compression_ratio(64, 2**31 - 1)
    assert next_ratio("2.4.1", ratios.float32(0.003), observed) == -0.001999999862164259
    assert next_ratio("2.5.0", ratios.float32(0.003), observed) == observed > 0


def test_append_of_headers_to_magic_1_batch_throws_and_leaves_batch_empty() -> None:
    batch = BatchSize(sizes("4.4.0"), 100, 100, 1)
    with pytest.raises(IllegalArgumentException, match="Magic v1 does not support record headers"):
        batch.append(SizedRecord(0, None, None, (("a", None),)))
    assert (batch.records, batch.built) == (0, 0)
