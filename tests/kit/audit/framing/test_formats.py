"""Frames of schema registries and spellings of JSON, separated from logical keys."""

from __future__ import annotations

import struct
import uuid
from itertools import pairwise

import audit_truth
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.framing.formats import FORMATS, NO_FRAME, separate

GUID = uuid.UUID("0a1b2c3d-0000-4000-8000-0123456789ab")


def separated(keys: list[bytes], form: str) -> list[tuple[bool, str, bytes]]:
    """By key: whether it has the format, its form, its logical key."""
    found = separate(audit_truth.column(keys, 0, 3), form)
    ends, content = found.logical.offsets.tolist(), found.logical.data.tobytes()
    logical = [content[first:end] for first, end in pairwise(ends)]
    return list(zip(found.framed.tolist(), found.forms, logical, strict=True))


def confluent(number: int, key: bytes) -> bytes:
    return b"\0" + struct.pack(">i", number) + key


@pytest.mark.parametrize(
    ("form", "key", "expected"),
    [
        ("confluent", confluent(7, b"user"), (True, "schema id 7", b"user")),
        ("confluent", confluent(2**31 - 1, b"u"), (True, "schema id 2147483647", b"u")),
        ("confluent", b"\1" + GUID.bytes + b"user", (True, f"schema {GUID}", b"user")),
        ("confluent", b"\1" + GUID.bytes, (False, NO_FRAME, b"\1" + GUID.bytes)),
        ("confluent", confluent(7, b""), (False, NO_FRAME, confluent(7, b""))),
        ("confluent", (258).to_bytes(8, "big"), (False, NO_FRAME, (258).to_bytes(8, "big"))),
        ("confluent", confluent(-1, b"user"), (False, NO_FRAME, confluent(-1, b"user"))),
        ("confluent", b"user-12345", (False, NO_FRAME, b"user-12345")),
        ("confluent", b"", (False, NO_FRAME, b"")),
        ("apicurio", confluent(9, b"user"), (True, "schema id 9", b"user")),
        ("apicurio", b"\1" + GUID.bytes + b"user", (False, NO_FRAME, b"\1" + GUID.bytes + b"user")),
        ("apicurio-legacy", b"\0" + struct.pack(">q", 2**40) + b"user", (True, f"schema id {2**40}", b"user")),
        ("apicurio-legacy", b"\0" + b"\xff" * 8 + b"user", (False, NO_FRAME, b"\0" + b"\xff" * 8 + b"user")),
        ("json", b'{"b": 1,\n "a": [2, 3]}', (True, '{"b": 1,\n "a": [2, 3]}', b'{"a":[2,3],"b":1}')),
        ("json", b'{"a":[2,3],"b":1}', (True, '{"a":[2,3],"b":1}', b'{"a":[2,3],"b":1}')),
        ("json", b' "x" ', (True, ' "x" ', b'"x"')),
        ("json", b'"\\u0041"', (True, '"\\u0041"', b'"A"')),
        ("json", b"1.00", (True, "1.00", b"1.00")),
        ("json", b"12345678901234567890123", (True, "12345678901234567890123", b"12345678901234567890123")),
        ("json", b"user-1", (False, NO_FRAME, b"user-1")),
        ("json", b"\xff{}", (False, NO_FRAME, b"\xff{}")),
        ("json", b"", (False, NO_FRAME, b"")),
        ("json", b"NaN", (False, NO_FRAME, b"NaN")),
        ("json", b"[" * 5000, (False, NO_FRAME, b"[" * 5000)),
    ],
)  # fmt: skip
def test_schema_id_or_json_spelling_is_separated_from_logical_key_or_key_kept_whole(
    form: str, key: bytes, expected: tuple[bool, str, bytes]
) -> None:
    assert separated([key], form) == [expected]


@given(
    st.sampled_from(sorted(FORMATS)),
    st.lists(st.binary(max_size=24) | st.binary(max_size=20).map(lambda it: b"\0" + it)),
)
def test_vectorized_separation_of_schema_id_and_logical_key_equals_separation_key_by_key(
    form: str, keys: list[bytes]
) -> None:
    assert separated(keys, form) == [one for key in keys for one in separated([key], form)]
