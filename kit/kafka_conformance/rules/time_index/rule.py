"""The rule ``time-index``: the index of a segment that finds the offset of a timestamp.

::

    {"base_offset": 0, "entries": [[1000, 5], [2000, 9]], "lookups": [1500]}      {"found": [[1000, 5]]}

    {"base_offset": 0, "max_index_size": 36, "steps": [
        {"op": "maybe_append", "timestamp": 1000, "offset": 24, "skip_full_check": true},   {}, or the exception
        {"op": "lookup", "target": 1500},                   {"found": [1000, 24]}; [-1, 0]: none
        {"op": "look"}]}

Entries have a timestamp in ms and an offset. The other steps are those of ``offset-index``, but for ``upper_bound``;
``last`` is the last entry.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.index_labels import OPTIONAL_LABELS, OPTIONAL_PARTS, index_path
from kafka_conformance.rules.time_index.adapter import ask
from kafka_conformance.rules.time_index.domain import domain
from kafka_conformance.rules.time_index.explain import explain_time_index
from kafka_conformance.rules.time_index.generators import time_indexes
from kafka_conformance.rules.time_index.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.time_index.question import TimeIndexQuestion
from kafka_conformance.rules.time_index.spaces import SPACES, every_last_slot, every_pair, every_short_form
from kafka_reference.log_files.behaviour import INDEXES, IndexBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="time-index",
    title="TimeIndex: the offset up to which records are no newer than a timestamp",
    area=Area.LOG,
    releases=INDEXES,
    question=TimeIndexQuestion,
    ask=ask,
    strategy=time_indexes,
    spaces=(
        Space("up to 3 entries in any order at 5 base offsets, each looked up", every_short_form),
        Space("an entry after another one, each order of timestamps and offsets", every_pair),
        Space("up to 5 entries in up to 5 slots, with or without the check for the last one", every_last_slot),
        Space("a file of up to 5 entries with 4 timestamps in any order, searched", SPACES.every_file),
        Space("a file of up to 4 entries in any order, truncated to 6 offsets", SPACES.every_truncation),
        Space("two offsets at the ends of 32 bits above 5 base offsets", SPACES.every_offset),
        Space("each size up to 40 bytes, of a new file and after resizing", SPACES.every_size),
        Space("files of each length up to 40 bytes, writable or not", SPACES.every_length),
        Space("every history of up to 3 of 14 steps of a life cycle", SPACES.every_life),
        Space("files around the length of the warm section, sound or not", SPACES.every_warm_section),
    ),
    labels=labels,
    path=index_path,
    explain=explain_time_index,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (TimeIndexQuestion(0, ((1000, 5), (2000, 9)), (1500,)),),
    optional_labels=OPTIONAL_LABELS | {"raises BufferOverflowException": "Java's errors of mapped files"},
    optional_parts=OPTIONAL_PARTS,
    java=((INDEXES, "kafkaoracle.time_index.TimeIndexRule"),),
    broker=True,
    source="TimeIndex, AbstractIndex",
    links=(
        "https://github.com/apache/kafka/blob/4.0.0/storage/src/main/java/org/apache/kafka/storage/internals/log/TimeIndex.java",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-33+-+Add+a+time+based+log+index",
        f"{_ISSUES}/KAFKA-3163",
        f"{_ISSUES}/KAFKA-6264",
    ),
    harness=(
        "The kit makes, names and removes the file, in a temporary folder; it fills files of many entries, unmaps an "
        "index before it is opened anew, and replaces paths in Kafka's messages by the names of files. Timestamps and "
        "offsets of entries, and whether the last slot may be used, are the question's: LogSegment computes them of "
        "batches."
    ),
    behaviours=(IndexBehaviour,),
    unobservable=frozenset({"IndexBehaviour.last_at_base_is_corrupt"}),
)
