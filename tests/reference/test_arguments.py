"""Every argument of every public function and constructor: wrong types, numbers out of range and misspelt names.

The callables are those of the packages' ``__all__`` and of the modules that the pages import from, so that a new one is
covered without a line here; the annotations say what each argument accepts.
"""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from kafka_reference import Cluster, Node, Partition, parse_release
from kafka_reference.accumulator import Metadata, RecordAccumulator, SizedRecord
from kafka_reference.arguments import PRODUCER_SETTINGS, TEXT_SETTINGS
from kafka_reference.assignment import Member, Topic
from kafka_reference.cluster.script import ClusterScript, Settle
from kafka_reference.delivery import Fault, InvalidScenario, Kind, Scenario, simulate
from kafka_reference.errors import ConfigException, NullPointerException
from kafka_reference.idempotence import SenderConfig, producer_outcome
from kafka_reference.idempotence.config_behaviour import ProducerConfigBehaviour
from kafka_reference.idempotence.config_def import parse_config
from kafka_reference.producer import KafkaProducer
from kafka_reference.producer_config import parse_settings
from kafka_reference.record_batch import Codec, EndTransactionMarker, NewBatch, NewRecord, TimestampType

PACKAGES = (
    "", ".accumulator", ".assignment", ".broker", ".delivery", ".idempotence", ".log_files", ".partitioning", ".producer",
    ".record_batch", ".log_files.log_segment", ".java.thread_local_random", ".partitioning.keyless_distribution",
    ".cluster.script", ".cluster.history",
)  # fmt: skip
RESULTS = {
    "accumulator": {"Appended", "Batch", "Ready"},
    "broker": {"AppendResult", "Appended", "Duplicate"},
    "cluster.history": {"ClusterHistory"},
    "delivery": {"InvalidProducer", "Outcome", "PartitionState", "ReplicaRecords", "RequestOutcome"},
    "idempotence": {"ProducerOutcome", "Sent"},
    "log_files": {"OffsetEntry", "TimeEntry"},
    "log_files.log_segment": {"RollLimits", "SegmentBehaviour", "SegmentRead"},
    "partitioning": {"LoadTable", "Place", "StickyPartitionInfo"},
    "partitioning.keyless_distribution": {"Batches", "Distribution"},
    "producer": {"Placement"},
    "record_batch": {"DefaultBatch", "LegacyBatch", "Message", "Record", "RecordBatchBehaviour", "SkippedRecord"},
}
"""Classes that the library returns, or makes for itself."""
INNER = {
    "java.thread_local_random": {"draw_source", "mix32", "next_double", "seed_for"},
    "partitioning.keyless_distribution": {
        "check_arguments", "load_queue_sizes", "partitioner_calls", "send_by_bytes", "send_by_one_call", "send_by_two_calls",
    },
}  # fmt: skip
"""Functions of modules, beside those that the pages call."""
SAMPLES: dict[str, Any] = {
    "int": 1, "bool": True, "str": "a", "bytes": b"", "Key": b"k", "Draws": [1, 2], "bytes | memoryview": b"",
    "bytes | None": None, "str | Release": "4.4.0", "Cluster": Cluster.of(3), "Mapping[str, object]": {},
    "Metadata": Metadata(), "Scenario": Scenario({}, 1), "Kind": Kind.LOSE_REQUEST, "SizedRecord": SizedRecord(),
    "Mapping[str, Topic]": {"t": Topic(3)}, "Sequence[Member]": [Member("a", ("t",))], "NewBatch": NewBatch(records=[]),
    "tuple[int, ...]": (4, 4, 0), "tuple[Node, ...]": (Node(0),), "tuple[Partition, ...]": (Partition(0),),
    "tuple[tuple[Release, Release | None], ...]": ((parse_release("4.4.0"), None),), "Iterable[int]": [1],
    "Sequence[NewRecord]": [], "EndTransactionMarker": EndTransactionMarker(commit=True, coordinator_epoch=0),
    "ClusterScript": ClusterScript((Settle(),)), "tuple[Event, ...]": (), "BrokerId": 1, "Codec": Codec.NONE,
    "TimestampType": TimestampType.CREATE_TIME, "Literal['preferred', 'unclean']": "preferred", "NewRecord": None,
}  # fmt: skip
"""A right argument for each annotation of a required one."""
BY_NAME = {
    "partitioner": "builtin",
    "release of cluster.history.simulate": "4.4.0",
    "first": "2.1.0",
    "data": bytes(16),
}
BUILT_IN = {"int": int, "str": str, "bool": bool, "bytes": bytes, "None": type(None), "float": float}
WRONG = ("nonsense", 7, None, -1, True, 4.4, object())
"""What each argument is given; those that its annotation names may pass."""
# A message that does not name the argument says more than that.
OTHER_WORDS = re.compile(
    r"^(unknown setting |unknown partitioner |a key is bytes, not |'nonsense' is not a Kafka release)"
)


