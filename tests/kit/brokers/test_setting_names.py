"""A misspelled security setting is an error, since Kafka's clients would ignore it."""

from __future__ import annotations

import re

import pytest

from kafka_conformance.brokers.setting_names import check_names
from kafka_conformance.core.errors import BadInput


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "security.protcol",
            "Kafka's clients have no setting security.protcol, and would ignore it: did you mean secu",
        ),
        ("ssl.trustore.location", "did you mean ssl.truststore.location?"),
        ("sasl.mechanisms", "sasl.mechanisms is librdkafka's name, and Java's client ignores it: use sasl.mechanism"),
        ("sasl.password", "use sasl.jaas.config, with username and password"),
    ],
)
def test_misspelled_or_librdkafka_security_setting_raises_bad_input_with_a_suggestion(name: str, why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        check_names(["bootstrap.servers", name])


def test_known_security_settings_and_unrelated_setting_names_are_accepted() -> None:
    check_names(["security.protocol", "ssl.engine.factory.class", "my.own.engine.setting", "client.id",
                 "sasl.oauthbearer.token.endpoint.url", "max.poll.records"])  # fmt: skip
