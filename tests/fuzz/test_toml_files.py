"""Every TOML file that is read: known failures, pinned jars, ``driver.toml``, ``coverage.toml``, ``summary.toml``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from toml_mutations import hostile_toml, mutated_toml

from kafka_conformance.answerers import named_driver
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.gate import known_failures
from kafka_conformance.rules import summaries
from kafka_conformance.verify.coverage import mirrored_code
from kafka_jars import brokers, pins
from kafka_jars.errors import JarError

ROOT = Path(__file__).parents[2]
TODAY = date(2025, 6, 1)
KNOWN = [
    """
[[known]]
rule = "murmur2"
pattern = "*"
reason = "x"
expires = 2099-01-01

[[known]]
rule = "sticky-distribution"
release = "3.0.0 to 4.4.0"
diagnosis = "as-3.0.0"
pattern = "x"
reason = "y"
issue = ""
expires = 2026-01-01
""",
    """# comment
[[known]]
rule = "producer-partition"
release = "since 3.0.0"
case = "0123456789abcdef"
message = "x*"
reason = "x"
expires = 2099-01-01
""",
]


_TABLES = ("beside", "compiler", "coverage", 'connector."4.0"', "codec-jars")
PINS = [
    "\n".join(f'[{name}]\n"a:b:1" = "{"0" * 64}"' for name in _TABLES)
    + f'\n[codecs]\n"3.0.0" = ["a:b:1"]\n[releases."4.4.0"]\n"a:b:2" = "{"1" * 64}"\nbroker = {{"a:c:2" = "{"2" * 64}"}}\n'
]
BROKERS = [f'[beside]\n"a:b:1" = "{"0" * 64}"\n[releases."4.4.0"]\n"a:b:2" = "{"1" * 64}"\n"a:c:2" = "{"1" * 64}"\n']
DRIVERS = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("ci/drivers/*/driver.toml"))[:6]]
COVERAGE = [
    path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("kit/kafka_conformance/rules/*/coverage.toml"), key=lambda path: path.stat().st_size)[
        :4
    ]
]

SUMMARIES = [
    path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("kit/kafka_conformance/rules/*/summary.toml"))[:4]
]


def written(path: Path, read: Callable[[Path], Any], refuses: tuple[type[Exception], ...]) -> Door:
    def write_and_read(data: bytes) -> None:
        path.write_bytes(data)
        read(path)

    return Door(write_and_read, refuses)


def known_door(folder: Path) -> Door:
    def read(path: Path) -> None:
        found = known_failures.read(path, TODAY)
        known_failures.updated(path, found, [])
        assert len(known_failures.read(path, TODAY).keeps()) == sum(found.keeps())

    return written(folder / "known.toml", read, (KitError,))


def pins_door(folder: Path) -> Door:
    def read(path: Path) -> None:
        found = pins.load(path)
        found.codec_jars("4.4.0")
        pins.pin("9.9.9", {"a:b:9": "9" * 64}, path, codecs={"a:c:9": "8" * 64})
        assert pins.load(path).releases == {**found.releases, "9.9.9": (pins.Jar("a:b:9", "9" * 64),)}

    return written(folder / "releases.toml", read, (JarError,))


def brokers_door(folder: Path) -> Door:
    return written(folder / "brokers.toml", lambda path: brokers.load_brokers(path).newest, (JarError,))


def driver_door(folder: Path) -> Door:
    return written(folder / "driver.toml", lambda path: named_driver.read_driver(path.parent), (BadInput,))


def coverage_door(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    monkeypatch.setattr(mirrored_code, "files", lambda _: OneFile(folder / "coverage.toml"))
    return written(folder / "coverage.toml", lambda _: mirrored_code.mirrored_code.__wrapped__("x"), (KitError,))


def summary_door(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    monkeypatch.setattr(summaries, "files", lambda _: OneFile(folder / "summary.toml"))
    return written(folder / "summary.toml", lambda _: summaries.rule_summary.__wrapped__("x"), (KitError,))


class OneFile:
    """Stands in for the packages of the rules: each has this file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def joinpath(self, *_: str) -> Path:
        return self.file


def texts(files: list[str]) -> st.SearchStrategy[bytes]:
    toml = mutated_toml(files)
    return st.one_of(toml, toml, toml, arbitrary_or_mutated([file.encode() for file in files]))


def test_fuzzed_known_failures_toml_raises_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    explore(plan, known_door(tmp_path), texts(KNOWN), 60, hostile_toml(KNOWN[:2]))


def test_fuzzed_jar_pins_file_raises_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    explore(plan, pins_door(tmp_path), texts(PINS), 60, hostile_toml(PINS[:2]))


def test_fuzzed_broker_pins_file_raises_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    explore(plan, brokers_door(tmp_path), texts(BROKERS), 50, hostile_toml(BROKERS[:2]))


def test_fuzzed_driver_toml_raises_documented_errors_only(plan: FuzzPlan, tmp_path: Path) -> None:
    explore(plan, driver_door(tmp_path), texts(DRIVERS), 50, hostile_toml(DRIVERS[:2]))


def test_fuzzed_coverage_toml_raises_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explore(plan, coverage_door(tmp_path, monkeypatch), texts(COVERAGE), 50, hostile_toml(COVERAGE[:2]))


def test_fuzzed_rule_summary_toml_raises_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explore(plan, summary_door(tmp_path, monkeypatch), texts(SUMMARIES), 50, hostile_toml(SUMMARIES[:2]))


def test_fuzzer_finds_bugs_planted_in_known_failure_driver_coverage_and_summary_toml_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, known_failures, "_span", lambda text: not text)
    plant(monkeypatch, named_driver, "quoted", lambda text: "Expected" in text)
    plant(monkeypatch, mirrored_code, "loads", lambda text: "nan" in text)
    plant(monkeypatch, summaries, "loads", lambda text: "nan" in text)
    doors = [
        (known_door, KNOWN), (driver_door, DRIVERS),
        (lambda folder: coverage_door(folder, monkeypatch), COVERAGE),
        (lambda folder: summary_door(folder, monkeypatch), SUMMARIES),
    ]  # fmt: skip
    for door, files in doors:
        with pytest.raises(BrokenPromise, match="planted"):
            explore(FuzzPlan(shrink=False), door(tmp_path), mutated_toml(files), 500)
