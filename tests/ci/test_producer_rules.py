"""kafka-python's port of Java's producer, and the batches of kafka-python and aiokafka, gated through their own code.

Each is judged in what it has, and a mistake that is planted in it is found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.core.events import Differed, RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.gate import findings
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.runner import GatePlan, GateResult, gate
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST

DRIVER = Path(__file__).parents[2] / "ci" / "drivers" / "kafka-python"
Ask = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(autouse=True)
def _driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("kafka.producer.producer_batch")
    pytest.importorskip("aiokafka")
    monkeypatch.syspath_prepend(str(DRIVER))
    monkeypatch.setattr(findings, "_SHRINK_S", 0.0)
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def _gate(folder: Path, slug: str, ask: Ask) -> tuple[RuleEnded, GateResult]:
    def client(_: str, __: str, question: dict[str, Any]) -> dict[str, Any] | None:
        return ask(question).get("answer")

    with CallableAnswerer(client, "python:mine") as target:
        plan = GatePlan([(RULES[slug], NEWEST)], 1, 1, folder, named=True)
        result = gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1))
    return next(event for event in result.events if isinstance(event, RuleEnded)), result


def _kinds(result: GateResult) -> dict[str, int]:
    return {event.kind: event.times for event in result.events if isinstance(event, Differed)}


def test_aiokafka_record_encoder_conforms_and_gate_finds_planted_timestamp_rounding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, module = import_module("records"), import_module("aiokafka.record.default_records")

    def encoded(question: dict[str, Any]) -> dict[str, Any]:
        return {} if "decode" in question else records.answer("aiokafka", question)  # type: ignore[no-any-return]

    ended, _ = _gate(tmp_path, "record-batch", encoded)
    assert (ended.verdict, ended.halves) == ("agrees", {"decodes": "not asked", "encodes": "conforms"})
    assert ended.agreed > 30
    builder = module.DefaultRecordBatchBuilder

    class Rounding:
        def __init__(self, *settings: Any) -> None:
            self.made = builder(*settings)

        def append(self, offset: int, timestamp: int, *rest: Any) -> Any:
            return self.made.append(offset, timestamp // 10 * 10, *rest)

        def build(self) -> Any:
            return self.made.build()

    monkeypatch.setattr(module, "DefaultRecordBatchBuilder", Rounding)
    ended, result = _gate(tmp_path, "record-batch", encoded)
    assert ended.halves["encodes"] == "differs"
    assert "encode magic 2 none: another bytes" in _kinds(result)


def test_gate_finds_kafka_python_accumulator_changed_to_ignore_linger_ms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accumulator = import_module("accumulator_steps")
    ended, result = _gate(tmp_path, "record-accumulator", accumulator.answer)
    assert ended.verdict == "differs"  # its back-off is that of 3.6.2: neither exponential nor with jitter
    assert ended.agreed > 150
    assert {one.kind for one in ended.left_out if not one.answered} >= {"steps.look", "steps.append.bytes"}
    assert "as-3.6.2" in {
        event.diagnosis.mutant for event in result.events if isinstance(event, Differed) and event.diagnosis
    }
    made = accumulator.History.__init__

    def without_linger(self: Any, question: dict[str, Any]) -> None:
        made(self, question)
        self.accumulator.config["linger_ms"] = 0

    monkeypatch.setattr(accumulator.History, "__init__", without_linger)
    broken, result = _gate(tmp_path, "record-accumulator", accumulator.answer)
    assert broken.differed > ended.differed
    assert any("delay_ms nodes" in kind for kind in _kinds(result))


def test_gate_finds_kafka_python_sender_changed_to_fail_on_duplicate_sequence_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequences, sender = import_module("sequence_steps"), import_module("kafka.producer.sender").Sender
    ended, result = _gate(tmp_path, "producer-sequences", sequences.answer)
    assert ended.verdict == "differs"  # batches in flight fail when the epoch is bumped, and a broker is asked for it
    assert ended.agreed > 40
    assert [one.kind for one in ended.left_out if not one.answered] == ["steps.look", "steps.run.uncaught"]
    kinds = _kinds(result)
    complete = sender._complete_batch

    def refuse_duplicates(self: Any, batch: Any, response: Any) -> None:
        if response.error_code == sequences.code_of("DUPLICATE_SEQUENCE_NUMBER"):
            response.error_code = sequences.code_of("INVALID_RECORD")
        complete(self, batch, response)

    monkeypatch.setattr(sender, "_complete_batch", refuse_duplicates)
    _, result = _gate(tmp_path, "producer-sequences", sequences.answer)
    found = {kind: times for kind, times in _kinds(result).items() if "DUPLICATE_SEQUENCE_NUMBER" in kind}
    assert sum(found.values()) > sum(kinds.get(kind, 0) for kind in found)
