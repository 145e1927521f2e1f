"""The hash of :mod:`kafka_reference.partitioning.murmur2` over whole columns of keys, at the speed of compiled code.

A column of n byte strings, in Arrow and here, is two arrays: ``data``, all the bytes one after another, and
``offsets``, n + 1 numbers that ascend; key i is ``data[offsets[i]:offsets[i + 1]]``. Numba compiles one loop over these
two arrays as they lie in memory. No Python object is made for a key, nothing is copied, and the interpreter's lock is
not held. One thread does the work; to use several, give each thread a slice.

The hash is that of the scalar :mod:`~kafka_reference.partitioning.murmur2`. Three things are done for speed, and none of
them changes a hash:

* A word is put together from four bytes with shifts, which the compiler turns into one load where the machine allows it.
* The one to three bytes left over are cut from the *last four bytes* before the key's end; bytes of the key before it
  are shifted out. A branch on how many are left over would be mispredicted for most keys of mixed lengths. Only a key
  that ends within the first three bytes of the data has no such neighbour, and is read byte by byte.
* Offsets are checked in the same loop, each before the bytes it points to are read: a damaged column raises ValueError
  and never reads beyond the data.

Numbers of 32 bits need care in Numba: it widens each operation on them to 64 bits, and ``uint64`` with a signed number
becomes a float. So every constant has a type, and every result is cut to ``u32`` before it is shifted right.

Numba compiles at the first call, in about a second, and keeps the machine code next to this file or in the user's cache
folder. Where neither can be written it compiles again in each process, and nothing else changes.

Arrow arrays and pairs of NumPy arrays have separate functions: an Arrow array carries its type, its null keys and its
slice, a pair of arrays carries none of these, and one function for both would have to guess.

Java source mirrored: ``Utils.murmur2`` and ``Utils.toPositive``, every release, and the partition computed from
them: ``BuiltInPartitioner.partitionForKey`` since 3.3.0, before that ``DefaultPartitioner.partition`` for a record with a
key. The links are in :mod:`~kafka_reference.partitioning.murmur2` and :mod:`~kafka_reference.partitioning.keyed`.
"""

# unreached file: whole columns, which verify and tests compare with Java and with one key
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import index
from typing import Any, TypeAlias, TypeVar

from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import INT_MAX
from kafka_reference.partitioning.murmur2 import SEED, M

try:
    import numpy as np
    import pyarrow as pa
    from numba import njit, types
    from numpy.typing import NDArray
    from pyarrow import compute
except ImportError as missing:
    raise ImportError(f"{__name__} needs its extra: pip install 'kafka-conformance[bulk]' ({missing})") from missing

__all__ = ["murmur2", "murmur2_columns", "partition_for_key", "partition_for_key_columns"]

Offsets: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Data: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int32]
Kernel: TypeAlias = Callable[[Offsets, Data, NDArray[np.uint32]], int]
F = TypeVar("F", bound=Callable[..., Any])
u32, u64 = np.uint32, np.uint64
SEED_, M_ = u32(SEED), u32(M)

# Arrow's types by name, since an old pyarrow lacks the newer ones: what holds bytes and how wide its offsets are.
OFFSETS = {"binary": np.int32, "large_binary": np.int64}
TEXT = {"string", "large_string", "string_view"}


def murmur2(keys: Any) -> Any:
    """Hash each key of an Arrow column as Kafka's Java client does.

    ``keys`` is a pyarrow array of type ``binary``, ``large_binary``, ``fixed_size_binary`` or ``binary_view`` (this
    one is copied first, the others are read in place), sliced or not, or a ChunkedArray of these. Returns a
    ``pyarrow.Int32Array`` of the same length, or a ChunkedArray with the same chunks. A null stays null: Java throws
    for it, and a producer never hashes it. An empty key is a key.

    Raises TypeError for a column of strings (Kafka hashes bytes; the message names the cast) and for any other type,
    and ValueError where the offsets leave the data, as they can in an array made from raw buffers.

    Mirrors ``org.apache.kafka.common.utils.Utils.murmur2(byte[])``, every release.

    >>> import pyarrow as pa
    >>> murmur2(pa.array([b"home", None])).to_pylist()
    [1521592426, None]
    """
    return _over_arrow(keys, murmur2_columns)


