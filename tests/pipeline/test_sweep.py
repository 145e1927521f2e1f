"""Sweeps on Spark, with the real Java on its executors: what they claim, and that they can fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.errors import KitError, OracleFault
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import SentRelease, register_java, send
from kafka_conformance.spark.session import Spark, open_spark
from kafka_conformance.spark.sweep import run as sweeping
from kafka_conformance.spark.sweep.key_spaces import every_key, random_keys
from kafka_conformance.spark.sweep.keys import ClaimKeys, CompareKeys, Keys
from kafka_conformance.spark.sweep.run import Part, PartResult, SweepPlan
from kafka_conformance.spark.sweep.scripts import Scripts
from kafka_jars.pins import load
from kafka_reference import parse_release

# pyspark leaves sockets to the garbage collector.
pytestmark = [pytest.mark.jvm, pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.timeout(600)]
LIMIT_S = 300


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    with open_spark("local[2]") as opened:
        yield opened


def swept(
    spark: Spark, folder: Path, *parts: tuple[str, str, Any], answerer: str = "reference", **more: Any
) -> list[PartResult]:
    plan = SweepPlan([Part(RULES[rule], parse_release(at), work) for rule, at, work in parts], answerer, 1, **more)
    return sweeping.sweep(spark, plan, load(), str(folder), Steps("", 1))


def counts(results: list[PartResult]) -> list[tuple[int, int]]:
    return [(each.asked, each.matching) for each in results]


def test_sweep_executor_returns_java_answers_only_if_digests_differ_or_are_missing(spark: Spark) -> None:
    """What Python claims, Java compares with its own: of one answer that differs, all of them are reported."""
    from pyspark.sql import functions as f

    register_java(spark)
    space, rule = every_key(1), RULES["murmur2"]
    sent = send(spark, rule, parse_release("4.4.0"), load())
    right, _ = ClaimKeys(space, rule.slug, True).claim(0)
    assert right is not None
    claims = [right, bytes([right[0] ^ 1]) + right[1:], right[:-8] + bytes(8), None]
    rows = spark.session.createDataFrame(list(enumerate(claims)), "place long, claim binary").orderBy("place")
    arguments = map(f.lit, (sent.description, rule.slug, space.as_json()))
    call = f.call_function("kafkaoracle_key_block", *arguments, f.lit(0).cast("long"), "claim")
    cells = [bytes(row[0]) for row in rows.select(call).collect()]
    owner = f"4.4.0 {sent.sha256}".encode()
    assert [cell[:32] for cell in cells] == [right] * 4
    assert [len(cell) for cell in cells] == [40 + answers * 4 + len(owner) for answers in (0, 257, 257, 257)]
    comparison = CompareKeys(0, rule.slug, "4.4.0", sent.sha256, "reference", 9, False, space)
    assert [comparison.compare(0, claims[at], cells[at], 9).differing for at in (0, 3)] == [0, 0]
    with pytest.raises(OracleFault, match="their claims differ"):
        comparison.compare(0, claims[1], cells[1], 9)


def test_sweeps_of_the_reference_against_real_java_report_no_difference(spark: Spark, tmp_path: Path) -> None:
    results = swept(
        spark, tmp_path / "run",
        ("murmur2", "4.4.0", Keys(every_key(2))),
        ("murmur2", "0.10.0.1", Keys(random_keys(5_000, 1, 4_096))),
        ("partition-for-key", "4.4.0", Keys(every_key(1, 1, 1_024))),
        ("partition-for-key", "2.8.2", Keys(random_keys(5_000, 1, 64, 1, 1_024))),
        ("round-robin-partitioner", "4.4.0", Scripts(300, 1)),
        ("broker-producer-state", "3.9.1", Scripts(300, 1)),
        ("uniform-sticky-partitioner", "2.8.2", Scripts(300, 1)),
    )  # fmt: skip
    assert [each.asked for each in results] == [65_793, 5_000, 257 * 1_024, 5_000, 300, 300, 300]
    assert [each.differing + each.errored for each in results] == [0] * 7
    assert min(each.matching for each in results) >= 200
    assert [len(each.sent.sha256) for each in results] == [64] * 7


@pytest.mark.parametrize(("mutant", "rule", "work", "least"), [
    ("one-bit", "murmur2", Keys(every_key(1)), 257),
    ("signed-tail", "murmur2", Keys(random_keys(2_000, 1, 64)), 300),
    ("sign-kept", "partition-for-key", Keys(every_key(1, 3, 2)), 200),
])  # fmt: skip
def test_sweep_on_spark_detects_a_mutant_of_murmur2_or_partition_for_key(
    spark: Spark, tmp_path: Path, mutant: str, rule: str, work: Any, least: int
) -> None:
    (result,) = swept(spark, tmp_path / "run", (rule, "4.4.0", work), answerer=f"mutant:{mutant}")
    assert result.asked - result.matching == result.differing >= least
    assert len(result.questions) == min(1_000, result.differing)
    for kept in result.questions[:20]:  # they can be asked again, and Java was right
        question = json.loads(kept.question)
        typed = RULES[rule].question(**question)
        outcome = outcome_of(RULES[rule].ask, typed, parse_release("4.4.0"))
        assert isinstance(outcome, Answered)
        assert outcome.answer == json.loads(kept.expected) != json.loads(kept.actual)


def test_sweep_of_generated_scripts_detects_a_mutant_and_names_the_mutant(spark: Spark, tmp_path: Path) -> None:
    from kafka_conformance.rules.mutants import written_mutants

    rule = RULES["round-robin-partitioner"]
    mutant = next(mutant for mutant in written_mutants(rule) if str(mutant.release) == "4.4.0")
    part = ("round-robin-partitioner", "4.4.0", Scripts(500, 1))
    (result,) = swept(spark, tmp_path / "run", part, answerer=f"mutant:{mutant.slug}", kills=True)
    assert result.differing > 0
    assert len(result.questions) == result.differing
    rows = [row for file in sorted((tmp_path / "run").rglob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    assert {row["block"] for row in rows} == {0, 1}
    assert len({row["seen"] for row in rows}) == 2
    assert mutant.slug in {kill["mutant"] for row in rows for kill in row["kills"]}


def test_sweep_fails_if_the_executor_loads_another_release(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*given: Any) -> SentRelease:
        sent = send(*given)
        return replace(sent, description=sent.description.replace('"release":"4.4.0"', '"release":"4.3.0"'))

    monkeypatch.setattr(sweeping, "send", wrong)
    with pytest.raises(
        KitError, match=r"^asked for release 4.3.0 and the jar that was loaded on an executor says it is 4.4.0"
    ):
        swept(spark, tmp_path / "run", ("murmur2", "4.4.0", Keys(every_key(1))))


def test_sweep_fails_if_the_executor_jar_has_another_sha256(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is changed after it was sent, Spark notices itself; one that was another from the beginning, we do."""

    def other(*given: Any) -> SentRelease:
        sent = send(*given)
        return replace(sent, description=sent.description.replace(sent.sha256, "0" * 64))

    monkeypatch.setattr(sweeping, "send", other)
    with pytest.raises(
        KitError, match=r"^an executor has \S*kafka-clients_3.8.0.jar with sha256 [0-9a-f]{64} and not 0{64}"
    ):
        swept(spark, tmp_path / "run", ("murmur2", "3.8.0", Keys(every_key(1))))


