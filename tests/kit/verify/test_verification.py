"""The proof, with the reference in Java's place: what is counted, found, saved; and how the real Java is asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.names import reference_or_mutant
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answer, Answered, Failed, Unsupported
from kafka_conformance.core.sources import sources
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.partition.history import PartitionHistory
from kafka_conformance.rules.eras import newest_of_eras
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.verify.verification import RuleResult, VerificationPlan, Verifier
from kafka_reference import bulk
from kafka_reference.releases import parse_release

MURMUR2, FOR_KEY = RULES["murmur2"], RULES["partition-for-key"]


class Bulk:
    """Opens any release; its columns are answered by ``column``, its questions by the stand-in below."""

    jar_sha256, broker_sha256, pinned = "ab" * 32, "cd" * 32, True

    def __init__(self, column: Callable[[Any, Any], Any] = bulk.murmur2_columns) -> None:
        self.column = column
        self.closed: list[str] = []

    def open(self, _: str) -> Bulk:
        return self

    def open_broker(self, _: str) -> Bulk:
        return self

    def close_release(self, version: str) -> None:
        self.closed.append(version)

    def bulk(self, _: str, keys: Path, results: Path) -> int:
        content = keys.read_bytes()
        count = int.from_bytes(content[:8], "little")
        offsets = np.frombuffer(content, "<i4", count + 1, 16)
        self.column(offsets, np.frombuffer(content, np.uint8, offset=16 + 4 * (count + 1))).astype("<i4").tofile(
            results
        )
        return 1


@pytest.fixture(autouse=True)
def java_is_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kafka_conformance.verify.verification.JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.chdir(tmp_path)


def judged(
    rules: list[Any], actual: Answerer | None = None, *, versions: str = "4.4.0", longest: int = -1,
    examples: int = 100, oracle: Bulk | None = None,
) -> list[RuleResult]:  # fmt: skip
    plan = VerificationPlan(rules, list(map(parse_release, versions.split())), examples, 7, longest)
    verifier = Verifier(oracle or Bulk(), actual or ReferenceAnswerer(), plan)  # type: ignore[arg-type]
    return list(verifier.results(plan.tasks(), Steps("", 1)))


def saved() -> list[dict[str, Any]]:
    folder = Path(".kafka-conformance/failures")
    return (
        [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*"))] if folder.exists() else []
    )


def test_verification_compares_rules_in_all_releases_that_have_the_rule() -> None:
    oracle = Bulk()
    results = judged([MURMUR2, FOR_KEY], versions="0.9.0.1 3.9.2 4.4.0", oracle=oracle)
    assert [(str(each.release), each.tally.rule.slug) for each in results] == [
        ("3.9.2", "murmur2"), ("3.9.2", "partition-for-key"), ("4.4.0", "murmur2"), ("4.4.0", "partition-for-key"),
    ]  # fmt: skip
    assert [each.tally.total for each in results] == [1374 + 100, 2484 + 100] * 2
    assert all(
        each.tally.agreed == each.tally.total and not each.findings and not each.tally.missing_labels
        for each in results
    )
    assert oracle.closed == ["3.9.2", "4.4.0"], "a release without a rule is not opened"
    assert saved() == []


def test_verification_of_a_mutant_counts_shrinks_and_saves_differences() -> None:
    (result,) = judged([FOR_KEY], reference_or_mutant("mutant:sign-abs"), examples=400)
    tally = result.tally
    assert 0 < len(tally.differences) == tally.total - tally.agreed
    found = result.findings[0]
    assert found.names == ("java 4.4.0", "mutant:sign-abs 4.4.0")
    (failure,) = [each for each in saved() if each["id"] == found.id]
    assert failure["question"] == {
        "key": found.difference.question.key,
        "partitions": found.difference.question.partitions,
    }
    assert failure["expected"]["answer"] == found.difference.expected != failure["actual"]["answer"]
    assert (failure["found"]["seed"], failure["found"]["examples"], failure["found"]["jar_sha256"]) == (
        7,
        400,
        "ab" * 32,
    )


def test_verification_with_equal_seed_finds_equal_differences() -> None:
    first, again = (
        judged([MURMUR2], reference_or_mutant("mutant:signed-tail"), examples=200)[0].findings for _ in range(2)
    )
    assert first == again
    assert first[0].difference.question.key == "80"
    assert (first[0].difference.expected, first[0].difference.actual["hash"] != 857690492) == (
        {"hash": 857690492},
        True,
    )


def test_verification_shrinks_findings_to_the_two_wrong_keys_and_saves_each_finding() -> None:
    def wrong(question: Any, at: Any) -> Answer:
        if question.key is None:
            return {"hash": 0}
        return {"hash": 0} if question.key == "" else MURMUR2.ask(question, at)

    (result,) = judged([MURMUR2], ReferenceAnswerer("wrong", wrong), examples=300)
    keys = [found.difference.question.key for found in result.findings]
    assert sorted(keys, key=str) == ["", None]
    assert any(found.difference.expected == {"raises": "NullPointerException"} for found in result.findings)
    assert len(saved()) == 2


def test_failing_implementation_counts_as_errors_without_findings() -> None:
    def broken(question: Any, at: Any) -> Answer:
        raise RuntimeError("broke")

    (result,) = judged([MURMUR2], ReferenceAnswerer("broken", broken))
    assert (result.tally.agreed, len(result.tally.errors), result.findings) == (0, result.tally.total, ())


@pytest.mark.parametrize(("versions", "runs"), [("4.4.0", 2), ("3.9.2", 3)])
def test_questions_of_newest_release_are_labelled_without_an_extra_run(
    versions: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run stands in for Java's, one answers; another release has another run that labels."""
    made: list[Any] = []
    create = PartitionHistory.__init__
    monkeypatch.setattr(PartitionHistory, "__init__", lambda *given: (made.append(given[1]), create(*given))[1])
    (result,) = judged([RULES["isr"]], versions=versions, examples=0)
    assert result.tally.agreed == result.tally.total
    assert len(made) == runs * result.tally.total
    every = sources(RULES["isr"], 0, 7)
    assert result.tally.labels == sum((source.labels for source in every), start=Counter())


