"""The rule ``delivery``: what becomes of an application's records, with faults between it and the log.

::

    {"producer": {"acks": "1", "retries": "3", "max.in.flight.requests.per.connection": "5", "enable.idempotence": "false"},
     "partition": {"replicas": 3, "min_insync_replicas": 1}, "records": 3,
     "faults": [{"op": "lose_response", "request": 2}, {"op": "refuse", "request": 4, "error": "NOT_ENOUGH_REPLICAS"}]}

    {"log": [0, 1, 1, 2], "acknowledged": [0, 1, 2], "failed": [], "unanswered": [], "lost": [], "doubled": [1],
     "reordered": [], "requests": [{"request": 1, "records": [0], "producer_id": -1, "epoch": -1, "sequence": -1,
                                    "came": "written", "offset": 0, "answered": true}, …]}
    {"raises": "ConfigException", "message": …}: there is no such producer

The faults are a list that a proxy in the network could play: see ``kafka_reference.delivery.faults``; the rest of the
story is in ``kafka_reference.delivery.scenario``. Records are numbered as the application sends them, each is a batch and a
request.

Java answers in parts, and tells the same story: whether there is such a producer (``idempotence-config``), what its Sender
puts on the wire and makes of answers (``producer-sequences``), and what the leader's ProducerStateManager writes and refuses
(``broker-producer-state``). Each is told what the others said, so a difference in one of them changes the story. What lies
between, which is the network, the followers and the log itself, is the story's, and proven by no class: a broker will be
asked about that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Answered, Failed, Outcome, Unsupported
from kafka_conformance.core.rule import Area, AskJava, Rule, Space
from kafka_conformance.rules.delivery.java_parts import in_lockstep
from kafka_conformance.rules.delivery.question import KINDS, AskedFault, AskedPartition, AskedProducer, DeliveryQuestion
from kafka_reference.delivery.faults import Fault, Kind
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import Refused
from kafka_reference.delivery.producer import Producer
from kafka_reference.delivery.scenario import Outcome as End
from kafka_reference.delivery.scenario import Passed, Scenario
from kafka_reference.delivery.simulation import simulate
from kafka_reference.idempotence.errors import has_error
from kafka_reference.releases import NEWEST, Release, since

__all__ = ["RULE", "answer_of", "delivery_ask_of", "story_of"]

_NAMES = {
    "acks": "acks", "retries": "retries", "in_flight": "max.in.flight.requests.per.connection",
    "idempotence": "enable.idempotence",
}  # fmt: skip


def story_of(question: DeliveryQuestion) -> Scenario:
    """The question as the reference's story."""
    set_ = ((name, getattr(question.producer, field)) for field, name in _NAMES.items())
    faults = (Fault(Kind(one.op.replace("_", "-")), one.request, one.error) for one in question.faults)
    partition = question.partition
    config = {name: value for name, value in set_ if value is not None}
    return Scenario(config, question.records, tuple(faults), partition.replicas, partition.min_insync_replicas)


def answer_of(end: End | Refused) -> Answer:
    """The end of a story, as an answer."""
    if isinstance(end, Refused):
        return {"raises": end.error, **({} if end.message is None else {"message": end.message})}
    return {
        "log": list(end.log), "acknowledged": list(end.acknowledged), "failed": [list(one) for one in end.failed],
        "unanswered": list(end.unanswered), "lost": list(end.lost), "doubled": list(end.doubled),
        "reordered": list(end.reordered), "requests": [_request(one) for one in end.requests],
    }  # fmt: skip


def _request(passed: Passed) -> Answer:
    batch = passed.batch
    return {
        "request": passed.request, "records": list(batch.records), "producer_id": batch.producer_id, "epoch": batch.epoch,
        "sequence": batch.sequence, "came": passed.came, "offset": passed.offset, "answered": passed.answered,
    }  # fmt: skip


def delivery_ask_of(
    question: DeliveryQuestion, at: Release, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
) -> Answer:  # fmt: skip
    """What the story comes to with these parties: the reference's own, or some that something is different about."""
    return answer_of(simulate(story_of(question), at, producer=producer, leader=leader))


def _ask(question: DeliveryQuestion, at: Release) -> Answer:
    return delivery_ask_of(question, at)


