"""Hypothesis strategies for ``delivery``."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.delivery.question import KINDS, AskedFault, AskedPartition, AskedProducer, DeliveryQuestion

__all__ = ["scenarios"]

_ERRORS = (
    "NOT_LEADER_OR_FOLLOWER",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "TOPIC_AUTHORIZATION_FAILED",
)


def _setting(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, *values])


@st.composite
def scenarios(draw: st.DrawFn) -> DeliveryQuestion:
    """Return a strategy for scenarios of 1 to 8 records with up to 5 faults."""
    producer = AskedProducer(
        draw(_setting("0", "1", "all")), draw(_setting("0", "1", "3")), draw(_setting("1", "2", "5", "6")),
        draw(_setting("true", "false")),
    )  # fmt: skip
    replicas = draw(st.integers(1, 5))
    faults: list[AskedFault] = []
    for number in sorted(draw(st.lists(st.integers(1, 12), unique=True, max_size=5))):
        op = draw(st.sampled_from(KINDS))
        crashes = sum(one.op.startswith("crash") for one in faults)
        if not op.startswith("crash") or crashes + 1 < replicas:
            faults.append(AskedFault(op, number, draw(st.sampled_from(_ERRORS)) if op == "refuse" else None))
    partition = AskedPartition(replicas, draw(st.integers(1, replicas)))
    return DeliveryQuestion(producer, partition, draw(st.integers(1, 8)), tuple(faults))
