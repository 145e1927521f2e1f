from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Failed
from kafka_conformance.core.sources import shrink
from kafka_conformance.gate.admissible import countable
from kafka_conformance.rules.builtin_partitioner.question import AppendStep, LoadStep, PeekStep, SendBytesStep
from kafka_conformance.rules.builtin_partitioner.rule import RULE
from kafka_conformance.rules.mutants import mutant_named
from kafka_reference.releases import NEWEST, parse_release

C = """{"nodes":[{"id":0,"rack":"a"},{"id":1,"rack":"b"}],"partitions":[
    {"id":5,"leader":0},{"id":3,"leader":null},{"id":2,"leader":1},{"id":0,"leader":1}]}"""
STEPS = """
    {"op":"peek"}, {"op":"append","bytes":99,"enable_switch":true}, {"op":"append","bytes":1,"enable_switch":true},
    {"op":"append","bytes":150,"enable_switch":false}, {"op":"append","bytes":0,"enable_switch":true},
    {"op":"append","bytes":200,"enable_switch":false},
    {"op":"load","queue_sizes":[0,3,1],"partition_ids":[0,1,2],"racks":["a","a","b"],"length":3},
    {"op":"append","bytes":100,"enable_switch":true},
    {"op":"load","queue_sizes":[0,0,0],"partition_ids":[0,1,2],"racks":["a","a","b"],"length":3},
    {"op":"cluster","cluster":{"nodes":[{"id":0}],"partitions":[{"id":7,"leader":null},{"id":8,"leader":null}]}},
    {"op":"append","bytes":100,"enable_switch":true},
    {"op":"cluster","cluster":{"nodes":[{"id":0}],"partitions":[]}}, {"op":"append","bytes":100,"enable_switch":true},
    {"op":"load","queue_sizes":null}"""


RACK_B = '"rack_aware":true,"rack":"b",'


def asked(steps: str, batch_size: int = 100, rack: str = RACK_B, draws: str = "4,-2,7,4,0,5,-1") -> Any:
    text = f'{{"batch_size":{batch_size},{rack}"cluster":{C},"draws":[{draws}],"steps":[{steps}]}}'
    return msgspec.json.decode(text, type=RULE.question)


def at_steps(*answers: tuple[int, int] | dict[str, Any]) -> Answered:
    named = [a if isinstance(a, dict) else {"partition": a[0], "drawn": a[1]} for a in answers]
    return Answered({"steps": named})


REST: list[Any] = [{"range_end": None}, {}, (1, 6), {}, {"raises": "ArithmeticException"}, {"range_end": None}]
NO_RACKS = at_steps((2, 1), (2, 1), (5, 2), (5, 2), (2, 3), (2, 4), {"range_end": 8}, (0, 5), *REST)
BY_RACK = at_steps((2, 1), (2, 1), (2, 2), (2, 2), (0, 3), (2, 4), {"range_end": 8}, (2, 5), *REST)


# What BuiltInPartitioner of the release answered.
@pytest.mark.parametrize(
    ("version", "rack", "answer"),
    [
        ("3.3.1", RACK_B, NO_RACKS),
        ("4.3.1", RACK_B, NO_RACKS),
        ("4.4.0", RACK_B, BY_RACK),
        ("4.4.0", "", NO_RACKS),
    ],
)
def test_builtin_partitioner_answers_as_java_which_prefers_own_rack_only_since_4_4(
    version: str, rack: str, answer: Answered
) -> None:
    assert ReferenceAnswerer().answer(RULE, parse_release(version), [asked(STEPS, rack=rack)]) == [answer]


def test_sticky_batch_size_0_throws_since_3_3_2() -> None:
    question = asked('{"op":"append","bytes":0,"enable_switch":true}', batch_size=0, draws="1,2")
    (before,) = ReferenceAnswerer().answer(RULE, parse_release("3.3.1"), [question])
    assert before == at_steps((0, 2))
    (since,) = ReferenceAnswerer().answer(RULE, parse_release("3.3.2"), [question])
    assert since == Answered(
        {"raises": "IllegalArgumentException", "message": "stickyBatchSize must be >= 1 but got 0"}
    )


def sends(*sizes: int | str) -> str:
    return ",".join(f'{{"op":"send","bytes":{size}}}' for size in sizes)


