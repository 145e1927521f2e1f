"""Words that the reports of an audit share: how a share, a time, a key, a place and a placement are written.

| what | written |
|---|---|
| a share | ``11.2 %``; never ``0.0 %`` of something, never ``100.0 %`` of what is not all |
| a time | UTC by ISO 8601, ``2025-03-01T12:00:00Z``, milliseconds only where there are any |
| a key | in quotation marks if it is text that can be printed, else its bytes: ``0x00ff``; a long one is cut |
| a placement | ``crc32, 12 partitions`` |

Names are put in as they were found: a report makes its own text harmless, for its own format.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.terminal import plural
from kafka_conformance.spark.audit.result import EITHER, UNEXPLAINED, Place, Placed

__all__ = ["at", "counted", "key", "named", "percent", "place", "since_1970", "utc", "when"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME, _KEY = 200, 48
_COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_OTHERS = {EITHER: "either of several", UNEXPLAINED: "unexplained"}


def percent(part: int, whole: int) -> str:
    """``11.2 %``; ``-`` of nothing."""
    if whole <= 0:
        return "-"
    if part in (0, whole):
        return "100 %" if part else "0 %"
    share = f"{100 * part / whole:.1f}"
    return {"0.0": "< 0.1 %", "100.0": "> 99.9 %"}.get(share, f"{share} %")


def utc(time_ms: int) -> str:
    """A time that ``datetime`` cannot hold is shown as the milliseconds it is."""
    when = since_1970(time_ms)
    if when is None:
        return f"{time_ms:,} ms"
    return when.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + (f".{time_ms % 1000:03}" if time_ms % 1000 else "") + "Z"


def since_1970(time_ms: int) -> datetime | None:
    """The instant, None if there is no such year."""
    try:
        return _EPOCH + timedelta(milliseconds=time_ms)
    except OverflowError:
        return None


def key(in_hex: str, most: int = _KEY) -> str:
    """A key, by its hex."""
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
    """``partition 3, offset 1,234, 2025-03-01T12:00:00Z``."""
    return f"partition {one.partition:,}, offset {one.offset:,}{at(one.time_ms)}"


def at(time_ms: int | None) -> str:
    """A time to follow other words; nothing where records carry none."""
    return "" if when(time_ms) == "-" else f", {when(time_ms)}"


def when(time_ms: int | None) -> str:
    """A time to stand alone, ``-`` where there is none."""
    return "-" if time_ms is None or time_ms == -1 else utc(time_ms)


def named(one: Placed | str) -> str:
    """A placement in words, or what stands in its place where records are counted."""
    if isinstance(one, Placed):
        return f"{clipped(one.rule, _NAME)}, {plural(one.partitions, 'partition')}"
    return _OTHERS.get(one, clipped(one, _NAME))


def counted(count: int, noun: str) -> str:
    """``two kinds``: small counts in words."""
    word = _COUNTED[count] if count < len(_COUNTED) else f"{count:,}"
    return f"{word} {noun}" + ("" if count == 1 else "s")
