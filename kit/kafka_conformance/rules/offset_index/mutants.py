"""Known mistakes in an offset index: search, append, size, truncation, opening of files, life cycle."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common import index_mistakes as mistakes
from kafka_conformance.rules.common.index_mistakes import overriding
from kafka_conformance.rules.offset_index.adapter import ask
from kafka_conformance.rules.offset_index.rule import RULE
from kafka_reference.errors import NullPointerException
from kafka_reference.log_files.entries import OffsetEntry
from kafka_reference.log_files.errors import CorruptIndexException, IndexOffsetOverflowException, InvalidOffsetException
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]


class _RoundsUp(mistakes.RoundsUp, OffsetIndex):
    pass


class _CountsToFirstZero(mistakes.CountsToFirstZero, OffsetIndex):
    pass


class _CutEntryCounts(mistakes.CutEntryCounts, OffsetIndex):
    pass


class _PreallocatesAgain(mistakes.PreallocatesAgain, OffsetIndex):
    pass


class _KeepsTruncatedOffset(mistakes.KeepsTruncatedOffset, OffsetIndex):
    pass


class _RemovesOneMore(mistakes.RemovesOneMore, OffsetIndex):
    pass


class _ErasesTruncated(mistakes.ErasesTruncated, OffsetIndex):
    pass


class _TrimsTruncated(mistakes.TrimsTruncated, OffsetIndex):
    pass


class _RefusesToCut(mistakes.RefusesToCut, OffsetIndex):
    pass


class _StrictlyBelowFound(mistakes.StrictlyBelowFound, OffsetIndex):
    pass


class _FirstBelowFound(mistakes.FirstBelowFound, OffsetIndex):
    pass


class _CeilingFound(mistakes.CeilingFound, OffsetIndex):
    pass


class _StoresAbsoluteOffsets(mistakes.StoresAbsoluteOffsets, OffsetIndex):
    pass


class _UncheckedLength(mistakes.UncheckedLength, OffsetIndex):
    pass


class _LittleEndian(mistakes.LittleEndian, OffsetIndex):
    pass


class _KeepsLastSlot(OffsetIndex):
    @property
    def is_full(self) -> bool:
        return self.entries >= self.max_entries - 1


class _NeverFull(OffsetIndex):
    @property
    def is_full(self) -> bool:
        return False


class _AppendsAnyOffset(OffsetIndex):
    def append(self, offset: int, position: int) -> None:
        try:
            super().append(offset, position)
        except InvalidOffsetException:
            self.last_offset = offset - 1
            super().append(offset, position)


class _IgnoresSmallOffsets(OffsetIndex):
    def append(self, offset: int, position: int) -> None:
        try:
            super().append(offset, position)
        except InvalidOffsetException:
            return


class _OverflowIgnored(OffsetIndex):
    def append(self, offset: int, position: int) -> None:
        try:
            super().append(offset, position)
        except IndexOffsetOverflowException:
            return


class _NothingAtBase(OffsetIndex):
    """An entry of the base offset is taken for an empty slot."""

    def lookup(self, offset: int) -> OffsetEntry:
        found = super().lookup(offset)
        return OffsetEntry(self.base_offset, 0) if found.offset == self.base_offset else found


class _UnsignedPositions(OffsetIndex):
    def _read_position(self, slot: int) -> int:
        return super()._read_position(slot) & 0xFFFFFFFF


class _LongUpperBound(OffsetIndex):
    def fetch_upper_bound(self, position: int, size: int) -> OffsetEntry | None:
        _, slot = self.find(self._read_position, position + size)
        return None if slot == -1 else self._read(slot)


class _UpperBoundBehind(OffsetIndex):
    """The upper bound is behind the end of the fetch, not at it."""

    def fetch_upper_bound(self, position: int, size: int) -> OffsetEntry | None:
        return super().fetch_upper_bound(position, min(size + 1, 2**31 - 1))


class _LinearUpperBound(OffsetIndex):
    """The upper bound is the first entry at or behind the end, which the search may not compare."""

    def fetch_upper_bound(self, position: int, size: int) -> OffsetEntry | None:
        super().fetch_upper_bound(position, size)
        found = (self._read(slot) for slot in range(self.entries))
        return next((entry for entry in found if entry.position >= position + size), None)


class _ChecksOrder(OffsetIndex):
    def sanity_check(self) -> None:
        super().sanity_check()
        offsets = [self._read_offset(slot) for slot in range(self.entries)]
        if offsets != sorted(set(offsets)):
            raise CorruptIndexException


class _RemembersTruncated(OffsetIndex):
    """The last offset stays that of the entries that were removed."""

    def truncate_to_entries(self, entries: int) -> None:
        last = self.last_offset
        super().truncate_to_entries(entries)
        self.last_offset = last


class _ReadsClosed(OffsetIndex):
    """A closed index still finds what it had."""

    def lookup(self, offset: int) -> OffsetEntry:
        try:
            return super().lookup(offset)
        except NullPointerException:
            return OffsetEntry(self.base_offset, 0)


_KAFKA = "https://github.com/apache/kafka/pull/"
_REDPANDA = "https://github.com/redpanda-data/redpanda/pull/"
_SPACETIME = "https://github.com/clockworklabs/SpacetimeDB/pull/"
_COMMITLOG = "https://github.com/zowens/commitlog/issues/11"
_JOCKO = "https://github.com/travisjeffery/jocko/"
_LAVINMQ = "https://github.com/cloudamqp/lavinmq/pull/384"


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


def _index(slug: str, description: str, create: type[OffsetIndex], *references: str) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create), *references)


def _behaviour(slug: str, description: str, *references: str, release: str = "4.4.0", **values: Any) -> Mutant:
    return _mutant(slug, description, overriding(RULE.slug, **values), *references, release=release)


MUTANTS = (
    _index("offset-index-rounds-up", "the file is larger than its maximum", _RoundsUp, f"{_KAFKA}983"),
    _index(
        "offset-index-ends-at-zeros", "zeros at the end of a file are no entries", _CountsToFirstZero, _LAVINMQ,
        f"{_JOCKO}issues/129",
    ),
    _index("offset-index-completes-entry", "a cut entry is completed with zeros", _CutEntryCounts, _LAVINMQ),
    _index(
        "offset-index-preallocates-again", "a file that exists is preallocated", _PreallocatesAgain, f"{_KAFKA}2501",
        f"{_KAFKA}8936",
    ),
    _index("offset-index-keeps-truncated", "the entry of the offset is kept", _KeepsTruncatedOffset, f"{_SPACETIME}2073"),
    _index("offset-index-removes-one-more", "an entry too many is removed", _RemovesOneMore, f"{_SPACETIME}2549"),
    _index("offset-index-erases-truncated", "removed entries are zeroed", _ErasesTruncated),
    _index("offset-index-trims-truncated", "truncation cuts the file", _TrimsTruncated, f"{_KAFKA}4498", f"{_KAFKA}5986"),
    _index("offset-index-refuses-to-cut", "entries are never cut off", _RefusesToCut, f"{_KAFKA}3150"),
    _index("offset-index-strictly-below", "a lookup finds what is below the offset", _StrictlyBelowFound),
    _index(
        "offset-index-first-below", "below the first entry is the first entry", _FirstBelowFound,
        "https://github.com/erleans/vonnegut/pull/57",
    ),
    _index(
        "offset-index-ceiling", "a lookup finds the next entry", _CeilingFound,
        "https://github.com/erleans/vonnegut/pull/57", f"{_JOCKO}pull/83",
    ),
    _index("offset-index-absolute", "offsets are stored without the base offset taken off", _StoresAbsoluteOffsets),
    _index("offset-index-any-length", "a file may end in mid-entry", _UncheckedLength),
    _index(
        "offset-index-little-endian", "numbers have their low byte first", _LittleEndian,
        "https://github.com/apache/pinot/pull/6320",
    ),
    _index("offset-index-keeps-last-slot", "the last slot is kept free, as in a time index", _KeepsLastSlot),
    _index("offset-index-never-full", "an index without room takes what fits into the file", _NeverFull),
    _index("offset-index-any-offset", "offsets need not ascend", _AppendsAnyOffset),
    _index("offset-index-ignores-small", "an offset that is too small is left out", _IgnoresSmallOffsets),
    _index("offset-index-ignores-large", "an offset that is too large is left out", _OverflowIgnored, f"{_KAFKA}4692"),
    _index(
        "offset-index-nothing-at-base", "an entry of the base offset is none", _NothingAtBase, _COMMITLOG,
        f"{_JOCKO}pull/142",
    ),
    _index("offset-index-unsigned-positions", "a position has no sign", _UnsignedPositions, f"{_REDPANDA}1443"),
    _index("offset-index-long-bound", "the end of a fetch is a long", _LongUpperBound, f"{_KAFKA}13342"),
    _index("offset-index-bound-behind", "the upper bound is behind the end", _UpperBoundBehind),
    _index("offset-index-linear-bound", "the first entry at the end is the upper bound", _LinearUpperBound),
    _index("offset-index-checks-order", "the sanity check compares all entries", _ChecksOrder),
    _index(
        "offset-index-remembers-truncated", "the last offset stays after truncation", _RemembersTruncated,
        "https://github.com/atomix/atomix/pull/295",
    ),
    _index("offset-index-reads-closed", "a closed index finds the base offset", _ReadsClosed,
           "https://github.com/ortuman/narwhal/issues/256"),
    _behaviour(
        "offset-index-whole-search", "the search starts with the whole index", f"{_KAFKA}5346", searches_whole_index=True
    ),
    _behaviour(
        "offset-index-overflows", "an offset loses its high bits", f"{_KAFKA}4975", f"{_KAFKA}2210", offsets_overflow=True
    ),
    _behaviour(
        "offset-index-base-is-corrupt", "an entry of the base offset alone is corrupt",
        "https://github.com/rawmind0/alpine-kafka/issues/21", "https://github.com/bitnami/bitnami-docker-kafka/issues/34",
        last_at_base_is_corrupt=True,
    ),
    _behaviour("offset-index-relative-entry", "entries have no base offset", f"{_KAFKA}5756", entry_is_relative=True),
    _behaviour("offset-index-close-trims", "closing cuts the file", close_trims=True),
    _behaviour("offset-index-close-keeps", "a closed index goes on", f"{_KAFKA}5757", close_keeps_mapping=True),
    _behaviour("offset-index-flushes-open", "flushing a closed index throws", closed_is_flushed=False),
    _behaviour("offset-index-first-name", "messages keep the first name", first_name_stays=True),
    _behaviour("offset-index-maps-again", "the same size is another size", f"{_KAFKA}3110", same_size_maps_again=True),
    _behaviour(
        "offset-index-trims-closed", "a closed index is trimmed", f"{_KAFKA}19961", release="4.3.1",
        trims_only_if_mapped=False,
    ),
    _behaviour(
        "offset-index-sanity-length", "the sanity check measures the file", release="1.1.1", sanity_check_measures_file=True
    ),
)  # fmt: skip
