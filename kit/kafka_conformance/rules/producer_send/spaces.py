"""Finite spaces of ``producer-send``: every short history around one kind of event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec.structs import replace

from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion, ProducerSettings, SendStep
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    DisconnectStep,
    FlushStep,
    LookStep,
    ProducerIdStep,
    RespondStep,
    RunStep,
)
from kafka_reference.java.thread_local_random import mix32

__all__ = [
    "SMALL", "asked", "every_choice", "every_exhaustion", "every_failed_producer", "every_flush", "every_setting",
    "every_size",
]  # fmt: skip

# A batch has room for one record of 40 bytes, or for two or three small ones.
SMALL = ProducerSettings(
    batch_size=120, linger_ms=0, request_timeout_ms=30, delivery_timeout_ms=100, retry_backoff_ms=0,
    retry_backoff_max_ms=0,
)  # fmt: skip
_RUN, _LOOK, _FLUSH, _LOST = RunStep(), LookStep(), FlushStep(), DisconnectStep()
_FINE, _AGAIN, _TOO_LARGE = (
    RespondStep(base_offset=100),
    RespondStep("NOT_ENOUGH_REPLICAS"),
    RespondStep("MESSAGE_TOO_LARGE"),
)
_ANY, _LARGE, _KEYED, _NAMED = SendStep(), SendStep(bytes=40), SendStep("6b"), SendStep(partition=1)


def asked(
    steps: Iterable[Any], config: ProducerSettings = SMALL, leaders: tuple[int | None, ...] = (0, 1, 0), seed: int = 0
) -> ProducerSendQuestion:
    """Return a question of these steps, with a draw for each; a tuple among them is several steps."""
    flat = tuple(step for symbol in steps for step in (symbol if isinstance(symbol, tuple) else (symbol,)))
    draws = tuple(mix32(seed * 1009 + place) for place in range(len(flat)))
    return ProducerSendQuestion(config, leaders, draws, flat)


def every_choice() -> Iterator[ProducerSendQuestion]:
    """Every history of up to 3 of 9 events, by the release's own partitioner and by turns; of up to 2 by the other two."""
    alphabet: tuple[Any, ...] = (
        _ANY, SendStep(bytes=40, records=2), _KEYED, _NAMED, SendStep(partition=2, bytes=40), (_RUN, _LOOK),
        (_FINE, _RUN), (_LOST, _RUN), SendStep("6b", partition=0),
    )  # fmt: skip
    for partitioner, longest in ((None, 3), ("round-robin", 3), ("uniform-sticky", 2), ("default", 2)):
        config = replace(SMALL, partitioner=partitioner)
        for seed, symbols in enumerate(every_script(alphabet, longest)):
            leaders = ((0, 1, 0), (0, 0), (1, None, 0))[seed % 3]
            yield asked((*symbols, _ANY, _LOOK, _RUN, _RUN), config, leaders, seed)


def every_size() -> Iterator[ProducerSendQuestion]:
    """Values of 5 to 60 bytes, with and without a key, with small requests and memories, and batches above the memory."""
    limits = (
        {"max_request_size": 120},
        {"buffer_memory": 120},
        {"buffer_memory": 130},
        {"batch_size": 140, "buffer_memory": 130},
    )
    for limited, partitioner in product(limits, (None, "round-robin")):
        config = replace(SMALL, partitioner=partitioner, **limited)
        for size, key in product(range(5, 61, 5), (None, "6b6579")):
            steps = (_ANY, SendStep(key, bytes=size), SendStep(bytes=size), _LOOK, _RUN, _RUN, _LOOK)
            yield asked(steps, config, seed=size)


