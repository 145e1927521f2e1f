"""Questions: the same ones from the same seed, shrunk by the same search, and every key up to a length exactly once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kafka_conformance.core.protocol import Question
from kafka_conformance.core.sources import collect, key_columns, shrink, sources
from kafka_conformance.rules import RULES
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion

RULE = RULES["partition-for-key"]
OURS = ("murmur2", "partition-for-key", "producer-partition")


@pytest.mark.parametrize("slug", OURS)
def test_collected_questions_are_equal_for_equal_seed_only(slug: str) -> None:
    first, again, other = (collect(RULES[slug], 60, seed) for seed in (7, 7, 8))
    assert len(first) == 60
    assert first == again
    assert first != other
    assert all(isinstance(question, RULES[slug].question) for question in first)


@pytest.mark.parametrize("slug", OURS)
def test_question_sources_list_every_space_then_the_requested_number_of_hypothesis_examples(slug: str) -> None:
    made = sources(RULES[slug], 25, 7)
    assert [source.name for source in made] == [*(space.name for space in RULES[slug].spaces), "hypothesis"]
    assert len(made[-1].questions) == 25
    assert all(source.questions for source in made)
    assert sources(RULES[slug], 0, 7)[-1].questions == ()


def test_placement_rule_question_spaces_have_expected_sizes() -> None:
    assert [len(sources(RULES[slug], 0, 7)[0].questions) for slug in OURS] == [
        1 + 1361 + 6 * 2,  # null; every tail; six edge hashes behind two prefixes
        11 * 9 + 1361 + 1024,  # nine edge keys over eleven counts; every tail over 12; one key over 1 to 1024
        7 * 4 * 2 * 5 * 4 * 3,  # explicit × key × ignore_keys × plugged × cluster × draw
    ]


def wrong(question: Question) -> bool:
    """A mistake in every key of two bytes and more, over 1000 partitions and more."""
    assert isinstance(question, PartitionForKeyQuestion)
    return question.key is not None and len(question.key) >= 4 and question.partitions >= 1000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_shrink_finds_smallest_failing_question_for_any_seed(seed: int) -> None:
    smallest = PartitionForKeyQuestion("0000", 1000)
    assert shrink(RULE, wrong, 300, seed) == shrink(RULE, wrong, 300, seed) == smallest


def test_shrink_visits_the_collected_questions_first() -> None:
    collected = collect(RULE, 200, 7)
    first = next(place for place, question in enumerate(collected) if wrong(question))
    met: list[Question] = []
    shrink(RULE, lambda question: met.append(question) or wrong(question), 200, 7)
    assert met[: first + 1] == collected[: first + 1]


def test_shrink_without_failure_or_examples_returns_none() -> None:
    assert shrink(RULE, lambda _: False, 50, 7) is None
    assert shrink(RULE, lambda _: True, 0, 7) is None
    assert collect(RULE, 0, 7) == []


def keys(longest: int, **how: int) -> list[bytes]:
    found = []
    for offsets, data in key_columns(longest, **how):
        assert (offsets.dtype, data.dtype) == ("int32", "uint8")
        assert len(data) == offsets[-1]
        whole = data.tobytes()
        found += [whole[a:b] for a, b in pairwise(offsets)]
    return found


def test_key_columns_up_to_one_byte_have_257_keys() -> None:
    assert keys(0) == [b""]
    assert keys(1) == [b"", *(bytes([byte]) for byte in range(256))]


@pytest.mark.parametrize("chunk", [1000, 65535, 65536, 1 << 21])
def test_every_key_up_to_two_bytes_occurs_once_in_chunks(chunk: int) -> None:
    found = keys(2, chunk=chunk)
    assert len(found) == len(set(found)) == 1 + 256 + 65536
    assert found[257:260] == [b"\0\0", b"\0\1", b"\0\2"]
    assert found[-1] == b"\xff\xff"


def test_key_columns_up_to_three_bytes_come_in_chunks_of_at_most_2097152_keys() -> None:
    sizes = [len(offsets) - 1 for offsets, _ in key_columns(3)]
    assert sizes == [1, 256, 65536] + [1 << 21] * 8
    assert sum(sizes) == 16_843_009
