"""The finite spaces of ``producer-sequences``, and the steps and configurations that its questions are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any

from msgspec.structs import replace

from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    AppendStep,
    AskedSender,
    DisconnectStep,
    KnownProducer,
    LookStep,
    ProducerIdStep,
    ProducerSequencesQuestion,
    RespondStep,
    RunStep,
)
from kafka_reference.java.thread_local_random import mix32

__all__ = [
    "APPEND", "DISCONNECT", "FATAL", "KNOWN", "LOOK", "MAX_INT", "OTHER_ERRORS", "OUT_OF_ORDER", "REFUSED",
    "REFUSED_ID", "RETRIABLE", "RUN", "SEQUENCE_ERRORS", "SUCCESS", "TOO_LARGE", "every_abort",
    "every_error_with_one_in_flight",
    "every_expiry", "every_expiry_after_a_reset", "every_failure_without_an_id", "every_last_sequence",
    "every_number_in_flight", "every_order_of_nodes", "every_other_epoch_of_an_id", "every_pair_of_answers",
    "every_recurrence_of_an_id", "every_refusal_of_an_id", "every_short_history", "every_split",
    "every_wait_for_an_id", "flatten", "within",
]  # fmt: skip

MAX_INT = 2**31 - 1
APPEND, RUN, LOOK, DISCONNECT = AppendStep(0), RunStep(), LookStep(), DisconnectStep()
OUT_OF_ORDER = RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER")
LOG_KEPT = RespondStep("UNKNOWN_PRODUCER_ID", log_start_offset=0)
LOG_LOST = RespondStep("UNKNOWN_PRODUCER_ID", log_start_offset=1000)
SEQUENCE_ERRORS = (
    OUT_OF_ORDER, RespondStep("DUPLICATE_SEQUENCE_NUMBER"), RespondStep("UNKNOWN_PRODUCER_ID"), LOG_KEPT, LOG_LOST,
)  # fmt: skip
SUCCESS, RETRIABLE, REFUSED = (
    RespondStep(base_offset=100),
    RespondStep("NOT_ENOUGH_REPLICAS"),
    RespondStep("INVALID_TIMESTAMP"),
)
TOO_LARGE, FATAL = RespondStep("MESSAGE_TOO_LARGE"), RespondStep("CLUSTER_AUTHORIZATION_FAILED")
REFUSED_ID = ProducerIdStep(error="CLUSTER_AUTHORIZATION_FAILED")
OTHER_ERRORS = tuple(
    RespondStep(name)
    for name in (
        "CORRUPT_MESSAGE", "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER",
        "REQUEST_TIMED_OUT", "NETWORK_EXCEPTION", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "KAFKA_STORAGE_ERROR",
        "RECORD_LIST_TOO_LARGE", "INVALID_TOPIC_EXCEPTION", "INVALID_REQUIRED_ACKS", "TOPIC_AUTHORIZATION_FAILED",
        "UNSUPPORTED_VERSION", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED",
        "INVALID_RECORD",
    )
)  # fmt: skip
ANSWERS: tuple[Any, ...] = (SUCCESS, RETRIABLE, DISCONNECT, *SEQUENCE_ERRORS, TOO_LARGE, REFUSED, FATAL, *OTHER_ERRORS)

CONFIG = AskedSender(
    idempotence=True, acks="all", retries=MAX_INT, max_in_flight=5, batch_size=120, linger_ms=0, request_timeout_ms=30,
    delivery_timeout_ms=100, retry_backoff_ms=0, retry_backoff_max_ms=0,
)  # fmt: skip
KNOWN = KnownProducer(7, 0)


def flatten(symbols: Iterable[Any]) -> tuple[Any, ...]:
    """Return the steps of these symbols: a symbol is a step or a tuple of steps that belong together."""
    return tuple(step for symbol in symbols for step in (symbol if isinstance(symbol, tuple) else (symbol,)))


def _question(
    steps: Iterable[Any], config: AskedSender = CONFIG, leaders: tuple[int, ...] = (0,),
    producer: KnownProducer | None = KNOWN,
) -> ProducerSequencesQuestion:  # fmt: skip
    return ProducerSequencesQuestion(config, leaders, (), flatten((*steps, LOOK)), producer)


def within(step: Any, leaders: tuple[int, ...]) -> Any:
    """Return the step for one of these partitions, or for one of their leaders: 0 is the leader with the lowest id."""
    match step:
        case AppendStep(partition):
            return replace(step, partition=partition % len(leaders))
        case RespondStep(node=place) | DisconnectStep(place):
            nodes = sorted(set(leaders))
            return replace(step, node=nodes[place % len(nodes)])
        case _:
            return step


def every_pair_of_answers() -> Iterator[ProducerSequencesQuestion]:
    """Return two batches in flight, of two records each, with every two answers to them.

    With one retry, with none, and without idempotence: every two of the first 11 answers. The rounds that follow are part of
    the question, with a look after the first, and one more record.
    """
    two = AppendStep(0, 2)
    for idempotence, retries, answers in (
        (True, MAX_INT, ANSWERS), (True, 1, ANSWERS[:11]), (True, 0, ANSWERS[:11]), (False, 1, ANSWERS[:11]),
    ):  # fmt: skip
        config = replace(CONFIG, idempotence=idempotence, retries=retries)
        for first in answers:
            for second in answers:
                yield _question(
                    (two, RUN, two, RUN, first, RUN, second, RUN, LOOK, APPEND, RUN, RUN, SUCCESS, RUN),
                    config,
                )


def every_short_history() -> Iterator[ProducerSequencesQuestion]:
    """Return three batches in flight, a fourth that waits, and an idle partition, with and without idempotence.

    With idempotence every history of up to 3 of 10 events, each with its round; without, of up to 2.
    """
    begun = (APPEND, RUN, AppendStep(0, 2), RUN, APPEND, RUN, AppendStep(1), RUN, APPEND)
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (RETRIABLE, RUN), (DISCONNECT, RUN), (OUT_OF_ORDER, RUN), (LOG_KEPT, RUN), (LOG_LOST, RUN),
        (TOO_LARGE, RUN), (REFUSED, RUN), (AppendStep(1, 2), RUN), RUN,
    )  # fmt: skip
    for idempotence in (True, False):
        for symbols in every_script(alphabet, 3 if idempotence else 2):
            yield _question((*begun, *symbols, LOOK, RUN, RUN), replace(CONFIG, idempotence=idempotence), (0, 0))


def every_number_in_flight() -> Iterator[ProducerSequencesQuestion]:
    """Return seven batches, 1 to 5 in flight at most, with every one of 28 answers to the first."""
    for most in range(1, 6):
        for answer in ANSWERS:
            steps = (*((APPEND, RUN) * 7), answer, RUN, LOOK, RUN, SUCCESS, RUN, RUN)
            yield _question(steps, replace(CONFIG, max_in_flight=most, batch_size=1))


def every_expiry() -> Iterator[ProducerSequencesQuestion]:
    """Return two batches, the first of which is retried, and one more after half of the time: up to 3 of 8 events.

    Without idempotence, an older batch drained behind a younger one, which keeps it from expiring: up to 3 of 5 events. With
    one request in flight, three queues that expire at once, and a batch that expires while it backs off.
    """
    begun = (APPEND, RUN, APPEND, RUN, DISCONNECT, RUN, AdvanceStep(50), APPEND, RUN)
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (RETRIABLE, RUN), (DISCONNECT, RUN), (OUT_OF_ORDER, RUN), (AdvanceStep(31), RUN),
        (AdvanceStep(70), RUN), (APPEND, RUN), RUN,
    )  # fmt: skip
    patient = replace(CONFIG, request_timeout_ms=80)
    for symbols in every_script(alphabet, 3):
        yield _question((*begun, *symbols, LOOK, RUN), patient)
    turned = (APPEND, RUN, AdvanceStep(50), APPEND, RUN, DISCONNECT, RUN, RUN, RUN)
    for symbols in every_script((*alphabet[:3], (AdvanceStep(60), RUN), RUN), 3):
        yield _question((*turned, *symbols, LOOK, RUN), replace(patient, idempotence=False))
    one = replace(CONFIG, max_in_flight=1, retry_backoff_ms=10, retry_backoff_max_ms=10)
    three = (APPEND, AppendStep(1), AppendStep(2))
    retried = (APPEND, RUN, DISCONNECT, RUN, AppendStep(1), RUN, AppendStep(2), AdvanceStep(41), RUN, LOOK, RUN, RUN)
    for idempotence in (True, False):
        config = replace(one, idempotence=idempotence)
        yield _question((*three, RUN, *three, AdvanceStep(100), RUN, RUN), config, (0, 0, 0))
        yield _question(retried, config, (0, 0, 1))


def every_expiry_after_a_reset() -> Iterator[ProducerSequencesQuestion]:
    """Return two partitions with three batches each, whose requests time out: up to 4 of 6 events.

    Up to 2.4.x the first answer may reset the producer, and batches that expire afterwards leave both partitions unresolved.
    """
    both = (APPEND, AppendStep(1))
    begun = (*both, RUN, *both, RUN, *both, AdvanceStep(31), RUN, RUN)
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (OUT_OF_ORDER, RUN), (LOG_LOST, RUN), (REFUSED, RUN), (AdvanceStep(31), RUN), RUN,
    )  # fmt: skip
    for symbols in every_script(alphabet, 4):
        yield _question((*begun, *symbols, LOOK, RUN, RUN), leaders=(0, 1))


def every_order_of_nodes() -> Iterator[ProducerSequencesQuestion]:
    """Return three nodes that lead three partitions, in every order, and lose their connections, each with ten draws.

    Which back-off is drawn first shows when some of the back-offs are over.
    """
    config = replace(CONFIG, retry_backoff_ms=10, retry_backoff_max_ms=100)
    lost: tuple[Any, ...] = (*map(AppendStep, range(3)), RUN, *map(DisconnectStep, range(3)), RUN)
    steps = (*lost, AdvanceStep(10), RUN, AdvanceStep(1), RUN, LOOK)
    for leaders in permutations(range(3)):
        for seed in range(10):
            draws = tuple(mix32(seed * 1009 + place) for place in range(4))
            yield ProducerSequencesQuestion(config, leaders, draws, steps, KNOWN)


def every_last_sequence() -> Iterator[ProducerSequencesQuestion]:
    """Return two batches in flight at the last sequences: up to 3 of 9 events in the last epoch, up to 2 before it."""
    begun = (AppendStep(0, 2), RUN, APPEND, RUN)
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (DISCONNECT, RUN), (OUT_OF_ORDER, RUN), (LOG_LOST, RUN), (TOO_LARGE, RUN), (REFUSED, RUN),
        (AppendStep(0, 2), RUN), (AppendStep(1), RUN), RUN,
    )  # fmt: skip
    for epoch, longest in ((2**15 - 2, 2), (2**15 - 1, 3)):
        producer = KnownProducer(7, epoch, {"0": MAX_INT - 1, "1": MAX_INT})
        for symbols in every_script(alphabet, longest):
            yield _question((*begun, *symbols, LOOK, RUN, RUN), leaders=(0, 1), producer=producer)


def every_recurrence_of_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Return a producer that loses its id and gets the same one again: up to 4 of 7 events of batches it has forgotten.

    Two partitions, with a batch in flight on each, of one and of two records. Since 2.5.0 no id is lost: both batches get
    another epoch.
    """
    sent = (APPEND, RUN, AppendStep(1, 2), RUN, APPEND, RUN)
    begun = (*(ProducerIdStep(7, 0),) * 4, *sent, OUT_OF_ORDER, RUN, RUN)
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (DISCONNECT, RUN), (OUT_OF_ORDER, RUN), (LOG_KEPT, RUN), (TOO_LARGE, RUN),
        (AdvanceStep(60), RUN), RUN,
    )  # fmt: skip
    for symbols in every_script(alphabet, 4):
        yield _question((*begun, *symbols, LOOK, RUN), leaders=(0, 0))


