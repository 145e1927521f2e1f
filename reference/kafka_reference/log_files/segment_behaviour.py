"""What each release's ``LogSegment`` does, as one record."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["SEGMENTS", "SegmentBehaviour"]

SEGMENTS = since("0.11.0.0")


@behaviour("LogSegment", SEGMENTS)
class SegmentBehaviour(Behaviour):
    """What changed in a segment, oldest change first."""

    truncates_only_what_it_has: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "Truncation to an offset behind the last batch leaves the indexes as they are.",
        "KAFKA-6492",
    )
    inactive_keeps_its_size: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "The indexes of a segment that becomes inactive are not trimmed.",
        "KAFKA-6324",
    )
    entry_has_first_offset: bool = holds(
        since("0.11.0.0", until="1.1.x"),
        "An entry of the offset index has the first offset of what is appended; later the last one.",
        "KAFKA-6264",
    )
    offset_check_is_loose: bool = holds(
        since("0.11.0.0", until="1.1.x"),
        "Only an offset too far above the base offset is refused, with IllegalArgumentException.",
        "KAFKA-6264",
    )
    largest_read_at_open: bool = holds(
        since("0.11.0.0", until="2.2.x"),
        "The indexes are opened, and the largest timestamp is read from the time index, when the segment is opened; later "
        "when they are first asked.",
        "KAFKA-7283",
    )
    close_opens_indexes: bool = holds(
        since("0.11.0.0", until="2.5.x"),
        "Closing a segment opens its indexes, adds the largest timestamp and trims them, even if nothing was asked.",
        "KAFKA-9373",
    )
    overflow_reads_largest: bool = holds(
        since("2.4.0", until="3.6.x"),
        "An offset that does not fit opens the time index: the message of the exception has the largest timestamp.",
    )
    leader_notes_offset_of_record: bool = holds(
        since("0.11.0.0", until="3.6.x"),
        "A leader passes the offset of the first record with the largest timestamp of an uncompressed batch to the segment, "
        "for its time index; later, and a follower always, the last offset of the batch.",
    )
    one_entry_per_append: bool = holds(
        since("0.11.0.0", until="3.9.0") | since("4.0.0", until="4.0.0"),
        "An append adds at most one entry to each index, for all its batches; later one for each batch.",
        "KAFKA-806",
    )
    reads_at_requested_offset: bool = holds(
        since("0.11.0.0", until="3.9.x"),
        "What is read has the offset that was asked for; later that of the first batch.",
    )
    translates_to_last_offset: bool = holds(
        since("0.11.0.0", until="3.9.x"),
        "Translation of an offset returns the last offset of the batch found; later its base offset.",
    )
    searches_by_last_offset: bool = holds(
        since("0.11.0.0", until="4.0.x"),
        "A batch is found by its last offset; later the one before the first batch with a larger base offset.",
    )
    close_adds_largest: bool = holds(
        since("0.11.0.0", until="4.3.x"), "Closing a segment adds the largest timestamp to the time index."
    )

    has_should_roll: bool = holds(
        since("1.1.0"),
        "A segment has methods that decide whether to roll it and that resize its indexes.",
        "KAFKA-6324",
    )
