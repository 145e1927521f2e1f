"""Format shares, times, keys, places and placements for the reports of an audit.

| value | format |
|---|---|
| a share | ``11.2 %``; never ``0.0 %`` of something, never ``100.0 %`` of less than all |
| a time | UTC by ISO 8601, ``2025-03-01T12:00:00Z``, milliseconds only if not zero |
| a key | in quotation marks if it is printable text, else in hex: ``0x00ff``; a long one is clipped |
| a placement | ``crc32, 12 partitions`` |

Names are not escaped here: each report escapes its text for its own format.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Place, Placed
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.terminal import plural

__all__ = ["at", "counted", "key", "named", "percent", "place", "since_1970", "utc", "when"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME, _KEY = 200, 48
_COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_OTHERS = {EITHER: "either of several", UNEXPLAINED: "unexplained"}


def percent(part: int, whole: int) -> str:
    """Return a share like ``11.2 %``; ``-`` if ``whole`` is 0."""
    if whole <= 0:
        return "-"
    if part in (0, whole):
        return "100 %" if part else "0 %"
    share = f"{100 * part / whole:.1f}"
    return {"0.0": "< 0.1 %", "100.0": "> 99.9 %"}.get(share, f"{share} %")


def utc(time_ms: int) -> str:
    """Return a time as ISO 8601; in milliseconds if ``datetime`` cannot represent it."""
    when = since_1970(time_ms)
    if when is None:
        return f"{time_ms:,} ms"
    return when.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + (f".{time_ms % 1000:03}" if time_ms % 1000 else "") + "Z"


def since_1970(time_ms: int) -> datetime | None:
    """Return the instant, or None if ``datetime`` cannot represent its year."""
    try:
        return _EPOCH + timedelta(milliseconds=time_ms)
    except OverflowError:
        return None


def key(in_hex: str, most: int = _KEY) -> str:
    """Return a key, given in hex, as text or hex of at most ``most`` characters."""
    try:
        raw = bytes.fromhex(in_hex)
    except ValueError:
        return clipped(in_hex, most)
    text = _text(raw)
    whole = raw.hex() if text is None else text
    shown = whole if len(whole) <= most else f"{whole[:most]}…"
    length = "" if len(whole) <= most else f" ({len(raw):,} bytes)"
    return (f"0x{shown}" if text is None else f'"{shown}"') + length


def _text(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def place(one: Place) -> str:
    """Return a place like ``partition 3, offset 1,234, 2025-03-01T12:00:00Z``."""
    return f"partition {one.partition:,}, offset {one.offset:,}{at(one.time_ms)}"


def at(time_ms: int | None) -> str:
    """Return a time with a leading comma; empty if there is none."""
    return "" if when(time_ms) == "-" else f", {when(time_ms)}"


def when(time_ms: int | None) -> str:
    """Return a time, or ``-`` if there is none."""
    return "-" if time_ms is None or time_ms == -1 else utc(time_ms)


def named(one: Placed | str) -> str:
    """Return the name of a placement, of EITHER or of UNEXPLAINED."""
    if isinstance(one, Placed):
        return f"{clipped(one.rule, _NAME)}, {plural(one.partitions, 'partition')}"
    return _OTHERS.get(one, clipped(one, _NAME))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, small counts as words: ``two kinds``."""
    word = _COUNTED[count] if count < len(_COUNTED) else f"{count:,}"
    return f"{word} {noun}" + ("" if count == 1 else "s")
