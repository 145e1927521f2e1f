"""Options that the connector would ignore or refuse are errors before Spark starts."""

from __future__ import annotations

import re

import pytest

from kafka_conformance.audit.connector_options import check_options
from kafka_conformance.core.errors import BadInput


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("security.protocol", "Kafka's clients begin with kafka.: write kafka.security.protocol"),
        ("startingOffsets", "--option startingOffsets: the command sets it itself; leave it out"),
        ("kafka.group.ID", ""),
        ("kafka.auto.offset.reset", "Spark's Kafka connector does not accept it; leave it out"),
        ("kafka.isolation.level", "--option kafka.isolation.level: use --isolation read_committed or read_uncommitted"),
        ("failOnDataLoss", "--option failOnDataLoss: the command sets it itself; leave it out"),
        ("kafkaConsumer.pollTimeoutMs", ""),
    ],
)
def test_only_ineffective_or_reserved_spark_connector_options_raise_an_error_with_the_reason(
    name: str, why: str
) -> None:
    if not why:
        check_options([name])
        return
    with pytest.raises(BadInput, match=re.escape(why)):
        check_options([name])
