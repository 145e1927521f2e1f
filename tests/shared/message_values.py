"""Values for every field of a message: defaults, filled, nulls where they may be, limits, and one for each field."""

from __future__ import annotations

import itertools
import struct
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

from kafka_conformance.wire.codec.messages import Codec, Fields, Message

KINDS = ("default", "filled", "null", "limit", "numbered")

_FILLED: Fields = {
    "bool": True, "int8": -2, "int16": -3, "uint16": 65_000, "int32": -70_000, "int64": -(2**40), "float64": -1.5,
    "string": "Äb", "bytes": b"\x00\xff", "records": b"\x01\x02\x03",
    "uuid": urlsafe_b64encode(uuid.UUID(int=2**127 + 5).bytes).decode().rstrip("="),
}  # fmt: skip
_BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "int64": 64}
_LIMIT: Fields = {
    **_FILLED, "int8": 127, "int16": -(2**15), "uint16": 65_535, "int32": 2**31 - 1, "int64": -(2**63), "float64": 1e308,
    "string": "é" * 200, "bytes": b"z" * 20_000, "records": b"r" * 130,
}  # fmt: skip


def values(message: Message, version: int, kind: str) -> Fields:
    """Return fields of ``message`` in this version. With ``numbered`` no two fields of a type have the same value."""
    return {} if kind == "default" else _struct(message._fields, version, kind, itertools.count(1))


def requests_and_responses(codec: Codec) -> list[Message]:
    """Return all requests, responses and headers of a release."""
    return [codec.message(name) for name, schema in codec.schemas.items() if schema["type"] != "data"]


def java_values(message: Message, version: int, found: Fields) -> Fields:
    """Return decoded fields in the form of ``MessageBytes.java``."""
    return _java_struct(message._fields, version, found)


def _java_struct(fields: Any, version: int, found: Fields) -> Fields:
    present = [field for field in fields if field.engine.for_version_q(version)]
    return {field.name: _java_value(field, version, found[field.name]) for field in present}


def _java_value(field: Any, version: int, value: Any) -> Any:
    if isinstance(value, list):
        return [_java_value(field, version, each) for each in value]
    match field.type:
        case _ if value is None or isinstance(value, bool):
            return value
        case "string":
            return f"s{value.encode().hex()}"
        case "bytes" | "records":
            return f"b{bytes(value).hex()}"
        case "uuid":
            return f"u{urlsafe_b64decode(value + '==').hex()}"
        case "float64":
            return f"f{struct.unpack('>q', struct.pack('>d', value))[0]}"
        case _:
            return _java_struct(field.inner, version, value) if field.inner else value


def _struct(fields: Any, version: int, kind: str, numbers: Iterator[int]) -> Fields:
    present = [field for field in fields if field.engine.for_version_q(version)]
    return {field.name: _value(field, version, kind, numbers) for field in present}


def _value(field: Any, version: int, kind: str, numbers: Iterator[int]) -> Any:
    if kind == "null" and field.engine.nullable_for_version_q(version):
        return None
    if field.is_array:
        size = 130 if kind == "limit" and not field.inner else 2
        return [_element(field, version, kind, numbers) for _ in range(size)]
    return _element(field, version, kind, numbers)


def _element(field: Any, version: int, kind: str, numbers: Iterator[int]) -> Any:
    if field.inner:
        return _struct(field.inner, version, kind, numbers)
    if kind == "numbered":
        return _numbered(field.type, next(numbers))
    return (_LIMIT if kind == "limit" else _FILLED)[field.type]


def _numbered(kind: str, number: int) -> Any:
    """Return the value of a type for a number: of all bytes of an integer the last differ, and the first too."""
    match kind:
        case "bool":
            return number % 2 == 1
        case "string":
            return f"text {number}"
        case "bytes" | "records":
            return b"bytes %d" % number
        case "uuid":
            return urlsafe_b64encode(uuid.UUID(int=number << 64 | number + 2**70).bytes).decode().rstrip("=")
        case "float64":
            return number / 8
        case _:
            bits = _BITS[kind]
            value = (number << bits - 8 | number) & (1 << bits) - 1
            return value - (1 << bits) if kind != "uint16" and value >> bits - 1 else value
