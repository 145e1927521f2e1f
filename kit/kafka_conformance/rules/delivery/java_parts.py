"""Java tells a story: its own producer's configuration, its Sender, and its ProducerStateManager, one after another.

A story (``kafka_reference.delivery``) yields what is told to whom and waits for the answer. Each of these parties is a rule
that Java answers by itself: ``idempotence-config``, ``producer-sequences``, ``broker-producer-state``. A script of those
rules holds everything told so far, and is asked again from its beginning with every step that is added: it is the same
script, so it comes to the same place. Many stories go side by side, so that one call asks about all that wait for the same
party. Nothing of the reference's rules decides anything here: what the leader makes of a request, it makes of what Java's
producer sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_conformance.core.protocol import Answer, Answered, Failed, Outcome
from kafka_conformance.core.rule import AskJava
from kafka_reference.delivery.messages import Answered as Answers
from kafka_reference.delivery.messages import (
    Asks,
    Batch,
    CutOff,
    Heard,
    Leads,
    Refused,
    Reply,
    Send,
    Settings,
    Starts,
    Told,
    ToLeader,
    ToProducer,
    Wait,
    Wrote,
)
from kafka_reference.delivery.producer import BATCH_SIZE, DELIVERY_TIMEOUT_MS, RECORD_BYTES, REQUEST_TIMEOUT_MS
from kafka_reference.delivery.scenario import Outcome as End
from kafka_reference.delivery.scenario import Telling

__all__ = ["in_lockstep", "producer_script"]

_CONFIG, _PRODUCER, _LEADER = "idempotence-config", "producer-sequences", "broker-producer-state"


class _BrokeError(Exception):
    """A party could not answer: that is nobody's answer to the story."""


@dataclass(slots=True)
class _Side:
    """One story's side of the calls: its scripts so far, and whom it waits for."""

    telling: Telling
    producer: dict[str, Any] = field(default_factory=dict)
    sent: list[int] = field(default_factory=list)
    leader: dict[str, Any] = field(default_factory=dict)
    waits: Told | None = None
    end: End | Refused | Failed | None = None

    def hear(self, reply: Reply | None) -> None:
        """Go on with what was answered, to the next thing to be told, or to the end."""
        try:
            self.waits = next(self.telling) if reply is None else self.telling.send(reply)
        except StopIteration as ended:
            self.waits, self.end = None, ended.value

    def script(self) -> tuple[str, dict[str, Any]]:
        """The rule and the question that what waits comes to."""
        match self.waits:
            case Asks(config):
                return _CONFIG, {"config": dict(config)}
            case ToProducer(told, rounds):
                for one in told:
                    self._tell(one)
                self.producer["steps"] += [{"op": "run"}] * rounds
                return _PRODUCER, self.producer
            case ToLeader(Leads(log)):
                self.leader = {"config": {"producer_id_expiration_ms": 86_400_000}, "steps": []}
                self.leader["steps"] += [_append(batch, "replication") for batch in log]
                return _LEADER, self.leader
            case ToLeader(Batch() as batch):
                self.leader["steps"].append(_append(batch, "client"))
                return _LEADER, self.leader
        raise AssertionError("a story that waits for nobody")

    def _tell(self, one: Starts | Send | Answers | CutOff | Wait) -> None:
        match one:
            case Starts(settings, producer_id):
                self.producer, self.sent = {**producer_script(settings, producer_id), "steps": []}, []
            case Send(record):
                self.sent.append(record)
                self.producer["steps"].append({"op": "append", "partition": 0, "records": 1, "bytes": RECORD_BYTES})
            case Answers(error, offset):
                self.producer["steps"].append({"op": "respond", "error": error, "base_offset": max(offset, 0)})
            case CutOff():
                self.producer["steps"].append({"op": "disconnect"})
            case Wait(ms):
                self.producer["steps"].append({"op": "advance", "ms": ms})

    def reply(self, answer: Answer) -> Reply:
        """What a party's answer is to the story. Raises _BrokeError."""
        match self.waits:
            case Asks():
                return _settings(answer)
            case ToProducer(_, rounds):
                return self._heard(answer["steps"][-rounds:])
            case ToLeader(Leads()):
                return Wrote()
        return _wrote(answer["steps"][-1])

    def _heard(self, rounds: Sequence[Answer]) -> Heard:
        broke = [what for one in rounds for what in (one.get("raises"), *one.get("uncaught", ())) if what]
        if broke:
            raise _BrokeError(f"the sender raised {', '.join(broke)}")
        sent = [batch for one in rounds for request in one["sent"] for batch in request["batches"]]
        ended = [(self.sent[number], what) for one in rounds for number, what in one["ended"]]
        return Heard(tuple(self._batch(batch) for batch in sent), tuple(ended))

    def _batch(self, told: Answer) -> Batch:
        records = tuple(self.sent[number] for number in told["records"])
        return Batch(records, told["producer_id"], told["epoch"], told["sequence"])


def producer_script(settings: Settings, producer_id: int) -> dict[str, Any]:
    """The question of ``producer-sequences`` that such a producer begins with: one partition, led by node 0."""
    return {
        "config": {
            "batch_size": BATCH_SIZE, "linger_ms": 0, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
            "delivery_timeout_ms": DELIVERY_TIMEOUT_MS, "request_timeout_ms": REQUEST_TIMEOUT_MS,
            "idempotence": settings.idempotent, "acks": "all" if settings.acks == -1 else str(settings.acks),
            "retries": settings.retries, "max_in_flight": settings.max_in_flight,
        },
        "leaders": [0], "draws": [0] * 300, **({"producer": {"id": producer_id, "epoch": 0}} if settings.idempotent else {}),
    }  # fmt: skip


def _append(batch: Batch, origin: str) -> dict[str, Any]:
    return {
        "op": "append", "producer_id": batch.producer_id, "epoch": batch.epoch, "first_sequence": batch.sequence,
        "records": len(batch.records), "origin": origin,
    }  # fmt: skip


def _settings(answer: Answer) -> Settings | Refused:
    if "raises" in answer:
        return Refused(answer["raises"], answer.get("message"))
    return Settings(answer["idempotent"], answer["acks"], answer["retries"], answer["max_in_flight"])


def _wrote(answer: Answer) -> Wrote:
    if "raises" in answer:
        return Wrote(error=answer["raises"])
    return Wrote(answer["duplicate"], duplicate=True) if "duplicate" in answer else Wrote(answer["appended"])


def in_lockstep(tellings: Sequence[Telling], ask: AskJava) -> list[End | Refused | Failed]:
    """All these stories to their ends. A party that breaks down ends its story as Failed."""
    sides = [_Side(telling) for telling in tellings]
    for side in sides:
        side.hear(None)
    while waiting := [side for side in sides if side.waits is not None]:
        by_rule: dict[str, list[tuple[_Side, dict[str, Any]]]] = {}
        for side in waiting:
            rule, question = side.script()
            by_rule.setdefault(rule, []).append((side, question))
        for rule, asked in by_rule.items():
            outcomes = ask(rule, [question for _, question in asked])
            for (side, _), outcome in zip(asked, outcomes, strict=True):
                _go_on(side, outcome)
    return [side.end if side.end is not None else Failed("a story without an end") for side in sides]


def _go_on(side: _Side, outcome: Outcome) -> None:
    if not isinstance(outcome, Answered):
        side.waits, side.end = None, Failed(f"a part of the story broke down: {outcome}")
        return
    try:
        side.hear(side.reply(outcome.answer))
    except _BrokeError as broke:
        side.waits, side.end = None, Failed(str(broke))
