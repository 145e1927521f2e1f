"""The rule ``delivery``: its questions, its mutants, and scenarios answered by parts, here with the reference's parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, Failed, Outcome, Unsupported, to_json
from kafka_conformance.rules import RULES
from kafka_conformance.rules.delivery.question import AskedFault, AskedProducer, DeliveryQuestion
from kafka_conformance.rules.delivery.rule import RULE
from kafka_conformance.rules.delivery.spaces import (
    ERRORS,
    every_error,
    every_fault,
    every_fault_of_followers,
    every_minimum,
    every_pair_of_errors,
    every_pair_of_faults,
    every_return,
)
from kafka_reference.idempotence.errors import has_error, produce_errors
from kafka_reference.releases import Release, parse_release

FENCED_THEN_TOO_LARGE = [(1, "INVALID_PRODUCER_EPOCH"), (2, "MESSAGE_TOO_LARGE")]
Ask = Callable[[str, Sequence[dict[str, Any]]], Sequence[Outcome]]


def by_reference(release: Release) -> Ask:
    def ask(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        rule = RULES[slug]
        return ReferenceAnswerer().answer(rule, release, [msgspec.convert(one, rule.question) for one in questions])

    return ask


@pytest.fixture(scope="module")
def some() -> list[DeliveryQuestion]:
    of_replicas = [*list(every_fault_of_followers())[::40], *list(every_return())[::7]]
    return [
        *list(every_fault())[::10], *list(every_pair_of_faults())[::10], *of_replicas, *generated(RULE.slug, 60)[:30]
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["0.10.0.1", "0.11.0.3", "2.4.1", "4.4.0"])
def test_delivery_composed_from_component_rules_equals_the_simulation(
    version: str, some: list[DeliveryQuestion]
) -> None:
    at = parse_release(version)
    possible = [one for one in some if all(has_error(at, name) for _, name in _errors(one) if name is not None)]
    assert len(possible) > 45
    assert RULE.by_parts is not None
    by_parts = RULE.by_parts(by_reference(at), at, possible)
    for question, outcome in zip(possible, by_parts, strict=True):
        assert isinstance(outcome, Answered), outcome
        assert to_json(outcome.answer) == to_json(RULE.ask(question, at)), to_json(question)


def test_failed_component_rule_fails_only_the_affected_scenario(some: list[DeliveryQuestion]) -> None:
    at, own = parse_release("4.4.0"), list[dict[str, Any]]()
    right = by_reference(at)

    def note(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        own.extend(questions if slug == "producer-sequences" else ())
        return right(slug, questions)

    def ask(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        outcomes = right(slug, questions)
        return [Failed("it broke") if one in own else outcome for one, outcome in zip(questions, outcomes, strict=True)]

    assert RULE.by_parts is not None
    RULE.by_parts(note, at, [DeliveryQuestion()])
    assert own
    first, *others = RULE.by_parts(ask, at, [DeliveryQuestion(), *some[:5]])
    assert isinstance(first, Failed)
    assert "it broke" in first.what
    assert others == RULE.by_parts(right, at, some[:5])


def test_delivery_scenario_fails_if_the_sender_throws() -> None:
    def ask(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        if slug != "producer-sequences":
            return by_reference(parse_release("4.4.0"))(slug, questions)
        rounds = [{"sent": [], "ended": [], "raises": "IllegalStateException"}] * 40
        return [Answered({"steps": rounds}) for _ in questions]

    assert RULE.by_parts is not None
    (outcome,) = RULE.by_parts(ask, parse_release("4.4.0"), [DeliveryQuestion()])
    assert outcome == Failed("the sender raised " + ", ".join(["IllegalStateException"] * 7))


def test_delivery_scenario_continues_after_exception_in_response_handler() -> None:
    """NetworkClient logs it, and the sender goes on: a fenced producer of 2.0.1 fails its other batches as well."""
    at = parse_release("2.0.1")
    thrown: list[str] = []

    def ask(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        outcomes = by_reference(at)(slug, questions)
        answers = [outcome.answer for outcome in outcomes if isinstance(outcome, Answered)]
        thrown.extend(
            name for answer in answers for step in answer.get("steps", ()) for name in step.get("uncaught", ())
        )
        return outcomes

    question = next(iter(question for question in every_pair_of_errors() if _errors(question) == FENCED_THEN_TOO_LARGE))
    assert RULE.by_parts is not None
    (outcome,) = RULE.by_parts(ask, at, [question])
    assert set(thrown) == {"IllegalStateException"}
    assert isinstance(outcome, Answered)
    assert to_json(outcome.answer) == to_json(RULE.ask(question, at))
    assert [error for _, error in outcome.answer["failed"]] == ["ProducerFencedException"] * 8


def _errors(question: DeliveryQuestion) -> list[tuple[int, str | None]]:
    return [(fault.request, fault.error) for fault in question.faults]


def test_delivery_spaces_have_produce_errors_of_four_releases_in_360_single_98_paired_questions() -> None:
    assert {error for question in every_error() for _, error in _errors(question)} == set(ERRORS)
    versions = ("0.10.0.1", "0.11.0.3", "2.4.1", "4.4.0")
    assert set(ERRORS) == {name for version in versions for name in produce_errors(version)} - {"NONE"}
    assert len(list(every_error())) == 6 * (25 + 5) * 2
    assert len(list(every_pair_of_errors())) == 7 * 7 * 2


def test_delivery_question_spaces_with_replicas_have_expected_sizes() -> None:
    assert len(list(every_fault_of_followers())) == 5 * 2 * 3 * 4 * 2 * 2
    assert len(list(every_minimum())) == 5 * 4 * (1 + 2 + 2)
    assert len(list(every_return())) == 5 * (3 * 3 + 2 * 3 + 2)


def test_reelected_leader_truncates_the_broker_producer_state() -> None:
    at = parse_release("4.4.0")
    truncated: list[dict[str, Any]] = []

    def ask(slug: str, questions: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        if slug == "broker-producer-state":
            truncated.extend(step for question in questions for step in question["steps"] if step["op"] == "truncate")
        return by_reference(at)(slug, questions)

    assert RULE.by_parts is not None
    outcomes = RULE.by_parts(ask, at, [one for one in every_return() if one.faults[0].op == "crash_unreplicated"])
    assert all(isinstance(outcome, Answered) for outcome in outcomes)
    assert {"op": "truncate", "start": 0, "end": 1} in truncated


@pytest.mark.parametrize(
    ("producer", "fault", "why"),
    [
        (AskedProducer(), AskedFault("refuse", 2, "REQUEST_TIMED_OUT"), ""),
        (AskedProducer(), AskedFault("refuse_after_append", 2, "NOT_LEADER_OR_FOLLOWER"), ""),
        (AskedProducer("1"), AskedFault("refuse", 2, "NOT_LEADER_OR_FOLLOWER"), ""),
        (AskedProducer(), AskedFault("refuse", 2, "SUCH_AN_ERROR"), ""),
        (AskedProducer("1"), AskedFault("refuse", 2, "REQUEST_TIMED_OUT"), "REQUEST_TIMED_OUT at request 2: only"),
        (AskedProducer(), AskedFault("refuse", 1, "NETWORK_EXCEPTION"), "no broker answers a produce request with it"),
        (
            AskedProducer("all", None, None, "false"), AskedFault("refuse", 1, "UNKNOWN_PRODUCER_ID"),
            "only requests of an idempotent producer",
        ),
    ],
)  # fmt: skip
def test_known_produce_error_that_no_broker_returns_with_these_settings_is_out_of_domain(
    producer: AskedProducer, fault: AskedFault, why: str
) -> None:
    reason = RULE.domain(DeliveryQuestion(producer, faults=(AskedFault("lose_request", 3), fault)))
    assert why in reason
    assert bool(why) == bool(reason)


def test_generated_delivery_scenarios_have_over_ten_different_produce_errors() -> None:
    asked = {error for question in generated(RULE.slug, 200) for _, error in _errors(question) if error is not None}
    assert asked <= set(ERRORS)
    assert len(asked) > 10


def test_delivery_question_spaces_and_strategy_together_cover_required_labels() -> None:
    asked = chain(
        generated(RULE.slug, 60),
        every_fault(),
        every_pair_of_faults(),
        every_minimum(),
        list(every_fault_of_followers())[::4],
    )
    assert missing_labels(RULE.slug, asked) == set()


def test_delivery_questions_are_equal_after_json_round_trip() -> None:
    for question in generated(RULE.slug, 60):
        assert msgspec.json.decode(to_json(question), type=DeliveryQuestion) == question


@pytest.mark.parametrize(
    "wrong",
    [
        b'{"faults":[{"op":"lose","request":1}]}', b'{"faults":[{"op":"refuse","request":0}]}', b'{"records":0}',
        b'{"records":21}', b'{"producer":{"ack":"1"}}', b'{"partition":{"replicas":0}}',
    ],
)  # fmt: skip
def test_delivery_question_with_invalid_field_raises_validation_error(wrong: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(wrong, type=DeliveryQuestion)


def test_produce_error_missing_in_the_release_is_unsupported() -> None:
    at = parse_release("4.4.0")
    strange = DeliveryQuestion(faults=(AskedFault("refuse", 9, "NOT_LEADER_FOR_PARTITION"),))
    assert RULE.by_parts is not None
    by_java = RULE.by_parts(by_reference(at), at, [strange, DeliveryQuestion()])
    by_us = ReferenceAnswerer().answer(RULE, at, [strange, DeliveryQuestion()])
    for first, second in (by_java, by_us):
        assert isinstance(first, Unsupported)
        assert isinstance(second, Answered)


def test_two_faults_at_one_request_fail_the_scenario() -> None:
    question = DeliveryQuestion(faults=(AskedFault("lose_request", 1), AskedFault("lose_response", 1)))
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release("4.4.0"), [question])
    assert isinstance(outcome, Failed)


def test_two_faults_at_one_request_fail_only_that_composed_scenario() -> None:
    at = parse_release("4.4.0")
    impossible = DeliveryQuestion(faults=(AskedFault("lose_request", 1), AskedFault("lose_response", 1)))
    assert RULE.by_parts is not None
    first, second = RULE.by_parts(by_reference(at), at, [impossible, DeliveryQuestion()])
    assert first == Failed("two faults at request 1: give each a request of its own")
    assert isinstance(second, Answered)
