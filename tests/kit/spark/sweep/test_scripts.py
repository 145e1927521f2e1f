"""Scripts drawn and judged, without Spark or Java: Java's lines are made of the reference's answers."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_conformance.spark.sweep.scripts import CompareScripts, Draw, Scripts, seed_of
from kafka_reference import parse_release

RULE = RULES["round-robin-partitioner"]
DRAW = Draw(RULE.slug, 1, 260)


def said(
    lines: bytes, answerer: str = "4.4.0 abc", release_told: str = "4.4.0", wrong: dict[int, Any] | None = None
) -> bytes:
    """What Java would say."""
    questions = [msgspec.convert(msgspec.json.decode(line)["question"], RULE.question) for line in lines.splitlines()]
    outcomes = ReferenceAnswerer().answer(RULE, parse_release("4.4.0"), questions)
    reported: list[Any] = [{"release": release_told, "jar": "x.jar"}]
    for number, outcome in enumerate(outcomes):
        assert isinstance(outcome, Answered)
        reported.append({"id": str(number), **((wrong or {}).get(number) or {"answer": outcome.answer})})
    return answerer.encode() + b"\n" + b"\n".join(map(msgspec.json.encode, reported)) + b"\n"


def judge(**more: Any) -> CompareScripts:
    return CompareScripts(**{"part": 0, "rule_slug": RULE.slug, "version": "4.4.0", "sha256": "abc", "actual": "reference",
                           "wanted": 1000, "kills": False, **more})  # fmt: skip


def test_random_script_block_is_reproducible_and_differs_by_seed_and_block() -> None:
    assert DRAW.lines(0) == DRAW.lines(0) != Draw(RULE.slug, 2, 260).lines(0)
    assert [len(DRAW.lines(block).splitlines()) for block in (0, 1)] == [250, 10]
    assert len({seed_of(seed, rule, block) for seed in (1, 2) for rule in ("a", "b") for block in range(50)}) == 200
    first, second = (set(Draw(RULE.slug, 1, 500).lines(block).splitlines()) for block in (0, 1))
    drawn = {msgspec.json.encode(msgspec.json.decode(line)["question"]) for line in first | second}
    assert len(drawn) > 400


def test_script_block_with_too_few_questions_raises_oracle_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_conformance.spark.sweep.scripts.collect", lambda *_: [])
    with pytest.raises(OracleFault, match="0 questions where 250 were wanted"):
        DRAW.lines(0)


def test_scripts_with_equal_answers_of_java_and_reference_give_a_difference_count_of_0() -> None:
    lines = DRAW.lines(1)
    block = judge().compare(1, lines, said(lines), 5)
    assert (block.asked, block.differing, block.errored, block.unsupported, len(block.seen)) == (10, 0, 0, 0, 16)


def test_script_block_counts_differing_java_answers_and_failed_or_unsupported_as_errors() -> None:
    lines = DRAW.lines(1)
    wrong = {0: {"answer": {"steps": []}}, 3: {"failed": "broke"}, 4: {"unsupported": "no"}, 9: {"answer": {"x": 1}}}
    block = judge().compare(1, lines, said(lines, wrong=wrong), 1)
    assert (block.asked, block.differing, block.errored, block.unsupported) == (10, 2, 2, 0)
    assert [each.expected for each in block.questions] == ['{"steps":[]}']
    assert block.errors[0].startswith("java 4.4.0: broke: {")
    question = msgspec.json.decode(block.questions[0].question, type=RULE.question)
    assert RULE.ask(question, parse_release("4.4.0")) == msgspec.json.decode(block.questions[0].actual)


@pytest.mark.parametrize("changed", [{"answerer": "4.3.0 abc"}, {"answerer": "4.4.0 abd"}, {"release_told": "4.3.0"}])
def test_block_of_scripts_answered_by_another_release_or_jar_raises_wrong_release(changed: dict[str, str]) -> None:
    lines = DRAW.lines(1)
    with pytest.raises(WrongRelease):
        judge().compare(1, lines, said(lines, **changed), 1)


def test_script_answers_in_another_order_raise_oracle_fault() -> None:
    lines = DRAW.lines(1)
    reported = said(lines).splitlines()
    reported[2], reported[3] = reported[3], reported[2]
    with pytest.raises(OracleFault, match="in another order"):
        judge().compare(1, lines, b"\n".join(reported), 1)


def test_mutant_is_detected_in_script_answers_over_arrow_batches() -> None:
    (drawn,) = DRAW([pa.RecordBatch.from_arrays([pa.array([1])], ["id"])])
    lines = drawn.column(1)[0].as_py()
    answered = pa.array([said(lines)], pa.binary())
    batch = pa.RecordBatch.from_arrays([*drawn.columns, answered], ["id", "lines", "said"])
    (row,) = next(iter(judge(actual="mutant:" + mutant(), kills=True)([batch]))).to_pylist()
    assert row["differing"] == len(row["questions"]) > 0
    assert mutant() in {kill["mutant"] for kill in row["kills"]}


def mutant() -> str:
    from kafka_conformance.rules.mutants import MUTANTS

    return next(each.slug for each in MUTANTS if each.rule == RULE.slug and str(each.release) == "4.4.0")


def test_sweep_part_of_scripts_states_blocks_and_questions() -> None:
    part = Scripts(501, 7)
    assert (part.blocks, part.asked, part.drawn, part.per_batch) == (3, 501, True, 1)
