from __future__ import annotations

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import KitError

LOCAL = ("--bootstrap-server", "127.0.0.1:9")


FOLLOWS = "--follow writes the new topic: give --execute as well, or leave it out for a dry run"
FIXED = "kafka.acks cannot be set for a repair: another value could lose or duplicate records; leave it out"
CLOSED = (
    "no broker accepts connections at 127.0.0.1:9 (Connection refused): check --bootstrap-server, or start the broker"
)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "--bootstrap-server HOST:PORT names a topic's broker"),
        (("--follow", *LOCAL), FOLLOWS),
        (("--follow-until-idle", "5", *LOCAL), FOLLOWS),
        (("--group", "g", *LOCAL), "--group has no effect without --map-groups: leave it out"),
        (("--map-groups", "--follow", "--execute", *LOCAL), "--follow has no effect with --map-groups: leave it out"),
        (("--map-groups", "--keep-staged", *LOCAL), "--keep-staged has no effect with --map-groups: leave it out"),
        (
            ("--map-groups", "--target-partitions", "3", *LOCAL),
            "--target-partitions has no effect with --map-groups: leave it out",
        ),
        (("--setting", "=1", *LOCAL), "--setting =1: NAME=VALUE expected"),
        (("--option", "kafka.acks=1", *LOCAL), FIXED),
        (LOCAL, CLOSED),
    ],
)
def test_repair_with_bad_options_is_refused_in_one_line(words: tuple[str, ...], line: str) -> None:
    error = CliRunner().invoke(app, ["repair", "orders", "orders-2", *words]).exception
    assert isinstance(error, KitError), error
    assert str(error) == line


@pytest.mark.parametrize("names", [("", "b"), ("a", "")])
def test_repair_with_an_empty_topic_name_is_refused(names: tuple[str, str]) -> None:
    error = CliRunner().invoke(app, ["repair", *names, *LOCAL]).exception
    assert str(error) == "a name is empty: name a topic, or files"


@pytest.mark.parametrize(
    "option", ["--isolation", "--segments", "--format", "--expect", "--candidate", "--from", "--engine"]
)
def test_repair_refuses_audit_options_that_repair_does_not_have(option: str) -> None:
    done = CliRunner().invoke(app, ["repair", "a", "b", option, "x"])
    assert done.exit_code == 2
    assert f"No such option '{option}'" in done.output
