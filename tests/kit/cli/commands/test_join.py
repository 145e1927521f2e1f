from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kafka_conformance.audit.join_result import Join
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import KitError

LOCAL = ("--bootstrap-server", "127.0.0.1:9")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("a", *LOCAL), "expected the name of two topics, or of files with --format, not 1 names"),
        (("a", "b", "c", *LOCAL), "expected the name of two topics, or of files with --format, not 3 names"),
        (("a", "", *LOCAL), "a name is empty"),
        (("a.json", "b.parquet", "--partitions", "3"), "--bootstrap-server HOST:PORT names a topic's broker; --format"),
        (("a.json", "b.json"), "--partitions N is required for files"),
        (("a.json", "b.json", "--partitions", "3"), "no file matches 'a.json'"),
        (("a", "b", "--expect", "round-robin", *LOCAL), "round-robin"),
        (("a", "b", "--candidate", "json:dumps", *LOCAL), "--candidate json:dumps raises TypeError: "),
        (("a", "b", "--from", "noon", *LOCAL), "--from noon: expected a time"),
        (("a", "b", *LOCAL), "no broker accepts connections at 127.0.0.1:9 (Connection refused)"),
    ],
)
def test_join_with_bad_arguments_is_refused_in_one_line(words: tuple[str, ...], line: str) -> None:
    error = CliRunner().invoke(app, ["join", *words]).exception
    assert isinstance(error, KitError), error
    assert line in str(error)
    assert "--segments" not in str(error), "join has no such option"
    assert "\n" not in str(error)


@pytest.mark.parametrize("option", ["--segments", "--key-view", "--chunk", "--all-records", "--html", "--folder"])
def test_join_refuses_audit_options_that_join_does_not_have(option: str) -> None:
    done = CliRunner().invoke(app, ["join", "a", "b", option, "x"])
    assert done.exit_code == 2
    assert f"No such option '{option}'" in done.output


def test_local_join_exits_1_and_lists_keys_in_different_partitions_and_refuses_key_format(tmp_path: Path) -> None:
    """Two topics whose keys are in other partitions, read from files and judged by the command itself."""
    names = [str(tmp_path / name) for name in ("a", "b")]
    for at, name in enumerate(names):
        pq.write_table(pa.table({"partition": [at, 0], "offset": [0, 1], "key": [b"a", b"b"]}), name)
    words = ["join", *names, "--format", "parquet", "--partitions", "2", "--json", "--engine"]
    ran = CliRunner().invoke(app, [*words, "local"], standalone_mode=False)
    assert ran.return_value == 1, ran.exception
    found = msgspec.json.decode(ran.stdout, type=Join)
    assert (found.a.name, found.keys_in_both, found.keys_missed, [one.key for one in found.missed]) == (
        names[0],
        2,
        1,
        ["61"],
    )
    assert found.reading is not None
    ran = CliRunner().invoke(app, [*words, "local", "--key-format", "confluent"], standalone_mode=False)
    assert str(ran.exception) == "--engine local does not join with --key-format: use --engine spark"
