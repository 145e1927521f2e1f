"""A repair without the ACLs it needs ends before Spark starts; anything else is for the repair to find out."""

from __future__ import annotations

from types import SimpleNamespace as Of
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from kafka_conformance.brokers.target_check import check_repairable
from kafka_conformance.core.errors import BadInput

SETTINGS = {"bootstrap.servers": "b:1"}


class Admin:
    """An AdminClient whose requests end with these errors."""

    settings_error: int | None = None
    create_error: int | None = None

    def __init__(self, settings: dict[str, Any]) -> None:
        assert settings["bootstrap.servers"] == "b:1"

    @staticmethod
    def _ends(code: int | None) -> Any:
        def result(limit_s: float) -> None:
            assert limit_s < 10
            if code is not None:
                raise KafkaException(KafkaError(code))

        return Of(result=result)

    def describe_configs(self, resources: list[Any], **_: Any) -> Any:
        assert resources[0].name == "orders"
        return {resources[0]: self._ends(self.settings_error)}

    def create_topics(self, topics: list[Any], *, validate_only: bool, **_: Any) -> Any:
        assert validate_only, "nothing is created"
        return {topics[0].topic: self._ends(self.create_error)}


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED])
def test_repair_without_create_or_describe_configs_acl_raises_bad_input_that_names_the_acl(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("confluent_kafka.admin.AdminClient", Admin)
    monkeypatch.setattr(Admin, "create_error", code)
    with pytest.raises(
        BadInput, match=r"^the login may not create topic orders-2 at b:1: a repair needs the ACLs CREATE"
    ):
        check_repairable(SETTINGS, "orders", "orders-2")
    monkeypatch.setattr(Admin, "settings_error", code)
    with pytest.raises(
        BadInput, match=r"^the login may not read the settings of topic orders at b:1: .* DESCRIBE_CONFIGS"
    ):
        check_repairable(SETTINGS, "orders", "orders-2")


@pytest.mark.parametrize("code", [None, KafkaError.TOPIC_ALREADY_EXISTS, KafkaError.POLICY_VIOLATION])
def test_repair_check_ignores_errors_other_than_missing_acls(code: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confluent_kafka.admin.AdminClient", Admin)
    monkeypatch.setattr(Admin, "create_error", code)
    check_repairable(SETTINGS, "orders", "orders-2")


def test_settings_without_librdkafka_equivalent_skip_the_repair_acl_check(monkeypatch: pytest.MonkeyPatch) -> None:
    clients: list[object] = []
    monkeypatch.setattr("confluent_kafka.admin.AdminClient", clients.append)
    check_repairable({"bootstrap.servers": "b:1", "config.providers": "file"}, "orders", "orders-2")
    assert clients == []
