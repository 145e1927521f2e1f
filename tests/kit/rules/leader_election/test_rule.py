from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, Failed, Unsupported
from kafka_conformance.rules.leader_election.answer import ANSWER
from kafka_conformance.rules.leader_election.rule import RULE
from kafka_conformance.rules.leader_election.spaces import LOST_LEADER
from kafka_reference.releases import parse_release

PARTITION = {"replicas": [1, 2, 3], "isr": [1, 2, 3], "leader": 1}


def asked(partition: dict[str, Any] | None = None, **fields: Any) -> Any:
    return msgspec.convert(
        {"partition": {**PARTITION, **(partition or {})}, "acceptable": [2, 3], **fields}, RULE.question
    )


def answered(question: Any, release: str = "4.4.0") -> Any:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(release), [question])
    return outcome


def test_leader_election_after_loss_of_the_leader_elects_replica_2_and_raises_both_epochs() -> None:
    outcome = answered(LOST_LEADER)
    assert isinstance(outcome, Answered)
    assert outcome.answer["change"] == {"leader": 2, "isr": [2, 3]}
    assert outcome.answer["version"] == 2
    after = outcome.answer["after"]
    assert (after["leader"], after["leader_epoch"], after["partition_epoch"]) == (2, 5, 7)


@pytest.mark.parametrize("release", ["3.0.0", "3.2.0", "3.7.0", "4.4.0"])
def test_leader_election_answers_have_their_declared_type(release: str) -> None:
    for question in space_questions(RULE.slug)[::97]:
        outcome = answered(question, release)
        if "raises" not in outcome.answer:
            msgspec.convert(outcome.answer, ANSWER)


@pytest.mark.parametrize(
    "question", [asked({"replicas": [1, 1]}), asked({"directories": [7]}), asked({"directories": [7, 8, 9, 10]})]
)
def test_leader_election_with_duplicate_replica_or_wrong_directories_has_no_answer(question: Any) -> None:
    assert isinstance(answered(question), Failed | Unsupported)


def test_partition_change_without_default_directory_throws_since_3_7() -> None:
    assert answered(asked(default_directory=None)).answer["raises"] == "IllegalStateException"
    assert "raises" not in answered(asked(default_directory=None), "3.6.2").answer


def test_leader_election_question_spaces_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, space_questions(RULE.slug))


def test_leader_election_hypothesis_strategy_misses_at_most_six_required_labels() -> None:
    assert len(missing_labels(RULE.slug, generated(RULE.slug, 300))) <= 6


def test_leader_election_question_spaces_have_20000_to_30000_questions() -> None:
    assert 20_000 < len(space_questions(RULE.slug)) < 30_000


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked({"leader": 4}), "the leader is in the ISR"),
        (asked({"isr": [1, 1]}), "no list of a partition names a broker twice"),
        (asked({"elr": [2]}), "an eligible leader replica is not in the ISR"),
        (asked({"adding": [9]}), "the ISR, the eligible leader replicas and those of a reassignment are replicas"),
        (asked({"removing": [1], "adding": [1]}), "a replica is removed or added, not both"),
        (asked({"removing": [1, 2, 3]}), "a reassignment leaves a replica"),
        (asked(isr=[2, 2]), "no change names a broker twice"),
        (asked(isr=[9]), "the wanted ISR and the replicas of a reassignment are replicas"),
        (asked(removing=[1, 2, 3]), "a reassignment leaves a replica"),
        (asked(default_directory=None), "a controller has a default directory for each broker"),
        (asked(last_leader_enabled=False), "no setting turns the last known leader off"),
        (asked(isr=[2, 3]), ""),
        (LOST_LEADER, ""),
    ],
)
def test_leader_election_domain_gives_reason_for_impossible_partition_state(question: Any, reason: str) -> None:
    assert RULE.domain(question) == reason


def test_leader_election_explanation_has_a_row_per_field_with_values_before_and_after_change() -> None:
    assert RULE.parts is not None
    assert RULE.explain is not None
    question = asked(isr=[2, 3], directories=[[2, 7]])
    parts = RULE.parts(question, answered(question).answer)
    rows = {row.step: row for row in RULE.explain(question, parse_release("4.4.0"), parts)}
    assert rows["leader"].answer == "2"
    assert rows["leader"].reasons == ("the leader epoch rises",)
    assert dict(rows["in sync"].state) == {"before": "1, 2, 3", "after": "2, 3", "wanted": "2, 3"}
    assert dict(rows["directories"].state)["wanted"] == "7 on 2"
    assert RULE.parts(question, {"raises": "IllegalStateException"}) == ()
    nobody = RULE.parts(question, {"change": {"leader": -1}, "after": {"leader": -1}})
    assert next(iter(RULE.explain(question, parse_release("4.4.0"), nobody))).answer == "–"
    assert [row.answer for row in RULE.explain(question, parse_release("4.4.0"), nobody)][1] == "none"


def test_leader_election_differences_are_grouped_by_election_and_features() -> None:
    assert RULE.path(asked()) == "online"
    assert RULE.path(asked({"adding": [3]}, elr_enabled=True, election="unclean")) == "unclean, reassignment, ELR"