def test_verification_counts_exhaustive_short_keys_in_addition_to_questions() -> None:
    (result,) = judged([MURMUR2], longest=1)
    assert result.tally.asked["every key of up to 1 bytes"] == 257
    assert result.tally.agreed == result.tally.total == 1374 + 100 + 257


def test_verification_of_a_mutant_skips_exhaustive_short_keys() -> None:
    (result,) = judged([MURMUR2], reference_or_mutant("mutant:unsigned-hash"), longest=1)
    assert "every key of up to 1 bytes" not in result.tally.asked


def test_keys_whose_bulk_hashes_differ_are_counted_and_reported() -> None:
    """Java in bulk says one thing for 0x61 to 0x7a, one by one another: no answer is left out of the count."""

    def column(offsets: Any, data: Any) -> Any:
        hashes = bulk.murmur2_columns(offsets, data).copy()
        if len(hashes) == 256:
            hashes[0x61:0x7B] ^= 1
        return hashes

    (result,) = judged([MURMUR2], longest=1, oracle=Bulk(column))
    assert result.tally.total - result.tally.agreed == 26
    assert [found.count for found in result.findings] == [26]
    found = result.findings[0]
    assert found.difference.question.key == "61"
    assert found.difference.expected == {"hash": -1563381124}
    assert "bulk" in found.difference.actual


class Lines:
    """An oracle that answers any batch with the lines it was given."""

    def __init__(self, *lines: dict[str, Any]) -> None:
        self.lines, self.asked = lines, b""

    def open(self, _: str) -> Lines:
        return self

    def answer(self, asked: bytes) -> list[dict[str, Any]]:
        self.asked = asked
        return list(self.lines)


def by_java(oracle: Lines | None, *keys: str, at: str = "4.4.0") -> list[Any]:
    return JavaAnswerer(oracle).answer(MURMUR2, parse_release(at), list(map(Murmur2Question, keys)))  # type: ignore[arg-type]


def test_java_answer_lines_become_answered_unsupported_or_failed_outcomes() -> None:
    lines = Lines(
        {"id": "0", "answer": {"hash": 2}},
        {"id": "1", "unsupported": "no"},
        {"id": "2", "failed": "broke"},
        {"id": "3"},
    )
    assert by_java(lines, "00", "01", "02", "03") == [
        Answered({"hash": 2}), Unsupported("no"), Failed("broke"), Failed("no answer"),
    ]  # fmt: skip
    assert lines.asked.splitlines()[1] == b'{"id":"1","rule":"murmur2","question":{"key":"01"}}'


@pytest.mark.parametrize("ids", [[], ["0"], ["1", "0"], ["0", "1", "2"]])
def test_java_answers_with_missing_extra_or_misordered_ids_raise_oracle_fault(ids: list[str]) -> None:
    with pytest.raises(OracleFault, match=f"gave {len(ids)} answers to 2 questions, or in another order"):
        by_java(Lines(*({"id": each, "answer": {"hash": 2}} for each in ids)), "00", "01")


def test_java_is_not_started_without_questions_or_rule_in_release() -> None:
    assert by_java(None) == []
    assert by_java(None, "00", at="0.9.0.1") == [Unsupported("release 0.9.0.1 has no murmur2")]


def test_verification_by_eras_selects_the_newest_release_of_each_range_of_equal_behaviour() -> None:
    rules = [MURMUR2, RULES["round-robin-partitioner"]]
    standing = {rule.slug: newest_of_eras(rule) for rule in rules}
    releases = sorted({release for found in standing.values() for release in found} | {parse_release("2.8.2")})
    tasks = VerificationPlan(rules, releases, 1, 7, -1, eras=True).tasks()
    assert {rule.slug: [release for each, release in tasks if each is rule] for rule in rules} == standing
    assert len(standing["murmur2"]) < len(standing["round-robin-partitioner"])
    assert len(tasks) < len(VerificationPlan(rules, releases, 1, 7, -1).tasks())
