"""Settings of topics from the log of a broker with ZooKeeper."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.replication.live.zookeeper_log import last_settings

LINE = (
    "12:00:00.000 [/config/changes-event-process-thread] INFO kafka.server.ZkConfigManager - "
    "Processing override for entityPath: topics/{topic} with config: HashMap({settings})\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    file.write_text(
        LINE.format(topic="history-1", settings="min.insync.replicas -> 2, unclean.leader.election.enable -> true")
        + LINE.format(topic="history-1", settings="min.insync.replicas -> 1, max.message.bytes -> 1048589")
        + LINE.format(topic="history-10", settings="min.insync.replicas -> 3")
        + "another line\n"
    )
    return file


def test_last_topic_config_change_in_broker_log_is_returned(log: Path) -> None:
    assert last_settings(log, "history-1") == {"min.insync.replicas": "1", "max.message.bytes": "1048589"}
    assert last_settings(log, "history-10") == {"min.insync.replicas": "3"}


def test_topic_without_config_change_in_broker_log_has_no_settings(log: Path) -> None:
    assert last_settings(log, "history-2") == {}
