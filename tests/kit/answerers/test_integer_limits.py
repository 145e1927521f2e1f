"""No question runs without end: every integer of every rule at its limits, asked in a child with a limit of CPU time."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.store import frozen
from kafka_conformance.core.protocol import Answered, Failed
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

# Of each rule, this many of its frozen cases, spread over all of them.
_CASES = 5
_RELEASES = tuple(map(parse_release, ("4.4.0", "3.3.0", "3.2.3", "2.3.1")))
# Processor time of one question.
_LIMIT_S = 90
# Takes 9 s, three times as long as all others together: asked in the exhaustive run alone. Ten questions with 10,000
# partitions for this rule remain.
_SLOW = ("sticky-assignor", {"t": 2, "u": 10_000})
SENT = {"config": {"batch_size": 2**30}, "leaders": [0, 0], "draws": [7] * 9, "steps": [{"op": "send"}]}
Spot = tuple[str | int, ...]


def limits_within(kind: inspect.Type, value: Any, spot: Spot = ()) -> Iterator[tuple[Spot, int]]:
    """Yield each place of an integer in a question, with its least and its greatest number; 64 bits where there is none."""
    match kind:
        case inspect.Metadata(type=inner):
            yield from limits_within(inner, value, spot)
        case inspect.UnionType(types=types):
            for one in types:
                yield from limits_within(one, value, spot)
        case inspect.IntType(ge=least, le=most) if value is None or isinstance(value, int):
            yield spot, -(2**63) if least is None else least
            yield spot, 2**63 - 1 if most is None else most
        case _:
            for inner, name, one in parts_of(kind, value):
                yield from limits_within(inner, one, (*spot, name))


def parts_of(kind: inspect.Type, value: Any) -> Iterator[tuple[inspect.Type, str | int, Any]]:
    """Yield the type, the name or place, and the value of each part of a struct, a mapping or an array."""
    match kind:
        case inspect.StructType(fields=fields, tag=tag, tag_field=tag_field) if isinstance(value, dict):
            if tag is None or value.get(tag_field) == tag:
                yield from ((each.type, each.encode_name, value.get(each.encode_name)) for each in fields)
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            yield from ((inner, name, one) for name, one in value.items())
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner) if isinstance(value, list):
            yield from ((inner, place, one) for place, one in enumerate(value))


def put(value: Any, spot: Spot, number: int) -> Any:
    """Return ``value`` with ``number`` at ``spot``."""
    if not spot:
        return number
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    inner = changed.get(spot[0]) if isinstance(changed, dict) else changed[spot[0]]
    changed[spot[0]] = put(inner, spot[1:], number)
    return changed


def _frozen_questions(rule: Rule) -> list[dict[str, Any]]:
    found = frozen(rule)
    assert found is not None
    return [msgspec.json.decode(case.question) for case in found.cases]


def questions_at_limits(rule: Rule) -> Iterator[tuple[Spot, int, Any]]:
    """Yield frozen cases with one integer at one of its limits, as far as that is a question."""
    kind = inspect.type_info(rule.question)
    cases = [question for question in _frozen_questions(rule) if any(limits_within(kind, question))]
    for question in cases[:: max(1, len(cases) // _CASES)]:
        for path, number in limits_within(kind, question):
            try:
                yield path, number, msgspec.convert(put(question, path, number), rule.question)
            except msgspec.ValidationError:
                continue


def ask_everything(*, slow: bool) -> None:
    """In the child: name each question before it is asked, so that the last line names the one that has no end."""
    for slug, rule in RULES.items():
        asked = 0
        for path, number, question in questions_at_limits(rule):
            if not slow and (slug, getattr(question, "topics", None)) == _SLOW:
                continue
            release = next(each for each in _RELEASES if each in rule.releases)
            spent = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
            resource.setrlimit(resource.RLIMIT_CPU, (spent + _LIMIT_S, resource.RLIM_INFINITY))
            sys.stdout.write(f"{slug} {path} {number}\n")
            sys.stdout.flush()
            ReferenceAnswerer().answer(rule, release, [question])
            asked += 1
        sys.stdout.write(f"asked {slug} {asked}\n")


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_reference_answers_questions_with_integers_at_limits_in_bounded_time(slow: bool) -> None:
    child = subprocess.run([sys.executable, __file__, *["slow"] * slow], capture_output=True, text=True, check=False)
    lines = child.stdout.splitlines()
    assert child.returncode == 0, (lines[-1:], child.stderr[-2000:])
    asked = {slug: int(count) for _, slug, count in (line.split() for line in lines if line.startswith("asked "))}
    assert asked.keys() == RULES.keys()
    without_integers = {"murmur2", "idempotence-config"}
    assert {slug for slug, count in asked.items() if count == 0} <= without_integers
    assert asked["producer-send"] > 200


def producer_send(**config: int) -> Any:
    return msgspec.convert(SENT | {"config": config}, RULES["producer-send"].question)


@pytest.mark.parametrize("version", ["3.3.0", "3.9.1", "4.4.0"])
def test_send_with_batch_size_from_1_gib_fails_as_never_returning_since_3_3(version: str) -> None:
    rule, release = RULES["producer-send"], parse_release(version)
    asked = [producer_send(batch_size=size) for size in (2**30 - 1, 2**30, 2**31 - 1)]
    first, *others = ReferenceAnswerer().answer(rule, release, asked)
    assert isinstance(first, Answered)
    for outcome in others:
        assert isinstance(outcome, Failed)
        assert "KafkaProducer.send of a record without a partition never returns" in outcome.what


def test_producer_send_with_batch_size_of_1_gib_returns_before_3_3() -> None:
    (outcome,) = ReferenceAnswerer().answer(
        RULES["producer-send"], parse_release("3.2.3"), [producer_send(batch_size=2**30)]
    )
    assert isinstance(outcome, Answered)


def test_sticky_distribution_of_over_10_million_records_is_answered_as_failed_with_the_limit() -> None:
    rule = RULES["sticky-distribution"]
    question = msgspec.convert(_frozen_questions(rule)[0] | {"records": 2**31 - 1}, rule.question)
    (outcome,) = ReferenceAnswerer().answer(rule, parse_release("4.4.0"), [question])
    assert outcome == Failed("2147483647 records: each is placed by itself; ask about 10000000 or fewer")


class _OracleThatAnswers:
    """An oracle that notes what it is asked and answers with the number of the question."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def open(self, _: str) -> _OracleThatAnswers:
        return self

    def answer(self, lines: bytes) -> list[dict[str, Any]]:
        self.asked = [msgspec.json.decode(line) for line in lines.splitlines()]
        return [
            {"id": line["id"], "answer": {"size": line["question"].get("config", {}).get("batch_size")}}
            for line in self.asked
        ]