def _by_java(ask: AskJava, at: Release, questions: Sequence[Any]) -> list[Outcome]:
    strange = [next((f.error for f in one.faults if f.error and not has_error(at, f.error)), None) for one in questions]
    told = [story_of(one).told() for one, error in zip(questions, strange, strict=True) if error is None]
    ends = iter(in_lockstep(told, ask))
    return [
        _outcome(next(ends)) if error is None else Unsupported(f"release {at} has no error {error}")
        for error in strange
    ]


def _outcome(end: End | Refused | Failed) -> Outcome:
    return end if isinstance(end, Failed) else Answered(answer_of(end))


def _labels(question: DeliveryQuestion) -> Iterator[str]:
    answer = _ask(question, NEWEST)
    if "raises" in answer:
        yield "refused"
        return
    yield from (what for what in ("lost", "doubled", "reordered", "failed") if answer[what])
    idempotent = any(one["producer_id"] >= 0 for one in answer["requests"])
    yield "idempotent" if idempotent else f"acks {question.producer.acks or 'all'}"
    seen = {one["came"] for one in answer["requests"]} | {f"fault {fault.op}" for fault in question.faults}
    yield from sorted(seen)
    if not answer["lost"] and not answer["doubled"] and not answer["reordered"] and not answer["failed"]:
        yield "exactly once, in order"


_PRODUCERS = tuple(
    AskedProducer(*values)
    for values in (
        ("0", None, None, None), ("1", "3", None, "false"), ("1", "0", None, None), ("1", None, "1", None),
        ("all", "3", None, "false"), ("all", None, "6", "false"), ("all", "1", "1", "false"), (None, None, None, "true"),
        ("all", None, "1", "true"), ("all", "1", None, "true"), ("1", None, None, "true"), (None, None, None, None),
    )
)  # fmt: skip
_FAULTS = tuple(AskedFault(op, 1, "NOT_LEADER_OR_FOLLOWER" if op == "refuse" else None) for op in KINDS)
_TWO = (_PRODUCERS[4], _PRODUCERS[-1])


def _at(fault: AskedFault, request: int) -> AskedFault:
    return AskedFault(fault.op, request, fault.error)


def every_fault() -> Iterator[DeliveryQuestion]:
    """Four records; every producer of 12, and every fault at each of the first three requests, or none."""
    for producer in _PRODUCERS:
        yield DeliveryQuestion(producer, AskedPartition(), 4)
        for fault, request in product(_FAULTS, range(1, 4)):
            yield DeliveryQuestion(producer, AskedPartition(), 4, (_at(fault, request),))


def every_pair_of_faults() -> Iterator[DeliveryQuestion]:
    """Three records; every two faults at requests next to each other, all replicas needed; two producers."""
    for producer, (first, second) in product(_TWO, product(_FAULTS, repeat=2)):
        for one in (1, 2):
            yield DeliveryQuestion(producer, AskedPartition(3, 3), 3, (_at(first, one), _at(second, one + 1)))


_ERRORS = (
    "NOT_LEADER_OR_FOLLOWER",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "TOPIC_AUTHORIZATION_FAILED",
)


def _setting(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, *values])


@st.composite
def _questions(draw: st.DrawFn) -> DeliveryQuestion:
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


RULE = Rule(
    slug="delivery",
    title="from the application to the log: what is lost, doubled, reordered",
    area=Area.DELIVERY,
    releases=since("0.10.0.0"),
    question=DeliveryQuestion,
    ask=_ask,
    strategy=_questions,
    spaces=(
        Space("four records, 12 producers: every fault at each of the first three requests", every_fault),
        Space(
            "three records, 2 producers, all replicas needed: every two faults at requests next to each other",
            every_pair_of_faults,
        ),
    ),
    labels=_labels,
    required_labels=frozenset(
        {"lost", "doubled", "reordered", "failed", "idempotent", "acks 0", "acks 1", "acks all", "refused", "duplicate"}
        | {"written", "exactly once, in order", "OUT_OF_ORDER_SEQUENCE_NUMBER", "NOT_ENOUGH_REPLICAS"}
        | {f"fault {fault.op}" for fault in _FAULTS}
    ),
    java=(),
    share=0.25,
    by_parts=_by_java,
    source="KafkaProducer's configuration, Sender, ProducerStateManager, one after another",
    harness=(
        "The network, the log and the order of events are kafka_reference.delivery's, which both sides share; Java "
        "answers for the producer's configuration, its Sender and the broker's ProducerStateManager, by the rules "
        "idempotence-config, producer-sequences and broker-producer-state."
    ),
    links=("https://kafka.apache.org/documentation/#semantics",),
)
