"""The consumers of kafka-python and aiokafka, gated in consumer-fetch through their own code; planted mistakes are found.

The drivers in other languages are gated by ``tox -e clients``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.core.events import Differed, RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.gate import findings
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.runner import GatePlan, gate
from kafka_conformance.rules import RULES
from kafka_conformance.rules.consumer_fetch.generators import Log
from kafka_reference.releases import NEWEST

DRIVERS = Path(__file__).parents[2] / "ci" / "drivers"
SLUG = "consumer-fetch"
Ask = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(autouse=True)
def _driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("kafka.producer.producer_batch")
    pytest.importorskip("aiokafka")
    monkeypatch.syspath_prepend(str(DRIVERS / "kafka-python"))
    monkeypatch.setattr(findings, "_SHRINK_S", 0.0)
    yield
    logging.disable(logging.NOTSET)  # the drivers disable it


def _module(client: str) -> ModuleType:
    """Return the module of a client's driver: both are named ``fetches``."""
    spec = spec_from_file_location(f"fetches_of_{client}", DRIVERS / client / "fetches.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _kafka_python() -> Ask:
    module = _module("kafka-python")
    return lambda question: module.polled(module.Consumer(question))  # type: ignore[no-any-return]


def _aiokafka() -> Ask:
    return _module("aiokafka").answer  # type: ignore[no-any-return]


def _gate(folder: Path, ask: Ask) -> tuple[RuleEnded, dict[str, int]]:
    """Return how the rule ended, and how often each kind of difference was found."""

    def client(_: str, __: str, question: dict[str, Any]) -> dict[str, Any] | None:
        return ask(question).get("answer")

    with CallableAnswerer(client, "python:mine") as target:
        plan = GatePlan([(RULES[SLUG], NEWEST)], 1, 1, folder, named=True)
        result = gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1))
    ended = next(event for event in result.events if isinstance(event, RuleEnded))
    return ended, {one.kind: one.times for one in result.events if isinstance(one, Differed)}


def _question(log: Log, offset: int = 0) -> dict[str, Any]:
    return {"records": log.data.hex(), "fetch_offset": offset}


@pytest.mark.parametrize("consumer", [_kafka_python, _aiokafka])
def test_kafka_python_and_aiokafka_consumers_skip_records_below_offset_and_control_records(
    consumer: Callable[[], Ask],
) -> None:
    log = Log(4).append(4).append(2, producer=1, transactional=True).end(1)
    answer = {"delivered": [6, 7, 8, 9], "position": 11}
    assert consumer()(_question(log, 6)) == {"answer": answer}


def test_kafka_python_poll_after_corrupt_record_error_is_reported_as_not_returning() -> None:
    answer = _kafka_python()(_question(Log().append(2).append(1, crc_xor=1)))["answer"]
    assert (answer["delivered"], answer["position"], answer["raises"]) == ([0, 1], 2, "CorruptRecordError")
    assert answer["again"] == "no exception: the poll does not return"


def test_aiokafka_driver_answers_corrupt_record_with_exception_and_without_a_second_poll() -> None:
    answer = _aiokafka()(_question(Log().append(1, crc_xor=1)))["answer"]
    assert answer == {"delivered": [], "position": 0, "raises": "CorruptRecordException"}


def test_gate_finds_kafka_python_consumer_changed_to_deliver_control_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, kinds = _gate(tmp_path, _kafka_python())
    assert ended.verdict == "differs"
    assert ended.agreed > 80
    assert "read_uncommitted, magic 2: another delivered position" not in kinds
    batch = pytest.importorskip("kafka.record.default_records").DefaultRecordBatch
    monkeypatch.setattr(batch, "is_control_batch", property(lambda _: False))
    broken, kinds = _gate(tmp_path, _kafka_python())
    assert broken.agreed < ended.agreed
    assert kinds["read_uncommitted, magic 2: another delivered position"] > 1


def test_gate_finds_aiokafka_consumer_changed_to_ignore_the_aborted_transactions_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, kinds = _gate(tmp_path, _aiokafka())
    assert ended.verdict == "differs"
    assert ended.agreed > 80
    before = kinds["read_committed, magic 2: another delivered position"]
    records = pytest.importorskip("aiokafka.consumer.fetcher").PartitionRecords
    monkeypatch.setattr(records, "_consume_aborted_up_to", lambda *_: None)
    broken, kinds = _gate(tmp_path, _aiokafka())
    assert broken.agreed < ended.agreed
    assert kinds["read_committed, magic 2: another delivered position"] > before + 5
