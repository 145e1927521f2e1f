"""``skew``, with the reference in Java's place."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import skew
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError

Asked = Callable[..., tuple[int, str]]


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str]) -> Asked:
    """Runs the command; the exit code and what was printed."""

    def asked(*releases: str, plot: Path | None = None, as_json: bool = False, answerer: Any = None) -> tuple[int, str]:
        code = skew.run(
            kafka=releases, records=10_000, seed=1, plot=plot, as_json=as_json, answerer=answerer or ReferenceAnswerer()
        )
        return code, capsys.readouterr().out

    return asked


def row(said: str, scenario: str, version: str) -> list[str]:
    """The columns of one release in one scenario's table."""
    lines = said.split(f"{scenario}: ")[1].split("\n\n")[0].splitlines()
    return next(line for line in lines if line.startswith(version)).split()


# KAFKA-10888, as the command tells it.
@pytest.mark.exhaustive
def test_slow_broker_gets_fourfold_keyless_records_in_2_8_2_not_3_3_2(asked: Asked) -> None:
    code, said = asked("2.8.2", "3.3.2")
    assert code == 0, "a skew that the rule predicts is not a disagreement"
    old, new = row(said, "one slow broker", "2.8.2"), row(said, "one slow broker", "3.3.2")
    assert old[1] == "default"
    assert float(old[7]) == pytest.approx(44.4, abs=3)
    assert float(old[8]) > 2.4
    assert old[9:13] == ["5", "×", "11.11,", "44.44"]
    assert new[1] == "builtin"
    assert float(new[8]) < 1.3
    assert "10,000 records in each of 8 runs: all as predicted. seed 1" in said


# KAFKA-9965.
def test_round_robin_starves_half_of_an_even_partition_count_up_to_3_9_1(asked: Asked) -> None:
    _, said = asked("3.9.1,3.9.2", "4.0.2")
    assert row(said, "round robin, even", "3.9.1")[2:9] == ["0.00", "33.34", "0.00", "33.33", "0.00", "33.33", "2.00"]
    for fixed in ("3.9.2", "4.0.2"):
        assert row(said, "round robin, even", fixed)[8] == "1.00"
    assert {row(said, "round robin, odd", version)[7] for version in ("3.9.1", "3.9.2", "4.0.2")} == {"1.00"}


def test_skew_names_releases_that_lack_the_partitioner(asked: Asked) -> None:
    _, said = asked("2.3.1", "2.8.2")
    assert said.count("not there in 2.3.1") == 2
    assert "each of 6 runs" in said


def test_skew_json_has_runs_predictions_and_seed(asked: Asked) -> None:
    code, said = asked("2.8.2", as_json=True)
    document = json.loads(said)
    assert code == 0
    assert (document["records"], document["seed"], document["as_predicted"]) == (10_000, 1, True)
    slow = document["runs"][1]
    assert (slow["release"], slow["scenario"], slow["partitioner"]) == ("2.8.2", "one slow broker", "default")
    assert sum(slow["counts"]) == 10_000
    numerator, denominator = slow["expected"][5]
    assert numerator / denominator == pytest.approx(4 / 9)
    assert slow["degrees_of_freedom"] == 5
    assert 1e-4 <= slow["p"] <= 1


@pytest.mark.parametrize(
    ("mutant", "version", "scenario"),
    [
        ("spread-never-drained", "2.8.2", "one slow broker"),
        ("spread-second-call-left-out", "3.9.1", "round robin, even"),
        ("spread-switch-not-completed", "4.4.0", "one slow broker"),
    ],
)
def test_skew_of_mutant_with_wrong_distribution_exits_1_and_marks_the_row(
    asked: Asked, mutant: str, version: str, scenario: str
) -> None:
    code, said = asked(version, answerer=mutant_answerer(mutant))
    assert code == 1
    assert row(said, scenario, version)[-1] == "!"
    assert "not as predicted" in said


@pytest.mark.parametrize("releases", [("2.8.2", "3.3.2"), pytest.param(("all",), marks=pytest.mark.exhaustive)])
def test_skew_plot_option_writes_one_png_figure_of_at_least_1600_by_1100_pixels(
    asked: Asked, tmp_path: Path, releases: Sequence[str]
) -> None:
    path = tmp_path / "skew.png"
    code, said = asked(*releases, plot=path)
    assert code == 0
    assert f"figure: {path}" in said.replace("\n", "")
    picture = path.read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert width >= 1600
    assert height >= 1100


def test_skew_figure_with_unknown_extension_is_refused_before_simulation(asked: Asked, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"ends in \.png or \.svg or \.pdf"):
        asked("2.8.2", plot=tmp_path / "skew.docx", answerer="nobody")


def test_skew_figure_on_full_disk_prints_a_warning_and_exits_0(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "skew.png"
    full.symlink_to("/dev/full")
    warnings: list[str] = []
    monkeypatch.setattr("kafka_conformance.core.files.warn", warnings.append)
    code, _ = asked("2.8.2", plot=full)
    assert code == 0
    assert warnings == [f"{full} cannot be written: No space left on device"]


@pytest.mark.parametrize("missing", ["matplotlib.figure", "scipy.stats"])
def test_skew_figure_without_matplotlib_or_scipy_is_refused_with_pip_extra(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(KitError, match=r"pip install '\.\[plot\]' in a checkout"):
        asked("2.8.2", plot=tmp_path / "skew.png", answerer="nobody")


def test_skew_command_simulates_and_closes_each_java_release_once_if_named_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[str] = []
    oracle = SimpleNamespace(close_release=closed.append)
    monkeypatch.setattr(skew, "open_oracle", lambda: nullcontext(oracle))
    monkeypatch.setattr(skew, "JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    done = CliRunner().invoke(
        app, ["skew", "--records", "10000", "--kafka", "3.9.2", "--kafka", "3.9.1,3.9.2"], standalone_mode=False
    )
    assert done.return_value == 0
    assert closed == ["3.9.2", "3.9.1"]
    assert "8 runs" in done.output
