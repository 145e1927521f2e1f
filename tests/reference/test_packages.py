"""The packages of the reference: names without a module, defaults, lists of draws, short reprs, and an example each."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import kafka_reference
from kafka_reference import Cluster, UnprovenRelease, accumulator, broker, delivery, idempotence, partitioning, producer
from kafka_reference.java.thread_local_random import ListedDraws, draw_source

PACKAGES = (kafka_reference, accumulator, broker, delivery, idempotence, partitioning, producer)
PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if inspect.isclass(getattr(package, name)) or inspect.isfunction(getattr(package, name))
}
DEFAULTS: dict[str, Callable[..., Any]] = {
    "RecordAccumulator": accumulator.RecordAccumulator,
    "Metadata": accumulator.Metadata,
    "BuiltInPartitioner": partitioning.BuiltInPartitioner,
    "RoundRobinPartitioner": partitioning.RoundRobinPartitioner,
    "ProducerState": broker.ProducerState,
    "ProducerStateManager": broker.ProducerStateManager,
    "Sender": idempotence.Sender,
    "KafkaProducer": producer.KafkaProducer,
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring_example(name: str) -> None:
    """The examples are run by the tests of the modules that define them."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(PUBLIC[name]) or "")
    assert examples, f"{name}: its docstring shows no example"


def test_every_public_function_of_bulk_has_a_docstring_example() -> None:
    pytest.importorskip("pyarrow")
    bulk = import_module("kafka_reference.bulk")
    assert all(doctest.DocTestParser().get_examples(getattr(bulk, name).__doc__) for name in bulk.__all__)


@pytest.mark.parametrize("make", DEFAULTS.values(), ids=DEFAULTS)
def test_public_constructors_need_no_arguments_and_raise_unproven_release_for_unverified_version(
    make: Callable[..., Any],
) -> None:
    assert make() is not None
    assert make("3.9.1") is not None
    assert make(version="3.9.1") is not None
    with pytest.raises(UnprovenRelease):
        make(version="3.9.9")


@pytest.mark.parametrize("make", [*DEFAULTS.values(), kafka_reference.certificate], ids=[*DEFAULTS, "certificate"])
def test_repr_of_a_public_object_is_shorter_than_120_characters(make: Callable[..., Any]) -> None:
    assert len(repr(make())) < 120


def test_reprs_of_public_objects_contain_class_release_and_state() -> None:
    held = accumulator.RecordAccumulator("2.8.2")
    held.append("t", 0, accumulator.SizedRecord(value=1), accumulator.Metadata("2.8.2"))
    assert repr(held) == "<RecordAccumulator 2.8.2 at 0 ms: 1 incomplete batches>"
    assert repr(held.state.batches[0]) == "<Batch 0 of t-0: 1 record, 69 bytes, queued>"
    assert repr(idempotence.Sender("2.8.2")) == "<Sender 2.8.2 at 0 ms: 0 incomplete batches>"
    assert repr(broker.ProducerState()) == "<ProducerState at 0 ms, offset 0: 0 producers>"
    assert repr(partitioning.Partitioner("fnv1a")) == "Partitioner('fnv1a')"
    shipped = kafka_reference.certificate()
    assert repr(shipped).startswith(f"<Certificate of {shipped.made}: {len(shipped.rules())} rules in ")


@pytest.mark.parametrize("draws", [[4, 0], (4, 0), iter([4, 0]), ListedDraws([4, 0])])
def test_partitioner_accepts_random_draws_as_list_tuple_iterator_or_draw_source(draws: Any) -> None:
    partitioner, cluster = partitioning.BuiltInPartitioner(sticky_batch_size=1, draws=draws), Cluster.of(3)
    stay = partitioner.peek(cluster)
    partitioner.update(stay, 1, cluster)
    assert (stay.partition, partitioner.peek(cluster).partition) == (1, 0)


def test_partitioners_without_given_random_draws_choose_different_partitions_at_random() -> None:
    assert len({draw_source(None).next() for _ in range(8)}) > 1
    cluster = Cluster.of(1000)
    assert len({partitioning.BuiltInPartitioner().peek(cluster).partition for _ in range(8)}) > 1
    assert len({partitioning.DefaultPartitioner("3.9.1").partition("t", None, cluster) for _ in range(8)}) > 1
    assert len({kafka_reference.choose_partition(cluster=cluster, version="2.3.1") for _ in range(8)}) > 1


def test_accumulator_and_producer_place_keyless_record_by_the_listed_random_draw() -> None:
    metadata, record = accumulator.Metadata(cluster=Cluster.of(3)), accumulator.SizedRecord(value=1)
    assert accumulator.RecordAccumulator(draws=[5]).append("t", None, record, metadata).partition == 2
    sent = producer.KafkaProducer(metadata=metadata, draws=[5]).send("t", producer.Record(value_bytes=1))
    assert sent.partition == 2


def test_cluster_of_3_partitions_assigns_leaders_to_2_nodes_in_turn() -> None:
    assert [(one.id, one.leader) for one in Cluster.of(3, nodes=2).partitions] == [(0, 0), (1, 1), (2, 0)]
    assert [node.id for node in Cluster.of(3, nodes=2).nodes] == [0, 1]


@pytest.mark.parametrize("package", ["reference/kafka_reference", "kit/kafka_conformance", "jars/kafka_jars"])
def test_every_folder_with_python_modules_has_an_init_file(package: str) -> None:
    """A wheel on Spark's --py-files is imported as a zip file, which finds no folder without ``__init__.py``."""
    root = Path(__file__).parents[2] / package
    assert root.is_dir()
    assert {file.parent for file in root.rglob("*.py")} == {file.parent for file in root.rglob("__init__.py")}
