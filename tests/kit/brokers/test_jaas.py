"""A login module is read as Kafka reads it, and no message shows a secret."""

from __future__ import annotations

import pytest

from kafka_conformance.brokers.jaas import LoginModule, read_jaas
from kafka_conformance.core.errors import BadInput

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ('username="a" password="b"', {"username": "a", "password": "b"}),
        ("username='a' password=\"b c;=\"", {"username": "a", "password": "b c;="}),
        ('username="a\\"b" password="\\\\ \\101"', {"username": 'a"b', "password": "\\ A"}),
        ('username=alice-1 // a comment\n password="b" /* and\n another */', {"username": "alice-1", "password": "b"}),
        ('username="a" / a comment to the end of the line\n', {"username": "a"}),
        ("", {}),
    ],
)
def test_jaas_options_are_parsed_as_in_kafka(options: str, expected: dict[str, str]) -> None:
    assert read_jaas(f"{PLAIN} required\n {options};\n") == LoginModule(PLAIN, expected)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'{PLAIN} required username="a" password="s3cret"', "there is no semicolon at its end"),
        (f'{PLAIN} username="a" password="s3cret";', "the flag after the login module is none of required"),
        (f"{PLAIN} required password=53cret;", "an unquoted value or an unexpected character: put"),
        (f'{PLAIN} required username password="s3cret";', "option 1 is not name="),
        (f'{PLAIN} required password="s3cret', "no semicolon at its end"),
        (f'{PLAIN} required ="s3cret";', "option 1 is not name="),
        (f'{PLAIN} required password="s3cret"; {PLAIN} required;', "expected one login module"),
        (f"{PLAIN} required password=my s3cret;", "option 2 is not name="),
        ("s3cret", "expected a login module and the flag required"),
        ("", "expected a login module and the flag required"),
    ],
)
def test_malformed_jaas_config_raises_one_line_bad_input_without_the_password(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=f"^sasl.jaas.config cannot be read: {why}|^sasl.*: there is {why}") as raised:
        read_jaas(text)
    assert "3cret" not in str(raised.value)
    assert "\n" not in str(raised.value)
