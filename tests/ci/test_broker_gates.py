"""The gates of brokers in ``ci/brokers``: what starts, what is recorded, and what the page says."""

from __future__ import annotations

import sys
from pathlib import Path

import broker_gates
import pytest
from broker_gates import FOLDER, PAGE, TABLE, Kind, Result, names, read_broker, read_results, result_of, started, table
from click.testing import CliRunner

from kafka_conformance.core.events import Differed, Ended, RuleBegan, RuleEnded
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.reports.page_block import block_of
from kafka_conformance.wire.broker_gate.case import frozen

ENDS_AT_SIGTERM = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(pathlib.Path(sys.argv[1]).write_text("by SIGTERM") and 0))
print("x 127.0.0.1:5 y", flush=True)
signal.pause()
"""


def test_broker_gate_page_shows_the_recorded_results_of_every_broker() -> None:
    assert block_of(PAGE.read_text(encoding="utf-8"), TABLE) == table(read_results()).strip(), f"run: {TABLE}"
    assert [each.folder for each in read_results()] == names()


@pytest.mark.parametrize("name", names())
def test_recorded_broker_result_matches_described_package_and_release_and_counts_each_unskipped_case(name: str) -> None:
    broker, (result,) = read_broker(name), [each for each in read_results() if each.folder == name]
    assert (result.name, result.package, result.release) == (broker.name, broker.package, broker.release)
    assert sum(result.counts) == len(frozen().cases) - len(broker.skip)
    assert broker.release in frozen().provenance.jars


def test_recorded_gate_of_apache_kafka_agrees_in_every_frozen_case() -> None:
    (kafka,) = [each for each in read_results() if each.folder == "apache-kafka"]
    assert (kafka.counts, kafka.kinds) == ([len(frozen().cases), 0, 0, 0, 0], [])


def test_started_broker_process_gets_sigterm_at_the_end_of_the_with_block(tmp_path: Path) -> None:
    with started([sys.executable, "-c", ENDS_AT_SIGTERM, str(tmp_path / "ended")], Path("/")) as address:
        assert address == "127.0.0.1:5"
        assert not (tmp_path / "ended").exists()
    assert (tmp_path / "ended").read_text() == "by SIGTERM"


def test_started_broker_that_prints_no_address_raises_timeout_error() -> None:
    with pytest.raises(TimeoutError, match="printed no address"), started([sys.executable, "-c", ""], Path("/")):
        pass


def differed(rule: str, severity: str, times: int, versions: str = "") -> Differed:
    return Differed(rule, "4.4.0", "a/one", "frozen", "a kind", times, {}, {}, {}, "", "",
                    severity=severity, versions=versions)  # type: ignore[arg-type]  # fmt: skip


def test_same_deviation_in_two_case_groups_is_recorded_once_with_worst_severity_and_summed_count() -> None:
    ended = RuleEnded(
        "broker/a", "4.4.0", "exact", "differs", 9, 4, 5, 0, 0, 2, 9, 0, 0, 0.0, harmless={"why": 3}, not_run=1
    )
    events = [
        RuleBegan("broker/a", "4.4.0", "exact", 9), differed("broker/a", "medium", 3),
        differed("broker/b", "high", 2, "v 3"), ended, Ended(1, "", 9, 4, 5, 0, 0, 2, 0.0, not_run=1),
    ]  # fmt: skip
    found = result_of("kfake", read_broker("kfake"), outline(events))
    assert found.counts == [1, 5, 3, 2, 1]
    assert found.kinds == [Kind("high", "a kind", 5, "a/one", "v 3")]


def test_broker_gate_events_without_an_end_raise_value_error() -> None:
    with pytest.raises(ValueError, match="did not end"):
        result_of("kfake", read_broker("kfake"), outline([]))


def test_broker_gates_command_exits_2_and_keeps_recorded_result_if_broker_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = Result("kfake", "kfake", "p", "4.2.2", [1, 0, 0, 0, 0], [])
    record, page = tmp_path / "r.ndjson", tmp_path / "page.md"
    monkeypatch.setattr(broker_gates, "RECORD", record)
    monkeypatch.setattr(broker_gates, "PAGE", page)
    monkeypatch.setattr(broker_gates.matrix, "write_pages", lambda *_: None)

    def fails(_: str) -> Result:
        raise TimeoutError("no address")

    monkeypatch.setattr(broker_gates, "gated", lambda _: old)
    assert CliRunner().invoke(broker_gates.main, ["kfake"]).exit_code == 0
    monkeypatch.setattr(broker_gates, "gated", fails)
    ran = CliRunner().invoke(broker_gates.main, ["kfake"])
    assert (ran.exit_code, "kfake could not be gated: no address" in ran.output) == (2, True)
    assert read_results() == [old]
    assert "| kfake | p | 4.2.2 | 1 |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "why"), [(["kfkae"], "unknown broker 'kfkae': expected one of"), (["--table", "kfake"], "gates nothing")]
)
def test_broker_gates_with_unknown_broker_or_with_broker_and_table_option_exits_2(words: list[str], why: str) -> None:
    ran = CliRunner().invoke(broker_gates.main, words)
    assert (ran.exit_code, why in ran.output) == (2, True)


def test_every_folder_of_a_broker_has_a_description() -> None:
    assert sorted(path.name for path in FOLDER.iterdir() if path.is_dir()) == names()
