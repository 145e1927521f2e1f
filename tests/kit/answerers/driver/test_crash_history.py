"""Questions that are like those that ended a driver are riskier than others."""

from __future__ import annotations

from kafka_conformance.answerers.driver.crash_history import CrashHistory
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion


def test_crash_risk_is_zero_before_the_first_crash() -> None:
    history = CrashHistory()
    history.add_answered([Murmur2Question("00")])
    assert not history
    assert history.risk(Murmur2Question("00")) == 0


def test_crash_risk_is_highest_for_a_field_value_seen_in_crashed_but_not_in_answered_questions() -> None:
    history = CrashHistory()
    history.add_crashed(PartitionForKeyQuestion("", 3))
    history.add_answered(PartitionForKeyQuestion(key, 3) for key in ("00", "11", "22"))
    assert history
    same_key, same_count, neither = (PartitionForKeyQuestion(*each) for each in (("", 7), ("33", 3), ("33", 7)))
    assert history.risk(same_key) > history.risk(same_count) > history.risk(neither) == 0


def test_crashed_question_with_nested_fields_has_a_higher_crash_risk_than_some_other_questions() -> None:
    rule = RULES["producer-partition"]
    found = [question for space in rule.spaces for question in list(space.questions())[:40]]
    history = CrashHistory()
    history.add_crashed(found[0])
    assert history.risk(found[0]) > 0
    assert any(history.risk(question) < history.risk(found[0]) for question in found)
