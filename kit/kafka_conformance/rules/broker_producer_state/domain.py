"""Which questions of ``broker-producer-state`` a user can bring about.

A client sends batches with a producer id, its epoch and a sequence, or with none of them; it writes no markers. A
transaction coordinator has an epoch of 0 or more. Time passes, leaders change, logs are truncated, records are deleted.
The files of a broker are its own: no client writes one.
"""

from __future__ import annotations

from typing import Any

from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    BrokerProducerStateQuestion,
    LoadStep,
    MarkerStep,
    RequestStep,
    VerifyStep,
)
from kafka_conformance.rules.common.domains import first_reason

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "domain"]

_FILES = "snapshot files as Kafka's"
OPTIONAL_LABELS = {
    "bytes": _FILES,
    "step snapshot": _FILES,
    "step load": _FILES,
    "step delete_snapshots": _FILES,
    "raises CorruptSnapshotException": _FILES,
    "step verify": "the verification of transactions",
    "transaction version 2": "transactions of version 2",
    "by replication": "replication",
    "step expire": "the expiration of producers at a given time",
    "step high_watermark": "a high watermark that the caller raises",
    **dict.fromkeys(("step truncate", "step start_over", "step reload"), "truncating the log, and opening it again"),
}
OPTIONAL_PARTS = {
    "steps.look": "the state of the partition",
    **{f"steps.{op}.completed": "the transactions that a batch completes" for op in ("append", "marker", "request")},
}


def domain(question: BrokerProducerStateQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_step_domain(step, getattr(step, "origin", "")) for step in question.steps)


def _step_domain(step: Any, origin: str) -> str:
    match step:
        case AppendStep(producer_id=-1):
            bare = (step.epoch, step.first_sequence) == (-1, -1)
            return "" if bare else "a batch without a producer id has neither epoch nor sequence"
        case AppendStep(epoch=epoch, first_sequence=number) | VerifyStep(epoch=epoch, sequence=number):
            return "" if min(epoch, number) >= 0 else "a producer with an id has an epoch and a sequence of 0 or more"
        case MarkerStep():
            named = min(step.producer_id, step.epoch, step.coordinator_epoch) >= 0 and origin != "client"
            return (
                ""
                if named
                else "markers are a coordinator's: with a producer, its epoch and the coordinator's, of 0 or more"
            )
        case RequestStep():  # the origins of batches are those of their request
            return first_reason(_step_domain(batch, origin) for batch in step.batches)
        case LoadStep():
            return "a snapshot is a file of the broker's own"
    return ""
