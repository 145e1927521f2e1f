"""The soak without a JVM: what a run prints, its exit code, its end by Ctrl-C, and what the gauges see of this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import soak
import soak_gauges
from click.testing import CliRunner
from soak_growth import MEASURES
from soak_rounds import Settings, play_round, round_seeds

from kafka_conformance.answerers.names import reference_or_mutant
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.errors import JvmLost, KitError
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

ROOT = Path(soak.__file__).parents[1]
PAGE = ROOT / "kit" / "docs" / "soak.md"
MURMUR2 = RULES["murmur2"]
SETTINGS = Settings([MURMUR2], [parse_release("4.4.0")], 5, 7)
Sampled = Callable[[int], float]


class Rounds:
    """Stands in for JVM, gauges and clock: ``count`` rounds; ``grown`` adds to a measure by the number of the round."""

    def __init__(self, count: int, grown: dict[str, Sampled] | None = None) -> None:
        self.count, self.grown, self.seeds = count, grown or {}, list[int]()
        self.ends: Callable[[], None] = lambda: None
        self.folder = Path()

    def play(self, _: Any, __: Settings, seed: int, doing: Callable[[str], None]) -> int:
        self.seeds.append(seed)
        doing("murmur2 in 4.4.0")
        if len(self.seeds) > self.count:
            self.ends()
        return 10

    def gauges(self, _: Any, folder: Path) -> Rounds:
        self.folder = folder
        assert Path(tempfile.gettempdir()) == folder == Path(os.environ["TMPDIR"])
        return self

    def sample(self) -> dict[str, float]:
        number = len(self.seeds)
        held = {measure.name: self.grown.get(measure.name, lambda _: 0)(number) + 50 for measure in MEASURES}
        return held | {"JVM unloaded classes": 100 * number}

    def histogram(self) -> Counter[str]:
        return Counter({"kafka.Leaked": 2_000_000 * len(self.seeds)})

    @property
    def seconds(self) -> Callable[[], float]:
        return lambda: 60 * len(self.seeds)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Rounds], Rounds]:
    """Makes these rounds those of a run of as many minutes."""

    def install(rounds: Rounds) -> Rounds:
        @contextmanager
        def oracle(**_: Any) -> Iterator[Any]:
            yield SimpleNamespace(jvm=None)

        for name, value in {
            "open_oracle": oracle, "jvm_name": lambda _: "17.0.15 (a test)", "Gauges": rounds.gauges,
            "play_round": rounds.play, "wall_seconds": lambda: rounds.seconds, "python_objects": Counter,
        }.items():  # fmt: skip
            monkeypatch.setattr(soak, name, value)
        return rounds

    return install


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_soak_reports_a_leak_of_each_measure_and_exits_with_1(
    measure: Any, stand_in: Callable[[Rounds], Rounds], capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(Rounds(12, {measure.name: lambda number: number * measure.tolerance}))
    assert soak.run(SETTINGS, 12) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if " grows by " in line] == [
        next(line for line in printed if line.startswith(f"{measure.name} grows by +"))
    ]
    assert "live objects added since the third round:" in printed
    assert any(line.endswith(",000,000 kafka.Leaked") for line in printed)


def test_soak_without_growth_exits_0_and_writes_the_page_and_the_samples(
    stand_in: Callable[[Rounds], Rounds], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rounds, page, samples = stand_in(Rounds(12)), tmp_path / "page.md", tmp_path / "samples"
    assert soak.run(SETTINGS, 12, page, samples) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing grows"
    assert rounds.seeds == [seed for seed, _ in zip(round_seeds(7), range(12), strict=False)]
    assert len(set(rounds.seeds)) == 12
    text = page.read_text()
    assert (
        "12 rounds in 12 minutes, seed 7; 19 measures; 120 of 120 answers match; 1,100 classes were unloaded." in text
    )
    assert "| JVM threads | 50 | 50 | +0 (+0 to +0) | 2 | no |" in text
    assert [json.loads(line)["JVM unloaded classes"] for line in samples.read_text().splitlines()][-1] == 1200


def test_soak_with_too_few_rounds_raises_kit_error_with_the_number_needed(stand_in: Callable[[Rounds], Rounds]) -> None:
    stand_in(Rounds(10, {"JVM threads": float}))
    with pytest.raises(KitError, match=r"^measured 10 rounds: at least 8 after 3 of warm-up are needed; give "):
        soak.run(SETTINGS, 10)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("grown", "code"), [({}, 0), ({"JVM threads": float}, 1)])
def test_soak_interrupted_by_ctrl_c_judges_the_finished_rounds(
    grown: dict[str, Sampled], code: int, stand_in: Callable[[Rounds], Rounds], capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = stand_in(Rounds(14, grown))
    rounds.ends = interrupt
    assert soak.run(SETTINGS, 1000) == code
    out, err = capsys.readouterr()
    assert out.startswith("14 rounds in ")
    assert err == "interrupted: judging the rounds until now\n"


def test_soak_whose_jvm_ends_prints_the_measured_rounds_and_raises_jvm_lost(
    stand_in: Callable[[Rounds], Rounds], capsys: pytest.CaptureFixture[str]
) -> None:
    def lose() -> None:
        raise JvmLost("Spark's JVM ended")

    stand_in(Rounds(14)).ends = lose
    with pytest.raises(JvmLost):
        soak.run(SETTINGS, 1000)
    assert capsys.readouterr().out.startswith("14 rounds in 15.0 minutes")


def test_soak_uses_a_separate_temporary_folder_and_deletes_the_folder(stand_in: Callable[[Rounds], Rounds]) -> None:
    before = tempfile.gettempdir(), os.environ.get("TMPDIR")
    rounds = stand_in(Rounds(12))
    soak.run(SETTINGS, 12)
    assert (tempfile.gettempdir(), os.environ.get("TMPDIR")) == before
    assert not rounds.folder.exists()


class Java:
    """Stands in for an oracle whose classes are the reference or a mutant."""

    jar_sha256, pinned, stored, broker = "ab" * 32, True, (), ()

    def __init__(self) -> None:
        self.closed: list[str] = []

    def open(self, _: str) -> Java:
        return self

    def close_release(self, version: str) -> None:
        self.closed.append(version)


def play(java: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Java, int, list[str]]:
    answerer = ReferenceAnswerer("java") if java == "reference" else reference_or_mutant(java)
    monkeypatch.setattr("kafka_conformance.verify.verification.JavaAnswerer", lambda _: answerer)
    monkeypatch.setattr("soak_rounds._LONGEST_KEY", -1)
    monkeypatch.chdir(tmp_path)
    oracle, shown = Java(), list[str]()
    settings = Settings([MURMUR2], [parse_release("3.9.2"), parse_release("4.4.0")], 5, 7)
    return oracle, play_round(oracle, settings, 3, shown.append), shown  # type: ignore[arg-type]


def test_soak_round_closes_every_release_after_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    oracle, matched, shown = play("reference", monkeypatch, tmp_path)
    assert oracle.closed == ["3.9.2", "4.4.0"]
    assert shown == ["murmur2 in 3.9.2", "murmur2 in 4.4.0"]
    assert matched > 0


def test_soak_answer_that_differs_from_java_raises_kit_error_with_the_verify_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(KitError) as raised:
        play("mutant:string-hash-code", monkeypatch, tmp_path)
    command = "kafka-conformance verify --rules murmur2 --kafka 3.9.2 --seed 3 --examples 5"
    assert str(raised.value) == f"murmur2 in 3.9.2 does not match with seed 3: {command}"


def test_soak_gauges_count_new_threads_descriptors_children_and_memory(tmp_path: Path) -> None:
    before = soak_gauges._python() | {"child processes": len(soak_gauges._children(os.getpid()))}
    ended, kept = threading.Event(), [*map(str, range(100_000, 200_000)), b"x" * (64 << 20)]
    thread = threading.Thread(target=ended.wait)
    thread.start()
    with (tmp_path / "open").open("w"), subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE):
        after = soak_gauges._python() | {"child processes": len(soak_gauges._children(os.getpid()))}
    ended.set()
    thread.join()
    grown = {name: after[name] - before[name] for name in after}
    assert grown["Python threads"] == grown["child processes"] == 1
    assert grown["Python descriptors"] == 2
    assert grown["Python memory blocks"] > 90_000
    assert grown["Python resident memory"] > 2
    assert len(kept) == 100_001


def test_soak_gauges_count_temporary_files_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "library.so").write_bytes(bytes(1 << 20))
    assert soak_gauges._files([tmp_path]) == {"temporary files": 2, "temporary bytes": 1}


def test_jvm_heap_histogram_is_summed_by_class_name() -> None:
    text = (
        " num     #instances         #bytes  class name (module)\n"
        "-------------------------------------------------------\n"
        "   1:         23190        2217680  [B (java.base@17.0.15)\n"
        "   2:             3            240  kafkaoracle.host.ReleaseSandbox$Loader\n"
        "   3:             2            160  kafkaoracle.host.ReleaseSandbox$Loader\n"
        "Total        107654        6311752\n"
    )
    assert soak_gauges._counts(text) == {"[B": 23190, "kafkaoracle.host.ReleaseSandbox$Loader": 5}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--kafka", "9.x"], "9.x"),
        (["--rules", "murmur3"], "murmur3"),
        (["--rules", "isr", "--kafka", "2.0.1"], "no release of 2.0.1 has any of these rules: name others"),
        (["--write", "nowhere/soak.md"], "cannot write nowhere/soak.md: name a file in a folder that is there"),
        (["--samples", "nowhere/samples"], "cannot write nowhere/samples: name a file in a folder that is there"),
        (["--minutes", "0"], "0"),
    ],
)
def test_soak_with_invalid_options_exits_2_and_names_the_error_in_the_last_line(
    words: list[str], error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soak.interrupts.install", lambda: None)
    ran = CliRunner().invoke(soak.main, words)
    assert ran.exit_code == 2
    assert error in ran.stderr.splitlines()[-1]


def test_soak_page_equals_generated_text_and_reports_30_or_more_minutes_without_growth(
    stand_in: Callable[[Rounds], Rounds], tmp_path: Path
) -> None:
    def outside_the_figures(text: str) -> list[str]:
        before, _, rest = text.partition("## Figures")
        return [before, rest.partition("The JVM's heap")[2]]

    stand_in(Rounds(12))
    soak.run(SETTINGS, 12, tmp_path / "page.md")
    text = PAGE.read_text(encoding="utf-8")
    assert outside_the_figures(text) == outside_the_figures((tmp_path / "page.md").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| ([^|]+) \| .* \| ([^|]+) \| no \|$", text, re.MULTILINE)
    assert rows == [(f"{m.name}{', ' * bool(m.unit)}{m.unit}", f"{m.tolerance:,}") for m in MEASURES]
    assert int(re.findall(r"rounds in (\d+) minutes", text)[0]) >= 30


def test_soak_commands_in_documentation_are_parsed_without_error() -> None:
    shown = [
        line.strip("` .").partition("python ci/soak.py")[2].partition("`")[0].split("  #")[0].split()
        for name in ("kit/docs/soak.md", "CONTRIBUTING.md", "tox.ini", "ci/soak.py")
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
        if "python ci/soak.py" in line
    ]
    assert len(shown) >= 6
    for words in shown:
        try:
            soak.main.make_context("soak.py", words)
        except click.UsageError as error:
            pytest.fail(f"python ci/soak.py {' '.join(words)}: {error.format_message()}")
