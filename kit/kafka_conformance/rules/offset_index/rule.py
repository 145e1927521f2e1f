"""The rule ``offset-index``: the index of a segment that finds the position of an offset.

::

    {"base_offset": 0, "entries": [[5, 0], [9, 4096]], "lookups": [7]}      {"found": [[5, 0]]}

    {"base_offset": 0, "file": "0000000c00001147", "max_index_size": 16, "steps": [
        {"op": "append", "offset": 24, "position": 8773},   {}, or the exception
        {"op": "lookup", "target": 60},                     {"found": [24, 8773]}
        {"op": "upper_bound", "position": 0, "size": 5000}, {"bound": [24, 8773]}: an entry behind these bytes, or null
        {"op": "entry", "number": 0},                       {"entry": [12, 4423]}
        {"op": "entries"},                                  {"entries": [[12, 4423], [24, 8773]]}
        {"op": "name", "offset": 97},                       {"name": "00000000000000000097", "offset": 97}
        {"op": "truncate_to", "offset": 20}, {"op": "truncate"}, {"op": "reset"},           {}
        {"op": "resize", "size": 8},                        {"resized": true}: to another size; {} up to 1.0.x
        {"op": "trim"}, {"op": "flush"}, {"op": "close"}, {"op": "close_handler"},          {}
        {"op": "rename", "suffix": ".deleted"}, {"op": "reopen", "max_index_size": 16},     {}
        {"op": "delete"},                                   {"deleted": true}: the file existed
        {"op": "sanity_check"},                             {}, or the exception
        {"op": "can_append", "offset": 3}, {"op": "relative", "offset": 3},  {"fits": true}, {"relative": 3}: since 2.0.0
        {"op": "bytes"},                                    {"bytes": "0000000c…"}: the content of the file
        {"op": "look"}]}    {"entries", "max_entries", "size", "full", "last", "length"}

``file`` is the content of a file that exists; entries go behind it. A question without steps is answered by what its
lookups find. If the index cannot be opened, or one of ``entries`` cannot be appended, all steps are answered by that error.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.common.index_labels import OPTIONAL_LABELS, OPTIONAL_PARTS, index_path
from kafka_conformance.rules.offset_index.adapter import ask
from kafka_conformance.rules.offset_index.domain import domain
from kafka_conformance.rules.offset_index.explain import explain_offset_index
from kafka_conformance.rules.offset_index.generators import offset_indexes
from kafka_conformance.rules.offset_index.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.offset_index.question import OffsetIndexQuestion
from kafka_conformance.rules.offset_index.spaces import (
    ARTICLE,
    SPACES,
    every_file,
    every_short_form,
    every_upper_bound,
    every_warm_section,
)
from kafka_reference.log_files.behaviour import INDEXES, IndexBehaviour

__all__ = ["RULE"]

_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="offset-index",
    title="OffsetIndex: the position of an offset in a segment",
    area=Area.LOG,
    releases=INDEXES,
    question=OffsetIndexQuestion,
    ask=ask,
    strategy=offset_indexes,
    spaces=(
        Space("up to 3 entries in any order at 5 base offsets, each looked up", every_short_form),
        Space("a file of up to 5 entries with 4 offsets in any order, searched by offset and position", every_file),
        Space("a file of up to 4 entries in any order, truncated to 6 offsets", SPACES.every_truncation),
        Space("two offsets at the ends of 32 bits above 5 base offsets", SPACES.every_offset),
        Space("each size up to 40 bytes, of a new file and after resizing", SPACES.every_size),
        Space("files of each length up to 40 bytes, writable or not", SPACES.every_length),
        Space("every history of up to 3 of 14 steps of a life cycle", SPACES.every_life),
        Space("files around the length of the warm section, sound or not", every_warm_section),
        Space("fetches that end at the ends of an int32", every_upper_bound),
    ),
    labels=labels,
    path=index_path,
    explain=explain_offset_index,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    plain=lambda: (ARTICLE,),
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    java=((INDEXES, "kafkaoracle.offset_index.OffsetIndexRule"),),
    broker=True,
    source="OffsetIndex, AbstractIndex",
    links=(
        "https://github.com/apache/kafka/blob/4.0.0/storage/src/main/java/org/apache/kafka/storage/internals/log/OffsetIndex.java",
        f"{_ISSUES}/KAFKA-6264",
        f"{_ISSUES}/KAFKA-6432",
        f"{_ISSUES}/KAFKA-7487",
    ),
    harness=(
        "The kit makes, names and removes the file, in a temporary folder; it fills files of many entries, unmaps an "
        "index before it is opened anew, and replaces paths in Kafka's messages by the names of files. Offsets and "
        "positions of entries are the question's: LogSegment computes them of batches."
    ),
    behaviours=(IndexBehaviour,),
    unobservable=frozenset({"IndexBehaviour.last_entry_read_from_file"}),
)
