from __future__ import annotations

import pytest

from kafka_reference.errors import IllegalArgumentException, IllegalStateException, NullPointerException
from kafka_reference.log_files.errors import (
    CorruptIndexException,
    IndexOffsetOverflowException,
    InvalidOffsetException,
    NoSuchFileException,
    ReadOnlyBufferException,
)
from kafka_reference.log_files.offset_index import OffsetIndex


def filled(size: int = 24, version: str = "4.4.0") -> OffsetIndex:
    index = OffsetIndex(50, size, version=version)
    index.append(55, 0)
    index.append(60, 4096)
    return index


@pytest.mark.parametrize("version", ["0.11.0.3", "2.0.1", "2.1.0", "4.4.0"])
def test_offset_index_lookup_returns_the_last_entry_not_above_the_offset(version: str) -> None:
    """Two entries, 12 at 4423 and 24 at 8773: offset 60 is sought from position 8773 on."""
    index = OffsetIndex(0, 16, version=version)
    index.append(12, 4423)
    index.append(24, 8773)
    assert index.lookup(60) == (24, 8773)
    assert [index.lookup(offset) for offset in (0, 11, 12, 23, 24)] == [
        (0, 0),
        (0, 0),
        (12, 4423),
        (12, 4423),
        (24, 8773),
    ]


def test_offset_index_bytes_match_java_layout() -> None:
    assert filled().data == bytes.fromhex("00000005000000000000000a000010000000000000000000")


def test_append_to_full_offset_index_throws() -> None:
    with pytest.raises(IllegalArgumentException, match=r"^Attempt to append to a full index \(size = 2\)\.$"):
        filled(16).append(70, 0)
    with pytest.raises(IllegalArgumentException, match=r"^requirement failed: Attempt"):
        filled(23, "3.4.1").append(70, 0)


def test_offset_index_append_throws_for_non_increasing_or_overflowing_offset_and_adds_no_entry() -> None:
    index = filled()
    with pytest.raises(InvalidOffsetException, match="offset 60 to position 2 no larger than the last offset appended"):
        index.append(60, 9)
    with pytest.raises(IndexOffsetOverflowException, match=r"2147483698 \(00000000000000000050\.index\)"):
        index.append(50 + 2**31, 9)
    assert index.entries == 2


def test_offset_index_append_truncates_overflowing_offset_up_to_1_1() -> None:
    index = filled(version="1.1.1")
    index.append(50 + 2**32, 9)
    assert (index.last_offset, index.entry(2)) == (50 + 2**32, (0, 9))


def test_offset_index_truncation_drops_entries_from_the_offset() -> None:
    for offset, entries in ((54, 0), (55, 0), (56, 1), (60, 1), (61, 2)):
        index = filled()
        index.truncate_to(offset)
        assert index.entries == entries


def test_offset_index_sanity_check_accepts_base_offset_as_last_since_2_0() -> None:
    for version in ("1.1.1", "2.0.0"):
        index = OffsetIndex(7, 8, bytes(8), version=version)
        if version == "2.0.0":
            index.sanity_check()
        else:
            with pytest.raises(CorruptIndexException, match="no greater than the base offset 7"):
                index.sanity_check()


def test_offset_index_file_with_partial_entry_fails_sanity_check() -> None:
    index = OffsetIndex(0, 8, bytes.fromhex("0000000100000001ff"))
    assert (index.entries, index.max_entries, index.is_full) == (1, 1, True)
    with pytest.raises(CorruptIndexException, match=r"found 9 bytes which is neither positive nor a multiple of 8$"):
        index.sanity_check()


def test_new_offset_index_below_entry_size_throws_and_leaves_empty_file() -> None:
    folder: dict[str, bytearray] = {}
    with pytest.raises(IllegalArgumentException, match="Invalid max index size: 7"):
        OffsetIndex(0, 7, folder=folder)
    assert OffsetIndex(0, 7, folder=folder).max_entries == 0


def test_offset_index_append_after_resize_below_entry_count_throws() -> None:
    index = filled()
    with pytest.raises(IllegalArgumentException):
        index.resize(8)
    index.resize(24)
    with pytest.raises(IllegalStateException, match="3 entries but file position in index is 8"):
        index.append(70, 8192)


def test_offset_index_close_trims_file_up_to_4_3_and_unmaps_since_2_2() -> None:
    for version, length, mapped in (
        ("2.1.1", 16, True),
        ("2.2.0", 16, False),
        ("4.3.1", 16, False),
        ("4.4.0", 24, False),
    ):
        index = filled(version=version)
        index.close()
        assert (len(index.data or b""), index.is_mapped) == (length, mapped)
        if not mapped:
            with pytest.raises(NullPointerException):
                index.lookup(60)
        if version in {"2.1.1", "4.4.0"}:
            index.flush()
        else:
            with pytest.raises(NullPointerException):
                index.flush()


def test_deleted_offset_index_cannot_be_deleted_again_or_renamed() -> None:
    index = filled()
    index.rename(".deleted")
    assert index.name == "00000000000000000050.index.deleted"
    assert index.delete()
    assert not index.delete()
    with pytest.raises(NoSuchFileException):
        index.rename("")


def test_append_to_read_only_offset_index_throws_read_only_buffer_exception() -> None:
    index = OffsetIndex(0, 16, bytes(16), writable=False)
    index.truncate()
    with pytest.raises(ReadOnlyBufferException):
        index.append(1, 1)


def test_fetch_upper_bound_returns_next_entry_or_none_and_first_entry_on_position_overflow() -> None:
    assert filled().fetch_upper_bound(4096, 2**31 - 1) == (55, 0)
    assert filled().fetch_upper_bound(0, 4096) == (60, 4096)
    assert filled().fetch_upper_bound(0, 4097) is None
    assert filled().fetch_upper_bound(0, 4095) == (60, 4096)
