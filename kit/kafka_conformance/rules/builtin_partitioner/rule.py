"""The rule ``builtin-partitioner``: BuiltInPartitioner, since 3.3.0, as the accumulator uses it for one topic."""

from __future__ import annotations

from functools import partial

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.builtin_partitioner.adapter import ask_of
from kafka_conformance.rules.builtin_partitioner.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.builtin_partitioner.explain import explain
from kafka_conformance.rules.builtin_partitioner.generators import questions
from kafka_conformance.rules.builtin_partitioner.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion
from kafka_conformance.rules.builtin_partitioner.spaces import (
    every_kind_of_load,
    every_record,
    every_size,
    every_small_script,
    every_small_table,
    every_switch_of_records,
    every_table_of_racks,
)
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.releases import since

__all__ = ["RULE"]


def _path(question: BuiltInPartitionerQuestion) -> str:
    """Return what releases differ in: a batch size below 1, and racks."""
    return "batch size below 1" if question.batch_size < 1 else "racks" if question.rack_aware else "no racks"


_QUESTIONS = questions()
_WIKI = "https://cwiki.apache.org/confluence/display/KAFKA"

RULE = Rule(
    slug="builtin-partitioner",
    title="BuiltInPartitioner: sticky by bytes, adaptive, in the client's rack",
    area=Area.PLACEMENT,
    releases=since("3.3.0"),
    question=BuiltInPartitionerQuestion,
    ask=partial(ask_of, BuiltInPartitioner),
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space("batch size 2: every script of up to 3 of 9 steps × three clusters", every_small_script),
        Space("batch size 100: every script of up to 4 records of 4 sizes × two clusters", every_record),
        Space(
            "batch size 100: every script of up to 3 of 5 records, a report, and no partitions", every_switch_of_records
        ),
        Space("edge batch sizes × two appends or records of edge sizes", every_size),
        Space("edge queue sizes × every edge length × racks or none", every_kind_of_load),
        Space("every table of up to 3 queue sizes 0-3, every number in it drawn", every_small_table),
        Space(
            'three partitions led from racks a, b, none and "" in every way × three client racks', every_table_of_racks
        ),
    ),
    explain=explain,
    labels=labels,
    path=_path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("3.3.0"), "kafkaoracle.builtin_partitioner.BuiltInPartitionerRule"),),
    behaviours=(BuiltInPartitionerBehaviour,),
    source="BuiltInPartitioner.peekCurrentPartitionInfo, updatePartitionInfo, updatePartitionLoadStats, loadStatsRangeEnd",
    harness=(
        "The draws are the question's, put in by reflection, and the calls are the kit's, in place of "
        "RecordAccumulator's: the steps append and send peek at the partition and then report the bytes, in the order of "
        "RecordAccumulator.append; append answers the partition after the report, send the one before it. Whether the "
        "switch is allowed is the question's. So are the queue sizes, which RecordAccumulator counts, with their "
        "partitions and racks."
    ),
    links=(
        f"{_WIKI}/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
        f"{_WIKI}/KIP-1123%3A+Rack-aware+partitioning+for+Kafka+Producer",
        "https://issues.apache.org/jira/browse/KAFKA-14156",
        "https://issues.apache.org/jira/browse/KAFKA-14303",
    ),
)
