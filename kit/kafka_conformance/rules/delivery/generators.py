"""Hypothesis strategies for ``delivery``."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.delivery.question import NETWORK_KINDS, AskedFault, AskedPartition, AskedProducer, DeliveryQuestion
from kafka_conformance.rules.delivery.spaces import ERRORS

__all__ = ["scenarios"]


def _setting(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, *values])


# Any settings, of which many construct no producer; and idempotent producers.
_PRODUCERS = st.one_of(
    st.builds(
        AskedProducer, _setting("0", "1", "all"), _setting("0", "1", "3"), _setting("1", "2", "5", "6"),
        _setting("true", "false"),
    ),
    st.builds(AskedProducer, _setting("all"), _setting("1", "3"), _setting("1", "2", "5"), st.just("true")),
)  # fmt: skip


@st.composite
def scenarios(draw: st.DrawFn) -> DeliveryQuestion:
    """Return a strategy for scenarios of 1 to 8 records with up to 5 faults."""
    producer = draw(_PRODUCERS)
    replicas = draw(st.integers(1, 5))
    faults: list[AskedFault] = []
    for number in sorted(draw(st.lists(st.integers(1, 12), unique=True, max_size=5))):
        op = draw(st.sampled_from(NETWORK_KINDS))
        crashes = sum(one.op.startswith("crash") for one in faults)
        if not op.startswith("crash") or crashes + 1 < replicas:
            faults.append(AskedFault(op, number, draw(st.sampled_from(ERRORS)) if op == "refuse" else None))
    partition = AskedPartition(replicas, draw(st.integers(1, replicas)))
    return DeliveryQuestion(producer, partition, draw(st.integers(1, 8)), tuple(faults))
