"""Judge a part of a key, or another reading of it: some producers hash less than the key, and some exports hold it encoded.

A *view* is a function from a key to the bytes that a rule places. Kafka Streams, for one, hashes a windowed key without the
eight bytes of its window (``WindowedStreamPartitioner``), so that all windows of a key are in one partition.

========================  ===========================================================================================
view                      the bytes that are placed
========================  ===========================================================================================
``whole``                 the key
``window``                the key without the start of its window, 8 bytes: windowed keys of Kafka Streams
``window-store``          without the start of its window and a sequence number, 12 bytes: changelogs of window stores
``session-window``        without the end and the start of its session, 16 bytes
``frame``                 without the frame of a schema registry, byte 0 and an id of 4 bytes
``apicurio-frame``        without byte 0 and an id of 8 bytes
``before:X``              the text before the first X, a separator; ``before-last:X``, before the last one
``after:X``               the text after the first X; ``after-last:X``, after the last one
``digits``                the digits at the end
``field:NAME``            the text of a member of a JSON object; ``a.b`` is the member b of the member a
``base64``, ``hex``       the bytes that the key is the text of
``quoted``, ``unquoted``  the text as a JSON string, with its quotes; the text of a JSON string, without them
``int32``, ``int64``      the four or eight bytes of the integer whose decimal text the key is
``text``                  the decimal text of the integer whose eight or four bytes the key is
``uuid``                  the 16 bytes of the UUID whose text the key is
``hex+window``            the view ``window`` of what ``hex`` reads; so for base64, and for any view of what was read
========================  ===========================================================================================

A view changes the keys of its form only; any other stays whole. A window has a start from 1970 to 2109, a frame a positive
id. A view of text leaves at least one byte.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
import pyarrow as pa

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput

__all__ = ["ENCODED", "WHOLE", "KeyView", "find_view", "other_end", "viewed", "views_of"]

WHOLE = "whole"

ENCODED = frozenset({"base64", "hex"})
"""Views that an export of text may need as its ``--key-encoding``."""

SEPARATORS = ":|-_/.,#;@ "
MOST_FIELDS = 16
"""Members of a JSON object that are views, the 16 commonest: each is a search among all rules, and raises the evidence
that a view needs.
"""
_LATEST_MS = 1 << 42
"""The first start of a window that is not one: in 2109. Eight random bytes are below it once in four million times."""
_decode = msgspec.json.Decoder(float_hook=str).decode
_INTEGER = re.compile(rb"-?[0-9]{1,19}")
_DIGITS = re.compile(rb"[0-9]+\Z")

Part = Callable[[bytes], bytes | None]


@dataclass(frozen=True, slots=True)
class KeyView:
    """A view. ``words`` follow "murmur2 of": ``the key without its 8-byte window``; ``part`` returns None for other keys."""

    slug: str
    words: str
    used_by: str
    part: Part

    @property
    def text(self) -> str:
        """The view with the products that place it."""
        return f"{self.words} ({self.used_by})" if self.used_by else self.words


def _without_window(key: bytes, tail: int, at: int) -> bytes | None:
    """Return the key without ``tail`` bytes, among which a start in ms is ``at`` bytes from the end."""
    first = len(key) - at
    if len(key) <= tail or int.from_bytes(key[first : first + 8], "big") >= _LATEST_MS:
        return None
    return key[:-tail]


def _without_session(key: bytes) -> bytes | None:
    begin = int.from_bytes(key[-8:], "big")
    end = int.from_bytes(key[-16:-8], "big")
    return key[:-16] if len(key) > 16 and begin <= end < _LATEST_MS else None


def _without_frame(key: bytes, width: int) -> bytes | None:
    head = 1 + width
    if len(key) <= head or key[0] or not 0 < int.from_bytes(key[1:head], "big") < 2 ** (8 * width - 1):
        return None
    return key[head:]


def _from_base64(key: bytes) -> bytes | None:
    try:
        return base64.b64decode(key, validate=True) or None
    except (ValueError, binascii.Error):
        return None


def _from_hex(key: bytes) -> bytes | None:
    try:
        return binascii.unhexlify(key) or None
    except (ValueError, binascii.Error):
        return None


def _quoted(key: bytes) -> bytes | None:
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    return None if text[:1] in {'"', "{", "["} else msgspec.json.encode(text)


def _unquoted(key: bytes) -> bytes | None:
    if len(key) < 3 or key[:1] != b'"':
        return None
    try:
        value = _decode(key)
    except UNREADABLE:
        return None
    return value.encode() or None if isinstance(value, str) else None


def _integer(key: bytes, width: int) -> bytes | None:
    if not _INTEGER.fullmatch(key):
        return None
    number = int(key)
    return number.to_bytes(width, "big", signed=True) if -(1 << 8 * width - 1) <= number < 1 << 8 * width - 1 else None


def _decimal(key: bytes) -> bytes | None:
    return b"%d" % int.from_bytes(key, "big", signed=True) if len(key) in {4, 8} else None


def _uuid(key: bytes) -> bytes | None:
    try:
        return UUID(key.decode()).bytes if len(key) == 36 else None
    except ValueError:
        return None


def _trailing_digits(key: bytes) -> bytes | None:
    found = _DIGITS.search(key)
    return found[0] if found and len(found[0]) < len(key) else None


def _split(key: bytes, separator: bytes, *, last: bool, after: bool) -> bytes | None:
    before, found, behind = key.rpartition(separator) if last else key.partition(separator)
    return (behind if after else before) or None if found else None


def _both(key: bytes, outer: Part, inner: Part) -> bytes | None:
    read = outer(key)
    return None if read is None else inner(read)


def _members(value: object, before: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the members of a JSON object by name, and those of objects in it, each as text."""
    if not isinstance(value, dict):
        return
    for name, each in value.items():
        path = f"{before}{name}"
        if isinstance(each, dict):
            yield from _members(each, f"{path}.")
        elif isinstance(each, str | int) and not isinstance(each, bool):
            yield path, str(each).encode()


