"""The rule ``idempotence-config``: its questions, and that its spaces are complete."""

from __future__ import annotations

from collections import Counter
from itertools import chain, product
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.idempotence_config.question import NAMES, to_config
from kafka_conformance.rules.idempotence_config.rule import RULE
from kafka_conformance.rules.idempotence_config.spaces import FIVE, five
from kafka_reference.releases import parse_release

SPACES = {space.name: list(space.questions()) for space in RULE.spaces}
COMBINATIONS = SPACES["every combination of five settings"]


def asked(question: str) -> Any:
    return msgspec.json.decode(question, type=RULE.question)


def answered(question: str, version: str) -> dict[str, Any]:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [asked(question)])
    assert isinstance(outcome, Answered)
    return outcome.answer


def test_config_with_idempotence_true_has_documented_effective_settings_in_4_4_0() -> None:
    assert answered('{"config":{"enable.idempotence":"true"}}', "4.4.0") == {
        "idempotent": True,
        "transactional": False,
        "acks": -1,
        "retries": 2147483647,
        "max_in_flight": 5,
        "guarantee_order": False,
    }


def test_config_exception_is_answered_with_message_and_null_pointer_exception_without() -> None:
    assert answered('{"config":{"enable.idempotence":"true","acks":"1"}}', "4.4.0") == {
        "raises": "ConfigException",
        "message": "Must set acks to all in order to use the idempotent producer."
        " Otherwise we cannot guarantee idempotence.",
    }
    assert answered('{"config":{"enable.idempotence":null}}', "4.4.0") == {"raises": "NullPointerException"}


def test_absent_setting_stays_absent_and_null_setting_stays_null() -> None:
    assert to_config(asked('{"config":{}}').config) == {}
    assert to_config(asked('{"config":{"transactional.id":null}}').config) == {"transactional.id": None}
    written = '{"config":{"acks":null,"max.in.flight.requests.per.connection":"5"}}'
    assert msgspec.json.encode(asked(written)).decode() == written


@pytest.mark.parametrize("question", ['{"config":{"linger.ms":"5"}}', '{"config":{"retries":5}}', "{}"])
def test_config_question_without_config_or_with_unknown_or_number_setting_raises_validation_error(
    question: str,
) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(question)


def test_config_question_space_has_every_combination_of_five_settings_once() -> None:
    """Set and not set, what can be read and what cannot: each with each, once."""
    seen = Counter(
        tuple(to_config(question.config).get(name, "not set") for name in _five()) for question in COMBINATIONS
    )
    values = [sorted({str(combination[at]) for combination in seen}) for at in range(5)]
    assert set(seen.values()) == {1}
    assert sorted(tuple(map(str, combination)) for combination in seen) == sorted(product(*values))
    assert [set(each) for each in values] == [
        {"not set", "true", "false", "maybe"},
        {"not set", "all", "-1", "0", "1", "2"},
        {"not set", "0", "1", "2147483647", "-1"},
        {"not set", "1", "5", "6", "2147483647", "0"},
        {"not set", "id", ""},
    ]


def test_documented_table_of_five_producer_settings_has_600_combinations_with_valid_values() -> None:
    questions = set(five())
    assert len(questions) == 600
    assert questions < set(COMBINATIONS)
    for version in ("0.10.0.1", "0.11.0.3", "2.8.2", "4.4.0"):
        for question in questions:
            outcome = outcome_of(RULE.ask, question, parse_release(version))
            assert isinstance(outcome, Answered)
            assert "Invalid value" not in outcome.answer.get("message", "")


def _five() -> list[str]:
    return [NAMES[field] for field in FIVE]


def test_config_question_space_has_pairs_of_values_for_any_two_settings() -> None:
    pairs = [to_config(question.config) for question in SPACES["every pair of texts"]]
    assert {len(config) for config in pairs} == {1, 2}
    assert {frozenset(config) for config in pairs if len(config) == 2} == {
        frozenset(both) for both in product(NAMES.values(), NAMES.values()) if both[0] != both[1]
    }
    assert {"acks": "ALL", "retries": "-1"} in pairs


def test_config_spaces_cover_all_required_labels_and_strategy_covers_texts_null_and_transactional_id() -> None:
    assert missing_labels(RULE.slug, chain(*SPACES.values())) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 100), {"texts", "null", "transactional.id"}) == set()


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("{}", "idempotence unset"),
        ('{"enable.idempotence":"TRUE "}', "idempotence true"),
        ('{"acks":"1","retries":"0"}', "idempotence unset, retries and acks"),
        ('{"acks":"2"}', "texts"),
        ('{"transactional.id":null}', "texts"),
        (
            '{"transaction.two.phase.commit.enable":"true","transaction.timeout.ms":"60000"}',
            "two-phase commit with a timeout",
        ),
    ],
)
def test_config_differences_are_grouped_by_idempotence_set_settings_odd_texts_or_two_phase_commit(
    question: str, path: str
) -> None:
    assert RULE.path(asked(f'{{"config":{question}}}')) == path


@pytest.mark.parametrize("version", ["0.10.0.1", "0.11.0.3", "2.4.1", "3.0.0", "4.4.0"])
def test_generated_config_questions_are_answered_in_five_releases(version: str) -> None:
    for question in generated(RULE.slug, 100):
        assert isinstance(outcome_of(RULE.ask, question, parse_release(version)), Answered)
