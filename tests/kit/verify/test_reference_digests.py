"""The reference runs once for each distinct behaviour, and no answer that differs in one release passes for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.core.pipeline import Tally, tally
from kafka_conformance.core.protocol import Answered, Failed, Outcome, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.verify import reference_digests
from kafka_conformance.verify.reference_digests import EVERY, AgreedAnswers, OncePerBehaviour, behaviour_digest
from kafka_reference.proven import proven_releases
from kafka_reference.releases import Release, parse_release, since

MURMUR2, SEQUENCES = RULES["murmur2"], RULES["producer-sequences"]
OLD, NEW = map(parse_release, ("4.3.1", "4.4.0"))
QUESTIONS = tuple(Murmur2Question(f"{number:04x}") for number in range(256))
SIZE = 64


class Answers:
    """Answers the key's number, or by ``differs``; remembers what it was asked."""

    name = "fake"

    def __init__(self, differs: Callable[[Release, str], Outcome | None] = lambda *_: None) -> None:
        self.asked: list[str] = []
        self._differs = differs

    def answer(self, _: Rule, release: Release, questions: Sequence[Any]) -> list[Outcome]:
        self.asked += [question.key for question in questions]
        return [self._differs(release, each.key) or Answered({"hash": int(each.key, 16)}) for each in questions]


def compare(java: Answers, reference: Answers, release: Release, known: dict[int, str]) -> Tally:
    comparison = OncePerBehaviour(java, reference, release, agreed=known)
    return tally(MURMUR2, comparison, [Source("keys", QUESTIONS)], batch_size=SIZE)


def test_reference_answers_a_sixteenth_of_the_questions_in_a_second_release_of_equal_behaviour() -> None:
    java, reference, known = Answers(), Answers(), dict[int, str]()
    for release in (OLD, NEW):
        counts = compare(java, reference, release, known)
        assert (counts.total, counts.agreed) == (256, 256)
    assert len(java.asked) == 2 * 256
    assert len(reference.asked) == 256 + 256 // EVERY
    assert sorted(known) == [0, 1, 2, 3]


@pytest.mark.parametrize("place", [0, 5, 255])
def test_java_answer_that_differs_only_in_second_release_is_found(place: int) -> None:
    key = QUESTIONS[place].key
    java = Answers(lambda at, asked: Answered({"hash": -1}) if at == NEW and asked == key else None)
    reference, known = Answers(), dict[int, str]()
    assert compare(java, reference, OLD, known).agreed == 256
    counts = compare(java, reference, NEW, known)
    assert [difference.question for difference in counts.differences] == [QUESTIONS[place]]
    assert counts.agreed == 255


def test_reference_that_reads_the_release_outside_behaviour_records_is_detected() -> None:
    reference, known = Answers(lambda at, _: Answered({"hash": 7}) if at == NEW else None), dict[int, str]()
    assert compare(Answers(), reference, OLD, known).agreed == 256
    assert len(compare(Answers(), reference, NEW, known).differences) == 256 // EVERY


def test_sampled_reference_questions_vary_by_release() -> None:
    run = set[str]()
    for release in proven_releases():
        reference, known = Answers(), dict[int, str]()
        compare(Answers(), Answers(), OLD, known)
        compare(Answers(), reference, release, known)
        run |= set(reference.asked)
    assert len(run) > 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Answered({"hash": 1}), Answered({"hash": 2})),
        (Answered({"hash": 1}), Answered({"hash": True})),
        (Failed("broken"), Failed("broken")),
        (Answered({"hash": 1}), Failed("broken")),
    ],
)
def test_batch_with_difference_or_failure_is_not_reused_for_other_releases(one: Outcome, other: Outcome) -> None:
    java = Answers(lambda _, key: one if key == "0000" else None)
    reference, known = Answers(lambda _, key: other if key == "0000" else None), dict[int, str]()
    first, second = (compare(java, reference, release, known) for release in (OLD, NEW))
    assert sorted(known) == [1, 2, 3]
    assert (first.agreed, first.differ, len(first.errors)) == (second.agreed, second.differ, len(second.errors))


def test_unsupported_questions_stay_unsupported_in_second_release() -> None:
    java = Answers(lambda _, key: Unsupported("no such method") if key == "0000" else None)
    reference, known = Answers(lambda _, key: Unsupported("not mirrored") if key == "0000" else None), dict[int, str]()
    for release in (OLD, NEW):
        counts = compare(java, reference, release, known)
        assert (counts.total, counts.agreed, counts.unsupported) == (255, 255, 1)


def test_answer_digests_are_shared_by_releases_of_equal_behaviour(tmp_path: Path) -> None:
    store = AgreedAnswers(tmp_path)
    early, late, newest = map(parse_release, ("2.0.0", "2.0.1", "4.4.0"))
    store.write(SEQUENCES, early, {0: "ab"})
    assert store.read(SEQUENCES, late) == {0: "ab"}
    assert store.read(SEQUENCES, newest) == store.read(MURMUR2, early) == {}


def test_behaviour_digest_includes_undeclared_records_that_a_rule_reads() -> None:
    read = {each.__name__ for each in reference_digests._read_by("producer-sequences") if isinstance(each, type)}
    assert read > {each.__name__ for each in SEQUENCES.behaviours}
    assert "BufferPoolBehaviour" in read


def test_behaviour_digest_includes_undeclared_release_spans_that_a_rule_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert behaviour_digest(MURMUR2, OLD) == behaviour_digest(MURMUR2, NEW)
    monkeypatch.setattr(reference_digests, "_read_by", lambda _: [since("4.4.0")])
    assert behaviour_digest(MURMUR2, OLD) != behaviour_digest(MURMUR2, NEW)
