"""Every known mistake about replication changes the prediction of a generated history, and is undone after its block."""

from __future__ import annotations

import pytest

from kafka_conformance.replication.histories import generate_histories
from kafka_conformance.replication.history_labels import DISTINCT_CLUSTERS
from kafka_conformance.replication.mutants import MISTAKES, ReplicationMistake, mistaken
from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.observation import Answer
from kafka_reference.cluster.script import ClusterScript
from kafka_reference.cluster.undetermined import UndeterminedHistory

Prediction = tuple[Answer, ...] | None


def predict(script: ClusterScript, cluster: tuple[str, ClusterMode]) -> Prediction:
    try:
        return simulate(script, *cluster)
    except UndeterminedHistory:
        return None


@pytest.fixture(scope="module")
def right() -> dict[tuple[ClusterScript, tuple[str, ClusterMode]], Prediction]:
    scripts = [script for group in generate_histories(0) for script in group.scripts]
    return {(script, cluster): predict(script, cluster) for cluster in DISTINCT_CLUSTERS for script in scripts}


def test_at_least_12_distinct_replication_mutants_exist() -> None:
    assert len({one.slug for one in MISTAKES}) == len(MISTAKES) >= 12


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.slug)
def test_replication_mutant_changes_a_prediction_and_is_undone(
    mistake: ReplicationMistake, right: dict[tuple[ClusterScript, tuple[str, ClusterMode]], Prediction]
) -> None:
    with mistaken(mistake):
        assert any(predict(script, cluster) != answers for (script, cluster), answers in right.items())
    (script, cluster), answers = next(iter(right.items()))
    assert predict(script, cluster) == answers, "undone"
