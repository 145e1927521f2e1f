"""Settings of a file reach the broker's check and Spark's connector; no message shows a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.audit.repair.topics import client_settings
from kafka_conformance.cli import audit_source
from kafka_conformance.cli.audit_source import SourceOptions, check
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput

JAAS = 'x.PlainLoginModule required username="u" password="s3cret";'
FILE = f"""
bootstrap.servers=b:1
security.protocol=SASL_SSL
client.id = me
sasl.jaas.config={JAAS}
# for other programs
acks=1
isolation.level=read_uncommitted
auto.offset.reset=latest
key.deserializer=x.Y
"""


class Checked(Exception):
    """The check was reached, with these settings."""


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "client.properties"
    path.write_text(FILE)
    return str(path)


def checked(monkeypatch: pytest.MonkeyPatch, *words: str) -> dict[str, str]:
    """The settings with which the broker is checked."""

    def reached(settings: dict[str, str], _: Any) -> None:
        raise Checked(settings)

    monkeypatch.setattr(audit_source, "check_topics", reached)
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, Checked), error
    return dict(error.args[0])


@pytest.mark.parametrize("command", [("audit", "t"), ("repair", "t", "t2"), ("join", "a", "b")])
def test_command_config_file_passes_connection_settings_but_not_acks_offset_reset_or_isolation_level(
    command: tuple[str, ...], config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = checked(monkeypatch, *command, "--command-config", config)
    assert settings["bootstrap.servers"] == "b:1"
    assert settings["security.protocol"] == "SASL_SSL"
    assert settings["sasl.jaas.config"] == JAAS
    assert settings["client.id"] == "me"
    assert not {"acks", "auto.offset.reset", "key.deserializer"} & settings.keys()
    assert settings["isolation.level"] == "read_committed"


def test_audit_options_override_the_command_config_file(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--bootstrap-server", "c:2", "--option", "kafka.client.id=you")
    settings = checked(monkeypatch, "audit", "t", "--command-config", config, *words)
    assert settings["bootstrap.servers"] == "c:2"
    assert settings["client.id"] == "you"
    assert settings["security.protocol"] == "SASL_SSL"


@pytest.mark.parametrize("command", [("audit", "t"), ("repair", "t", "t2"), ("join", "a", "b")])
def test_audit_repair_and_join_read_committed_unless_isolation_option_of_audit_or_join_overrides(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (*command, "--bootstrap-server", "b:1")
    assert checked(monkeypatch, *words)["isolation.level"] == "read_committed"
    if command[0] != "repair":  # records of aborted transactions would become committed ones: it has no such option
        assert checked(monkeypatch, *words, "--isolation", "read_uncommitted")["isolation.level"] == "read_uncommitted"


def test_source_is_read_committed_by_default_but_repair_client_settings_omit_isolation_level() -> None:
    (address,) = SourceOptions("b:1").topics(["t"])
    assert address.isolation == "read_committed"
    assert client_settings(address.kafka).get("isolation.level") is None


def test_missing_command_config_file_is_refused_in_one_line() -> None:
    error = CliRunner().invoke(app, ["audit", "t", "--command-config", "/no/such"]).exception
    assert isinstance(error, BadInput)
    assert str(error) == "--command-config /no/such cannot be read: No such file or directory"


@pytest.mark.parametrize(
    "option",
    [
        f"kafka.sasl.jaas.config:{JAAS}",
        "kafka.sasl.jaas.config",
        'x.PlainLoginModule required username="u" password="s3cret";',
        f"sasl.jaas.config={JAAS}",
        "kafka.sasl.password=s3cret",
        f"kafka.sasl.jaas.config={JAAS.removesuffix(';')}",
    ],
)
def test_error_about_a_malformed_sasl_option_does_not_show_the_password(option: str) -> None:
    with pytest.raises(BadInput) as raised:
        check(SourceOptions("127.0.0.1:9", options=(option, "kafka.security.protocol=SASL_SSL")).topics(["t"]))
    assert "s3cret" not in str(raised.value)


def test_audit_help_recommends_command_config_file_for_passwords() -> None:
    text = " ".join(CliRunner().invoke(app, ["audit", "--help"]).output.split())
    assert "Passwords belong here" in text
    assert "which is the place for passwords" in text
