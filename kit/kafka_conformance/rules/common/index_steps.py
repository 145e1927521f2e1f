"""Steps that both indexes of a segment share, and the files that they are opened from."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Hex, Int32, Question

__all__ = [
    "BytesStep", "CanAppendStep", "CloseHandlerStep", "CloseStep", "DeleteStep", "EntriesStep", "EntryStep", "FilledFile",
    "FlushStep", "IndexFile", "IndexSize", "LookStep", "LookupStep", "NameStep", "Number", "RelativeStep", "RenameStep",
    "ReopenStep", "ResetStep", "ResizeStep", "SanityCheckStep", "SharedStep", "TrimStep", "TruncateStep", "TruncateToStep",
]  # fmt: skip

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**52), le=2**52)]
IndexSize: TypeAlias = Annotated[int, msgspec.Meta(ge=-64, le=2**16)]
Size: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**16)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=5000)]
Small: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**16), le=2**16)]


class FilledFile(Question, frozen=True, omit_defaults=True):
    """A file with many entries: the n-th, from 1, is n times the step; some of them are replaced."""

    count: Count
    """The number of entries."""
    step: tuple[Small, Small]
    """The two fields of an entry as they are stored: offsets are relative to the base offset."""
    patches: tuple[tuple[Count, Small, Small], ...] = ()
    """Entries that are replaced: the number of the entry, from 0, and its two fields."""


IndexFile: TypeAlias = Hex | FilledFile


class LookupStep(Question, frozen=True, tag_field="op", tag="lookup"):
    """Look up an offset (offset index) or a timestamp in ms (time index)."""

    target: Number
    """The offset or timestamp."""


class EntryStep(Question, frozen=True, tag_field="op", tag="entry"):
    """Read an entry by its number."""

    number: Int32
    """The number, from 0."""


class EntriesStep(Question, frozen=True, tag_field="op", tag="entries"):
    """Read all entries by their numbers."""


class TruncateToStep(Question, frozen=True, tag_field="op", tag="truncate_to"):
    """Remove the entries from an offset on."""

    offset: Number
    """The offset."""


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """Remove all entries."""


class ResetStep(Question, frozen=True, tag_field="op", tag="reset"):
    """Remove all entries and resize the file to ``max_index_size``; no effect up to 1.0.x."""


class ResizeStep(Question, frozen=True, tag_field="op", tag="resize"):
    """Resize the file."""

    size: Size
    """The new size in bytes, which is rounded down to whole entries."""


class TrimStep(Question, frozen=True, tag_field="op", tag="trim"):
    """Resize the file to its entries (``trimToValidSize``)."""


class FlushStep(Question, frozen=True, tag_field="op", tag="flush"):
    """Write the file to the disk."""


class CloseStep(Question, frozen=True, tag_field="op", tag="close"):
    """Close the index."""


class CloseHandlerStep(Question, frozen=True, tag_field="op", tag="close_handler"):
    """Unmap the file (``closeHandler``); no effect in releases without this method."""


class ReopenStep(Question, frozen=True, tag_field="op", tag="reopen", omit_defaults=True):
    """Unmap the file and reopen the index. If that fails, the old index stays, unmapped."""

    max_index_size: IndexSize = 1024
    """The size in bytes that a new file is preallocated with."""


class SanityCheckStep(Question, frozen=True, tag_field="op", tag="sanity_check"):
    """Check the last entry and the size of the file."""


class CanAppendStep(Question, frozen=True, tag_field="op", tag="can_append"):
    """Return whether an offset can be stored (``canAppendOffset``, since 2.0.0)."""

    offset: Number
    """The offset."""


class RelativeStep(Question, frozen=True, tag_field="op", tag="relative"):
    """Return the stored form of an offset (``relativeOffset``, since 2.0.0)."""

    offset: Number
    """The offset."""


class RenameStep(Question, frozen=True, tag_field="op", tag="rename"):
    """Rename the file (``renameTo``)."""

    suffix: Literal["", ".deleted", ".cleaned", ".swap"]
    """The suffix behind ``.index`` or ``.timeindex``."""


class DeleteStep(Question, frozen=True, tag_field="op", tag="delete"):
    """Delete the file (``deleteIfExists``, ``delete`` up to 1.0.x)."""


class NameStep(Question, frozen=True, tag_field="op", tag="name"):
    """Return the name of a segment's files, and the offset that is read from such a name."""

    offset: Number
    """The base offset of the segment."""


class BytesStep(Question, frozen=True, tag_field="op", tag="bytes"):
    """Return the content of the file."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the number of entries, the sizes and the last entry."""


SharedStep: TypeAlias = (
    LookupStep | EntryStep | EntriesStep | NameStep | TruncateToStep | TruncateStep | ResetStep | ResizeStep | TrimStep
    | FlushStep | CloseStep | CloseHandlerStep | ReopenStep | SanityCheckStep | CanAppendStep | RelativeStep | RenameStep
    | DeleteStep | BytesStep | LookStep
)  # fmt: skip
