from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.zookeeper_leader_election.answer import ANSWER
from kafka_conformance.rules.zookeeper_leader_election.rule import RULE
from kafka_conformance.rules.zookeeper_leader_election.spaces import LOST_LEADER
from kafka_reference.releases import parse_release


def asked(**fields: Any) -> Any:
    usual = {"election": "offline", "assignment": [1, 2, 3], "isr": [1, 2], "live": [2, 3]}
    return msgspec.convert({**usual, **fields}, RULE.question)


def answered(question: Any, release: str = "3.9.2") -> Any:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(release), [question])
    return outcome


def test_zookeeper_election_after_loss_of_the_leader_elects_replica_2_in_three_releases() -> None:
    state = {"leader": 2, "isr": [2, 3], "leader_epoch": 5, "version": 6, "recovery": "recovered"}
    expected = {"leader": 2, "counted": 0, "election": {"state": state, "replicas": [2, 3]}}
    assert answered(LOST_LEADER) == Answered(expected)
    assert answered(LOST_LEADER, "2.3.1") == Answered({"leader": 2, "counted": 0})
    assert answered(LOST_LEADER, "1.1.0") == Answered({"leader": 2})


@pytest.mark.parametrize("release", ["1.1.0", "2.0.0", "2.4.0", "3.2.0", "3.9.2"])
def test_zookeeper_election_answers_have_the_declared_type(release: str) -> None:
    for question in space_questions(RULE.slug)[::41]:
        msgspec.convert(answered(question, release).answer, ANSWER)


def test_zookeeper_election_question_spaces_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, space_questions(RULE.slug))


def test_zookeeper_election_hypothesis_strategy_misses_at_most_three_required_labels() -> None:
    assert len(missing_labels(RULE.slug, generated(RULE.slug, 300))) <= 3


def test_zookeeper_election_question_spaces_have_5000_to_9000_questions() -> None:
    assert 5_000 < len(space_questions(RULE.slug)) < 9_000


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked(assignment=[]), "a partition has a replica"),
        (asked(isr=[9]), "the ISR and the removed replicas are replicas"),
        (asked(removing=[1, 2, 3]), "a reassignment leaves a replica"),
        (asked(shutting_down=[1]), "a broker that shuts down is live"),
        (asked(isr=[]), "an ISR has a replica"),
        (LOST_LEADER, ""),
    ],
)
def test_zookeeper_election_domain_gives_reason_for_impossible_state(question: Any, reason: str) -> None:
    assert RULE.domain(question) == reason


def test_zookeeper_election_explanation_has_rows_of_brokers_leader_and_isr() -> None:
    assert RULE.parts is not None
    assert RULE.explain is not None
    question = asked(shutting_down=[3], removing=[3])
    parts = RULE.parts(question, answered(question).answer)
    choice, leader, isr, *_ = RULE.explain(question, parse_release("3.9.2"), parts)
    assert choice.answer == leader.answer == "2"
    assert dict(choice.state)["broker 3"] == "live, out of sync, shuts down, is removed"
    assert isr.answer == "2"
    assert RULE.parts(question, {"raises": "NullPointerException"}) == ()
