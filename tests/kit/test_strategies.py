"""The exported strategies make what the gate asks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from kafka_conformance import strategies
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_reference import partition_for_key


@given(strategies.keys(), strategies.partition_counts())
@settings(max_examples=50)
def test_key_and_partition_count_strategies_give_valid_partition_arguments(key: bytes, partitions: int) -> None:
    assert 0 <= partition_for_key(key, partitions) < partitions


def test_cluster_strategy_draws_clusters_with_partitions_and_without() -> None:
    seen = set()

    @given(strategies.clusters())
    @settings(max_examples=50)
    def see(cluster: object) -> None:
        assert isinstance(cluster, AskedCluster)
        seen.add(bool(cluster.partitions))

    see()
    assert seen == {True, False}


@pytest.mark.parametrize("slug", ["murmur2", "sequence-increment", "default-partitioner"])
def test_question_strategies_give_questions_of_the_rule_with_answers(slug: str) -> None:
    seen = []

    @given(strategies.questions(slug), strategies.answered(slug))
    @settings(max_examples=20)
    def ask(question: object, pair: tuple[object, dict[str, object]]) -> None:
        assert isinstance(question, RULES[slug].question)
        assert isinstance(pair[0], RULES[slug].question)
        assert isinstance(pair[1], dict)
        seen.append(pair[1])

    ask()
    assert all(seen)
    assert seen


def test_strategies_with_unknown_rule_or_release_without_the_rule_raise_bad_input() -> None:
    with pytest.raises(BadInput, match="unknown rule 'murmur3'"):
        strategies.questions("murmur3")
    with pytest.raises(BadInput, match="is not a rule of release"):
        strategies.answered("builtin-partitioner", "2.8.2")
