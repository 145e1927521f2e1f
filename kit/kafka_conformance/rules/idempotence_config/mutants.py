"""Known mistakes in the effective producer settings: checks in another order, another release's rule, misread texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import msgspec

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.idempotence_config.question import Config, to_config
from kafka_conformance.rules.idempotence_config.rule import RULE
from kafka_reference import config_def
from kafka_reference.behaviour import overridden
from kafka_reference.idempotence import config
from kafka_reference.idempotence.config_behaviour import (
    ACKS,
    IN_FLIGHT,
    RETRIES,
    TRANSACTION_TIMEOUT,
    ProducerConfigBehaviour,
)
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


def _overriding(**values: Any) -> Ask:
    """Answer with the release's behaviour, but for these fields."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(ProducerConfigBehaviour, **values):
            return RULE.ask(question, release)

    return ask


def _patched(module: Any, **attributes: Any) -> Ask:
    """Answer with other attributes in a module of the reference."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.multiple(module, **attributes):
            return RULE.ask(question, release)

    return ask


def _changed(change: Callable[[Config, Answer], Answer]) -> Ask:
    """Answer like the rule, then change the answer."""
    return lambda question, release: change(to_config(question.config), RULE.ask(question, release))


def _order(*names: str) -> Ask:
    return _overriding(check_order=names)


def _conflict(name: str, conflict: Callable[[Any], str | None]) -> Ask:
    return _patched(config, _CONFLICTS={**config._CONFLICTS, name: conflict})  # noqa: SLF001


def _only_all_is_all(settings: Any) -> str | None:
    return config.NOT_ALL_ACKS if settings.is_set(ACKS) and settings.values[ACKS] != "all" else None


def _below_five(settings: Any) -> str | None:
    in_flight = settings.integer(IN_FLIGHT)
    too_many = in_flight >= 5 and settings.is_set(IN_FLIGHT)
    return config.MORE_THAN_FIVE_WITH_VALUE.format(in_flight) if too_many else None


def _default_counts(settings: Any) -> str | None:
    return config.NO_RETRIES if settings.integer(RETRIES) == 0 else None


def _without_nulls(question: Any, release: Release) -> Answer:
    asked = question.config
    nulls = {field: msgspec.UNSET for field in asked.__struct_fields__ if getattr(asked, field) is None}
    return RULE.ask(replaced(question, config=replaced(asked, **nulls)), release)


def _acks_1(settings: Config, answer: Answer) -> Answer:
    return answer if answer["idempotent"] or ACKS in settings else {**answer, "acks": 1}


def _retries_0(settings: Config, answer: Answer) -> Answer:
    return answer if RETRIES in settings else {**answer, "retries": 0}


def _guarantees_order(_: Config, answer: Answer) -> Answer:
    return {**answer, "guarantee_order": answer["guarantee_order"] or answer["idempotent"]}


def _never_transactional(_: Config, answer: Answer) -> Answer:
    return {**answer, "transactional": False}


_KAFKA = "https://github.com/apache/kafka/pull/"
_ON_BY_DEFAULT = f"{_KAFKA}11691"


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


MUTANTS = (
    _mutant("acks-before-retries", "of two conflicts, acks are reported first", _order(ACKS, RETRIES, IN_FLIGHT)),
    _mutant(
        "in-flight-first", "requests in flight are checked first, as up to 2.4.x",
        _order(IN_FLIGHT, RETRIES, ACKS, TRANSACTION_TIMEOUT), release="2.8.2",
    ),
    _mutant(
        "in-flight-last", "requests in flight are checked last, as since 2.5.0",
        _order(TRANSACTION_TIMEOUT, RETRIES, ACKS, IN_FLIGHT), release="2.4.1",
    ),
    _mutant(
        "off-in-newest", "idempotence is on request only", _overriding(idempotence_on_request=True), _ON_BY_DEFAULT
    ),
    _mutant("minus-1-is-not-all", "acks=-1 is not all", _conflict(ACKS, _only_all_is_all)),
    _mutant("retries-0-is-fine", "retries=0 is no conflict", _conflict(RETRIES, lambda _: None)),
    _mutant("five-is-too-many", "five requests in flight are a conflict", _conflict(IN_FLIGHT, _below_five)),
    _mutant(
        "default-retries-count", "a default of 0 retries is a conflict", _conflict(RETRIES, _default_counts), release="2.0.1"
    ),
    _mutant(
        "two-phases-unchecked", "two-phase commit may have a timeout", _overriding(two_phase_commit_excludes_timeout=False)
    ),
    _mutant(
        "timeout-last", "a null timeout is read after all checks, as since 3.0.1", _order(IN_FLIGHT, RETRIES, ACKS),
        release="2.4.1",
    ),
    _mutant(
        "timeout-after-all", "a null timeout is read after all checks, as since 3.0.1", _order(RETRIES, ACKS, IN_FLIGHT),
        release="2.8.2",
    ),
    _mutant(
        "timeout-first", "a null timeout is read before all checks, as up to 2.4.x",
        _order(TRANSACTION_TIMEOUT, RETRIES, ACKS, IN_FLIGHT), release="2.8.2",
    ),
    _mutant(
        "acks-1-by-default", "acks are 1 by default, as up to 2.8.x", _changed(_acks_1), f"{_KAFKA}9497",
        "https://github.com/spring-cloud/spring-cloud-stream/pull/3171", release="3.0.2",
    ),
    _mutant(
        "retries-0-by-default", "retries are 0 by default, as up to 2.0.x", _changed(_retries_0), f"{_KAFKA}5270",
        release="2.1.1",
    ),
    _mutant("idempotence-is-order", "an idempotent producer waits for each batch", _changed(_guarantees_order)),
    _mutant("never-transactional", "transactional.id only makes a producer idempotent", _changed(_never_transactional)),
    _mutant("null-is-absent", "a setting that is null is unset", _without_nulls),
    _mutant("blanks-count", "texts are not trimmed", _patched(config_def, _TRIMMED="")),
    _mutant("every-blank-goes", "texts lose all Unicode whitespace, but not NUL", _patched(config_def, _TRIMMED=None)),
    _mutant("latin-digits-only", "digits are 0 to 9", _patched(config_def, _digit=lambda sign: sign)),
    _mutant(
        "mistakes-in-order", "of two invalid texts the one defined first is reported",
        _overriding(parses_in_hash_order=False), release="0.10.0.1",
    ),
)  # fmt: skip
