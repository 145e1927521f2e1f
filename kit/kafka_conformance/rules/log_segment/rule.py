"""The rule ``log-segment``: batches in a file, the sparse indexes over them, roll, read, truncation and recovery.

::

    {"base_offset": 0, "index_interval_bytes": 100, "max_index_size": 96, "steps": [
        {"op": "append", "batches": [{"offset": 0, "timestamps": [1000, 990], "value_bytes": 40}]},     {}, or the exception
        {"op": "append", "batches": [{"offset": 2, "timestamps": [999]}], "leader": true},      by the partition's leader
        {"op": "read", "offset": 1, "max_size": 500, "max_position": 300, "min_one_message": true},
                                            {"found": [offset, position, size], "incomplete": false}, or "found": null
        {"op": "translate", "offset": 1},   {"found": [offset, position, size]}: the batch with this offset, or null
        {"op": "find", "timestamp": 995, "offset": 0},      {"found": [timestamp, offset]}: the first record not older
        {"op": "should_roll", "bytes": 90, "timestamp": 1010, "offset": 2, "now": 2000},    {"roll": true}: since 1.1.0
        {"op": "next_offset"},                              {"offset": 2}
        {"op": "truncate", "offset": 1, "now": 2000},       {"truncated": 156}: bytes
        {"op": "recover"},                                  {"truncated": 0}
        {"op": "crash", "cut": 20},     {"truncated": 136}: opened without having been closed, and recovered
        {"op": "damage", "batch": 0},   {}: another checksum
        {"op": "inactive"}, {"op": "resize", "size": 96}, {"op": "reopen"},     {}
        {"op": "look"}]}                {"size": 156, "index": "0000…", "time_index": "0000…"}

Not asked: a read at an index entry that points into the middle of a batch, and a segment that is used after its recovery
failed, with a cut batch in it. Only 4.4.0 leaves such entries, in a segment that is truncated, then closed without being
finished: its indexes are not trimmed, so entries of removed batches are read again.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.step_text import plain_steps
from kafka_conformance.rules.log_segment.adapter import ask
from kafka_conformance.rules.log_segment.domain import domain
from kafka_conformance.rules.log_segment.generators import log_segments
from kafka_conformance.rules.log_segment.labels import OPTIONAL_LABELS, OPTIONAL_PARTS, REQUIRED_LABELS, labels, path
from kafka_conformance.rules.log_segment.question import LogSegmentQuestion
from kafka_conformance.rules.log_segment.spaces import (
    ARTICLE,
    every_append,
    every_crash,
    every_far_offset,
    every_leader,
    every_life,
    every_order,
    every_read,
    every_roll,
    every_truncation,
)
from kafka_reference.log_files.behaviour import IndexBehaviour
from kafka_reference.log_files.segment_behaviour import SEGMENTS, SegmentBehaviour

__all__ = ["RULE"]

_UNOBSERVABLE = (
    "first_name_stays", "last_entry_read_from_file", "same_size_maps_again", "sanity_check_measures_file",
    "last_at_base_is_corrupt", "searches_whole_index", "close_keeps_mapping", "entry_is_relative", "texts_of_scala",
    "entry_error_without_file", "trims_only_if_mapped", "closed_is_flushed", "has_close_handler", "has_reset",
    "has_offset_check",
)  # fmt: skip
"""What a segment does not show of its indexes: a closed one is reopened, and messages are not part of answers."""
_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="log-segment",
    title="LogSegment: sparse indexes, roll, read, truncation and recovery",
    area=Area.LOG,
    releases=SEGMENTS,
    question=LogSegmentQuestion,
    ask=ask,
    strategy=log_segments,
    spaces=(
        Space("4 batches split into appends in every way, at each interval around their sizes", every_append),
        Space("2 batches appended by leaders and followers, the largest timestamp at each place", every_leader),
        Space("reads of 4 batches from each offset, around the ends of batches", every_read),
        Space("a roll around each of its limits", every_roll),
        Space("4 batches truncated to each offset, once or twice", every_truncation),
        Space("4 batches with bytes lost or a checksum changed, recovered", every_crash),
        Space("3 batches of 2 offsets in any order", every_order),
        Space("offsets at the ends of 32 bits above and below 3 base offsets", every_far_offset),
        Space("every history of up to 3 of 11 steps of a life cycle", every_life),
    ),
    labels=labels,
    path=path,
    explain=plain_steps,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (ARTICLE,),
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    java=((SEGMENTS, "kafkaoracle.log_segment.LogSegmentRule"),),
    broker=True,
    source="LogSegment, FileRecords",
    links=(
        "https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/LogSegment.java",
        f"{_ISSUES}/KAFKA-6264",
        f"{_ISSUES}/KAFKA-7283",
    ),
    harness=(
        "The kit builds the bytes of the batches, makes and removes the files, lets a segment crash, cuts its file and "
        "changes checksums. To releases up to 3.9.0 and 4.0.0 it passes the largest offset and timestamp of an append, as "
        "the log does, and the last offset of the batch with the largest timestamp, as the log of a follower does. For "
        "the append of a leader Kafka's LogValidator computes the latter, without a codec, from a client, and with no "
        "limit for timestamps. What decides a roll, and where a search by time starts, are the question's, in place of "
        "UnifiedLog's. A recovery gets an empty ProducerStateManager and no cache of epochs."
    ),
    behaviours=(SegmentBehaviour, IndexBehaviour),
    unobservable=frozenset(f"IndexBehaviour.{name}" for name in _UNOBSERVABLE),
)