def every_other_epoch_of_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Return a producer that loses its id and gets the same one in the next epoch: up to 3 of 6 events of older batches.

    Two partitions on two nodes, with a batch in flight on each. Up to 2.2.x the older batches count as the producer's own.
    """
    begun = (
        *(ProducerIdStep(7, epoch) for epoch in range(1, 5)),
        APPEND,
        AppendStep(1, 2),
        RUN,
        OUT_OF_ORDER,
        RUN,
        RUN,
    )
    alphabet: tuple[Any, ...] = (
        (RespondStep(node=1), RUN), (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", node=1), RUN),
        (RespondStep("UNKNOWN_PRODUCER_ID", node=1, log_start_offset=1000), RUN), (DisconnectStep(1), RUN),
        (AppendStep(1), RUN), (APPEND, RUN),
    )  # fmt: skip
    for symbols in every_script(alphabet, 3):
        yield _question((*begun, *symbols, LOOK, RUN), leaders=(0, 1))


def every_failure_without_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Return a producer without retries that loses its id after the last epoch: up to 3 of 6 events of batches in flight.

    A fatal error and the new id may arrive in the same round.
    """
    begun = (APPEND, AppendStep(1), RUN, AppendStep(1), RUN, OUT_OF_ORDER, RUN)
    alphabet: tuple[Any, ...] = (
        RespondStep(node=1), RespondStep("CLUSTER_AUTHORIZATION_FAILED", node=1), RespondStep("NOT_ENOUGH_REPLICAS", node=1),
        (AppendStep(1), RUN), (AdvanceStep(31), RUN), RUN,
    )  # fmt: skip
    for symbols in every_script(alphabet, 3):
        steps = (*begun, *symbols, RUN, LOOK, RUN)
        yield _question(steps, replace(CONFIG, retries=0), (0, 1), KnownProducer(7, 2**15 - 1))


