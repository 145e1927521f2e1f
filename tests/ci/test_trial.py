"""The trial of the gate by clients with known deviations: its file, what counts as found and as false, and its page."""

from __future__ import annotations

from pathlib import Path

import client_gates
import pytest
import trial
from click.testing import CliRunner

from kafka_conformance.answerers.named_driver import FOLDER, read_driver
from kafka_conformance.core.events import Diagnosis, Differed, RuleEnded
from kafka_conformance.gate.reports.markdown import words
from kafka_conformance.gate.reports.outline import Outline, RuleRow
from kafka_conformance.rules import RULES

HASHING = trial.Trial("pykafka:hashing", "SHA-1", "partitioners.py", ("partition-for-key",), ("sha-1*",))


def gated(
    verdict: tuple[int, int, int], named: str = "", explained: str = "", *, rule: str = "partition-for-key"
) -> client_gates.Gated:
    differed, known, failed = verdict

    def diagnosis(name: str) -> Diagnosis | None:
        return Diagnosis(name, "", 1, 1) if name else None

    ended = RuleEnded(
        *(rule, "4.4.0", "exact", "differs", 9, 3, differed, known, failed, 0, 9, 0, 0, 1.0),
        diagnoses=tuple(filter(None, [diagnosis(explained)])),
    )
    found = Differed(rule, "4.4.0", "i", "frozen", "k", 1, {}, {}, {}, "J", "", diagnosis=diagnosis(named))
    row = RuleRow(rule, "4.4.0", "exact", 9, differed=[found] if named else [], ended=ended)
    driver = read_driver(client_gates.ROOT / FOLDER / "pykafka")
    return client_gates.Gated("pykafka", ("hashing",), driver, 1, Outline(rows=[row]))


def test_trial_file_lists_only_existing_driver_settings_and_rules() -> None:
    trials = trial.read_trials()
    assert len({one.target.partition(":")[0] for one in trials}) >= 11
    for one in trials:
        name, _, setting = one.target.partition(":")
        assert setting in read_driver(client_gates.ROOT / FOLDER / name).settings
        assert set(one.differs) <= set(RULES)
        assert one.differs or not one.names


@pytest.mark.parametrize("verdict", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_trial_counts_a_rule_as_found_if_answers_differ_are_known_failures_or_fail(
    verdict: tuple[int, int, int],
) -> None:
    assert trial.outcome(gated(verdict)).rules == {"partition-for-key"}
    assert trial.outcome(gated((0, 0, 0))).rules == frozenset()


def test_trial_counts_a_diagnosis_not_in_the_expected_names_as_false() -> None:
    one = trial.outcome(gated((1, 0, 0), "key:sha-1", "crc32"))
    assert one.names == {"sha-1", "crc32"}
    assert trial.false_names(HASHING, one) == ["crc32"]


def test_trial_page_row_of_a_client_setting_counts_gates_diagnoses_and_false_diagnoses() -> None:
    right, wrong = trial.outcome(gated((1, 0, 0), "sha-1-masked")), trial.outcome(gated((0, 0, 0), "crc32"))
    text = trial.page([HASHING], {HASHING.target: [right, wrong]}, 2)
    assert "| pykafka | 2.8.0 | hashing | SHA-1 | 1 of 2 | `crc32` 1, `sha-1-masked` 1 | 1 |" in text
    assert "False diagnoses: 1, in 2 gates." in text
    silent = trial.outcome(gated((1, 0, 0)))
    assert "| 1 of 1 | no known mistake | 0 |" in trial.page([HASHING], {HASHING.target: [silent]}, 1)


@pytest.mark.parametrize(
    ("results", "code", "printed"),
    [
        ([gated((1, 0, 0), "sha-1")], 0, ""),
        ([gated((0, 0, 0))], 1, "pykafka:hashing, seed 1: [] differ, not ['partition-for-key']"),
        ([gated((1, 0, 0), "crc32")], 1, "pykafka:hashing, seed 1: crc32 is false"),
        ([gated((1, 0, 0), rule="murmur2")], 1, "seed 1: ['murmur2'] differ"),
    ],
)
def test_trial_exits_1_for_a_missed_deviation_or_a_false_diagnosis(
    monkeypatch: pytest.MonkeyPatch, results: list[client_gates.Gated], code: int, printed: str
) -> None:
    monkeypatch.setattr(trial, "read_trials", lambda: [HASHING])
    monkeypatch.setattr(trial, "gate_all", lambda *_, **__: results)
    monkeypatch.setattr(client_gates.Gated, "finished", property(lambda _: True))
    ended = CliRunner().invoke(trial.main, ["--only", "pykafka", "--seeds", "1"])
    assert (ended.exit_code, printed in ended.output) == (code, True)


def test_trial_only_option_selects_clients_or_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(trial, "gate_all", lambda targets, *_, **__: asked.append(targets) or [])
    CliRunner().invoke(trial.main, ["--only", "pykafka:hashing", "--only", "kafka-rust", "--seeds", "1"])
    assert asked == [["pykafka:hashing", "kafka-rust:default"]]


def test_committed_trial_page_lists_every_trial_with_10_of_10_and_no_false_diagnosis() -> None:
    rows = [line.split(" | ") for line in trial.PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert [row[3] for row in rows] == [words(one.deviation) for one in trial.read_trials()]
    assert {(row[4], row[-1]) for row in rows} == {("10 of 10", "0 |")}


def test_trial_exits_2_with_the_reason_if_the_gate_of_a_client_did_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = read_driver(client_gates.ROOT / FOLDER / "pykafka")
    broken = client_gates.Gated("pykafka", ("hashing",), driver, 2, Outline(), "the driver cannot be built")
    monkeypatch.setattr(trial, "gate_all", lambda *_, **__: [broken])
    ended = CliRunner().invoke(trial.main, ["--only", "pykafka", "--seeds", "1"])
    assert ended.exit_code == 2
    assert "pykafka:hashing did not finish: the driver cannot be built" in ended.output


def test_trial_without_expected_names_counts_every_diagnosis_as_false(tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    file.write_text('[[trial]]\ntarget = "a:b"\ndeviation = "d"\nsource = "s"\ndiffers = []\nnames = []\n')
    (one,) = trial.read_trials(file)
    assert trial.false_names(one, trial.Outcome(frozenset(), frozenset({"unsigned"}))) == ["unsigned"]