def partition_for_key(keys: Any, num_partitions: int) -> Any:
    """Return the partition that Kafka's producer gives each key of an Arrow column.

    That is ``(hash & 0x7fffffff) % partitions``. ``keys`` and the shape of the result are those of :func:`murmur2`;
    ``num_partitions`` is an int32. A negative number is not an error in Java: it gives the result of its absolute value.

    Raises what :func:`murmur2` raises; :class:`~kafka_reference.errors.ArithmeticException` (a ZeroDivisionError, too)
    for 0 partitions, even for a column without keys; TypeError or ValueError if ``num_partitions`` is not an int32.

    Mirrors ``BuiltInPartitioner.partitionForKey``, since 3.3.0, and ``DefaultPartitioner.partition`` before it.

    >>> import pyarrow as pa
    >>> partition_for_key(pa.array([b"home", None, b""]), num_partitions=3).to_pylist()
    [1, None, 0]
    """
    divisor = _divisor(num_partitions)
    return _over_arrow(keys, lambda offsets, data: _place(murmur2_columns(offsets, data), divisor))


def murmur2_columns(offsets: Offsets, data: Data) -> Numbers:
    """Hash each key of a column given as two NumPy arrays.

    ``offsets``: shape (n + 1,), int32 or int64; ``data``: shape (bytes,), uint8. The first offset need not be 0, nor
    the last one the end of the data, so a slice of ``offsets`` is a slice of the column. Returns an int32 array of
    shape (n,). Arrays that are not contiguous are copied first.

    Raises TypeError for anything but NumPy arrays; ValueError for another shape or type, and for offsets that do not
    ascend or leave the data.

    Mirrors ``org.apache.kafka.common.utils.Utils.murmur2(byte[])``, every release.

    >>> murmur2_columns(np.array([0, 4, 4]), np.frombuffer(b"home", np.uint8)).tolist()
    [1521592426, 275646681]
    """
    offsets = _column("offsets", offsets, (np.int32, np.int64))
    data = _column("data", data, (np.uint8,))
    if not offsets.size:
        raise ValueError("offsets is empty: n keys have n + 1 offsets, so no keys have one")
    hashes = np.empty(offsets.size - 1, u32)
    bad = _kernel()(offsets, data, hashes)
    if bad >= 0:
        raise ValueError(f"damaged offsets: key {bad} is bytes {offsets[bad]} to {offsets[bad + 1]} of {data.size}")
    return hashes.view(np.int32)


def partition_for_key_columns(offsets: Offsets, data: Data, num_partitions: int) -> Numbers:
    """Return the partition that Kafka's producer gives each key of a column given as two NumPy arrays.

    ``offsets`` and ``data`` are those of :func:`murmur2_columns`, ``num_partitions`` and its errors those of
    :func:`partition_for_key`. Returns an int32 array of shape (n,).

    >>> partition_for_key_columns(np.array([0, 4, 4]), np.frombuffer(b"home", np.uint8), 3).tolist()
    [1, 0]
    """
    divisor = _divisor(num_partitions)
    return _place(murmur2_columns(offsets, data), divisor)


def _compiled(function: F) -> F:
    """Return ``function`` compiled by ``njit`` for use in other compiled functions, with its type kept."""
    compiled: F = njit(function)
    return compiled


@_compiled
def _word(data: Data, at: np.uint64) -> np.uint32:
    """Return four bytes as a little-endian number. ``at`` is unsigned: Numba checks a signed index for negative values."""
    low = u32(data[at]) | u32(data[at + u64(1)]) << u32(8)
    return u32(low | u32(data[at + u64(2)]) << u32(16) | u32(data[at + u64(3)]) << u32(24))


@_compiled
def _tail(data: Data, end: np.int64, count: np.int64) -> np.uint32:
    """Return the last ``count`` bytes before ``end``, none to three, as one little-endian number."""
    if end >= 4:
        return u32(u64(_word(data, u64(end - 4))) >> u64(32 - 8 * count))  # 64 bits, since count may be 0
    tail = u32(0)
    for i in range(count):
        tail = u32(tail | u32(data[u64(end - count + i)]) << u32(8 * i))
    return tail


def _hash_all(offsets: Offsets, data: Data, hashes: NDArray[np.uint32]) -> int:
    """Fill ``hashes``; return -1, or the number of the first key whose bytes are not all in ``data``."""
    size = u64(data.size)
    start = np.int64(offsets[0])
    for i in range(hashes.size):
        end = np.int64(offsets[i + 1])
        if u64(start) > u64(end) or u64(end) > size:  # unsigned, so that a negative offset is beyond the end
            return i
        length = end - start
        h = u32(SEED_ ^ u32(length))
        for at in range(start, end - 3, 4):
            k = u32(_word(data, u64(at)) * M_)
            k = u32((k ^ k >> u32(24)) * M_)
            h = u32(u32(h * M_) ^ k)
        count = length & 3
        mixed = u32((h ^ _tail(data, end, count)) * M_)
        h = mixed if count else h  # a choice between two numbers, not a branch
        h = u32((h ^ h >> u32(13)) * M_)
        hashes[i] = h ^ h >> u32(15)
        start = end
    return -1