def test_sweep_fails_if_blocks_of_keys_are_repeated_or_missing(spark: Spark, tmp_path: Path) -> None:
    class Repeating(Keys):
        def frame(self, spark: Spark, sent: SentRelease, asking: Any, first: int, end: int) -> Any:
            """The first block over and over, under the numbers of the others."""
            rows = super().frame(spark, sent, asking, first, first + 1).drop("block")
            return rows.crossJoin(spark.session.range(first, end).withColumnRenamed("id", "block"))

    with pytest.raises(KitError, match="only 1 of 5 blocks asked different questions"):
        swept(spark, tmp_path / "run", ("murmur2", "4.4.0", Repeating(random_keys(5_000, 1, 64))))

    class Fewer(Keys):
        def frame(self, spark: Spark, sent: SentRelease, asking: Any, first: int, end: int) -> Any:
            return super().frame(spark, sent, asking, first, end - 1)

    with pytest.raises(KitError, match="has 5 blocks, and 4 were asked"):
        swept(spark, tmp_path / "other", ("murmur2", "4.4.0", Fewer(random_keys(5_000, 1, 64))))


def command(folder: Path, *more: str) -> list[str]:
    asked = ["--rules", "murmur2,round-robin-partitioner", "--kafka", "4.4.0,2.8.2", "--every", "2", "--keys", "3000"]
    return [sys.executable, "-m", "kafka_conformance", "sweep", *asked, "--scripts", "500", "--seed", "5",
            "--master", "local[2]", "--folder", str(folder), *more]  # fmt: skip


@pytest.mark.long
def test_terminated_sweep_resumes_to_the_result_of_an_undisturbed_sweep(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    undisturbed = subprocess.run(command(whole, "--json"), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert undisturbed.returncode == 0, undisturbed.stderr
    running = subprocess.Popen(command(cut), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path)
    limit = time.monotonic() + LIMIT_S
    while not (cut / "chunks" / "chunk-000001" / "_SUCCESS").exists():
        assert running.poll() is None and time.monotonic() < limit, running.communicate()  # noqa: PT018
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGTERM)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2, errors
    assert not (cut / "chunks" / "chunk-000005" / "_SUCCESS").exists(), (
        "it was done before it was ended: nothing was tried"
    )
    resumed = subprocess.run(command(cut, "--json"), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert document_of(resumed.stdout) == document_of(undisturbed.stdout)
    assert rows_of(cut) == rows_of(whole)
    assert len(rows_of(whole)) == 2 * (1 + 3 + 2)
    assert sum(result["asked_now"] for result in json.loads(resumed.stdout)["results"]) < 2 * (65_793 + 3_000 + 500)


def document_of(out: str) -> dict[str, Any]:
    document = json.loads(out)
    fixed = [{name: value for name, value in result.items() if name not in ("seconds", "asked_now")}
             for result in document["results"]]  # fmt: skip
    return {**document, "folder": "", "results": fixed}


def rows_of(folder: Path) -> list[Any]:
    found = [
        (file.parent.name, row) for file in folder.glob("chunks/*/*.parquet") for row in pq.read_table(file).to_pylist()
    ]
    return sorted(found, key=lambda each: (each[0], each[1]["part"], each[1]["block"]))


@pytest.mark.parametrize(("words", "code", "message"), [
    (["--answerer", "mutant:one-bit", "--every", "1", "--keys", "0"], 1, "257 answers not Java's"),
    (["--answerer", "mutant:nobody"], 2, "unknown mutant 'nobody'"),
    (["--answerer", "mutant:one-bit", "--rules", "partition-for-key"], 2, "not among the rules"),
    (["--every", "-1", "--keys", "0", "--scripts", "0"], 2, "nothing to ask"),
])  # fmt: skip
def test_sweep_command_exits_1_for_differences_and_2_for_bad_options(
    tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    asked = [sys.executable, "-m", "kafka_conformance", "sweep", *words]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stdout + done.stderr
    if code == 1:
        (failure,) = (tmp_path / ".kafka-conformance" / "failures").glob("*.json")
        assert json.loads(failure.read_text())["question"] == {"key": ""}
