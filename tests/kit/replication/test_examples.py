"""The examples of replication: what each shows, and its timeline."""

from __future__ import annotations

import pytest

from kafka_conformance.replication.examples import EXAMPLES, HistoryExample
from kafka_conformance.replication.history_labels import CLUSTERS, labels
from kafka_conformance.replication.history_table import describe_event, history_table
from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.observation import Produced, Settled
from kafka_reference.cluster.script import SetMinInsyncReplicas, SetUncleanElection

SHOWS = {
    "With acks=1 a record is lost with its leader": {"acknowledged records lost", "diverging records truncated"},
    "With acks=all the record survives its leader": {"leader changes", "kill a leader", "acks=all"},
    "A follower that lags leaves the ISR": {"request waits until a follower leaves"},
    "min.insync.replicas refuses what could be lost": {"produce NOT_ENOUGH_REPLICAS", "appended below the minimum"},
    "A request that timed out is in the log": {"produce REQUEST_TIMED_OUT"},
    "Without unclean elections the partition waits": {"no in-sync replica runs", "produce LEADER_NOT_AVAILABLE"},
    "An unclean election loses committed records": {"leader changes uncleanly", "acknowledged records lost"},
    "An eligible replica leads without the last leader": {"eligible replica leads", "releases differ"},
}


@pytest.mark.parametrize("cluster", CLUSTERS, ids=" ".join)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_example_history_is_predicted_up_to_a_settled_state_and_fits_140_columns(
    example: HistoryExample, cluster: tuple[str, ClusterMode]
) -> None:
    answers = simulate(example.script, *cluster)
    assert isinstance(answers[-1], Settled)
    lines = history_table(example.script, answers)
    assert len(lines) == len(answers) + 1
    assert max(map(len, lines)) <= 140


@pytest.mark.parametrize("title", SHOWS)
def test_example_history_has_the_labels_of_the_title(title: str) -> None:
    (example,) = [one for one in EXAMPLES if one.title == title]
    assert SHOWS[title] <= labels(example.script)


def test_example_history_with_acks_all_loses_no_acknowledged_record() -> None:
    (example,) = [one for one in EXAMPLES if one.title == "With acks=all the record survives its leader"]
    assert "acknowledged records lost" not in labels(example.script)
    assert [one.error for one in simulate(example.script, "4.4.0") if isinstance(one, Produced)] == ["NONE"] * 3


def test_example_timeline_row_shows_leader_isr_and_replica_logs() -> None:
    (example,) = [one for one in EXAMPLES if one.title == "With acks=1 a record is lost with its leader"]
    lines = history_table(example.script, simulate(example.script, "4.4.0"))
    assert lines[9] == (
        "settled                                2, epoch 1  2 3    0/0 1/0 (killed)  0/0 |        0/0 |"
    )


def test_cluster_setting_event_text_names_the_kafka_config() -> None:
    assert describe_event(SetMinInsyncReplicas(2)) == "set min.insync.replicas=2"
    assert describe_event(SetUncleanElection(True)) == "set unclean.leader.election.enable=true"
