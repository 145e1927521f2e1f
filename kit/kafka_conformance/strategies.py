"""The questions of each rule, as Hypothesis strategies, for tests of one's own.

``questions("builtin-partitioner")`` makes the same kinds of question as ``gate`` and ``verify``; ``answered`` adds what
Kafka answers, by the reference. ``keys``, ``clusters`` and ``partition_counts`` are what many questions are made of.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answer, Answered, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.runner import newest_with
from kafka_conformance.oracle.session import chosen_releases, named_release, unproven_releases
from kafka_conformance.rules import named
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.clusters import clusters as _clusters
from kafka_conformance.rules.common.keys import keys as _keys
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["answered", "clusters", "keys", "partition_counts", "questions"]


def keys() -> st.SearchStrategy[bytes]:
    """Keys as producers have them, and as murmur2 is got wrong: all lengths modulo 4, bytes of 0x80 and more, empty ones."""
    return _keys()


def partition_counts() -> st.SearchStrategy[int]:
    """Counts of partitions, most of them small: 1 to 1024."""
    return st.one_of(st.integers(1, 16), st.integers(1, 1024))


def clusters() -> st.SearchStrategy[AskedCluster]:
    """Clusters of one topic: partitions without a leader, ids out of order, racks."""
    return _clusters()


def questions(rule: str, *, out_of_domain: bool = False) -> st.SearchStrategy[Question]:
    """Questions of the rule of this slug; with ``out_of_domain`` also some that no user can bring about. Raises BadInput."""
    return _strategy(_rule(rule), out_of_domain=out_of_domain)


def _strategy(rule: Rule, *, out_of_domain: bool) -> st.SearchStrategy[Question]:
    made = rule.strategy()
    if out_of_domain:
        return made
    return made.map(lambda one: rule.nearest(one) if rule.domain(one) else one).filter(lambda one: not rule.domain(one))


def answered(
    rule: str, kafka: str = "newest", *, out_of_domain: bool = False
) -> st.SearchStrategy[tuple[Question, Answer]]:
    """Questions with Kafka's answers in an exact release, or the newest that has the rule; as :func:`questions`."""
    meant = _rule(rule)
    at = _newest(meant) if kafka == "newest" else named_release(kafka)
    unproven_releases([(rule, at)], allow=None)
    if at not in meant.releases:
        raise BadInput(f"{rule} is not a rule of release {at}: ask about {meant.releases}")

    def with_answer(question: Any) -> tuple[Question, Answer] | None:
        outcome = outcome_of(meant.ask, question, at)
        return (question, outcome.answer) if isinstance(outcome, Answered) else None

    return _strategy(meant, out_of_domain=out_of_domain).map(with_answer).filter(lambda pair: pair is not None)  # type: ignore[return-value]


def _rule(slug: str) -> Rule:
    (meant,) = named([slug or "without a name"])
    return meant


def _newest(rule: Rule) -> Release:
    return newest_with(rule, chosen_releases("all", load()))
