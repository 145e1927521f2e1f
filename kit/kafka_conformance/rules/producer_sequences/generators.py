"""Where questions of ``producer-sequences`` come from: spaces that are asked whole, and histories of 30 steps and more.

A history is spelled by a string of bytes, as those of ``record-accumulator`` are: the first ones choose the configuration,
who leads, and who the producer is; each of the others names a few steps that belong together, such as an answer and the
round in which it arrives. Errors that are about sequences weigh more than others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    AppendStep,
    AskedSender,
    DisconnectStep,
    FlushStep,
    KnownProducer,
    LookStep,
    ProducerIdStep,
    ProducerSequencesQuestion,
    RespondStep,
    RunStep,
)
from kafka_reference.java.thread_local_random import mix32

__all__ = [
    "every_end_of_the_numbers", "every_error_of_one_at_a_time", "every_expiry", "every_number_in_flight",
    "every_order_of_nodes", "every_pair_of_answers", "every_refusal_of_an_id", "every_return_of_an_id",
    "every_short_history", "every_wait_for_an_id", "histories",
]  # fmt: skip

_MOST = 2**31 - 1
_APPEND, _RUN, _LOOK, _LOST = AppendStep(0), RunStep(), LookStep(), DisconnectStep()
_SEQUENCES = (
    RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER"), RespondStep("DUPLICATE_SEQUENCE_NUMBER"),
    RespondStep("UNKNOWN_PRODUCER_ID"), RespondStep("UNKNOWN_PRODUCER_ID", log_start_offset=0),
    RespondStep("UNKNOWN_PRODUCER_ID", log_start_offset=1000),
)  # fmt: skip
_FINE, _AGAIN, _REFUSED = (
    RespondStep(base_offset=100),
    RespondStep("NOT_ENOUGH_REPLICAS"),
    RespondStep("INVALID_TIMESTAMP"),
)
_TOO_LARGE, _FATAL = RespondStep("MESSAGE_TOO_LARGE"), RespondStep("CLUSTER_AUTHORIZATION_FAILED")
_OTHERS = tuple(
    RespondStep(name)
    for name in (
        "CORRUPT_MESSAGE", "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER",
        "REQUEST_TIMED_OUT", "NETWORK_EXCEPTION", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "KAFKA_STORAGE_ERROR",
        "RECORD_LIST_TOO_LARGE", "INVALID_TOPIC_EXCEPTION", "INVALID_REQUIRED_ACKS", "TOPIC_AUTHORIZATION_FAILED",
        "UNSUPPORTED_VERSION", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED",
        "INVALID_RECORD",
    )
)  # fmt: skip
_ANSWERS: tuple[Any, ...] = (_FINE, _AGAIN, _LOST, *_SEQUENCES, _TOO_LARGE, _REFUSED, _FATAL, *_OTHERS)

_CONFIG = AskedSender(
    idempotence=True, acks="all", retries=_MOST, max_in_flight=5, batch_size=120, linger_ms=0, request_timeout_ms=30,
    delivery_timeout_ms=100, retry_backoff_ms=0, retry_backoff_max_ms=0,
)  # fmt: skip
_KNOWN = KnownProducer(7, 0)


def _flat(symbols: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(step for symbol in symbols for step in (symbol if isinstance(symbol, tuple) else (symbol,)))


def _asked(
    steps: Iterable[Any], config: AskedSender = _CONFIG, leaders: tuple[int, ...] = (0,),
    producer: KnownProducer | None = _KNOWN,
) -> ProducerSequencesQuestion:  # fmt: skip
    return ProducerSequencesQuestion(config, leaders, (), _flat((*steps, _LOOK)), producer)


def every_pair_of_answers() -> Iterator[ProducerSequencesQuestion]:
    """Two batches in flight, of two records each, and every two answers to them, with many retries.

    With one retry, with none, and without idempotence: every two of the first 11 answers. Then the rounds that settle it,
    the first of them looked at, and a further record.
    """
    two = AppendStep(0, 2)
    for idempotence, retries, answers in (
        (True, _MOST, _ANSWERS), (True, 1, _ANSWERS[:11]), (True, 0, _ANSWERS[:11]), (False, 1, _ANSWERS[:11]),
    ):  # fmt: skip
        config = replace(_CONFIG, idempotence=idempotence, retries=retries)
        for first in answers:
            for second in answers:
                yield _asked(
                    (two, _RUN, two, _RUN, first, _RUN, second, _RUN, _LOOK, _APPEND, _RUN, _RUN, _FINE, _RUN),
                    config,
                )


def every_short_history() -> Iterator[ProducerSequencesQuestion]:
    """Three batches in flight, a fourth waits; another partition is idle, with and without idempotence.

    With idempotence, every history of up to 3 of 10 answers and other events, each with its round; without, of up to 2.
    """
    begun = (_APPEND, _RUN, AppendStep(0, 2), _RUN, _APPEND, _RUN, AppendStep(1), _RUN, _APPEND)
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_AGAIN, _RUN), (_LOST, _RUN), (_SEQUENCES[0], _RUN), (_SEQUENCES[3], _RUN), (_SEQUENCES[4], _RUN),
        (_TOO_LARGE, _RUN), (_REFUSED, _RUN), (AppendStep(1, 2), _RUN), _RUN,
    )  # fmt: skip
    for idempotence in (True, False):
        for symbols in every_script(alphabet, 3 if idempotence else 2):
            yield _asked((*begun, *symbols, _LOOK, _RUN, _RUN), replace(_CONFIG, idempotence=idempotence), (0, 0))


def every_number_in_flight() -> Iterator[ProducerSequencesQuestion]:
    """Seven batches, 1 to 5 in flight at most: every one of 28 answers to the first, and then the rounds that settle it."""
    for most in range(1, 6):
        for answer in _ANSWERS:
            steps = (*((_APPEND, _RUN) * 7), answer, _RUN, _LOOK, _RUN, _FINE, _RUN, _RUN)
            yield _asked(steps, replace(_CONFIG, max_in_flight=most, batch_size=1))


def every_expiry() -> Iterator[ProducerSequencesQuestion]:
    """Two batches, the first of which came back, one more after half of the time: every history of up to 3 of 8 events.

    Without idempotence, an older batch drained behind a younger one, which keeps it from expiring: of up to 3 of 5 events.
    """
    begun = (_APPEND, _RUN, _APPEND, _RUN, _LOST, _RUN, AdvanceStep(50), _APPEND, _RUN)
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_AGAIN, _RUN), (_LOST, _RUN), (_SEQUENCES[0], _RUN), (AdvanceStep(31), _RUN),
        (AdvanceStep(70), _RUN), (_APPEND, _RUN), _RUN,
    )  # fmt: skip
    patient = replace(_CONFIG, request_timeout_ms=80)
    for symbols in every_script(alphabet, 3):
        yield _asked((*begun, *symbols, _LOOK, _RUN), patient)
    turned = (_APPEND, _RUN, AdvanceStep(50), _APPEND, _RUN, _LOST, _RUN, _RUN, _RUN)
    for symbols in every_script((*alphabet[:3], (AdvanceStep(60), _RUN), _RUN), 3):
        yield _asked((*turned, *symbols, _LOOK, _RUN), replace(patient, idempotence=False))


def every_order_of_nodes() -> Iterator[ProducerSequencesQuestion]:
    """Three nodes lead three partitions, in every order, and all lose their connections: whose back-off is drawn first?

    Each with ten draws, and looked at when some of the back-offs are over.
    """
    config = replace(_CONFIG, retry_backoff_ms=10, retry_backoff_max_ms=100)
    lost: tuple[Any, ...] = (*map(AppendStep, range(3)), _RUN, *map(DisconnectStep, range(3)), _RUN)
    steps = (*lost, AdvanceStep(10), _RUN, AdvanceStep(1), _RUN, _LOOK)
    for leaders in permutations(range(3)):
        for seed in range(10):
            draws = tuple(mix32(seed * 1009 + place) for place in range(4))
            yield ProducerSequencesQuestion(config, leaders, draws, steps, _KNOWN)


def every_end_of_the_numbers() -> Iterator[ProducerSequencesQuestion]:
    """The last sequences, two batches in flight: every history of up to 3 of 9 events in the last epoch, 2 before it."""
    begun = (AppendStep(0, 2), _RUN, _APPEND, _RUN)
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_LOST, _RUN), (_SEQUENCES[0], _RUN), (_SEQUENCES[4], _RUN), (_TOO_LARGE, _RUN), (_REFUSED, _RUN),
        (AppendStep(0, 2), _RUN), (AppendStep(1), _RUN), _RUN,
    )  # fmt: skip
    for epoch, longest in ((2**15 - 2, 2), (2**15 - 1, 3)):
        producer = KnownProducer(7, epoch, {"0": _MOST - 1, "1": _MOST})
        for symbols in every_script(alphabet, longest):
            yield _asked((*begun, *symbols, _LOOK, _RUN, _RUN), leaders=(0, 1), producer=producer)


def every_return_of_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Who loses its id is given the same one again, and has forgotten what is in flight: answers that come to it then.

    Two partitions, a batch in flight on each, of one and of two records: every history of up to 4 of 7 events. (Since 2.5.0
    no id is lost; both batches have another epoch, or will.)
    """
    sent = (_APPEND, _RUN, AppendStep(1, 2), _RUN, _APPEND, _RUN)
    begun = (*(ProducerIdStep(7, 0),) * 4, *sent, _SEQUENCES[0], _RUN, _RUN)
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_LOST, _RUN), (_SEQUENCES[0], _RUN), (_SEQUENCES[3], _RUN), (_TOO_LARGE, _RUN),
        (AdvanceStep(60), _RUN), _RUN,
    )  # fmt: skip
    for symbols in every_script(alphabet, 4):
        yield _asked((*begun, *symbols, _LOOK, _RUN), leaders=(0, 0))


