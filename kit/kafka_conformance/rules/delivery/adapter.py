"""Answer a question of ``delivery`` with the reference: the question as a scenario, its outcome as an answer."""

from __future__ import annotations

from collections.abc import Callable

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.delivery.question import DeliveryQuestion
from kafka_reference.delivery.faults import Fault, Kind
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import InvalidProducer
from kafka_reference.delivery.network import Network
from kafka_reference.delivery.producer import Producer
from kafka_reference.delivery.replicas import PartitionState, Replicas
from kafka_reference.delivery.scenario import Outcome, RequestOutcome, Scenario
from kafka_reference.delivery.simulation import run_scenario
from kafka_reference.releases import Release

__all__ = ["ask", "to_answer", "to_scenario"]

_CONFIG = {
    "acks": "acks", "retries": "retries", "in_flight": "max.in.flight.requests.per.connection",
    "idempotence": "enable.idempotence",
}  # fmt: skip


def ask(
    question: DeliveryQuestion, release: Release, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
    replicas: Callable[..., Replicas] = Replicas, network: Callable[..., Network] = Network,
) -> Answer:  # fmt: skip
    """Answer the question with the reference's producer, leader, replicas and network, or with those of the arguments."""
    scenario = to_scenario(question)
    return to_answer(
        run_scenario(scenario, release, producer=producer, leader=leader, replicas=replicas, network=network)
    )


def to_scenario(question: DeliveryQuestion) -> Scenario:
    """Return the question as a scenario."""
    settings = ((name, getattr(question.producer, field)) for field, name in _CONFIG.items())
    faults = tuple(
        Fault(Kind(one.op.replace("_", "-")), one.request, one.error, one.replica) for one in question.faults
    )
    partition = question.partition
    config = {name: value for name, value in settings if value is not None}
    return Scenario(
        config, question.records, faults, partition.replicas, partition.min_insync_replicas,
        partition.unclean_leader_election,
    )  # fmt: skip


def to_answer(outcome: Outcome | InvalidProducer) -> Answer:
    """Return the outcome as an answer."""
    if isinstance(outcome, InvalidProducer):
        message = {} if outcome.message is None else {"message": outcome.message}
        return {"raises": outcome.error, **message}
    return {
        "log": list(outcome.log), "acknowledged": list(outcome.acknowledged),
        "failed": [list(one) for one in outcome.failed], "unanswered": list(outcome.unanswered),
        "lost": list(outcome.lost), "doubled": list(outcome.doubled), "reordered": list(outcome.reordered),
        "requests": [_request(one) for one in outcome.requests], **_partition(outcome.partition),
    }  # fmt: skip


def _request(one: RequestOutcome) -> Answer:
    batch = one.batch
    return {
        "request": one.request, "records": list(batch.records), "producer_id": batch.producer_id, "epoch": batch.epoch,
        "sequence": batch.sequence, "came": one.result, "offset": one.offset, "answered": one.answered,
        **_partition(one.partition),
    }  # fmt: skip


def _partition(state: PartitionState | None) -> Answer:
    if state is None:
        return {}
    replicas = [
        {"log": list(one.records), "log_end_offset": one.log_end_offset, "high_watermark": one.high_watermark}
        for one in state.replicas
    ]
    return {
        "partition": {
            "leader": state.leader, "in_sync": list(state.in_sync), "high_watermark": state.high_watermark,
            "replicas": replicas,
        }
    }  # fmt: skip
