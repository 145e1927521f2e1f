"""Kafka's own vectors, and what the real ``Utils.murmur2`` of kafka-clients 4.4.0 answered where ports go wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_reference
from kafka_reference.errors import NullPointerException
from kafka_reference.partitioning import murmur2 as readable
from kafka_reference.partitioning import murmur2_fast as fast
from kafka_reference.partitioning.murmur2 import to_positive

FORMS = pytest.mark.parametrize("murmur2", [readable.murmur2, fast.murmur2], ids=["readable", "fast"])

# Kafka's UtilsTest.testMurmur2.
KAFKAS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
LEFT_OVER = {
    b"": 275646681,
    b"\x00": 375494588,
    b"\x7f": 21296028,
    b"\x80": 857690492,
    b"\xff": -311467685,
    b"\x80\xff": -80095470,
    b"\xff\x80\x7f": 968261134,
    b"\x00\x00\x00": 1013532917,
    b"\x80\x80\x80\x80": -95523324,
    "ключ".encode(): 2122343024,
    "😀".encode(): 131881617,
}
# From 16 bytes on the words are mixed all at once, from 65 words on with masks made for the occasion.
LONG = {
    bytes(range(0x80, 0x8F)): 2006496921,
    bytes(range(0x80, 0x90)): 1290994154,
    bytes(range(0x80, 0x91)): -945542397,
    bytes(range(0x80, 0x92)): -1907197632,
    bytes(range(0x80, 0x93)): 1558042402,
    bytes(range(256)): -1948347274,
    bytes(range(256)) + b"\x80\x81\x82": 2071572995,
    bytes(range(256)) + b"\xff" * 4: 122891882,
    b"\xff" * 259: 399178658,
    b"\xff" * 260: -471513928,
    b"\xff" * 261: -706810418,
    b"\xff" * 65536: -1181714069,
}
# Keys whose hash lies at an end of the ints, or at zero.
AT_THE_ENDS = {
    "a7d6506c": -(2**31),
    "ffffffffffffffff40f2b7aa": -(2**31),
    "3334f6a5": -(2**31) + 1,
    "a5d4305c": -1,
    "ffffffffffffffff861656fe": -1,
    "e3871844": 0,
    "fffffffffffffffff7cd7b71": 0,
    "039d77d8": 1,
    "027d5343": 2**31 - 1,
    "ffffffffffffffff78a8c0a4": 2**31 - 1,
}


@FORMS
@pytest.mark.parametrize(("key", "expected"), {**KAFKAS, **LEFT_OVER, **LONG}.items(), ids=lambda each: repr(each)[:24])
def test_murmur2_hash_equals_kafka_test_vectors_and_values_of_java(
    murmur2: Callable[[bytes], int], key: bytes, expected: int
) -> None:
    assert murmur2(key) == expected


@FORMS
@pytest.mark.parametrize(("key", "expected"), AT_THE_ENDS.items())
def test_murmur2_of_keys_that_hash_to_int_extremes_matches_java(
    murmur2: Callable[[bytes], int], key: str, expected: int
) -> None:
    assert murmur2(bytes.fromhex(key)) == expected


@FORMS
def test_murmur2_accepts_bytearray_and_memoryview_keys(murmur2: Callable[..., int]) -> None:
    assert murmur2(bytearray(b"foobar")) == -790332482
    assert murmur2(memoryview(b"foobar")) == -790332482
    assert murmur2(memoryview(b"f.o.o.b.a.r.")[::2]) == -790332482


@FORMS
def test_murmur2_of_str_key_is_refused_with_hint_to_encode(murmur2: Callable[..., int]) -> None:
    with pytest.raises(TypeError, match=r"not str: encode it .* key\.encode\('utf-8'\)"):
        murmur2("foobar")


@FORMS
@pytest.mark.parametrize("key", [21, 2.5, [1, 2], object()])
def test_murmur2_of_key_that_is_not_bytes_raises_type_error(murmur2: Callable[..., int], key: object) -> None:
    with pytest.raises(TypeError, match=f"a key is bytes, not {type(key).__name__}"):
        murmur2(key)


@FORMS
def test_murmur2_of_null_key_throws_null_pointer_exception(murmur2: Callable[..., int]) -> None:
    with pytest.raises(NullPointerException) as raised:
        murmur2(None)
    assert isinstance(raised.value, TypeError)
    assert raised.value.message is None


@given(st.binary(max_size=600))
def test_fast_murmur2_equals_readable_murmur2_for_random_keys(key: bytes) -> None:
    assert fast.murmur2(key) == readable.murmur2(key)


@pytest.mark.parametrize("length", [*range(65), *range(124, 141), 255, 256, 257, 4096, 65_537])
def test_fast_murmur2_equals_readable_murmur2_at_every_length(length: int) -> None:
    for key in (
        bytes(length),
        b"\x7f" * length,
        b"\x80" * length,
        b"\xff" * length,
        bytes(i * 101 & 0xFF for i in range(length)),
    ):
        assert fast.murmur2(key) == readable.murmur2(key)


def test_public_murmur2_is_the_fast_implementation() -> None:
    assert kafka_reference.murmur2 is fast.murmur2


# The trap of every port: abs() gives 790332482 for the second and, in 32 bits, stays negative for the last.
@pytest.mark.parametrize(
    ("number", "positive"),
    [(0, 0), (-790332482, 1357151166), (-1, 2147483647), (2147483647, 2147483647), (-2147483648, 0)],
)
def test_to_positive_clears_the_sign_bit(number: int, positive: int) -> None:
    assert to_positive(number) == positive


@pytest.mark.parametrize("number", ["1", 1.0, None])
def test_to_positive_of_a_non_int_raises_type_error(number: object) -> None:
    with pytest.raises(TypeError):
        to_positive(number)  # type: ignore[arg-type]
