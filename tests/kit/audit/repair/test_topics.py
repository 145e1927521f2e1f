from __future__ import annotations

import pytest
from admins import Admin, FakeSpark, Held

from kafka_conformance.audit.repair.topics import MEANWHILE, client_settings, hold, make, settle
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.errors import BadInput

OWN = {
    "cleanup.policy": "compact",
    "retention.ms": "7",
    "segment.ms": "1000",
    "message.timestamp.type": "LogAppendTime",
}
BROKER = {"kafka.bootstrap.servers": "b:1"}


def opened(admin: Admin) -> Topics:
    return Topics(FakeSpark(admin), BROKER)  # type: ignore[arg-type]


def test_repair_clients_receive_only_kafka_prefixed_options_without_prefix() -> None:
    given = BROKER | {"kafka.linger.ms": "0", "failOnDataLoss": "true"}
    assert client_settings(given) == {"bootstrap.servers": "b:1", "linger.ms": "0"}


@pytest.mark.parametrize("name", ["acks", "transactional.id", "isolation.level", "partitioner.class"])
def test_repair_refuses_client_options_that_could_lose_or_duplicate_records(name: str) -> None:
    with pytest.raises(BadInput, match=f"^kafka.{name} cannot be set for a repair: "):
        client_settings(BROKER | {f"kafka.{name}": "1"})


def test_repair_without_bootstrap_servers_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^kafka\.bootstrap\.servers is missing"):
        client_settings({"kafka.linger.ms": "0"})


def test_new_repair_topic_disables_deletion_while_written() -> None:
    admin = Admin({})
    make(opened(admin), "new", 5, 3, OWN)
    assert admin.asked == [("new", 5, 3, {"segment.ms": "1000", **MEANWHILE})]


def test_finished_repair_topic_has_exactly_the_source_settings() -> None:
    admin = Admin({})
    settle(opened(admin), "new", OWN)
    (changes,) = admin.asked
    assert sorted(changes["new"]) == [
        ("delete", "max.message.bytes", ""), ("delete", "retention.bytes", ""),
        ("set", "cleanup.policy", "compact"), ("set", "message.timestamp.type", "LogAppendTime"),
        ("set", "retention.ms", "7"),
    ]  # fmt: skip


def test_finished_repair_topic_disables_deletion_again_before_the_next_pass() -> None:
    admin = Admin({"new": Held((0, 1, 1), settings=OWN)})
    assert hold(opened(admin), "new")
    (changes,) = admin.asked
    assert sorted(changes["new"]) == sorted(("set", name, value) for name, value in MEANWHILE.items())


def test_repair_topic_with_deletion_disabled_is_not_altered_again() -> None:
    admin = Admin({"new": Held((0, 1, 1), settings={**MEANWHILE, "segment.ms": "1000"})})
    assert not hold(opened(admin), "new")
    assert admin.asked == []
