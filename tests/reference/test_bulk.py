"""The hash over whole columns gives, key by key, what the scalar reference gives, and refuses what it cannot read."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_reference import bulk
from kafka_reference.errors import ArithmeticException
from kafka_reference.partitioning.murmur2_fast import murmur2

INT_MIN, INT_MAX = -(2**31), 2**31 - 1

# Kafka's own: UtilsTest.testMurmur2.
GOLDEN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]

# Bytes of 0x80 and more often enough to tell signed ones from unsigned ones, in every place of a word.
keys = st.lists(st.integers(0, 255) | st.sampled_from([0x7F, 0x80, 0xFF]), max_size=64).map(bytes)
columns = st.lists(st.none() | keys, max_size=12)
counts = st.integers(INT_MIN, INT_MAX).filter(bool) | st.sampled_from([1, 12, INT_MAX, -12, INT_MIN])


def hashes(column: list[bytes | None]) -> list[int | None]:
    return [None if key is None else murmur2(key) for key in column]


def partitions(column: list[bytes | None], count: int) -> list[int | None]:
    return [None if hashed is None else (hashed & INT_MAX) % abs(count) for hashed in hashes(column)]


def numpy_columns(column: list[bytes], before: bytes, width: Any) -> tuple[Any, Any]:
    offsets = np.cumsum([len(before), *map(len, column)], dtype=width)
    return offsets, np.frombuffer(before + b"".join(column), np.uint8)


@pytest.mark.parametrize("arrow_type", TYPES, ids=str)
def test_bulk_murmur2_equals_the_vectors_of_kafka(arrow_type: pa.DataType) -> None:
    assert bulk.murmur2(pa.array(list(GOLDEN), arrow_type)).to_pylist() == list(GOLDEN.values())


@pytest.mark.parametrize("arrow_type", TYPES, ids=str)
@given(column=columns, count=counts, data=st.data())
@example(column=[b"\x80", None, b"", b"\xff\xff\xff"], count=INT_MIN, data=None)
def test_arrow_column_or_slice_hashes_and_partitions_like_scalar_murmur2(
    arrow_type: pa.DataType, column: list[bytes | None], count: int, data: Any
) -> None:
    start, stop = (data.draw(st.integers(0, len(column))) for _ in "ab") if data else (1, 4)
    for part in slice(None), slice(min(start, stop), max(start, stop)):
        array = pa.array(column, arrow_type)[part]
        hashed, placed = bulk.murmur2(array), bulk.partition_for_key(array, count)
        assert isinstance(hashed, pa.Int32Array)
        assert isinstance(placed, pa.Int32Array)
        hashed.validate(full=True)
        assert hashed.to_pylist() == hashes(column[part])
        assert placed.to_pylist() == partitions(column[part], count)


@given(st.integers(0, 9), st.data())
def test_fixed_size_binary_column_hashes_and_partitions_like_scalar_murmur2(width: int, data: Any) -> None:
    column = data.draw(st.lists(st.none() | st.binary(min_size=width, max_size=width), max_size=8))
    start = data.draw(st.integers(0, len(column)))
    array = pa.array(column, pa.binary(width))[start:]
    assert bulk.murmur2(array).to_pylist() == hashes(column[start:])
    assert bulk.partition_for_key(array, 12).to_pylist() == partitions(column[start:], 12)


@given(st.lists(columns, max_size=4), st.integers(0, 9))
def test_chunked_arrow_column_hashes_and_partitions_like_scalar_murmur2_and_keeps_chunk_lengths(
    chunks: list[list[bytes | None]], start: int
) -> None:
    chunked = pa.chunked_array([pa.array(chunk, pa.binary()) for chunk in chunks], type=pa.binary())[start:]
    hashed = bulk.murmur2(chunked)
    assert isinstance(hashed, pa.ChunkedArray)
    assert hashed.type == pa.int32()
    assert [len(chunk) for chunk in hashed.chunks] == [len(chunk) for chunk in chunked.chunks]
    assert hashed.to_pylist() == hashes(chunked.to_pylist())
    assert bulk.partition_for_key(chunked, 7).to_pylist() == partitions(chunked.to_pylist(), 7)


@pytest.mark.parametrize("width", [np.int32, np.int64])
@given(column=st.lists(keys, max_size=12), before=st.binary(max_size=5), count=counts)
@example(column=[b"\x80", b"", b"\xff\xfe"], before=b"", count=1)
def test_numpy_columns_hash_and_partition_like_scalar_murmur2(
    width: Any, column: list[bytes], before: bytes, count: int
) -> None:
    offsets, data = numpy_columns(column, before, width)
    hashed, placed = bulk.murmur2_columns(offsets, data), bulk.partition_for_key_columns(offsets, data, count)
    assert hashed.dtype == placed.dtype == np.int32
    assert hashed.tolist() == hashes([*column])
    assert placed.tolist() == partitions([*column], count)


@pytest.mark.parametrize("length", range(8))
@pytest.mark.parametrize("byte", [0x7F, 0x80, 0xFF])
def test_short_first_key_at_start_of_numpy_buffer_hashes_like_scalar_murmur2(length: int, byte: int) -> None:
    column = [bytes([byte]) * length, b"\x80", b"ab"]
    assert bulk.murmur2_columns(*numpy_columns(column, b"", np.int32)).tolist() == hashes([*column])


def test_strided_misaligned_or_read_only_arrays_hash_like_scalar_murmur2() -> None:
    column = [b"one", b"", b"\xfftwo", b"three and more"]
    offsets, data = numpy_columns(column, b"", np.int32)
    strided = np.repeat(offsets, 2)[::2], np.repeat(data, 2)[::2]
    misaligned = np.frombuffer(b"\0" + offsets.tobytes(), np.int32, offset=1), data.copy()
    read_only = offsets.copy(), data
    read_only[0].flags.writeable = False
    for pair in strided, misaligned, read_only:
        assert bulk.murmur2_columns(*pair).tolist() == hashes([*column])


@pytest.mark.parametrize("arrow_type", [*TYPES, pa.binary(4), pa.binary(0)], ids=str)
def test_empty_column_hashes_to_empty_and_null_keys_to_null(arrow_type: pa.DataType) -> None:
    for empty in pa.array([], arrow_type), pa.array([None], arrow_type)[1:], pa.chunked_array([], arrow_type):
        assert bulk.murmur2(empty).type == pa.int32()
        assert bulk.murmur2(empty).to_pylist() == bulk.partition_for_key(empty, 3).to_pylist() == []
    assert bulk.murmur2(pa.array([None, None], arrow_type)).to_pylist() == [None, None]
    without_buffers = pa.Array.from_buffers(pa.binary(), 0, [None, None, pa.py_buffer(b"")])
    assert bulk.murmur2(without_buffers).to_pylist() == []


def test_bytes_stored_under_a_null_key_are_not_hashed() -> None:
    offsets, data = numpy_columns([b"one", b"two", b"six"], b"", np.int32)
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.binary(), 3, buffers)
    assert bulk.murmur2(array).to_pylist() == [murmur2(b"one"), None, murmur2(b"six")]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [True, False])
def test_bulk_partition_with_partition_count_0_throws_arithmetic_exception_even_without_keys(empty: bool) -> None:
    column = [] if empty else [b"key"]
    with pytest.raises(ArithmeticException):
        bulk.partition_for_key(pa.array(column, pa.binary()), 0)
    with pytest.raises(ArithmeticException):
        bulk.partition_for_key_columns(*numpy_columns(column, b"", np.int32), 0)


@pytest.mark.parametrize(("count", "error"), [(2**31, ValueError), (INT_MIN - 1, ValueError), (3.0, TypeError)])
def test_bulk_partition_count_beyond_int32_raises_value_error_and_float_raises_type_error(
    count: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        bulk.partition_for_key(pa.array([b"key"]), count)


@pytest.mark.parametrize("arrow_type", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_arrow_string_column_raises_type_error_with_hint_to_cast_to_binary(arrow_type: pa.DataType) -> None:
    for text in pa.array(["é"], arrow_type), pa.chunked_array([], arrow_type):
        with pytest.raises(TypeError, match=r"Kafka hashes bytes.*keys\.cast\(pyarrow\.binary\(\)\)"):
            bulk.murmur2(text)
        with pytest.raises(TypeError, match="Kafka hashes bytes"):
            bulk.partition_for_key(text, 3)
    if arrow_type != pa.string_view():
        advice = pa.array(["é"], arrow_type).cast(pa.binary())
        assert bulk.murmur2(advice).to_pylist() == [murmur2("é".encode())]


@pytest.mark.parametrize(
    "not_keys",
    [None, b"key", [b"key"], "key", np.array([b"key"]), pa.scalar(b"key"), pa.array([1]), pa.array([None]),
     pa.array([b"key"]).dictionary_encode(), pa.array([[b"key"]]), pa.table({"key": [b"key"]})],
    ids=lambda value: str(getattr(value, "type", type(value).__name__)),
)  # fmt: skip
def test_bulk_murmur2_of_keys_that_are_not_binary_raises_type_error(not_keys: Any) -> None:
    with pytest.raises(TypeError, match=r"^(Kafka hashes bytes|keys is a pyarrow)"):
        bulk.murmur2(not_keys)


@pytest.mark.parametrize("width", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("offsets", "bad"),
    [([0, 2, 1], 1), ([-1, 2], 0), ([-2, -1], 0), ([0, 11], 0), ([11, 11], 0), ([0, 4, INT_MAX, INT_MAX], 1),
     ([0, 4, INT_MIN], 1), ([5, 0], 0)],
    ids=str,
)  # fmt: skip
def test_numpy_offsets_descending_or_outside_the_data_raise_value_error_with_key_index(
    width: Any, offsets: list[int], bad: int
) -> None:
    data = np.zeros(10, np.uint8)
    with pytest.raises(
        ValueError, match=rf"^damaged offsets: key {bad} is bytes {offsets[bad]} to {offsets[bad + 1]} of 10$"
    ):
        bulk.murmur2_columns(np.array(offsets, width), data)
    with pytest.raises(ValueError, match=f"key {bad} "):
        bulk.partition_for_key_columns(np.array(offsets, width), data, 3)


def test_damaged_arrow_offsets_or_binary_views_raise_value_error() -> None:
    descending = [None, pa.py_buffer(np.array([0, 9, 4], np.int32)), pa.py_buffer(b"0123")]
    with pytest.raises(ValueError, match=r"^damaged offsets: key 0 is bytes 0 to 9 of 4$"):
        bulk.murmur2(pa.Array.from_buffers(pa.binary(), 2, descending))
    view = np.array([20, 0, 0, 5], np.int32)  # 20 bytes of a buffer that is not there
    astray = pa.Array.from_buffers(pa.binary_view(), 1, [None, pa.py_buffer(view)])
    with pytest.raises(ValueError, match=r"^damaged views: "):
        bulk.murmur2(astray)


@pytest.mark.parametrize(
    ("offsets", "data", "message"),
    [
        (np.array([0, 1], np.int16), np.zeros(1, np.uint8), "^offsets has one dimension and holds int32 or int64"),
        (np.array([0, 1], np.uint32), np.zeros(1, np.uint8), "^offsets .* not 1 and uint32"),
        (np.array([0, 1], ">i4" if sys.byteorder == "little" else "<i4"), np.zeros(1, np.uint8), "^offsets "),
        (np.array([[0, 1]], np.int32), np.zeros(1, np.uint8), "^offsets .* not 2 and int32"),
        (np.array([], np.int32), np.zeros(1, np.uint8), "^offsets is empty"),
        (np.array([0, 1], np.int32), np.zeros(1, np.int8), "^data has one dimension and holds uint8, not 1 and int8"),
        (np.array([0, 1], np.int32), np.zeros((1, 1), np.uint8), "^data "),
    ],
)
def test_numpy_offsets_or_data_of_wrong_shape_or_dtype_raise_value_error(offsets: Any, data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bulk.murmur2_columns(offsets, data)


def test_columns_that_are_not_numpy_arrays_raise_type_error() -> None:
    with pytest.raises(TypeError, match=r"^offsets is a NumPy array, not list"):
        bulk.murmur2_columns([0, 1], np.zeros(1, np.uint8))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^data is a NumPy array, not bytes"):
        bulk.murmur2_columns(np.array([0, 1], np.int32), b"a")  # type: ignore[arg-type]


# --- where it runs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", ["numpy", "numba", "pyarrow"])
def test_import_of_bulk_without_numpy_numba_or_pyarrow_raises_import_error_with_pip_command(
    absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    spec = importlib.util.spec_from_file_location("bulk_again", bulk.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match=r"pip install 'kafka-conformance\[bulk\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def run_without_cache(folder: Path, program: str, **environment: str) -> list[str]:
    """What ``program`` prints, word by word, from a copy of the package where Numba can keep nothing."""
    package = folder / "kafka_reference"
    shutil.copytree(Path(bulk.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__pycache__").write_text("a file, so that even root cannot make the folder")
    environment |= dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), os.devnull)
    environment |= {"PYTHONPATH": str(folder)}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | environment
    command = [sys.executable, "-W", "error", "-c", "import numpy as np, kafka_reference.bulk as b\n" + program]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@pytest.mark.exhaustive  # the next test compiles without a cache as well
def test_bulk_murmur2_returns_correct_hash_if_numba_cannot_write_cache_files(tmp_path: Path) -> None:
    program = "print(b.murmur2_columns(np.array([0, 3], 'i4'), np.frombuffer(b'abc', 'u1'))[0], b.__file__)"
    printed = run_without_cache(tmp_path, program)
    assert printed == [str(GOLDEN[b"abc"]), str(tmp_path / "kafka_reference" / "bulk.py")]


def test_bulk_hash_reads_no_byte_outside_the_data(tmp_path: Path) -> None:
    """Numba checks each index here. Bytes before a short first key would be shifted out: only the read itself shows."""
    program = (
        "data = np.frombuffer(b'0123456789', 'u1')\n"
        "for length in range(10): print(b.murmur2_columns(np.array([0, length], 'i8'), data[:length])[0])"
    )
    printed = run_without_cache(tmp_path, program, NUMBA_BOUNDSCHECK="1")
    assert printed == [str(murmur2(b"0123456789"[:length])) for length in range(10)]