class Door(NamedTuple):
    """A public callable, the name by which a caller knows it, and its parameters."""

    name: str
    call: Callable[..., Any]
    parameters: dict[str, inspect.Parameter]


def _doors() -> Iterator[Door]:
    seen = set()
    for package in PACKAGES:
        module = import_module(f"kafka_reference{package}")
        short = package.removeprefix(".")
        for name in module.__all__:
            value = getattr(module, name)
            is_left_out = name in RESULTS.get(short, ()) or name in INNER.get(short, ())
            if is_left_out or id(value) in seen or not callable(value) or not _is_ours(value):
                continue
            seen.add(id(value))
            yield from _of(f"{short}.{name}".removeprefix("."), value)


def _is_ours(value: Any) -> bool:
    if not inspect.isclass(value):
        return str(getattr(value, "__module__", "")).startswith("kafka_reference")
    is_built_in = issubclass(value, (enum.Enum, BaseException)) or getattr(value, "_is_protocol", False)
    return not is_built_in and value.__module__.startswith("kafka_reference")


def _of(name: str, value: Any) -> Iterator[Door]:
    if not inspect.isclass(value):
        yield _door(name, value, value)
        return
    yield _door(name, value, value.__new__ if issubclass(value, tuple) else value.__init__)
    for method, one in vars(value).items():
        if isinstance(one, classmethod) and not method.startswith("_"):
            yield _door(f"{name}.{method}", getattr(value, method), one.__func__)


def _door(name: str, call: Any, function: Any) -> Door:
    parameters = {
        one.name: one
        for one in inspect.signature(function).parameters.values()
        if one.name not in ("self", "cls", "_cls", "args", "kwargs")
    }
    return Door(name, call, parameters)


def _annotation(parameter: inspect.Parameter) -> str:
    return str(getattr(parameter.annotation, "__forward_arg__", parameter.annotation))


DOORS = {door.name: door for door in _doors()}
ARGUMENTS = [(door.name, name) for door in DOORS.values() for name in door.parameters]


def _call(name: str, argument: str, value: object) -> Exception | None:
    """Return what is raised for one argument; the other required ones are right, the optional ones left out."""
    door = DOORS[name]
    given = {
        one.name: BY_NAME.get(f"{one.name} of {name}", BY_NAME.get(one.name, SAMPLES.get(_annotation(one))))
        for one in door.parameters.values()
        if one.default is one.empty
    }
    try:
        door.call(**{**given, argument: value})
    except Exception as error:  # noqa: BLE001  any error is looked at
        return error
    return None


def _may_pass(annotation: str, value: object) -> bool:
    """Return whether an annotation names the type of a value: it may pass, or be refused for what it is."""
    if annotation == "Draws":
        return value is None
    parts = [BUILT_IN.get(part.strip(), ()) for part in annotation.split("|")]
    kinds = tuple(kind for kind in parts if kind)
    is_number = isinstance(value, bool) is (bool in kinds) or not isinstance(value, (bool, int))
    if float in kinds and type(value) is int:
        return True
    return (isinstance(value, kinds) and (is_number or type(value) in kinds)) or annotation in ("Any", "object")


