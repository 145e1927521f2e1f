"""Hypothesis strategies for ``delivery``."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.delivery.question import (
    CRASH_KINDS,
    FOLLOWER_KINDS,
    NETWORK_KINDS,
    ONE_FOLLOWER_KINDS,
    AskedFault,
    AskedPartition,
    AskedProducer,
    DeliveryQuestion,
)
from kafka_conformance.rules.delivery.spaces import AFTER_APPEND, ERRORS

__all__ = ["network_scenarios", "replica_scenarios", "scenarios"]


def _setting(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, *values])


def _minimum(replicas: int) -> st.SearchStrategy[int]:
    """``min.insync.replicas``: one in five is above the number of replicas."""
    return st.one_of(*[st.integers(1, replicas)] * 4, st.integers(replicas + 1, 9))


# Any settings, of which many construct no producer; and idempotent producers.
_PRODUCERS = st.one_of(
    st.builds(
        AskedProducer, _setting("0", "1", "all"), _setting("0", "1", "3"), _setting("1", "2", "5", "6"),
        _setting("true", "false"),
    ),
    st.builds(AskedProducer, _setting("all"), _setting("1", "3"), _setting("1", "2", "5"), st.just("true")),
)  # fmt: skip


def scenarios() -> st.SearchStrategy[DeliveryQuestion]:
    """Return a strategy for scenarios, a third of them with faults of followers."""
    return st.one_of(network_scenarios(), network_scenarios(), replica_scenarios())


@st.composite
def network_scenarios(draw: st.DrawFn) -> DeliveryQuestion:
    """Return a strategy for scenarios of 1 to 8 records with up to 5 faults."""
    producer = draw(_PRODUCERS)
    replicas = draw(st.integers(1, 5))
    faults: list[AskedFault] = []
    for number in sorted(draw(st.lists(st.integers(1, 12), unique=True, max_size=5))):
        op = draw(st.sampled_from(NETWORK_KINDS))
        crashes = sum(one.op.startswith("crash") for one in faults)
        if not op.startswith("crash") or crashes + 1 < replicas:
            errors = {"refuse": ERRORS, "refuse_after_append": AFTER_APPEND}.get(op)
            faults.append(AskedFault(op, number, None if errors is None else draw(st.sampled_from(errors))))
    partition = AskedPartition(replicas, draw(_minimum(replicas)))
    return DeliveryQuestion(producer, partition, draw(st.integers(1, 8)), tuple(faults))


@st.composite
def replica_scenarios(draw: st.DrawFn) -> DeliveryQuestion:
    """Return a strategy for scenarios with faults of followers, crashes of leaders, and unclean election."""
    producer = draw(st.one_of(_PRODUCERS, st.just(AskedProducer(None, None, "1", None))))
    replicas = draw(st.integers(2, 4))
    crashes = draw(st.lists(st.integers(2, 9), unique=True, max_size=replicas - 1))
    faults = [AskedFault(draw(st.sampled_from(CRASH_KINDS)), number) for number in crashes]
    for op in draw(st.lists(st.sampled_from(FOLLOWER_KINDS), min_size=1, max_size=6)):
        numbers = [one for one in range(1, 10) if op != "shrink_isr_after_append" or one not in crashes]
        replica = draw(st.integers(0, replicas - 1)) if op in ONE_FOLLOWER_KINDS else None
        faults.append(AskedFault(op, draw(st.sampled_from(numbers)), replica=replica))
    partition = AskedPartition(replicas, draw(_minimum(replicas)), draw(st.booleans()))
    faults.sort(key=lambda fault: fault.request)
    return DeliveryQuestion(producer, partition, draw(st.integers(1, 8)), tuple(faults))