def _object(key: bytes) -> object:
    if key[:1] != b"{":
        return None
    try:
        return _decode(key)
    except UNREADABLE:
        return None


def _field(key: bytes, name: str) -> bytes | None:
    return dict(_members(_object(key))).get(name) or None


def _fixed() -> Iterator[KeyView]:
    streams = "Kafka Streams' windowed keys"
    yield KeyView("window", "the key without its 8-byte window", streams, partial(_without_window, tail=8, at=8))
    yield KeyView(
        "window-store", "the key without its window and sequence number, 12 bytes", "changelogs of Kafka Streams' window"
        " stores", partial(_without_window, tail=12, at=12),
    )  # fmt: skip
    yield KeyView("session-window", "the key without its 16-byte session window", streams, _without_session)
    frames = "a partitioner that sees the key before its serializer"
    yield KeyView("frame", "the key without its 5-byte schema frame", frames, partial(_without_frame, width=4))
    yield KeyView("apicurio-frame", "the key without its 9-byte schema frame", frames, partial(_without_frame, width=8))
    yield KeyView("base64", "the bytes that the key is base64 of", "", _from_base64)
    yield KeyView("hex", "the bytes that the key is hex of", "", _from_hex)
    yield KeyView("quoted", "the key in JSON quotes", "JSON serializers; a REST proxy", _quoted)
    yield KeyView("unquoted", "the key without its JSON quotes", "", _unquoted)
    yield KeyView("int64", "the eight bytes of the integer that the key is the text of", "a LongSerializer",
                  partial(_integer, width=8))  # fmt: skip
    yield KeyView("int32", "the four bytes of the integer that the key is the text of", "an IntegerSerializer",
                  partial(_integer, width=4))  # fmt: skip
    yield KeyView("text", "the decimal text of the integer that the key is the bytes of", "", _decimal)
    yield KeyView("uuid", "the 16 bytes of the UUID that the key is the text of", "", _uuid)
    yield KeyView("digits", "the digits at the end of the key", "", _trailing_digits)