def every_abort() -> Iterator[ProducerSequencesQuestion]:
    """Return a producer that loses its id after the last epoch and gets no other: up to 3 of 7 events of a batch in flight.

    Since 3.6.0 the producer aborts the batch and requests an id again. Nodes 0 and 1 with id 7, nodes 2 and 5 with id 0.
    """
    begun = (AppendStep(1), RUN, APPEND, RUN, REFUSED_ID, REFUSED, RUN, RUN, RUN)
    alphabet: tuple[Any, ...] = (
        RUN, (AdvanceStep(100), RUN), (RespondStep(node=1), RUN), (RespondStep("NOT_ENOUGH_REPLICAS", node=1), RUN),
        (DisconnectStep(1), RUN), (AppendStep(1), RUN), (REFUSED_ID, RUN),
    )  # fmt: skip
    config = replace(CONFIG, request_timeout_ms=100)
    for leaders, producer_id in (((0, 1), 7), ((2, 5), 0)):
        for symbols in every_script(alphabet, 3):
            steps = [within(step, leaders) for step in flatten((*begun, *symbols, LOOK, RUN, RUN))]
            yield _question(steps, config, leaders, KnownProducer(producer_id, 2**15 - 1))


def every_split() -> Iterator[ProducerSequencesQuestion]:
    """Return a batch of six records that is too large, with and without idempotence: up to 4 of 4 events of its pieces."""
    begun = (AppendStep(0, 6, 50), RUN, TOO_LARGE, RUN)
    alphabet: tuple[Any, ...] = ((TOO_LARGE, RUN), (SUCCESS, RUN), (DISCONNECT, RUN), (APPEND, RUN))
    for idempotence in (True, False):
        config = replace(CONFIG, batch_size=400, idempotence=idempotence)
        for symbols in every_script(alphabet, 4 if idempotence else 3):
            yield _question((*begun, *symbols, LOOK, RUN, RUN), config)