def test_samples_of_this_file_cover_every_required_argument_of_every_public_callable() -> None:
    assert len(DOORS) > 50, "callables are discovered"
    missing = {
        f"{name}: {one.name}: {_annotation(one)}"
        for name, door in DOORS.items()
        for one in door.parameters.values()
        if one.default is one.empty and _annotation(one) not in SAMPLES and one.name not in BY_NAME
    }
    assert not missing, "add a sample"


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_argument_of_wrong_type_raises_one_line_error_naming_argument_and_value(name: str, argument: str) -> None:
    annotation = _annotation(DOORS[name].parameters[argument])
    for value in WRONG:  # a test for each pair would be a tenth of all tests
        error = _call(name, argument, value)
        if _may_pass(annotation, value) or (annotation == "Key" and value is None):
            kinds = (AttributeError, IndexError, KeyError)
            assert not isinstance(error, kinds) or isinstance(error, NullPointerException), value
            continue
        assert isinstance(error, (TypeError, ValueError)), f"{annotation} takes {value!r}"
        assert "\n" not in str(error), value
        assert str(error).startswith(f"{argument} of ") or OTHER_WORDS.match(str(error)), str(error)
        assert repr(value) in str(error) or OTHER_WORDS.match(str(error)), str(error)


NUMBERS = [(name, one) for name, one in ARGUMENTS if "int" in _annotation(DOORS[name].parameters[one]).split(" | ")]


@pytest.mark.parametrize(("name", "argument"), NUMBERS)
def test_int_argument_beyond_64_bits_raises_value_error_naming_the_argument(name: str, argument: str) -> None:
    for number in (2**70, -(2**70)):
        error = _call(name, argument, number)
        assert type(error) is ValueError
        assert str(error).startswith(f"{argument} of ")


SETTINGS = [
    (name, one) for name, one in ARGUMENTS if "Mapping[str, object]" in _annotation(DOORS[name].parameters[one])
]


@pytest.mark.parametrize(("name", "argument"), SETTINGS)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 7}, "unknown setting 'batch_size': Kafka's name is 'batch.size'"),
        ({"MAX_BLOCK_MS": 7}, "unknown setting 'MAX_BLOCK_MS': Kafka's name is 'max.block.ms'"),
        ({"retires": 7}, "unknown setting 'retires': did you mean 'retries'?"),
        ({"qos": 7}, "unknown setting 'qos': Kafka's producer has none of this name; leave it out"),
        ({7: "retries"}, "unknown setting 7: settings have Kafka's names, such as 'linger.ms'"),
    ],
)  # fmt: skip
def test_unknown_producer_setting_raises_value_error_with_suggestion_in_every_callable(
    name: str, argument: str, settings: Any, message: str
) -> None:
    error = _call(name, argument, settings)
    assert type(error) is ValueError
    assert str(error) == message


@pytest.mark.parametrize(("name", "argument"), SETTINGS)
@pytest.mark.parametrize("settings", [{"acks": 0}, {"acks": True}, {"transactional.id": 5}])
def test_number_for_a_string_setting_throws_config_exception(name: str, argument: str, settings: Any) -> None:
    error = _call(name, argument, settings)
    assert type(error) is ConfigException
    assert "Expected value to be a string, but it was a java.lang." in str(error)


@pytest.mark.parametrize(("name", "argument"), SETTINGS)
def test_every_callable_accepts_producer_settings_without_effect_such_as_bootstrap_servers(
    name: str, argument: str
) -> None:
    passed = {"bootstrap.servers": "a:9092", "ssl.protocol": "TLS", "sasl.mechanism": "PLAIN", "linger.ms": 5}
    assert _call(name, argument, passed) is None


def test_set_of_known_producer_settings_contains_every_setting_that_is_parsed() -> None:
    for version in ("0.10.0.1", "2.8.2", "4.4.0"):
        known = {*parse_settings({}, version), *parse_config({}, ProducerConfigBehaviour.of(version))}
        assert known <= PRODUCER_SETTINGS
    assert TEXT_SETTINGS <= PRODUCER_SETTINGS