FIXED = {view.slug: view for view in _fixed()}
_PARTS = "window", "window-store", "session-window", "frame", "apicurio-frame"
"""Views of bytes, which are also tried on what an encoded key is read as."""
_LAST = "-last"
_CUTS = {
    "before": ("before the first", False, False), "before-last": ("before the last", True, False),
    "after": ("after the first", False, True), "after-last": ("after the last", True, True),
}  # fmt: skip


def find_view(slug: str) -> KeyView:
    """Return the view of this name. Raises BadInput for an unknown one."""
    if slug == WHOLE:
        return KeyView(WHOLE, "the key", "", lambda key: key)
    if slug in FIXED:
        return FIXED[slug]
    encoding, plus, inner = slug.partition("+")
    if plus and encoding in ENCODED:
        outer, view = FIXED[encoding], find_view(inner)
        return KeyView(
            slug, f"{view.words}, of {outer.words}", view.used_by, partial(_both, outer=outer.part, inner=view.part)
        )
    kind, colon, rest = slug.partition(":")
    if colon and rest and kind == "field":
        return KeyView(slug, f"the field {rest} of the JSON key", "", partial(_field, name=rest))
    if colon and rest and kind in _CUTS:
        words, last, after = _CUTS[kind]
        part = partial(_split, separator=rest.encode(), last=last, after=after)
        return KeyView(slug, f"the part of the key {words} {rest!r}", "", part)
    known = ", ".join((WHOLE, *FIXED))
    raise BadInput(
        f"unknown key view {slug!r}: expected one of {known}, or before:X, before-last:X, after:X, after-last:X with a"
        " separator X, or field:NAME"
    )


def other_end(slug: str) -> str | None:
    """Return the view that cuts at the last separator where this one cuts at the first, or the reverse; None for others."""
    kind, _, rest = slug.partition(":")
    if kind not in _CUTS:
        return None
    return f"{kind.removesuffix(_LAST)}:{rest}" if kind.endswith(_LAST) else f"{kind}{_LAST}:{rest}"


def views_of(keys: list[bytes]) -> list[KeyView]:
    """Return the views that change at least half of these keys, the likely ones first."""
    named = [*FIXED.values(), *(find_view(f"{encoding}+{part}") for encoding in sorted(ENCODED) for part in _PARTS)]
    paths: dict[str, int] = {}
    for key in keys:
        for path, _ in _members(_object(key)):
            paths[path] = paths.get(path, 0) + 1
    common = sorted(paths, key=lambda path: -paths[path])[:MOST_FIELDS]
    named += [find_view(f"field:{path}") for path in common]
    seen = b"".join(keys)
    if not paths:
        named += [find_view(f"{kind}:{one}") for one in SEPARATORS if one.encode() in seen for kind in _CUTS]
    out, results = [], set()
    for view in named:
        parts = [view.part(key) for key in keys]
        changed = sum(part is not None and part != key for part, key in zip(parts, keys, strict=True))
        if 2 * changed < len(keys) or not keys:
            continue
        if (result := tuple(parts)) not in results:  # before and before-last are one view where a key has one separator
            results.add(result)
            out.append(view)
    return out


def viewed(keys: Any, slug: str) -> Any:
    """Return an Arrow column of keys as this view shows them; nulls stay null, and keys of other forms whole."""
    if slug == WHOLE:
        return keys
    part, cached = find_view(slug).part, dict[bytes, bytes]()

    def shown(key: bytes) -> bytes:
        if key not in cached:
            found = part(key)
            cached[key] = key if found is None else found
        return cached[key]

    texts = [None if key is None else shown(key) for key in keys.to_pylist()]
    return pa.array(texts, pa.binary())