def placed(question: Any, version: str = "4.4.0", ask: Any = RULE.ask) -> list[Any]:
    return [step.get("partition", step) for step in ask(question, parse_release(version))["steps"]]


OTHER = ',"enable_switch":false'
COUNTING = "0,1,2,0,1,2,0"  # the partitions with a leader in turn: 5, 2, 0


@pytest.mark.parametrize(
    ("sizes", "partitions"),
    [
        ((60, 60, 60, 60, 60), [5, 5, 2, 2, 0]),  # the record that crosses the limit goes to the old partition
        ((99, 1, 1), [5, 5, 2]),  # the limit itself is enough
        ((99, 0, 1), [5, 5, 5]),
        ((250, 1, 1), [5, 2, 2]),  # nothing is carried over
        ((f"60{OTHER}", f"60{OTHER}", 0, 1), [5, 5, 5, 2]),  # a deferred switch comes with the next record that allows it
        ((f"199{OTHER}", f"1{OTHER}", f"1{OTHER}"), [5, 5, 2]),  # twice the limit is the cap
    ],
)  # fmt: skip
def test_sticky_partition_switches_after_record_reaching_batch_size_or_twice_the_size_if_deferred(
    sizes: tuple[int | str, ...], partitions: list[int]
) -> None:
    question = asked(sends(*sizes), rack="", draws=COUNTING)
    for version in ("3.3.1", "3.3.2", "4.3.1", "4.4.0"):
        assert placed(question, version) == partitions


def test_send_step_shares_sticky_partition_with_append_and_throws_without_partitions() -> None:
    shared = f"""{sends(60)},{{"op":"append","bytes":60,"enable_switch":true}},{sends(1)},{{"op":"peek"}}"""
    assert placed(asked(shared, rack="", draws=COUNTING)) == [5, 2, 2, 2]
    empty = '{"op":"cluster","cluster":{"nodes":[{"id":0}],"partitions":[]}}'
    thrown = {"raises": "ArithmeticException"}
    assert placed(asked(f"{sends(60)},{empty},{sends(60, 1)}", rack="", draws=COUNTING)) == [5, {}, thrown, thrown]


@pytest.mark.parametrize(
    ("slug", "sizes", "partitions"),
    [
        ("switches-one-record-early", (60, 60, 60), [5, 2, 0]),
        ("switches-one-record-early", (100, 1, 99), [5, 2, 0]),  # its bytes count at the new partition
        ("crossing-record-moves", (60, 60, 60, 60), [5, 2, 2, 0]),
        ("counted-after-the-switch", (60, 60, 60, 60), [5, 5, 5, 2]),
        ("counted-after-the-switch", (60, 60, 60, 40, 1, 1), [5, 5, 5, 2, 2, 0]),
    ],
)  # fmt: skip
def test_mutant_misplaces_the_record_that_crosses_sticky_batch_size(
    slug: str, sizes: tuple[int, ...], partitions: list[int]
) -> None:
    assert placed(asked(sends(*sizes), rack="", draws=COUNTING), ask=mutant_named(slug).ask) == partitions


def test_labels_of_records_at_the_sticky_batch_size_follow_from_bytes_sent_and_are_required() -> None:
    kinds = {"a record", "the record that crosses the limit", "the record after a switch"}
    assert kinds <= RULE.required_labels
    assert kinds & set(RULE.labels(asked(sends(60, 39)))) == {"a record"}
    assert kinds & set(RULE.labels(asked(sends(60, 40)))) == kinds - {"the record after a switch"}
    assert kinds & set(RULE.labels(asked(sends(60, 40, 1)))) == kinds
    assert kinds.isdisjoint(RULE.labels(asked(STEPS)))


def test_generated_builtin_partitioner_questions_include_scripts_of_sends_with_enumerable_draws() -> None:
    """A producer without racks and load statistics can answer them, and so can one that draws by itself."""
    fresh = [question for question in generated(RULE.slug, 1000) if set(map(type, question.steps)) == {SendBytesStep}]
    assert len(fresh) > 100
    plain = [one for one in fresh if all(step.enable_switch and step.bytes > 0 for step in one.steps)]
    assert sum(countable(RULE, one) and one.batch_size > 0 for one in plain) > 50


