"""Which questions a new release is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kafka_conformance.cases.store import frozen
from kafka_conformance.core.rule import Space
from kafka_conformance.rules import RULES
from kafka_conformance.verify import drift_questions as module
from kafka_conformance.verify.drift_questions import LARGEST_SPACE, drift_questions
from kafka_reference.releases import parse_release

RELEASE = parse_release("4.4.0")
MURMUR2, SEQUENCES = RULES["murmur2"], RULES["sequence-increment"]


def test_drift_questions_come_from_spaces_generation_and_recorded_cases_without_duplicates() -> None:
    *spaces, generated, cases = drift_questions(MURMUR2, RELEASE, 50, 1)
    assert [source.name for source in spaces] == [space.name for space in MURMUR2.spaces]
    assert (generated.name, cases.name) == ("hypothesis", "frozen cases")
    every = [question for source in (*spaces, generated, cases) for question in source.questions]
    assert len(every) == len(set(every))
    shipped = frozen(MURMUR2)
    assert shipped is not None
    assert {case.typed_question(MURMUR2) for case in shipped.at("4.4.0")} <= set(every)
    assert cases.labels.total() >= len(cases.questions)


def test_large_question_space_is_sampled_by_seed_and_keeps_all_labels() -> None:
    whole = {space.name: tuple(space.questions()) for space in SEQUENCES.spaces}
    thinned = drift_questions(SEQUENCES, RELEASE, 0, 1)
    name, largest = max(whole.items(), key=lambda item: len(item[1]))
    (source,) = (source for source in thinned if source.name == name)
    assert LARGEST_SPACE <= len(source.questions) < LARGEST_SPACE + 500 < len(largest)
    assert set(source.questions) < set(largest)
    kinds = Counter(label for question in largest for label in SEQUENCES.labels(question))
    assert set(source.labels) == set(kinds)
    assert drift_questions(SEQUENCES, RELEASE, 0, 1) == thinned, "the seed decides"
    assert drift_questions(SEQUENCES, RELEASE, 0, 2) != thinned


def test_drift_sample_keeps_questions_with_rare_labels(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "LARGEST_SPACE", 5)
    questions = tuple(MURMUR2.spaces[0].questions())
    rare = questions[-3:]
    rule = replace(
        MURMUR2, spaces=(Space("all", lambda: questions),),
        labels=lambda question: iter(("rare",) if question in rare else ("common",)),
    )  # fmt: skip
    source, *_ = drift_questions(rule, RELEASE, 0, 1)
    assert set(rare) <= set(source.questions)
    assert len(source.questions) < len(questions)
