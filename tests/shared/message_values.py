"""Values for every field of a message: defaults, all fields filled, nulls where they may be, limits."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from typing import Any

from kafka_conformance.wire.codec.messages import Codec, Fields, Message

KINDS = ("default", "filled", "null", "limit")

_FILLED: Fields = {
    "bool": True, "int8": -2, "int16": -3, "uint16": 65_000, "int32": -70_000, "int64": -(2**40), "float64": -1.5,
    "string": "Äb", "bytes": b"\x00\xff", "records": b"\x01\x02\x03",
    "uuid": urlsafe_b64encode(uuid.UUID(int=2**127 + 5).bytes).decode().rstrip("="),
}  # fmt: skip
_LIMIT: Fields = {
    **_FILLED, "int8": 127, "int16": -(2**15), "uint16": 65_535, "int32": 2**31 - 1, "int64": -(2**63), "float64": 1e308,
    "string": "é" * 200, "bytes": b"z" * 20_000, "records": b"r" * 130,
}  # fmt: skip


def values(message: Message, version: int, kind: str) -> Fields:
    """Return fields of ``message`` in this version."""
    return {} if kind == "default" else _struct(message._fields, version, kind)


def requests_and_responses(codec: Codec) -> list[Message]:
    """Return all requests, responses and headers of a release."""
    return [codec.message(name) for name, schema in codec.schemas.items() if schema["type"] != "data"]


def _struct(fields: Any, version: int, kind: str) -> Fields:
    return {field.name: _value(field, version, kind) for field in fields if field.engine.for_version_q(version)}


def _value(field: Any, version: int, kind: str) -> Any:
    if kind == "null" and field.engine.nullable_for_version_q(version):
        return None
    if field.is_array:
        return [_element(field, version, kind)] * (130 if kind == "limit" and not field.inner else 2)
    return _element(field, version, kind)


def _element(field: Any, version: int, kind: str) -> Any:
    if field.inner:
        return _struct(field.inner, version, kind)
    return (_LIMIT if kind == "limit" else _FILLED)[field.type]
