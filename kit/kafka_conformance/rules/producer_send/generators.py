"""Histories of ``producer-send``, most of them of 30 steps and more.

A history is spelled by a string of bytes: the first ones choose the configuration and who leads, each of the others names a
few steps that belong together. A step's node counts the leaders, the lowest id first.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.producer_send.question import ProducerSendQuestion, ProducerSettings, SendStep
from kafka_conformance.rules.producer_send.spaces import asked
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    DisconnectStep,
    FlushStep,
    LookStep,
    ProducerIdStep,
    RespondStep,
    RunStep,
)
from kafka_conformance.rules.producer_sequences.spaces import flatten, within

__all__ = ["histories"]

_RUN, _LOOK, _FLUSH = RunStep(), LookStep(), FlushStep()
_FINE = RespondStep(base_offset=100)
_BOTH_FINE = (_FINE, RespondStep(node=1, base_offset=50), _RUN)

# A byte selects one of these; repeats are weights. None does nothing.
_ALPHABET: tuple[Any, ...] = (
    None, SendStep(), _RUN, (_FINE, _RUN), SendStep(bytes=40), SendStep("6b"), SendStep(partition=0), _BOTH_FINE,
    (SendStep(bytes=30, records=3), _RUN), (SendStep(), _RUN), SendStep("6b6579", bytes=50), SendStep(records=5),
    (DisconnectStep(), _RUN), (RespondStep("NOT_ENOUGH_REPLICAS"), _RUN), (RespondStep("MESSAGE_TOO_LARGE"), _RUN),
    (AdvanceStep(10), _RUN), _LOOK, _FLUSH, (SendStep(bytes=100), _RUN), SendStep(partition=1, bytes=40), (_RUN, _RUN),
    (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER"), _RUN), (RespondStep("INVALID_TIMESTAMP", "NONE"), _RUN), _BOTH_FINE,
    SendStep(bytes=300), (AdvanceStep(31), _RUN), (DisconnectStep(1), _RUN), SendStep(""), SendStep(bytes=60, records=2),
    (SendStep(bytes=40, records=4), _FLUSH, _RUN), AdvanceStep(1), (AdvanceStep(60), _RUN), (_FINE, _RUN), _RUN,
    SendStep(partition=7), (RespondStep("UNKNOWN_PRODUCER_ID", log_start_offset=1000), _RUN), SendStep(timestamp=2**40),
    (RespondStep("NETWORK_EXCEPTION", node=1), _RUN), _BOTH_FINE, ProducerIdStep(9, 2**15 - 1), SendStep("00", records=3),
    SendStep("6b", partition=0), (AdvanceStep(2**20), SendStep(records=2), _RUN), SendStep("6b" * 40, bytes=60),
    ProducerIdStep(0), ProducerIdStep(7, 1), (AdvanceStep(101), _RUN), (RespondStep("INVALID_TIMESTAMP", node=1), _RUN),
    (ProducerIdStep(error="CLUSTER_AUTHORIZATION_FAILED"), RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER"), _RUN, _RUN, _RUN),
)  # fmt: skip
_RARE: tuple[Any, ...] = (
    (RespondStep("CLUSTER_AUTHORIZATION_FAILED"), _RUN), (RespondStep("PRODUCER_FENCED"), _RUN),
    ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS"), (ProducerIdStep(error="CLUSTER_AUTHORIZATION_FAILED"), _RUN),
    (RespondStep("INVALID_PRODUCER_EPOCH"), _RUN), SendStep(bytes=9000),
)  # fmt: skip
_LEADERS: tuple[tuple[int | None, ...], ...] = (
    (0, 1, 0),
    (0,),
    (0, 0),
    (1, 0, None, 2),
    (None, 0),
    (0, 0, 1, 1, 0),
    (1, 2, 1),
    (2, 5),
    (5, None, 2),
)
_PARTITIONERS = (None, None, "round-robin", None, "uniform-sticky", "default")
_RARELY = 250


def _config(head: bytes) -> ProducerSettings:
    backoff_ms = (0, 10, 100)[head[4] % 3]
    batch_size, memory = ((120, 1 << 25), (400, 1 << 25), (1, 1 << 25), (120, 500), (400, 1000), (200, 150))[
        head[3] % 6
    ]
    return ProducerSettings(
        batch_size=batch_size,
        buffer_memory=memory,
        linger_ms=(0, 10, None)[head[3] // 6 % 3],
        max_request_size=(1 << 20, 250)[head[6] % 8 == 7],
        acks=(None, "1", "all", None, "0", None)[head[6] % 6],
        retries=(None, 1, 3, None)[head[1] % 4],
        idempotence=(None, True, False, None)[head[0] % 4],
        max_in_flight=(None, 2, 1, 5)[head[2] % 4],
        request_timeout_ms=(30, 100)[head[5] % 2],
        delivery_timeout_ms=(200, 1000, None)[head[5] % 3],
        retry_backoff_ms=backoff_ms,
        retry_backoff_max_ms=(backoff_ms, 100)[head[4] % 2],
        partitioner=_PARTITIONERS[head[7] // 8 % len(_PARTITIONERS)],  # type: ignore[arg-type]
        ignore_keys=head[1] % 8 == 5,
        adaptive=head[2] % 8 != 5,
        availability_timeout_ms=(0, 0, 5)[head[2] // 8 % 3],
    )


def _spelled(letters: bytes) -> ProducerSendQuestion:
    head, body = letters[:8].ljust(8, b"\0"), letters[8:]
    leaders = _LEADERS[head[7] % len(_LEADERS)]
    nodes = tuple(node for node in leaders if node is not None)
    symbols = [
        _ALPHABET[letter % len(_ALPHABET)] if letter < _RARELY else _RARE[letter % len(_RARE)] for letter in body
    ]
    steps = [within(step, nodes) for step in flatten(symbol for symbol in symbols if symbol is not None)]
    return asked((*steps, _LOOK), _config(head), leaders, head[4])


_HISTORIES = st.one_of(
    st.binary(max_size=24), st.binary(min_size=24, max_size=40), st.binary(min_size=28, max_size=60)
).map(_spelled)


def histories() -> st.SearchStrategy[ProducerSendQuestion]:
    """Return histories, most of them of 30 steps and more."""
    return _HISTORIES