@lru_cache(maxsize=1)
def _kernel() -> Kernel:
    """:func:`_hash_all`, compiled for both widths of offsets, and for read-only arrays (as Arrow's are) and others."""
    data, hashes = types.Array(types.uint8, 1, "C", readonly=True), types.uint32[::1]
    widths = types.int32, types.int64
    signatures = [types.int64(types.Array(width, 1, "C", readonly=True), data, hashes) for width in widths]
    kernel: Kernel
    try:
        kernel = njit(signatures, nogil=True, cache=True)(_hash_all)
    except (RuntimeError, OSError):  # no folder to keep the machine code in, or it is full
        kernel = njit(signatures, nogil=True)(_hash_all)
    return kernel


def _divisor(num_partitions: int) -> np.uint32:
    """Return the divisor for ``num_partitions``: unsigned, as the absolute value of Integer.MIN_VALUE exceeds an int32."""
    num_partitions = index(num_partitions)
    if not -(2**31) <= num_partitions < 2**31:
        raise ValueError(f"{num_partitions} partitions: expected a Java int, -2^31 to 2^31-1")
    if num_partitions == 0:
        raise ArithmeticException
    return u32(abs(num_partitions))


def _place(hashes: Numbers, divisor: np.uint32) -> Numbers:
    """Turn hashes into partitions, in place."""
    positive = hashes.view(u32)
    positive &= u32(INT_MAX)
    positive %= divisor
    return hashes


def _column(name: str, values: Any, dtypes: tuple[type, ...]) -> Any:
    """Return ``values`` as the kernel reads them: contiguous, aligned, one dimension, one of ``dtypes``."""
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name} is a NumPy array, not {type(values).__name__}")
    if values.ndim != 1 or values.dtype not in dtypes:
        wanted = " or ".join(dtype.__name__ for dtype in dtypes)
        raise ValueError(f"{name} has one dimension and holds {wanted}, not {values.ndim} and {values.dtype}")
    return np.require(values, requirements=("C", "A", "E"))


def _over_arrow(keys: Any, answer: Callable[[Offsets, Data], Numbers]) -> Any:
    """Apply ``answer`` to the columns of an Arrow array, or of each chunk, and put the nulls back."""
    if not isinstance(keys, pa.Array | pa.ChunkedArray):
        raise TypeError(f"keys is a pyarrow Array or ChunkedArray, not {type(keys).__name__}; NumPy: murmur2_columns")
    kind = str(keys.type)
    if kind in TEXT:
        raise TypeError(f"Kafka hashes bytes, and keys holds {kind}: keys.cast(pyarrow.binary()) gives its UTF-8")
    if kind != "binary_view" and kind not in OFFSETS and not kind.startswith("fixed_size_binary["):
        raise TypeError(f"Kafka hashes bytes, and keys holds {kind}: give the bytes your serializer makes, as binary")
    if isinstance(keys, pa.ChunkedArray):
        return pa.chunked_array([_over_arrow(chunk, answer) for chunk in keys.chunks], type=pa.int32())
    answers = pa.array(answer(*_buffers(keys)))
    return compute.if_else(keys.is_valid(), answers, None) if keys.null_count else answers


def _buffers(keys: Any) -> tuple[Offsets, Data]:
    """Return the offsets and data of an Arrow array of bytes, as NumPy arrays over the same memory."""
    if str(keys.type) == "binary_view":
        try:
            keys.validate(full=True)  # a view may point anywhere, and the cast would follow it
        except pa.ArrowException as damaged:
            raise ValueError(f"damaged views: {damaged}") from damaged
        keys = keys.cast(pa.large_binary())
    first, count = keys.offset, len(keys) + 1
    *_, offsets, data = keys.buffers()
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    if len(keys) == 0:
        return np.zeros(1, np.int32), content  # Arrow allows no offsets at all here
    if width := OFFSETS.get(str(keys.type)):
        return np.frombuffer(offsets, width, count, first * np.dtype(width).itemsize), content
    return np.arange(first, first + count, dtype=np.int64) * keys.type.byte_width, content
