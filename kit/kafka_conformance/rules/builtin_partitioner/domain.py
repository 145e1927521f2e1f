"""Which questions of ``builtin-partitioner`` a user can bring about.

The topic is a real one. A batch size is at least 1, since KafkaProducer raises 0 to 1, and a buffer of it can be
allocated. A record has between 7 bytes (no key, no value) and what fits in a request with its batch; an append of 0 bytes
only completes a switch. Statistics are of partitions of the topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from msgspec.structs import replace

from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    LoadStep,
    PeekStep,
    SendBytesStep,
)
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.domains import CLUSTER_OPTIONAL_LABELS, first_reason, nearest_script, script_domain
from kafka_conformance.rules.common.everyday import everyday_clusters
from kafka_conformance.rules.common.scripts import ClusterStep, every_script
from kafka_reference.java.int32 import INT_MAX

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

_BATCH_OVERHEAD = 61
_SMALLEST_RECORD = 7
_LONGEST_ARRAY = INT_MAX - 8
_LONGEST_QUEUE = 1_000_000
_LOAD, _DEFERRED = "statistics of queue sizes", "a switch that waits for the end of a batch"
OPTIONAL_LABELS = {
    **CLUSTER_OPTIONAL_LABELS,
    **dict.fromkeys(("none available", "one available"), CLUSTER_OPTIONAL_LABELS["some led"]),
    **dict.fromkeys(("racks", "by the table of the rack", "among the rack's"), "partitions by rack"),
    **dict.fromkeys(
        ("by the table", "load", "load: nothing known", "load: all left out", "load: fewer than two"), _LOAD
    ),
    **dict.fromkeys(("load: all equal", "load: one left over", "load: some left out"), _LOAD),
    **dict.fromkeys(("left later than wanted", "may not leave"), _DEFERRED),
    **dict.fromkeys(("left at exactly twice the size", "left at twice the size"), _DEFERRED),
    "no switch allowed": _DEFERRED,
    "peek or append": "calls on a partitioner, which no user makes",
    "twice the batch size wraps": "batch sizes of 2^30 bytes and more",
}


def domain(question: BuiltInPartitionerQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    if question.batch_size < 1:
        return "KafkaProducer makes a batch size below 1 a batch size of 1"
    if question.batch_size > _LONGEST_ARRAY:
        return "no buffer of this batch size can be allocated"
    return script_domain(question.cluster, question.steps) or first_reason(_steps(question))


def _steps(question: BuiltInPartitionerQuestion) -> Iterator[str]:
    cluster = question.cluster
    for step in question.steps:
        if isinstance(step, ClusterStep):
            cluster = step.cluster
        elif isinstance(step, SendBytesStep) and step.bytes < _SMALLEST_RECORD:
            yield f"a record has at least {_SMALLEST_RECORD} bytes"
        elif isinstance(step, AppendStep | SendBytesStep) and not 0 <= step.bytes <= INT_MAX - _BATCH_OVERHEAD:
            yield "a record and its batch have less than 2^31 bytes"
        elif isinstance(step, LoadStep) and step.queue_sizes is not None:
            yield _load_domain(step, step.queue_sizes, cluster)


def _load_domain(step: LoadStep, sizes: tuple[int, ...], cluster: AskedCluster) -> str:
    if not 0 <= step.length <= len(sizes) == len(step.partition_ids):
        return "statistics are of the first 0 to all of their queues"
    if step.racks is not None and len(step.racks) != len(sizes):
        return "statistics have a rack for each queue"
    ids = step.partition_ids[: step.length]
    if len(set(ids)) < len(ids) or not all(0 <= number < len(cluster.partitions) for number in ids):
        return "statistics are of different partitions of the topic"
    return "" if all(0 <= size <= _LONGEST_QUEUE for size in sizes) else "a queue has 0 to 1,000,000 batches"


def nearest(question: BuiltInPartitionerQuestion) -> BuiltInPartitionerQuestion:
    """Return the question with its clusters renumbered, sizes in their bounds, and statistics of partitions there are."""
    cluster, steps = nearest_script(question.cluster, question.steps)
    batch_size = min(max(question.batch_size, 1), _LONGEST_ARRAY)
    return replace(question, batch_size=batch_size, cluster=cluster, steps=tuple(_nearest_steps(cluster, steps)))


def _nearest_steps(cluster: AskedCluster, steps: tuple[Any, ...]) -> Iterator[Any]:
    for step in steps:
        if isinstance(step, ClusterStep):
            cluster = step.cluster
        if isinstance(step, AppendStep | SendBytesStep):
            fewest = _SMALLEST_RECORD if isinstance(step, SendBytesStep) else 0
            yield replace(step, bytes=min(max(step.bytes, fewest), INT_MAX - _BATCH_OVERHEAD))
        elif isinstance(step, LoadStep) and step.queue_sizes is not None:
            sizes = tuple(size % 1000 for size in step.queue_sizes[: len(cluster.partitions)])
            racks = None if step.racks is None else (*step.racks, *[None] * len(sizes))[: len(sizes)]
            yield LoadStep(sizes, tuple(range(len(sizes))), racks, min(max(step.length, 0), len(sizes)))
        else:
            yield step


def plain() -> Iterator[BuiltInPartitionerQuestion]:
    """Yield short scripts in turn: of records alone, and of all other steps."""
    turns = zip_longest(_plain_records(), _plain_scripts())
    yield from (question for question in chain.from_iterable(turns) if question is not None)


def _plain_records() -> Iterator[BuiltInPartitionerQuestion]:
    """Yield scripts of two to four records to topics of three and six led partitions."""
    first, *_, six = everyday_clusters()
    for batch_size in (100, 16384):
        half = batch_size // 2
        sizes = map(SendBytesStep, (half + 10, half - 10, batch_size, 20, 2 * batch_size))
        for number, steps in enumerate(every_script(tuple(sizes), 3)):
            draws = tuple(number * 7 + 5 * place for place in range(len(steps) + 2))
            cluster = six if number % 2 else first
            yield BuiltInPartitionerQuestion(batch_size, cluster, draws, (*steps, SendBytesStep(half + 10)))


def _plain_scripts() -> Iterator[BuiltInPartitionerQuestion]:
    """Yield short scripts to topics of one to six partitions: appends around the batch size, statistics, new metadata."""
    first, one, some, none, six = everyday_clusters()
    for batch_size in (100, 16384):
        appends = [AppendStep(size, True) for size in (1, batch_size // 2, batch_size - 1, batch_size, 2 * batch_size)]
        late = [AppendStep(size, False) for size in (batch_size // 2, batch_size, 2 * batch_size)]
        loads = [LoadStep((0, 3, 1), (0, 1, 2), ("a", "b", "c"), length) for length in (3, 2)]
        alphabet: tuple[Any, ...] = (PeekStep(), *appends, *late, *loads)
        scripts = [(first, steps) for steps in every_script(alphabet, 2)]
        scripts += [(first, steps) for steps in every_script((PeekStep(), *appends), 3)]
        changes = (PeekStep(), appends[1], appends[3], ClusterStep(some), ClusterStep(six))
        scripts += [(cluster, steps) for cluster in (one, some, none, six) for steps in every_script(changes, 2)]
        for number, (cluster, steps) in enumerate(scripts):
            draws = tuple(number * 7 + 5 * place for place in range(2 * len(steps) + 4))
            yield BuiltInPartitionerQuestion(batch_size, cluster, draws, (*steps, appends[0], PeekStep()))
