"""Answer ``delivery`` with Kafka's classes: three other rules answer for the configuration, the producer and the leader.

The network (``kafka_reference.delivery.network``) yields messages and receives replies. Here the replies come from Java: a
message becomes a question of ``idempotence-config``, ``producer-sequences`` or ``broker-producer-state``. The latter two are
scripts of steps. Each message appends its steps to the script of the producer or of the leader, and the whole script is
asked again; the answers to its last steps are the reply. Many scenarios run side by side, so that one call asks all that
wait for the same rule. None of the reference's rules takes part: the leader receives what Java's producer sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_conformance.core.protocol import Answer, Answered, Failed, Unsupported
from kafka_conformance.core.protocol import Outcome as JavaOutcome
from kafka_conformance.core.rule import AskJava
from kafka_conformance.rules.delivery.adapter import to_answer, to_scenario
from kafka_conformance.rules.delivery.question import DeliveryQuestion
from kafka_reference.delivery.faults import InvalidScenario
from kafka_reference.delivery.messages import (
    AdvanceClock,
    AppendResult,
    Batch,
    Configure,
    Disconnect,
    InvalidProducer,
    LeaderTurn,
    Message,
    ProducerEvent,
    ProducerResult,
    ProducerTurn,
    Reply,
    Response,
    SendRecord,
    Settings,
    StartLeader,
    StartProducer,
    Truncation,
)
from kafka_reference.delivery.network import Exchange, Network
from kafka_reference.delivery.producer import BATCH_SIZE, DELIVERY_TIMEOUT_MS, RECORD_BYTES, REQUEST_TIMEOUT_MS
from kafka_reference.delivery.scenario import Outcome
from kafka_reference.idempotence.errors import has_error
from kafka_reference.releases import Release

__all__ = ["answer_by_parts", "producer_script", "run_side_by_side"]

_CONFIG, _PRODUCER, _LEADER = "idempotence-config", "producer-sequences", "broker-producer-state"


class _PartFailedError(Exception):
    """A part threw an exception that no reply stands for."""


def answer_by_parts(ask: AskJava, release: Release, questions: Sequence[DeliveryQuestion]) -> list[JavaOutcome]:
    """Answer ``questions``; one with an error that ``release`` does not have is Unsupported."""
    missing = [
        next((fault.error for fault in question.faults if fault.error and not has_error(release, fault.error)), None)
        for question in questions
    ]
    possible = [question for question, error in zip(questions, missing, strict=True) if error is None]
    ends = iter(run_side_by_side([Network(to_scenario(question), release).run() for question in possible], ask))
    return [
        _to_outcome(next(ends)) if error is None else Unsupported(f"release {release} has no error {error}")
        for error in missing
    ]


def _to_outcome(end: Outcome | InvalidProducer | Failed) -> JavaOutcome:
    return end if isinstance(end, Failed) else Answered(to_answer(end))


@dataclass(slots=True)
class _Run:
    """One scenario: its scripts so far, and the message that waits for a reply."""

    exchange: Exchange
    producer: dict[str, Any] = field(default_factory=dict)
    records: list[int] = field(default_factory=list)
    leader: dict[str, Any] = field(default_factory=dict)
    message: Message | None = None
    end: Outcome | InvalidProducer | Failed | None = None

    def advance(self, reply: Reply | None) -> None:
        """Pass the reply on and take the next message, or the end; a scenario that is not possible fails."""
        try:
            self.message = next(self.exchange) if reply is None else self.exchange.send(reply)
        except StopIteration as finished:
            self.message, self.end = None, finished.value
        except InvalidScenario as impossible:
            self.fail(str(impossible))

    def fail(self, why: str) -> None:
        """End the scenario without an outcome."""
        self.message, self.end = None, Failed(why)

    def script(self) -> tuple[str, dict[str, Any]]:
        """Return the rule and the question for the message."""
        match self.message:
            case Configure(config):
                return _CONFIG, {"config": dict(config)}
            case ProducerTurn(events, rounds):
                for event in events:
                    self._append_event(event)
                self.producer["steps"] += [{"op": "run"}] * rounds
                return _PRODUCER, self.producer
            case LeaderTurn(StartLeader(log)):
                self.leader = {"config": {"producer_id_expiration_ms": 86_400_000}, "steps": []}
                self.leader["steps"] += map(_replication_step, log)
                return _LEADER, self.leader
            case LeaderTurn(Batch() as batch):
                self.leader["steps"].append(_append_step(batch, "client"))
                return _LEADER, self.leader
        raise AssertionError("the scenario has ended")

    def _append_event(self, event: ProducerEvent) -> None:
        match event:
            case StartProducer(settings, producer_id):
                self.producer, self.records = {**producer_script(settings, producer_id), "steps": []}, []
            case SendRecord(record):
                self.records.append(record)
                self.producer["steps"].append({"op": "append", "partition": 0, "records": 1, "bytes": RECORD_BYTES})
            case Response(error, offset):
                self.producer["steps"].append({"op": "respond", "error": error, "base_offset": max(offset, 0)})
            case Disconnect():
                self.producer["steps"].append({"op": "disconnect"})
            case AdvanceClock(ms):
                self.producer["steps"].append({"op": "advance", "ms": ms})

    def reply(self, answer: Answer) -> Reply:
        """Return the reply that ``answer`` stands for. Raises _PartFailedError."""
        match self.message:
            case Configure():
                return _settings(answer)
            case ProducerTurn(_, rounds):
                return self._producer_result(answer["steps"][-rounds:])
            case LeaderTurn(StartLeader()):
                return AppendResult()
        return _append_result(answer["steps"][-1])

    def _producer_result(self, rounds: Sequence[Answer]) -> ProducerResult:
        # What is thrown while a response is handled ("uncaught") is logged by NetworkClient, and the sender goes on.
        thrown = [one["raises"] for one in rounds if "raises" in one]
        if thrown:
            raise _PartFailedError(f"the sender raised {', '.join(thrown)}")
        sent = [batch for one in rounds for request in one["sent"] for batch in request["batches"]]
        completed = [(self.records[number], result) for one in rounds for number, result in one["ended"]]
        return ProducerResult(tuple(map(self._batch, sent)), tuple(completed))

    def _batch(self, sent: Answer) -> Batch:
        records = tuple(self.records[number] for number in sent["records"])
        return Batch(records, sent["producer_id"], sent["epoch"], sent["sequence"])


def producer_script(settings: Settings, producer_id: int) -> dict[str, Any]:
    """Return the ``producer-sequences`` question, without steps, for a producer of one partition, led by node 0."""
    return {
        "config": {
            "batch_size": BATCH_SIZE, "linger_ms": 0, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
            "delivery_timeout_ms": DELIVERY_TIMEOUT_MS, "request_timeout_ms": REQUEST_TIMEOUT_MS,
            "idempotence": settings.idempotent, "acks": "all" if settings.acks == -1 else str(settings.acks),
            "retries": settings.retries, "max_in_flight": settings.max_in_flight,
        },
        "leaders": [0], "draws": [0] * 300, **({"producer": {"id": producer_id, "epoch": 0}} if settings.idempotent else {}),
    }  # fmt: skip


def _replication_step(entry: Batch | Truncation) -> dict[str, Any]:
    if isinstance(entry, Truncation):
        return {"op": "truncate", "start": 0, "end": entry.end_offset}
    return _append_step(entry, "replication")


def _append_step(batch: Batch, origin: str) -> dict[str, Any]:
    return {
        "op": "append", "producer_id": batch.producer_id, "epoch": batch.epoch, "first_sequence": batch.sequence,
        "records": len(batch.records), "origin": origin,
    }  # fmt: skip


def _settings(answer: Answer) -> Settings | InvalidProducer:
    if "raises" in answer:
        return InvalidProducer(answer["raises"], answer.get("message"))
    return Settings(answer["idempotent"], answer["acks"], answer["retries"], answer["max_in_flight"])


def _append_result(answer: Answer) -> AppendResult:
    if "raises" in answer:
        return AppendResult(error=answer["raises"])
    if "duplicate" in answer:
        return AppendResult(answer["duplicate"], duplicate=True)
    return AppendResult(answer["appended"])


def run_side_by_side(exchanges: Sequence[Exchange], ask: AskJava) -> list[Outcome | InvalidProducer | Failed]:
    """Run all scenarios to their ends. One whose part fails ends as Failed; the others go on."""
    runs = [_Run(exchange) for exchange in exchanges]
    for run in runs:
        run.advance(None)
    while waiting := [run for run in runs if run.message is not None]:
        by_rule: dict[str, list[tuple[_Run, dict[str, Any]]]] = {}
        for run in waiting:
            rule, question = run.script()
            by_rule.setdefault(rule, []).append((run, question))
        for rule, asked in by_rule.items():
            outcomes = ask(rule, [question for _, question in asked])
            for (run, _), outcome in zip(asked, outcomes, strict=True):
                _pass_on(run, outcome)
    return [run.end if run.end is not None else Failed("the scenario has no end") for run in runs]


def _pass_on(run: _Run, outcome: JavaOutcome) -> None:
    if not isinstance(outcome, Answered):
        run.fail(f"a part of the scenario has no answer: {outcome}")
        return
    try:
        run.advance(run.reply(outcome.answer))
    except _PartFailedError as failed:
        run.fail(str(failed))