@pytest.mark.parametrize("make", [Fault, lambda *args: Scenario({}, 3, [Fault(*args)])])
def test_fault_kind_given_as_text_raises_value_error_suggesting_the_enum_member(make: Callable[..., Any]) -> None:
    for kind in Kind:
        with pytest.raises(ValueError, match=rf"did you mean Kind\.{kind.name}\?$"):
            make(kind.value, 1)
    with pytest.raises(ValueError, match=r"^kind of Fault is 'crash': expected a Kind: LOSE_REQUEST, LOSE_RESPONSE, "):
        make("crash", 1)


ELEMENTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Scenario({}, 3, [Fault(Kind.LOSE_REQUEST, 1), "x"]), "faults[1] of Scenario is 'x': expected a Fault"),
    (lambda: Cluster((Node(0), 1), ()), "nodes[1] of Cluster is 1: expected a Node"),
    (lambda: NewBatch(records=[NewRecord(0, None, None), b"x"]), "records[1] of NewBatch is b'x': expected a NewRecord"),
    (lambda: Member("a", "topic"), "topics of Member is 'topic': expected a sequence, each of it a str"),
    (lambda: Member("a", owned=(("t", "0"),)), "owned[0][1] of Member is '0': expected a Java long, an int of 64 bits"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), ELEMENTS)
def test_wrong_sequence_argument_or_element_raises_type_error_naming_argument_and_index(
    call: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "call",
    [lambda: Scenario({}, -2), lambda: Cluster.of(-2), lambda: Cluster.of(2, nodes=-2), lambda: Cluster.of(2, nodes=0)],
)
def test_negative_record_or_partition_count_or_node_count_below_1_raises_value_error(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"expected an int, [01] to 2147483647$"):
        call()


METHODS: list[tuple[Callable[[], Any], str]] = [
    (lambda: RecordAccumulator().append("t", "0", SizedRecord(), Metadata()),
     "partition of RecordAccumulator.append is '0': "),
    (lambda: KafkaProducer().send("t", b"value"), "record of KafkaProducer.send is b'value': expected a Record"),
    (lambda: Metadata().leader("t", None), "partition of Metadata.leader is None: "),
    (lambda: Cluster.of("3"), "partitions of Cluster.of is '3': "),
    (lambda: SenderConfig.of([]), "settings of SenderConfig.of is []: expected settings by Kafka's names, "),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), METHODS)
def test_wrong_argument_of_a_public_method_raises_type_error_naming_the_argument(
    call: Callable[[], Any], message: str
) -> None:
    with pytest.raises(TypeError) as refused:
        call()
    assert str(refused.value).startswith(message)


def test_argument_check_keeps_signature_name_and_defaults_of_public_callables() -> None:
    assert str(inspect.signature(Partition)) == "(id: 'int', leader: 'int | None' = None) -> None"
    assert inspect.signature(producer_outcome).parameters["version"].default == parse_release("4.4.0")
    assert (producer_outcome.__name__, producer_outcome.__code__.co_qualname) == ("producer_outcome",) * 2
    assert Partition(1) == Partition(id=1, leader=None)
    with pytest.raises(AttributeError):
        Partition(1).id = 2  # type: ignore[misc]


def test_delivery_scenario_with_fault_at_an_unsent_request_raises_invalid_scenario() -> None:
    scenario = Scenario({"acks": "1"}, 2, [Fault(Kind.LOSE_RESPONSE, 1), Fault(Kind.CRASH_BEFORE, 5)])
    with pytest.raises(InvalidScenario) as refused:
        simulate(scenario)
    assert str(refused.value) == (
        "crash-before at request 5: the producer sends 3 requests here: choose 1 to 3, or more records"
    )
    assert simulate(Scenario({"acks": "1"}, 2, [Fault(Kind.LOSE_RESPONSE, 1), Fault(Kind.LOSE_RESPONSE, 3)])).requests


def test_invalid_producer_result_can_be_pickled_and_outcome_field_raises_with_config_error() -> None:
    outcome = simulate(Scenario({"acks": "2"}, 1))
    with pytest.raises(
        AttributeError, match=r"^no doubled: the producer cannot be constructed: ConfigException: Invalid value 2 "
    ):
        outcome.doubled  # noqa: B018
    assert copy.deepcopy(outcome) == pickle.loads(pickle.dumps(outcome)) == outcome  # noqa: S301