def every_error_of_one_at_a_time() -> Iterator[ProducerSequencesQuestion]:
    """One request in flight at most, or no answers wanted: every history of up to 3 of 7 events on two partitions."""
    begun = (_APPEND, AppendStep(1), _RUN, _APPEND)
    mixed = RespondStep("NOT_ENOUGH_REPLICAS", "INVALID_TIMESTAMP")
    alphabet: tuple[Any, ...] = (
        (_FINE, _RUN), (_LOST, _RUN), (mixed, _RUN), (_SEQUENCES[0], _RUN), (_REFUSED, _RUN), (AppendStep(1), _RUN), _RUN,
    )  # fmt: skip
    for acks in ("all", "0"):
        config = replace(_CONFIG, max_in_flight=1, acks=acks, idempotence=acks == "all")
        for symbols in every_script(alphabet, 3 if acks == "all" else 2):
            yield _asked((*begun, *symbols, _LOOK, _RUN), config, (0, 0))


def every_wait_for_an_id() -> Iterator[ProducerSequencesQuestion]:
    """One request in flight at most, on two nodes, and an id that takes as long as a request may: every history of up to 3
    of 8 events, after the one that costs the id to 2.4.
    """
    later = ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS")
    config = replace(_CONFIG, max_in_flight=1, retry_backoff_ms=100, retry_backoff_max_ms=100)
    begun = (_APPEND, AppendStep(1), _RUN, later, _SEQUENCES[0])
    alphabet: tuple[Any, ...] = (
        _RUN, (AppendStep(1), _RUN), (_APPEND, _RUN), (RespondStep(node=1), _RUN), (DisconnectStep(1), _RUN),
        (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", node=1), _RUN), (AdvanceStep(10), _RUN), later,
    )  # fmt: skip
    for symbols in every_script(alphabet, 3):
        yield _asked((*begun, *symbols, _LOOK, _RUN), config, (0, 1))


def every_refusal_of_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Nobody yet: every two answers to a request for an id, before a record and after it; then it goes on."""
    answers = (
        ProducerIdStep(), ProducerIdStep(error="REQUEST_TIMED_OUT"), ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS"),
        ProducerIdStep(error="CLUSTER_AUTHORIZATION_FAILED"), ProducerIdStep(error="INVALID_TIMESTAMP"),
    )  # fmt: skip
    config = replace(_CONFIG, retry_backoff_ms=10, retry_backoff_max_ms=10)
    ending = (_RUN, _RUN, _LOOK, _APPEND, _RUN, _RUN, _SEQUENCES[0], _RUN, _RUN, _RUN)
    for first in answers:
        for second in answers:
            yield _asked((first, second, _APPEND, _RUN, *ending), config, producer=None)
            yield _asked((_RUN, first, second, _APPEND, _RUN, *ending), config, producer=None)


# A byte names one of these; repeats are weights. None is no step.
_ALPHABET: tuple[Any, ...] = (
    None, (_APPEND, _RUN), (_FINE, _RUN), (AppendStep(1), _RUN), _RUN, (_LOST, _RUN), (_AGAIN, _RUN),
    (AppendStep(0, 3), _RUN),
    *((answer, _RUN) for answer in _SEQUENCES), (_TOO_LARGE, _RUN), (_REFUSED, _RUN), (AdvanceStep(10), _RUN), _LOOK,
    (_APPEND, AppendStep(1, 2), AppendStep(2), _RUN), (_FINE, _RUN), (_FINE, RespondStep(node=1, base_offset=50), _RUN),
    (RespondStep("NETWORK_EXCEPTION", "OUT_OF_ORDER_SEQUENCE_NUMBER"), _RUN), (_RUN, _RUN), (AdvanceStep(31), _RUN),
    (DisconnectStep(1), _RUN), (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", node=1), _RUN), (AdvanceStep(60), _RUN),
    (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", "NONE"), _RUN), (_FINE, _FINE, _RUN, _RUN), (AppendStep(2, 2), _RUN),
    (_SEQUENCES[0], _RUN), (_FINE, _RUN), (_APPEND, _RUN), (AppendStep(0, 12, 50), _RUN), (_TOO_LARGE, _RUN), _APPEND,
    (RespondStep("INVALID_TIMESTAMP", "NONE"), _RUN), (_LOST, DisconnectStep(1), _RUN), (_AGAIN, _RUN), _LOOK, (_FINE, _RUN),
    ProducerIdStep(9, 2**15 - 1), (_LOST, _RUN), (_APPEND, _RUN), (AppendStep(1), _RUN), FlushStep(),
)  # fmt: skip
_RARE: tuple[Any, ...] = (
    *((answer, _RUN) for answer in _OTHERS), ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS"), (_FATAL, _RUN),
)  # fmt: skip
_PRODUCERS = (
    _KNOWN, None, KnownProducer(7, 2**15 - 2, {"0": 5}), KnownProducer(7, 0, {"0": _MOST - 1, "1": _MOST}),
    KnownProducer(2**40, 3, {"0": 100}),
)  # fmt: skip
_LEADERS = ((0, 0, 0), (0, 1, 0), (0,), (1, 0, 2))


def _spelled(letters: bytes) -> ProducerSequencesQuestion:
    head, body = letters[:8].ljust(8, b"\0"), letters[8:]
    backoff_ms = (0, 10, 100)[head[4] % 3]
    max_in_flight = (5, 2, 1, 3)[head[2] % 4]
    config = AskedSender(
        idempotence=head[0] % 4 < 3, acks=("all", "1", "all", "all")[head[6] % 4], retries=(_MOST, 1, 0, 3)[head[1] % 4],
        max_in_flight=max_in_flight, batch_size=(120, 400, 1)[head[3] % 3], linger_ms=(0, 10)[head[3] % 2],
        request_timeout_ms=(30, 100)[head[5] % 2], delivery_timeout_ms=(100, 1000, 40)[head[5] % 3],
        retry_backoff_ms=backoff_ms, retry_backoff_max_ms=(backoff_ms, 100)[head[4] % 2],
    )  # fmt: skip
    leaders = _LEADERS[head[7] % len(_LEADERS)]
    steps = [_within(step, len(leaders)) for step in _flat(_words(body))]
    draws = tuple(mix32(head[4] * 1009 + place) for place in range(len(steps) + 1))
    return ProducerSequencesQuestion(
        config, leaders, draws, (*steps, _LOOK), _PRODUCERS[head[7] // 4 % len(_PRODUCERS)]
    )


def _words(letters: bytes) -> Iterator[Any]:
    for letter in letters:
        symbols: Sequence[Any] = _ALPHABET if letter < 250 else _RARE
        symbol = symbols[letter % len(symbols)] if letter < 250 else _RARE[(letter - 250 + len(letters)) % len(_RARE)]
        if symbol is not None:
            yield symbol


def _within(step: Any, partitions: int) -> Any:
    return replace(step, partition=step.partition % partitions) if isinstance(step, AppendStep) else step


_LETTERS = st.one_of(st.binary(max_size=24), st.binary(min_size=24, max_size=40), st.binary(min_size=28, max_size=60))
_HISTORIES = _LETTERS.map(_spelled)


def histories() -> st.SearchStrategy[ProducerSequencesQuestion]:
    """Histories, most of them of 30 steps and more."""
    return _HISTORIES