@pytest.mark.parametrize(("version", "is_asked"), [("3.2.3", True), ("3.3.0", False), ("4.4.0", False)])
def test_question_with_1_gib_batch_size_is_sent_to_java_only_before_3_3(version: str, is_asked: bool) -> None:
    oracle = _OracleThatAnswers()
    sizes = [5000, 2**30, 6000]
    outcomes = JavaAnswerer(oracle).answer(  # type: ignore[arg-type]
        RULES["producer-send"], parse_release(version), [producer_send(batch_size=size) for size in sizes]
    )
    assert [line["question"]["config"]["batch_size"] for line in oracle.asked] == (sizes if is_asked else [5000, 6000])
    assert [isinstance(outcome, Failed) for outcome in outcomes] == [False, not is_asked, False]
    assert [outcome.answer["size"] for outcome in outcomes if isinstance(outcome, Answered)] == [
        line["question"]["config"]["batch_size"] for line in oracle.asked
    ]


@pytest.mark.parametrize("slug", ["default-partitioner", "uniform-sticky-partitioner", "sticky-distribution"])
def test_sticky_switch_between_available_partitions_of_equal_id_fails_without_being_sent_to_java(slug: str) -> None:
    """StickyPartitionCache draws until the id differs from the old one."""
    rule, twice = RULES[slug], {"id": 5, "leader": 0}
    steps = [{"op": "partition", "topic": "t", "key": None}, {"op": "new_batch", "topic": "t", "previous": 5}]
    asked = []
    for partitions in ([twice, twice], [twice, {"id": 6, "leader": 0}], [twice, twice, {"id": 6, "leader": None}]):
        document = {"seed": 1, "cluster": {"nodes": [{"id": 0}], "partitions": partitions}}
        counts = {"partitioner": "uniform-sticky", "records": 40, "batch_records": 2}
        asked.append(
            msgspec.convert(document | (counts if slug == "sticky-distribution" else {"steps": steps}), rule.question)
        )
    oracle = _OracleThatAnswers()
    outcomes = JavaAnswerer(oracle).answer(rule, parse_release("3.2.3"), asked)  # type: ignore[arg-type]
    assert [isinstance(outcome, Failed) for outcome in outcomes] == [True, False, True]
    assert len(oracle.asked) == 1


if __name__ == "__main__":
    ask_everything(slow="slow" in sys.argv)
