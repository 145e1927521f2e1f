"""The generated questions of ``producer-sequences``: histories, most of them of 30 steps and more.

A history is spelled by a string of bytes, as those of ``record-accumulator`` are: the first eight choose the configuration,
the leaders and the producer; each of the others stands for steps that belong together, such as an answer and the round in
which it arrives. Errors about sequences weigh more than others. A step's node counts the leaders, the lowest id first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    AppendStep,
    AskedSender,
    DisconnectStep,
    FlushStep,
    KnownProducer,
    ProducerIdStep,
    ProducerSequencesQuestion,
    RespondStep,
)
from kafka_conformance.rules.producer_sequences.spaces import (
    APPEND,
    DISCONNECT,
    FATAL,
    KNOWN,
    LOOK,
    MAX_INT,
    OTHER_ERRORS,
    OUT_OF_ORDER,
    REFUSED,
    REFUSED_ID,
    RETRIABLE,
    RUN,
    SEQUENCE_ERRORS,
    SUCCESS,
    TOO_LARGE,
    flatten,
    within,
)
from kafka_reference.java.thread_local_random import mix32

__all__ = ["histories"]

# A byte selects one of these; repetitions are weights, and None does nothing.
_ALPHABET: tuple[Any, ...] = (
    None, (APPEND, RUN), (SUCCESS, RUN), (AppendStep(1), RUN), RUN, (DISCONNECT, RUN), (RETRIABLE, RUN),
    (AppendStep(0, 3), RUN),
    *((answer, RUN) for answer in SEQUENCE_ERRORS), (TOO_LARGE, RUN), (REFUSED, RUN), (AdvanceStep(10), RUN), LOOK,
    (APPEND, AppendStep(1, 2), AppendStep(2), RUN), (SUCCESS, RUN), (SUCCESS, RespondStep(node=1, base_offset=50), RUN),
    (RespondStep("NETWORK_EXCEPTION", "OUT_OF_ORDER_SEQUENCE_NUMBER"), RUN), (RUN, RUN), (AdvanceStep(31), RUN),
    (DisconnectStep(1), RUN), (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", node=1), RUN), (AdvanceStep(60), RUN),
    (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", "NONE"), RUN), (SUCCESS, SUCCESS, RUN, RUN), (AppendStep(2, 2), RUN),
    (OUT_OF_ORDER, RUN), (SUCCESS, RUN), (APPEND, RUN), (AppendStep(0, 12, 50), RUN), (TOO_LARGE, RUN), APPEND,
    (RespondStep("INVALID_TIMESTAMP", "NONE"), RUN), (DISCONNECT, DisconnectStep(1), RUN), (RETRIABLE, RUN), LOOK,
    (SUCCESS, RUN), ProducerIdStep(9, 2**15 - 1), (DISCONNECT, RUN), (APPEND, RUN), (AppendStep(1), RUN),
    FlushStep(), (APPEND, AppendStep(1), RUN), ProducerIdStep(0), ProducerIdStep(7, 1), ProducerIdStep(0, 1),
    REFUSED_ID, (REFUSED_ID, REFUSED, RUN, RUN, RUN), (AdvanceStep(100), RUN),
    (RespondStep("INVALID_TIMESTAMP", node=1), RUN), (RespondStep(node=2), RUN), (DisconnectStep(2), RUN),
)  # fmt: skip
_RARE: tuple[Any, ...] = (
    *((answer, RUN) for answer in OTHER_ERRORS), ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS"), (FATAL, RUN),
    ProducerIdStep(error="REQUEST_TIMED_OUT"), ProducerIdStep(error="INVALID_TIMESTAMP"),
)  # fmt: skip
_PRODUCERS = (
    KNOWN, None, KnownProducer(7, 2**15 - 2, {"0": 5}), KnownProducer(7, 0, {"0": MAX_INT - 1, "1": MAX_INT}),
    KnownProducer(2**40, 3, {"0": 100}), KnownProducer(0, 0), KnownProducer(7, 2**15 - 1),
    KnownProducer(0, 2**15 - 1, {"1": 2}),
)  # fmt: skip
_LEADERS = ((0, 0, 0), (0, 1, 0), (0,), (1, 0, 2), (1, 2, 1), (2, 5), (5, 2, 7))
# request.timeout.ms and delivery.timeout.ms
_TIMEOUTS = ((30, 100), (100, 1000), (30, 40), (100, 100), (30, 1000), (1000, 100))


def _spelled(letters: bytes) -> ProducerSequencesQuestion:
    head, body = letters[:8].ljust(8, b"\0"), letters[8:]
    backoff_ms = (0, 10, 100)[head[4] % 3]
    max_in_flight, timeouts = (5, 2, 1, 3)[head[2] % 4], _TIMEOUTS[head[5] % len(_TIMEOUTS)]
    config = AskedSender(
        idempotence=head[0] % 4 < 3, acks=("all", "1", "all", "all")[head[6] % 4], retries=(MAX_INT, 1, 0, 3)[head[1] % 4],
        max_in_flight=max_in_flight, batch_size=(120, 400, 1)[head[3] % 3], linger_ms=(0, 10)[head[3] % 2],
        request_timeout_ms=timeouts[0], delivery_timeout_ms=timeouts[1],
        retry_backoff_ms=backoff_ms, retry_backoff_max_ms=(backoff_ms, 100)[head[4] % 2],
    )  # fmt: skip
    leaders = _LEADERS[head[7] % len(_LEADERS)]
    steps = [within(step, leaders) for step in flatten(_words(body))]
    draws = tuple(mix32(head[4] * 1009 + place) for place in range(len(steps) + 1))
    return ProducerSequencesQuestion(config, leaders, draws, (*steps, LOOK), _PRODUCERS[head[7] // 8 % len(_PRODUCERS)])


def _words(letters: bytes) -> Iterator[Any]:
    for letter in letters:
        symbols: Sequence[Any] = _ALPHABET if letter < 250 else _RARE
        symbol = symbols[letter % len(symbols)] if letter < 250 else _RARE[(letter - 250 + len(letters)) % len(_RARE)]
        if symbol is not None:
            yield symbol


_LETTERS = st.one_of(st.binary(max_size=24), st.binary(min_size=24, max_size=40), st.binary(min_size=28, max_size=60))
_HISTORIES = _LETTERS.map(_spelled)


def histories() -> st.SearchStrategy[ProducerSequencesQuestion]:
    """Return the strategy of histories."""
    return _HISTORIES