def test_everyday_send_questions_detect_early_switch_and_need_no_optional_steps() -> None:
    records = [one for one in RULE.plain() if set(map(type, one.steps)) == {SendBytesStep}]
    assert len(records) > 200
    assert all(countable(RULE, one) for one in records)
    early = mutant_named("switches-one-record-early").ask
    assert sum(early(one, NEWEST) != RULE.ask(one, NEWEST) for one in records) > 100
    among = [set(map(type, one.steps)) == {SendBytesStep} for one in islice(RULE.plain(), 100)]
    assert 30 < sum(among) < 70
    assert all(set(RULE.labels(one)).isdisjoint(RULE.optional_labels) for one in records)
    others = [one for one in RULE.plain() if {PeekStep, AppendStep} & set(map(type, one.steps))]
    assert all("peek or append" in RULE.labels(one) for one in others)
    assert "no switch allowed" in RULE.labels(asked(sends(f"60{OTHER}")))
    assert {"peek or append", "no switch allowed"} <= set(RULE.optional_labels)


def test_builtin_partitioner_question_with_too_few_random_draws_fails_but_still_has_labels() -> None:
    question = asked('{"op":"peek"}', draws="")
    (outcome,) = ReferenceAnswerer().answer(RULE, NEWEST, [question])
    assert outcome == Failed("the question holds 0 draws and the rule asks for one more: add draws to it")
    assert "racks" in list(RULE.labels(question))


@pytest.mark.parametrize(
    "steps",
    [
        '{"op":"append","bytes":1}',
        '{"op":"append","bytes":2147483648,"enable_switch":true}',
        '{"op":"send"}',
        '{"op":"send","bytes":1,"key":"6b"}',
        '{"op":"load"}',
        '{"op":"load","queue_sizes":[0,1],"lenght":2}',
        '{"op":"partition","topic":"t"}',
    ],
)
def test_unknown_or_malformed_builtin_partitioner_step_raises_validation_error(steps: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(steps)


def test_builtin_partitioner_steps_encode_to_published_json() -> None:
    steps = (
        PeekStep(),
        AppendStep(900, True),
        SendBytesStep(900),
        SendBytesStep(900, False),
        LoadStep((0, 3), (0, 1), ("a", None), 2),
        LoadStep(None),
    )
    assert [msgspec.json.encode(step).decode() for step in steps] == [
        '{"op":"peek"}',
        '{"op":"append","bytes":900,"enable_switch":true}',
        '{"op":"send","bytes":900}',
        '{"op":"send","bytes":900,"enable_switch":false}',
        '{"op":"load","queue_sizes":[0,3],"partition_ids":[0,1],"racks":["a",null],"length":2}',
        '{"op":"load","queue_sizes":null}',
    ]


def test_builtin_partitioner_differences_are_grouped_by_batch_size_and_racks() -> None:
    assert RULE.path(asked("", batch_size=0)) == "batch size below 1"
    assert RULE.path(asked("")) == "racks"
    assert RULE.path(asked("", rack="")) == "no racks"


def test_builtin_partitioner_question_spaces_and_strategy_cover_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 600)) == set()


@pytest.mark.parametrize("version", ["3.3.1", "3.3.2", "4.3.1", "4.4.0"])
def test_builtin_partitioner_questions_have_enough_random_draws_and_round_trip_as_json(version: str) -> None:
    for question in [*space_questions(RULE.slug)[::9], *generated(RULE.slug, 300)]:
        assert isinstance(outcome_of(RULE.ask, question, parse_release(version)), Answered)
        assert msgspec.json.decode(msgspec.json.encode(question), type=RULE.question) == question


@pytest.mark.parametrize("seed", range(4))
def test_mutant_that_switches_partition_only_above_batch_size_is_found_and_shrunk_to_3_steps(seed: int) -> None:
    """``>`` for ``>=``, within the default number of examples."""
    wrong = mutant_answerer("above-the-size")

    def differs(question: Any) -> bool:
        return wrong.answer(RULE, NEWEST, [question]) != ReferenceAnswerer().answer(RULE, NEWEST, [question])

    smallest: Any = shrink(RULE, differs, 2000, seed)
    assert smallest is not None
    assert len(smallest.steps) <= 3
    assert len(smallest.cluster.partitions) <= 1
