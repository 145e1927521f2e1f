"""``coverage``, with a meter that asks no Java."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.commands import coverage
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source
from kafka_conformance.verify.coverage import record as records
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record
from kafka_jars.pins import Pins
from kafka_reference.releases import Release

NAME = "org/apache/kafka/common/utils/Utils"
MURMUR2 = Method("Utils.murmur2(byte[])", Ratio(23, 24), Ratio(5, 6), (9,), ((8, 1, 2),))


class Meter:
    """Finds the same of every rule."""

    method = MURMUR2

    def measure(self, rule: Rule, release: Release, sources: Sequence[Source], seed: int, examples: int) -> CoverageRow:
        asked = {source.name: len(source.questions) for source in sources}
        generated = asked.pop(HYPOTHESIS)
        return CoverageRow(
            rule.slug, str(release), "ab" * 32, "cd", seed, examples, 3, asked, generated, {NAME: (self.method,)}
        )


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    found = Meter()

    @contextmanager
    def opened(_: Pins) -> Iterator[Meter]:
        yield found

    monkeypatch.setattr(coverage, "open_meter", opened)
    return found


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["coverage", *words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.stdout


@pytest.mark.usefixtures("meter")
def test_coverage_prints_covered_java_lines_branches_and_the_seed() -> None:
    code, out = run("--rules", "murmur2", "--seed", "7", "--examples", "10", "-v")
    assert code == 0
    assert "murmur2  4.4.0    5 of 6 (83 %)  23 of 24 (95 %)" in out
    assert (
        "murmur2 in 4.4.0: run in part: Utils.murmur2(byte[]): lines 23 of 24 (95 %), branches 5 of 6 (83 %)\n" in out
    )
    assert "seed 7" in out


@pytest.mark.usefixtures("meter")
def test_coverage_defaults_to_the_newest_release_that_has_the_rule() -> None:
    _, out = run("--rules", "murmur2,uniform-sticky-partitioner", "--seed", "7", "--examples", "1", "--json")
    assert [(row["rule"], row["release"]) for row in json.loads(out)["rows"]] == [
        ("murmur2", "4.4.0"), ("uniform-sticky-partitioner", "3.9.2"),
    ]  # fmt: skip


@pytest.mark.usefixtures("meter")
def test_coverage_record_replaces_only_the_measured_rule_and_release(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    run("--rules", "murmur2", "--kafka", "2.8.2,4.4.0", "--seed", "7", "--examples", "1", "--record", str(file))
    run(
        "--rules",
        "murmur2",
        "--seed",
        "8",
        "--examples",
        "1",
        "--record",
        str(file),
        "--write",
        str(tmp_path / "page.md"),
    )
    assert [(row.release, row.seed) for row in records.read(file).rows] == [("2.8.2", 7), ("4.4.0", 8)]
    assert (tmp_path / "page.md").read_text(encoding="utf-8").count("## murmur2") == 1


def test_coverage_check_exits_1_if_fewer_java_lines_run_than_recorded(
    meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = CoverageRow("murmur2", "4.4.0", "ab" * 32, "cd", 7, 4, 3, {}, 4, {NAME: (MURMUR2,)})
    monkeypatch.setattr(records, "shipped", lambda: Record((recorded,)))
    code, out = run("--rules", "murmur2", "--check", "--json")
    made = json.loads(out)
    assert (code, made["faults"], made["rows"][0]["seed"], made["rows"][0]["generated"]) == (0, [], 7, 4)
    meter.method = Method(MURMUR2.name, Ratio(22, 24), Ratio(5, 6))
    code, out = run("--rules", "murmur2", "--check")
    assert code == 1
    assert "murmur2 in 4.4.0: Utils.murmur2(byte[]) runs fewer lines or branches than recorded" in out
    assert run("--rules", "murmur2", "--examples", "1")[0] == 0, "without --check"


def test_shipped_coverage_is_printed_without_starting_java() -> None:
    code, out = run("--shipped", "--rules", "murmur2,delivery")
    assert code == 0
    assert "murmur2   4.4.0    6 of 6 (100 %)" in out
    assert "delivery  4.4.0" in out
    assert json.loads(run("--shipped", "--rules", "murmur2", "--json")[1])["rows"][0]["rule"] == "murmur2"


def test_shipped_coverage_names_rules_whose_code_changed_after_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = CoverageRow("murmur2", "4.4.0", "ab" * 32, "cd", 7, 4, 3, {}, 4, {NAME: (MURMUR2,)})
    monkeypatch.setattr(records, "shipped", lambda: Record((recorded,)))
    assert "measured before the code of murmur2 changed\n" in run("--shipped")[1]


def test_coverage_of_rule_without_coverage_toml_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "mirrored_code", lambda _: None)
    with pytest.raises(BadInput, match=r"murmur2 has no coverage\.toml, .*: add it to its package"):
        run("--rules", "murmur2")


@pytest.mark.usefixtures("meter")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rules", "murmur"], "unknown rule 'murmur'"),
        (["--rules", "uniform-sticky-partitioner", "--kafka", "4.4.0"], "none of these rules exists in these releases"),
        (["--kafka", "4.9"], "4.9"),
        (["--shipped", "--record", "x.json"], "--shipped measures nothing that --record could write"),
    ],
)
def test_coverage_with_unknown_rule_or_release_absent_rule_or_shipped_with_record_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)  # A folder that may be written to, as that of --record has to be.
    with pytest.raises(BadInput, match=message):
        run(*words)
