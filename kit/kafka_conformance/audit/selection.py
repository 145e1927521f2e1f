"""Select the records to judge: a window by time or offset (``--from``, ``--to``), and a share of the keys (``--sample``).

A window is resolved to offsets when a run begins, so a resumed run reads the same records. The offset of a time is that of
the first record of a partition with this timestamp or a later one, as Kafka's own tools have it; records behind it may be
older where producers set timestamps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.errors import BadInput

__all__ = [
    "EVERYTHING", "Bound", "Narrowable", "RecordSelection", "Selectable", "parse_bound", "parse_share", "parse_time",
]  # fmt: skip

# An offset is an int64: 18 digits always fit.
_OFFSET = re.compile(r"[0-9]{1,18}")
_OFFSETS = re.compile(r"[0-9]{1,9}:[0-9]{1,18}(?:,[0-9]{1,9}:[0-9]{1,18})*")
_SHARE = re.compile(r"(\d*\.?\d+(?:[eE]-?\d+)?)\s*(%?)")


class Selectable(Protocol):
    """A source whose offsets can be found by time."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    @property
    def spans(self) -> Mapping[int, Span]:
        """The offsets that it has."""
        ...

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        ...


class Narrowable(Selectable, Protocol):
    """A source that can read a part of its offsets."""

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        ...


class Bound(msgspec.Struct, frozen=True):
    """One end of a window, as it was given: a time, one offset for all partitions, or offsets by partition."""

    text: str
    time_ms: int | None = None
    offset: int | None = None
    offsets: dict[int, int] = {}

    def resolve(self, source: Selectable, otherwise: Mapping[int, int]) -> dict[int, int]:
        """Return the offset in each partition; ``otherwise`` for partitions that have none. Raises BadInput."""
        spans = source.spans
        if self.time_ms is not None:
            found = source.offsets_at(self.time_ms)
            return {partition: found.get(partition, span.end) for partition, span in spans.items()}
        if self.offset is not None:
            return dict.fromkeys(spans, self.offset)
        if unknown := sorted(set(self.offsets) - set(spans)):
            raise BadInput(
                f"{self.text}: {source.name} has no partition {unknown[0]}, only 0 to {max(spans, default=0)}"
            )
        return {partition: self.offsets.get(partition, otherwise[partition]) for partition in spans}


class RecordSelection(msgspec.Struct, frozen=True):
    """The records to judge: from ``begin`` on, up to and without ``end``, of this ``share`` of the keys."""

    begin: Bound | None = None
    end: Bound | None = None
    share: float = 1.0

    @property
    def bounded(self) -> bool:
        """Whether there is a window."""
        return self.begin is not None or self.end is not None

    def check(self) -> None:
        """Raise BadInput for a window that ends before it begins."""
        if not (self.begin and self.end):
            return
        pairs = (self.begin.time_ms, self.end.time_ms), (self.begin.offset, self.end.offset)
        if any(first is not None and last is not None and first >= last for first, last in pairs):
            raise BadInput(f"--from {self.begin.text} is not before --to {self.end.text}: the window is empty")

    def narrow(self, source: Narrowable) -> None:
        """Let the source read the window only. Raises BadInput if it holds no offset of the source."""
        if self.bounded:
            source.narrow(self.spans(source))

    def spans(self, source: Selectable) -> dict[int, Span]:
        """Return the offsets of the window. Raises BadInput if it holds none of those of the source."""
        every = source.spans
        begin, end = ({number: getattr(span, name) for number, span in every.items()} for name in ("first", "end"))
        first = self.begin.resolve(source, begin) if self.begin else begin
        last = self.end.resolve(source, end) if self.end else end
        found = {}
        for number, span in every.items():
            low = min(max(first[number], span.first), span.end)
            high = min(max(last[number], low), span.end)
            found[number] = Span(low, high, span.open if high == span.end else 0)
        if not offset_count(found) and offset_count(every):
            window = " ".join(f"{name} {bound.text}" for name, bound in self._bounds())
            raise BadInput(f"{source.name} has no offsets in the window {window}: it has {_shown(every)}")
        return found

    def notes(self) -> Iterator[str]:
        """Yield a line for each way in which records were selected."""
        if self.bounded:
            window = ", ".join(f"{name} {bound.text}" for name, bound in self._bounds())
            yield f"only the records of a window are judged: {window}"
        if self.share < 1:
            yield (
                f"only about {100 * self.share:g} % of the keys are judged, chosen by a hash of the key (--sample): all"
                " counts are of these, and records without a key are left out"
            )

    def texts(self) -> Iterator[str]:
        """Yield the options that were given."""
        for name, bound in self._bounds():
            yield f"{name} {bound.text}"
        if self.share < 1:
            yield f"--sample {self.share:g}"

    def _bounds(self) -> Iterator[tuple[str, Bound]]:
        for name, bound in (("--from", self.begin), ("--to", self.end)):
            if bound:
                yield name, bound


EVERYTHING = RecordSelection()
"""All records of a source."""


def parse_bound(option: str, text: str) -> Bound | None:
    """Parse the value of ``--from`` or ``--to``; None for an empty one. Raises BadInput."""
    if not text:
        return None
    if text.startswith("offset:"):
        offsets = text.removeprefix("offset:")
        if _OFFSET.fullmatch(offsets):
            return Bound(text, offset=int(offsets))
        pairs = [pair.partition(":")[::2] for pair in offsets.split(",")]
        if _OFFSETS.fullmatch(offsets) and len(dict(pairs)) == len(pairs):
            return Bound(text, offsets={int(partition): int(offset) for partition, offset in pairs})
        raise BadInput(f"{option} {text}: expected offset:N, or offset:P:N,P:N with each partition once")
    try:
        return Bound(text, time_ms=parse_time(text))
    except ValueError:
        raise BadInput(
            f"{option} {text}: expected a time such as 2025-03-01T12:00:00Z, offset:N, or offset:P:N,P:N by partition"
        ) from None


def parse_time(text: str) -> int:
    """Return a time as in ISO 8601, which is UTC without a zone, in milliseconds since 1970. Raises ValueError."""
    time = datetime.fromisoformat(text)
    try:
        return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except OverflowError as error:
        raise ValueError(f"{text!r} is out of range") from error


def parse_share(text: str) -> float:
    """Parse the value of ``--sample``, a share such as ``0.01`` or ``1%``; 1 if it is empty. Raises BadInput."""
    if not text:
        return 1.0
    found = _SHARE.fullmatch(text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < share <= 1:
        raise BadInput(f"--sample {text}: expected a share of the keys above 0 and up to 1, such as 0.01 or 1%")
    return share


def _shown(spans: Mapping[int, Span]) -> str:
    filled = [(number, span) for number, span in sorted(spans.items()) if span.end > span.first]
    number, span = filled[0]
    more = f" and so on, in {len(filled):,} partitions" if len(filled) > 1 else ""
    return f"offsets {span.first:,} to {span.end - 1:,} in partition {number}{more}"
