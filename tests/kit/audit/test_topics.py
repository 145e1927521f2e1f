from __future__ import annotations

from typing import Any

import pytest
from admins import Admin, FakeSpark, Held

from kafka_conformance.audit.topics import LIMIT_S, Described, Span, Topics, kafka_options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.errors import SparkFault

OPTIONS = {"kafka.bootstrap.servers": "b:1", "failOnDataLoss": "true", "kafka.sasl.mechanism": "PLAIN"}


def opened(admin: Admin, options: dict[str, str] = OPTIONS) -> Topics:
    return Topics(FakeSpark(admin), options)  # type: ignore[arg-type]


def test_admin_client_receives_options_without_the_kafka_prefix_plus_default_timeouts() -> None:
    admin = Admin({})
    opened(admin)
    assert admin.settings == {
        "bootstrap.servers": "b:1", "sasl.mechanism": "PLAIN",
        "default.api.timeout.ms": f"{LIMIT_S}000", "request.timeout.ms": f"{LIMIT_S // 2}000",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "api_ms"), [({}, 1000 * LIMIT_S), ({"kafka.default.api.timeout.ms": "90000"}, 90_000)]
)
def test_admin_calls_wait_longer_than_default_api_timeout_ms(given: dict[str, str], api_ms: int) -> None:
    admin = Admin({"t": Held((0, 0, 0))})
    topics = opened(admin, OPTIONS | given)
    topics.require("t")
    topics.settings("t")
    topics.spans("t", 1)
    assert len(admin.waits) == 4
    assert min(admin.waits) > api_ms


def test_user_kafka_options_override_the_default_timeouts() -> None:
    options = kafka_options("b:1", {"kafka.request.timeout.ms": "5", "kafkaConsumer.pollTimeoutMs": "6"})
    assert options["kafka.request.timeout.ms"] == "5"
    assert options["kafkaConsumer.pollTimeoutMs"] == "6"
    assert options["kafka.default.api.timeout.ms"] == f"{LIMIT_S}000"
    assert options["failOnDataLoss"] == "true"


def test_existing_topic_is_described_with_id_partitions_and_replication() -> None:
    topics = opened(Admin({"t": Held((0, 1, 1), (0, 0, 0), (0, 0, 0)), "old": Held((0, 0, 0), topic_id="NONE")}))
    assert topics.find("t") == topics.require("t") == Described("t", "ID-1", 3, 2)
    assert topics.require("old").id == "", "brokers are too old to have one"


def test_looking_up_a_missing_topic_gives_none_and_requiring_the_topic_raises_an_error() -> None:
    topics = opened(Admin({}))
    assert topics.find("t") is None
    with pytest.raises(BadInput, match=r"^topic t does not exist at b:1: check its name and the broker$"):
        topics.require("t")


def test_invalid_topic_name_is_refused_with_an_error_that_quotes_the_name() -> None:
    with pytest.raises(BadInput, match=r"^'a b' is not a valid topic name: "):
        opened(Admin({})).find("a b")


def test_topic_without_leader_is_refused_unless_a_wait_is_requested() -> None:
    admin = Admin({"t": Held((0, 0, 0))})
    admin.topics["t"].leaderless = 1
    with pytest.raises(BadInput, match=r"^a partition of t has no leader: wait until its broker is back$"):
        opened(admin).require("t")
    admin.topics["t"].leaderless = 2
    assert opened(admin).require("t", 30).partitions == 1
    assert len(admin.waits) == 1 + 3


def test_topic_authorization_error_names_the_broker_and_the_failed_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any) -> Any:
        raise RuntimeError("TopicAuthorizationException: not allowed")

    for name in ("describeTopics", "describeConfigs", "listOffsets"):
        monkeypatch.setattr(Admin, name, denied)
    topics = opened(Admin({}))
    for asked, what in ((topics.find, "describing topic t"), (topics.settings, "reading the settings of t")):
        with pytest.raises(SparkFault, match=f"^the broker at b:1, {what}: TopicAuthorization.*: not allowed$"):
            asked("t")
    with pytest.raises(SparkFault, match=r"^the broker at b:1, reading the offsets of t: TopicAuthorization"):
        topics.spans("t", 1)


def test_topic_spans_end_at_latest_offsets_or_at_last_stable_offsets_if_committed() -> None:
    topics = opened(Admin({"t": Held((3, 7, 9), (0, 0, 2))}))
    assert topics.spans("t", 2) == {0: Span(3, 9), 1: Span(0, 2)}
    assert topics.spans("t", 2, committed=True) == {0: Span(3, 7), 1: Span(0, 0)}


def test_topic_settings_are_only_those_overridden_on_the_topic() -> None:
    assert opened(Admin({"t": Held((0, 0, 0), settings={"retention.ms": "7"})})).settings("t") == {"retention.ms": "7"}


def test_admin_client_is_closed_with_a_nonzero_timeout_below_five_seconds() -> None:
    admin = Admin({})
    with opened(admin):
        assert admin.closed == []
    (limit_s,) = admin.closed
    assert 0 < limit_s < 5, "0 is without end to Kafka"


def test_lost_jvm_on_close_does_not_hide_the_original_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any) -> None:
        raise ConnectionError("the JVM has gone")

    monkeypatch.setattr(Admin, "close", lost)
    with pytest.raises(BadInput, match="topic t does not exist"), opened(Admin({})) as topics:
        topics.require("t")
    with opened(Admin({})):
        pass
