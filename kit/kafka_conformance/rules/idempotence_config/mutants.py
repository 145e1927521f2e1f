"""Mistakes in what a producer ends up with: checks in another order, one release's rule for another's, texts misread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import msgspec

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partitioner_mutants import as_if
from kafka_conformance.rules.idempotence_config.rule import RULE, set_in
from kafka_reference.idempotence import config, config_def
from kafka_reference.idempotence.config import ACKS, IN_FLIGHT, RETRIES, TRANSACTION_TIMEOUT
from kafka_reference.releases import NEWEST, Release, Spans, parse_release, since

__all__ = ["MUTANTS"]

_NEVER = Spans(())
_DEFINED = config_def._defined  # noqa: SLF001


def _but(of: Any, **mistakes: Any) -> Ask:
    """The rule, with other attributes in a module of the reference."""

    def ask(question: Any, at: Release) -> Answer:
        with patch.multiple(of, **mistakes):
            return RULE.ask(question, at)

    return ask


def _after(change: Callable[[Any, Answer], Answer]) -> Ask:
    """The rule, its answer changed."""
    return lambda question, at: change(set_in(question.config), RULE.ask(question, at))


def _order(*names: str) -> Ask:
    return _but(config, CHECKS=((since("0.11.0.0"), names),))


def _conflict(name: str, conflict: Callable[[Any], str | None]) -> Ask:
    return _but(config, _CONFLICTS={**config._CONFLICTS, name: conflict})  # noqa: SLF001


def _by_name_only(given: Any) -> str | None:
    return config.NOT_ALL_ACKS if given.is_set(ACKS) and given.values[ACKS] != "all" else None


def _below_five(given: Any) -> str | None:
    in_flight = given.integer(IN_FLIGHT)
    return config.MORE_THAN_FIVE_NOW.format(in_flight) if in_flight >= 5 and given.is_set(IN_FLIGHT) else None


def _default_counts(given: Any) -> str | None:
    return config.NO_RETRIES if given.integer(RETRIES) == 0 else None


def _without_nulls(question: Any, at: Release) -> Answer:
    gone = {
        field: msgspec.UNSET
        for field in question.config.__struct_fields__
        if getattr(question.config, field) is None
    }  # fmt: skip
    return RULE.ask(replaced(question, config=replaced(question.config, **gone)), at)


def _in_order_of_definition(at: Release) -> Any:
    names = [one.name for one in config_def._DEFINITIONS]  # noqa: SLF001
    return tuple(sorted(_DEFINED(at), key=lambda pair: names.index(pair[0].name)))


def _acks_1(named: Any, answer: Answer) -> Answer:
    return answer if answer["idempotent"] or ACKS in named else {**answer, "acks": 1}


def _retries_kept(named: Any, answer: Answer) -> Answer:
    return answer if RETRIES in named else {**answer, "retries": 0}


def _kept_in_order(_: Any, answer: Answer) -> Answer:
    return {**answer, "guarantee_order": answer["guarantee_order"] or answer["idempotent"]}


def _never_transactional(_: Any, answer: Answer) -> Answer:
    return {**answer, "transactional": False}


_MISTAKES: tuple[tuple[str, str, Ask, Release], ...] = (
    ("acks-before-retries", "of two mistakes, acks are told first", _order(ACKS, RETRIES, IN_FLIGHT), NEWEST),
    ("in-flight-first", "in-flight is looked at first, as to 2.4",
     _order(IN_FLIGHT, RETRIES, ACKS, TRANSACTION_TIMEOUT), parse_release("2.8.2")),
    ("in-flight-last", "in-flight is looked at last, as from 2.5",
     _order(TRANSACTION_TIMEOUT, RETRIES, ACKS, IN_FLIGHT), parse_release("2.4.1")),
    ("on-in-3.0.0", "the default is on as it is said to be (KAFKA-13598)", as_if(RULE.slug, "3.0.2"), parse_release("3.0.0")),
    ("off-in-3.0.2", "KAFKA-13598 was never mended", as_if(RULE.slug, "3.0.0"), parse_release("3.0.2")),
    ("off-in-newest", "idempotence is on request only", _but(config, ON_REQUEST=since("0.11.0.0")), NEWEST),
    ("minus-1-is-not-all", "acks=-1 is not all", _conflict(ACKS, _by_name_only), NEWEST),
    ("retries-0-is-fine", "no retries are no conflict", _conflict(RETRIES, lambda _: None), NEWEST),
    ("five-is-too-many", "five in flight are refused", _conflict(IN_FLIGHT, _below_five), NEWEST),
    ("default-retries-count", "a default of 0 retries is a conflict", _conflict(RETRIES, _default_counts), parse_release("2.0.1")),
    ("disabled-in-4.0", "too many in flight disable, as to 3.9", as_if(RULE.slug, "3.9.2"), parse_release("4.0.2")),
    ("error-in-3.9", "too many in flight are an error, as from 4.0", as_if(RULE.slug, "4.0.2"), parse_release("3.9.2")),
    ("five-in-0.11", "five in flight keep their order, as from 1.0", as_if(RULE.slug, "1.1.1"), parse_release("0.11.0.3")),
    ("two-phases-unchecked", "two-phase commit may have a time limit", _but(config, TWO_PHASE=_NEVER), NEWEST),
    ("timeout-last", "a time limit of null is met after all checks, as from 3.0.1",
     _order(IN_FLIGHT, RETRIES, ACKS), parse_release("2.4.1")),
    ("timeout-after-all", "a time limit of null is met after all checks, as from 3.0.1",
     _order(RETRIES, ACKS, IN_FLIGHT), parse_release("2.8.2")),
    ("timeout-first", "a time limit of null is met before any check, as to 2.4",
     _order(TRANSACTION_TIMEOUT, RETRIES, ACKS, IN_FLIGHT), parse_release("2.8.2")),
    ("acks-1-by-default", "acks are 1 by default, as to 2.8", _after(_acks_1), parse_release("3.0.2")),
    ("retries-0-by-default", "retries are 0 by default, as to 2.0", _after(_retries_kept), parse_release("2.1.1")),
    ("idempotence-is-order", "idempotent producers wait for each batch", _after(_kept_in_order), NEWEST),
    ("never-transactional", "transactional.id only makes idempotent", _after(_never_transactional), NEWEST),
    ("null-is-absent", "a setting that is null was left alone", _without_nulls, NEWEST),
    ("blanks-count", "a text is taken as it is written", _but(config_def, _NOT_COUNTED=""), NEWEST),
    ("every-blank-goes", "blanks beyond ASCII are cut, NUL is not", _but(config_def, _NOT_COUNTED=None), NEWEST),
    ("latin-digits-only", "digits are 0 to 9", _but(config_def, _digit=lambda sign: sign), NEWEST),
    (
        "mistakes-in-order", "of two bad texts the one defined first is told",
        _but(config_def, _defined=_in_order_of_definition), parse_release("0.10.0.1"),
    ),
)  # fmt: skip

MUTANTS = tuple(Mutant(slug, RULE.slug, story, ask, at) for slug, story, ask, at in _MISTAKES)
