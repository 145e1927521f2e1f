"""What a sweep is made of, and what its exit code is: without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.cli.commands import sweep as command
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import SentRelease
from kafka_conformance.spark.sweep.key_spaces import every_key
from kafka_conformance.spark.sweep.keys import Keys
from kafka_conformance.spark.sweep.result import KeptDifference
from kafka_conformance.spark.sweep.run import Part, PartResult, SweepPlan, chunks_of
from kafka_conformance.spark.sweep.scripts import Scripts
from kafka_reference import parse_release

NEWEST = parse_release("4.4.0")
PART = Part(RULES["murmur2"], NEWEST, Keys(every_key(4)))
SENT = SentRelease(NEWEST, "abc", True, "{}")


def test_sweep_chunks_cover_every_block_of_a_part_once() -> None:
    parts = [PART, Part(RULES["sequence-increment"], NEWEST, Scripts(251, 1))]
    chunks = chunks_of(parts)
    assert [first for part, first, _ in chunks if part == 0] == list(range(0, 65_537, 4_096))
    assert chunks[-1] == (1, 0, 2)
    assert [end for part, _, end in chunks if part == 0][-1] == 65_537


@pytest.mark.parametrize(("counts", "code"), [
    ({"asked": 5}, 0), ({"asked": 5, "differing": 1}, 1), ({"asked": 5, "errored": 1}, 2), ({"asked": 0}, 2),
    ({"asked": 5, "unsupported": 5}, 2), ({"asked": 5, "errored": 1, "differing": 1}, 1),
])  # fmt: skip
def test_sweep_exits_with_1_for_differences_else_2_for_errors_or_an_unanswered_part(
    counts: dict[str, int], code: int
) -> None:
    assert command._exit_code([PartResult(PART, SENT, asked=1), PartResult(PART, SENT, **counts)]) == code


def parts(rules: str = "", answerer: str = "reference", **more: Any) -> list[tuple[str, str, str]]:
    meant = command._rules(rules.split(",") if rules else [], answerer)
    asked = {"every": 3, "keys": 100, "longest": 64, "scripts": 10, "seed": 1, **more}
    return [(part.rule.slug, str(part.release), part.work.name)
            for part in command._parts(meant, [parse_release("0.10.0.1"), NEWEST], **asked)]  # fmt: skip


def test_sweep_parts_combine_rules_with_releases_and_key_spaces_or_scripts_but_omit_delivery() -> None:
    assert parts("murmur2", keys=0) == [("murmur2", at, "every key of up to 3 bytes") for at in ("0.10.0.1", "4.4.0")]
    assert [name for _, at, name in parts("partition-for-key") if at == "4.4.0"] == [
        "every key of up to 2 bytes × partition counts 1-1024",
        "random keys of up to 64 bytes × partition counts 1-1024",
    ]
    assert parts("broker-producer-state,delivery") == [("broker-producer-state", "4.4.0", "drawn questions")]
    assert parts(every=-1, keys=0, scripts=0) == []
    assert {rule for rule, at, _ in parts() if at == "4.4.0"} >= {"murmur2", "record-accumulator", "producer-sequences"}
    assert {rule for rule, _, _ in parts(answerer="mutant:sign-kept")} == {"partition-for-key"}


@pytest.mark.parametrize(
    ("rules", "answerer"), [("", "nobody"), ("", "mutant:x"), ("murmur2", "mutant:sign-kept"), ("x", "reference")]
)
def test_sweep_of_unknown_rule_implementation_or_mutant_of_another_rule_raises_bad_input(
    rules: str, answerer: str
) -> None:
    with pytest.raises(BadInput):
        parts(rules, answerer)


def test_sweep_folder_name_depends_on_seed_implementation_kills_and_parts_of_the_plan() -> None:
    plan = SweepPlan([PART], "reference", 7)
    assert command._default_folder(plan) == command._default_folder(plan)
    assert Path(command._default_folder(plan)).name.startswith("7-")
    others = replace(plan, seed=8), replace(plan, actual="mutant:x"), replace(plan, kills=True), replace(plan, parts=[])
    assert len({command._default_folder(each) for each in (plan, *others)}) == 5


def test_sweep_plan_document_records_rule_release_jar_digest_and_seed() -> None:
    written = SweepPlan([PART], "reference", 7).document([SENT])
    assert written["parts"] == [{"rule": "murmur2", "release": "4.4.0", "jar_sha256": "abc", **PART.work.plan()}]
    assert written["seed"] == 7


def test_sweep_saves_the_shortest_key_that_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = [
        KeptDifference('{"key":"0000"}', '{"hash":1}', '{"hash":2}'),
        KeptDifference('{"key":"01"}', '{"hash":3}', '{"hash":4}'),
    ]
    swept = PartResult(PART, SENT, asked=9, differing=5, questions=kept)
    saved = command._saved([PartResult(PART, SENT, asked=1), swept], SweepPlan([PART, PART], "mutant:x", 1))
    assert list(saved) == [1]
    (file,) = Path(".kafka-conformance/failures").glob("*.json")
    assert '"key": "01"' in file.read_text()
    assert file.stem == saved[1]
