"""What each release's ``AbstractIndex``, ``OffsetIndex`` and ``TimeIndex`` do, as one record: they only work together."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["INDEXES", "IndexBehaviour"]

INDEXES = since("0.11.0.0")


@behaviour("AbstractIndex", INDEXES)
class IndexBehaviour(Behaviour):
    """Search, size, checks and life cycle of an index, oldest change first."""

    first_name_stays: bool = holds(
        since("0.11.0.0", until="0.11.0.x"),
        "Messages name the file as it was when the index was opened, and the sanity check measures that file, even after "
        "it was renamed.",
        "KAFKA-6027",
    )
    last_entry_read_from_file: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "A time index reads its last entry from the file each time, so an offset that overflowed is seen as it was stored.",
        "KAFKA-6175",
    )
    same_size_maps_again: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "Resizing to the current size maps the file again, and no resizing returns whether the size changed.",
        "KAFKA-6175",
    )
    sanity_check_measures_file: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "The sanity check measures the file and throws IllegalArgumentException; later the size is that of the last open or "
        "resize, and CorruptIndexException is thrown.",
        "KAFKA-6175, KAFKA-6324",
    )
    last_at_base_is_corrupt: bool = holds(
        since("0.11.0.0", until="1.1.x"),
        "An offset index whose last entry has the base offset is corrupt.",
        "KAFKA-6264",
    )
    offsets_overflow: bool = holds(
        since("0.11.0.0", until="1.1.x"),
        "An offset that does not fit into 32 bits above the base offset is stored without its high bits.",
        "KAFKA-6264",
    )
    searches_whole_index: bool = holds(
        since("0.11.0.0", until="2.0.x"),
        "The binary search starts with the whole index; later with its last 8,192 bytes, if the key is there.",
        "KAFKA-6432",
    )
    close_keeps_mapping: bool = holds(
        since("0.11.0.0", until="2.1.x"),
        "A closed index can still be read and appended to.",
    )
    entry_is_relative: bool = holds(
        since("0.11.0.0", until="2.2.x"),
        "An entry by number has the offset as stored, without the base offset.",
        "KAFKA-7487",
    )
    entry_error_without_file: bool = holds(
        since("0.11.0.0", until="2.2.0"),
        "The message for an entry behind the last one does not name the file.",
    )
    texts_of_scala: bool = holds(
        since("0.11.0.0", until="3.4.x"),
        "A failed check is an IllegalArgumentException with 'requirement failed: ', and messages end with a period.",
        "KAFKA-14474, KAFKA-14475",
    )
    trims_only_if_mapped: bool = holds(
        since("3.9.2", until="3.9.x") | since("4.0.1"),
        "Trimming does nothing once the index is closed; before, it throws NullPointerException if the size differs.",
    )
    close_trims: bool = holds(since("0.11.0.0", until="4.3.x"), "Closing an index trims its file to the entries.")
    closed_is_flushed: bool = holds(
        since("4.4.0"), "A closed index is flushed by its file; before, flushing it throws NullPointerException."
    )

    has_close_handler: bool = holds(
        since("1.0.0", until="4.3.x"), "An index can be unmapped without being trimmed (closeHandler).", "KAFKA-6027"
    )
    has_reset: bool = holds(since("1.1.0"), "An index can be emptied and resized in one call (reset).", "KAFKA-6324")
    has_offset_check: bool = holds(
        since("2.0.0"), "An index tells whether an offset fits (canAppendOffset, relativeOffset).", "KAFKA-6264"
    )
