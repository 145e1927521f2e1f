"""Generated histories: every kind, the same for a seed, the same faults within a group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_conformance.replication.fault_sequences import SEQUENCES
from kafka_conformance.replication.histories import HistoryGroup, generate_histories
from kafka_conformance.replication.history_labels import CLUSTERS, REQUIRED_LABELS, labels
from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.script import ClusterScript, Continue, Kill, Pause, Produce, Settle, Start

_FAULTS = (Pause, Continue, Kill, Start, Settle)


@pytest.fixture(scope="module")
def groups() -> tuple[HistoryGroup, ...]:
    return generate_histories(0)


def missing_labels(groups: tuple[HistoryGroup, ...]) -> frozenset[str]:
    """The required kinds that no script has."""
    return REQUIRED_LABELS - {label for group in groups for script in group.scripts for label in labels(script)}


def test_generated_histories_cover_required_labels(groups: tuple[HistoryGroup, ...]) -> None:
    assert missing_labels(groups) == frozenset()


def test_generated_histories_are_at_least_64_and_distinct(groups: tuple[HistoryGroup, ...]) -> None:
    scripts = [script for group in groups for script in group.scripts]
    assert len(groups) == len(SEQUENCES) == 12
    assert len(set(scripts)) == len(scripts) >= 64


def test_histories_of_a_group_have_equal_faults(groups: tuple[HistoryGroup, ...]) -> None:
    for group, sequence in zip(groups, SEQUENCES, strict=True):
        faults = {tuple(event for event in script.events if isinstance(event, _FAULTS)) for script in group.scripts}
        assert faults == {sequence.faults}


def test_every_generated_history_is_predicted_on_all_clusters_and_equally_in_4_3_and_4_4(
    groups: tuple[HistoryGroup, ...],
) -> None:
    for group in groups:
        for script in group.scripts:
            for cluster in CLUSTERS:
                assert len(simulate(script, *cluster)) == len(script.events)
            assert simulate(script, "4.3.1") == simulate(script, "4.4.0"), "not distinguished"


def test_required_label_without_history_is_reported_missing(groups: tuple[HistoryGroup, ...]) -> None:
    without = tuple(
        replace(
            group,
            scripts=tuple(script for script in group.scripts if "acknowledged records lost" not in labels(script)),
        )
        for group in groups
    )
    assert "acknowledged records lost" in missing_labels(without)


def test_cluster_script_labels_name_faults_leaders_and_waits() -> None:
    found = labels(ClusterScript((Pause(3), Produce(-1, wait=False), Settle(), Kill(1), Settle(), Start(1), Settle())))
    assert {"pause a follower", "kill a leader", "start a leader", "request waits until a follower leaves"} <= found
    assert "no in-sync replica runs" not in found