def every_setting() -> Iterator[ProducerSendQuestion]:
    """Every combination of three idempotence, four acks, three retries and three requests in flight; every delivery timeout.

    Two batches are sent, and the first one is lost.
    """
    steps = (
        _LARGE,
        SendStep(bytes=40, partition=0),
        _RUN,
        _RUN,
        _LARGE,
        _LARGE,
        _RUN,
        _LOST,
        _RUN,
        _FINE,
        _RUN,
        _RUN,
        _LOOK,
    )
    for idempotence, acks, retries, most in product(
        (None, True, False), (None, "0", "1", "all"), (None, 0, 1), (None, 1, 6)
    ):
        config = replace(SMALL, idempotence=idempotence, acks=acks, retries=retries, max_in_flight=most)
        yield asked(steps, config, (0,))
    timed = (
        _ANY,
        _RUN,
        AdvanceStep(4),
        _RUN,
        AdvanceStep(1),
        _RUN,
        _RUN,
        AdvanceStep(31),
        _RUN,
        AdvanceStep(70),
        _RUN,
        _LOOK,
    )
    for linger_ms, delivery_ms in product((None, 0, 5, 20), (None, 30, 34, 35, 50)):
        yield asked(timed, replace(SMALL, linger_ms=linger_ms, delivery_timeout_ms=delivery_ms), (0,))


def every_flush() -> Iterator[ProducerSendQuestion]:
    """Records that linger, and a flush: every history of up to 3 of 8 events from there on."""
    config = replace(SMALL, linger_ms=50, batch_size=400, request_timeout_ms=40, delivery_timeout_ms=100)
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_TOO_LARGE, _RUN), (_LOST, _RUN), (_ANY, _RUN), _FLUSH, (AdvanceStep(30), _RUN),
        (AdvanceStep(61), _RUN), (RespondStep("INVALID_TIMESTAMP"), _RUN),
    )  # fmt: skip
    begun = (_RUN, _RUN, SendStep(bytes=100, records=3), SendStep(partition=0), _RUN, _FLUSH, _ANY, _RUN)
    for symbols in every_script(alphabet, 3):
        yield asked((*begun, *symbols, _LOOK, _ANY, _RUN, _LOOK, _RUN), config, (0, 0))


def every_exhaustion() -> Iterator[ProducerSendQuestion]:
    """Memory for two batches: every history of up to 3 of 7 events, by the release's own partitioner and by turns."""
    alphabet: tuple[Any, ...] = (
        _LARGE, SendStep(bytes=40, records=3), SendStep("6b", bytes=40), (_RUN, _LOOK), (_FINE, _RUN), (_AGAIN, _RUN),
        (AdvanceStep(101), _RUN),
    )  # fmt: skip
    for partitioner in (None, "round-robin"):
        config = replace(SMALL, buffer_memory=250, partitioner=partitioner)
        for seed, symbols in enumerate(every_script(alphabet, 3)):
            yield asked((*symbols, _LARGE, _LOOK, _RUN, _LARGE, _LOOK), config, seed=seed)


def every_failed_producer() -> Iterator[ProducerSendQuestion]:
    """An idempotent producer is refused an id, or a batch, in each of ten ways; records are sent before and after."""
    refusals: tuple[Any, ...] = (
        *(
            ((ProducerIdStep(error=error), _LARGE, _RUN), ())
            for error in ("CLUSTER_AUTHORIZATION_FAILED", "INVALID_TIMESTAMP", "REQUEST_TIMED_OUT")
        ),
        *(
            ((_LARGE, _RUN), (RespondStep(error),))
            for error in (
                "CLUSTER_AUTHORIZATION_FAILED", "UNSUPPORTED_VERSION", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
                "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TIMESTAMP", "OUT_OF_ORDER_SEQUENCE_NUMBER",
            )
        ),
    )  # fmt: skip
    for refused, answered in refusals:
        for partitioner in (None, "round-robin"):
            config = replace(SMALL, idempotence=True, acks="all", partitioner=partitioner)
            steps = (
                *refused,
                _RUN,
                *answered,
                _RUN,
                _ANY,
                _LARGE,
                SendStep(partition=7),
                _LOOK,
                _RUN,
                _ANY,
                _RUN,
                _RUN,
                _LOOK,
            )
            yield asked((*steps, _LOOK), config, (0, 0))
