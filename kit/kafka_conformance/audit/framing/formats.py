"""Separate the frame of a key from its logical key.

====================  =================================================================================================
format                frame
====================  =================================================================================================
``confluent``         byte 0 and a schema id of 4 bytes, or byte 1 and a GUID of 16 bytes (Confluent's serializers)
``apicurio``          byte 0 and an id of 4 bytes (Apicurio Registry since 3.0)
``apicurio-legacy``   byte 0 and an id of 8 bytes (Apicurio Registry up to 2.x)
``json``              none: the logical key is the JSON value, without white space, its members sorted by name
====================  =================================================================================================

Ids are big-endian and positive, and a logical key has a byte at least: a key without such a frame, such as a number of eight
bytes, is its own logical key. No registry is asked, since a frame has a fixed length.

JSON numbers keep their digits, so ``1.0`` and ``1.00`` differ; ``1E2`` and ``1e+2`` do not, nor do escapes in strings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.core.decoding import UNREADABLE

__all__ = ["FORMATS", "NO_FRAME", "Separated", "separate"]

NO_FRAME = "no frame"
"""The form of a key without a frame."""

_GUID = 17
_SPELLING = 200
_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_encode = msgspec.json.Encoder(order="sorted", decimal_format="number").encode


@dataclass(frozen=True, slots=True, eq=False)
class Separated:
    """A column of keys, each separated into its form and its logical key."""

    framed: NDArray[np.bool_]
    """Whether the key has the format."""
    forms: list[str]
    """The frame in words, such as ``schema id 7``; of JSON, the key as it is spelled; NO_FRAME without the format."""
    logical: KeyColumn


def separate(keys: KeyColumn, form: str) -> Separated:
    """Separate keys by one of FORMATS."""
    return FORMATS[form](keys)


def _framed(keys: KeyColumn, *, id_bytes: int, guids: bool = False) -> Separated:
    starts = np.asarray(keys.offsets[:-1], np.int64)
    lengths = np.diff(keys.offsets).astype(np.int64)
    head, ids = np.zeros(keys.size, np.int64), np.zeros(keys.size, np.int64)
    rows = np.flatnonzero(lengths > 1 + id_bytes)
    rows = rows[keys.data[starts[rows]] == 0]
    for at in range(1, 1 + id_bytes):
        ids[rows] = ids[rows] << 8 | keys.data[starts[rows] + at]
    if id_bytes == 4:
        ids = ids.astype(np.int32).astype(np.int64)
    head[ids > 0] = 1 + id_bytes
    if guids:
        rows = np.flatnonzero(lengths > _GUID)
        head[rows[keys.data[starts[rows]] == 1]] = _GUID
    forms = [f"schema id {number}" if number > 0 else NO_FRAME for number in ids.tolist()]
    for row in np.flatnonzero(head == _GUID).tolist():
        forms[row] = f"schema {UUID(bytes=keys.data[starts[row] + 1 : starts[row] + _GUID].tobytes())}"
    return Separated(head > 0, forms, _without_head(keys, head))


def _without_head(keys: KeyColumn, head: NDArray[np.int64]) -> KeyColumn:
    """Return the keys without their first ``head`` bytes, copied."""
    offsets = np.asarray(keys.offsets, np.int64)
    kept = np.ones(int(offsets[-1] - offsets[0]), np.bool_)
    starts = offsets[:-1] - offsets[0]
    for at in range(int(head.max(initial=0))):
        kept[starts[head > at] + at] = False
    data = keys.data[int(offsets[0]) : int(offsets[-1])][kept]
    shorter = offsets - offsets[0] - np.concatenate(([0], np.cumsum(head)))
    return KeyColumn(shorter, data, keys.partition, keys.count)


def _json(keys: KeyColumn) -> Separated:
    offsets = np.asarray(keys.offsets, np.int64)
    content = keys.data[int(offsets[0]) : int(offsets[-1])].tobytes()
    ends = (offsets - offsets[0]).tolist()
    framed, forms, logical = np.zeros(keys.size, np.bool_), [], []
    for row in range(keys.size):
        key = content[ends[row] : ends[row + 1]]
        value = _canonical(key)
        framed[row] = value is not None
        forms.append(NO_FRAME if value is None else key[:_SPELLING].decode(errors="replace"))
        logical.append(key if value is None else value)
    sizes = np.concatenate(([0], np.cumsum(list(map(len, logical))))).astype(np.int64)
    data = np.frombuffer(b"".join(logical), np.uint8)
    return Separated(framed, forms, KeyColumn(sizes, data, keys.partition, keys.count))


def _canonical(key: bytes) -> bytes | None:
    """Return the JSON value without white space, its members sorted; None for anything but JSON."""
    try:
        return bytes(_encode(_decode(key)))
    except (*UNREADABLE, ArithmeticError):
        return None


FORMATS: dict[str, Callable[[KeyColumn], Separated]] = {
    "confluent": partial(_framed, id_bytes=4, guids=True),
    "apicurio": partial(_framed, id_bytes=4),
    "apicurio-legacy": partial(_framed, id_bytes=8),
    "json": _json,
}
"""The formats of ``--key-format``, by name."""