def every_error_with_one_in_flight() -> Iterator[ProducerSequencesQuestion]:
    """Return one request in flight at most, or acks=0, on two partitions: up to 3 of 7 events, with acks=0 of 2."""
    begun = (APPEND, AppendStep(1), RUN, APPEND)
    mixed = RespondStep("NOT_ENOUGH_REPLICAS", "INVALID_TIMESTAMP")
    alphabet: tuple[Any, ...] = (
        (SUCCESS, RUN), (DISCONNECT, RUN), (mixed, RUN), (OUT_OF_ORDER, RUN), (REFUSED, RUN), (AppendStep(1), RUN), RUN,
    )  # fmt: skip
    for acks in ("all", "0"):
        config = replace(CONFIG, max_in_flight=1, acks=acks, idempotence=acks == "all")
        for symbols in every_script(alphabet, 3 if acks == "all" else 2):
            yield _question((*begun, *symbols, LOOK, RUN), config, (0, 0))


def every_wait_for_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Return one request in flight at most, on two nodes, and a slow producer id: up to 3 of 8 events.

    An id takes as long as a request may; the first event is an error that resets the producer up to 2.4.x.
    """
    later = ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS")
    config = replace(CONFIG, max_in_flight=1, retry_backoff_ms=100, retry_backoff_max_ms=100)
    begun = (APPEND, AppendStep(1), RUN, later, OUT_OF_ORDER)
    alphabet: tuple[Any, ...] = (
        RUN, (AppendStep(1), RUN), (APPEND, RUN), (RespondStep(node=1), RUN), (DisconnectStep(1), RUN),
        (RespondStep("OUT_OF_ORDER_SEQUENCE_NUMBER", node=1), RUN), (AdvanceStep(10), RUN), later,
    )  # fmt: skip
    for symbols in every_script(alphabet, 3):
        yield _question((*begun, *symbols, LOOK, RUN), config, (0, 1))


def every_refusal_of_an_id() -> Iterator[ProducerSequencesQuestion]:
    """Return a producer without an id: every two answers to its requests, before a record and after it."""
    answers = (
        ProducerIdStep(), ProducerIdStep(error="REQUEST_TIMED_OUT"), ProducerIdStep(error="COORDINATOR_LOAD_IN_PROGRESS"),
        ProducerIdStep(error="CLUSTER_AUTHORIZATION_FAILED"), ProducerIdStep(error="INVALID_TIMESTAMP"),
    )  # fmt: skip
    config = replace(CONFIG, retry_backoff_ms=10, retry_backoff_max_ms=10)
    ending = (RUN, RUN, LOOK, APPEND, RUN, RUN, OUT_OF_ORDER, RUN, RUN, RUN)
    for first in answers:
        for second in answers:
            yield _question((first, second, APPEND, RUN, *ending), config, producer=None)
            yield _question((RUN, first, second, APPEND, RUN, *ending), config, producer=None)
