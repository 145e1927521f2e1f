"""What is chosen: what was asked for, every kind in every release, then up to the quota what is varied and small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kafka_conformance.cases.mutation import WANTED
from kafka_conformance.cases.selection import QUOTAS, CaseCandidate, choose, thinned
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.sources import source_of
from kafka_conformance.rules import RULES
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.releases import Release, parse_release

OLD, NEW = parse_release("2.0.1"), parse_release("4.4.0")


def labels(question: PartitionForKeyQuestion) -> Iterator[str]:
    yield "even" if question.partitions % 2 == 0 else "odd"
    if question.partitions > 90:
        yield "many"
    if question.key == "":
        yield "no bytes"


RULE = replace(RULES["partition-for-key"], labels=labels, path=lambda _: "")


def candidate(
    partitions: int, key: str = "00", answer: int = 0, releases: tuple[Release, ...] = (OLD, NEW)
) -> CaseCandidate:
    return CaseCandidate(RULE, PartitionForKeyQuestion(key, partitions), ((to_json({"partition": answer}), releases),))


def numbers(chosen: list[CaseCandidate]) -> list[int]:
    return [each.question.partitions for each in chosen]  # type: ignore[attr-defined]


def test_case_quotas_name_only_existing_rules_and_sum_to_at_least_20_000() -> None:
    assert set(QUOTAS) <= set(RULES)
    assert sum(QUOTAS.values()) >= 20_000


def test_selection_has_several_cases_of_each_label_despite_a_small_quota() -> None:
    some = [candidate(number) for number in range(100)]
    chosen = choose(some, [], 1)
    count = Counter(label for each in chosen for label in each.labels)
    assert count["many"] == WANTED
    assert count["even"] >= WANTED
    assert count["odd"] >= WANTED
    assert len(chosen) <= 3 * WANTED
    assert numbers(chosen) == sorted(numbers(chosen))


def test_requested_case_is_selected_even_if_large() -> None:
    some = [candidate(number) for number in range(1, 100)]
    wanted = candidate(3, "00" * 5000)
    chosen = choose([*some, wanted], [wanted.question], 20)
    assert wanted in chosen
    assert len(chosen) == 20
    assert chosen[-1] is wanted, "smallest first"


def test_selection_covers_each_label_in_each_release() -> None:
    both = [candidate(number) for number in (1, 3, 5, 7, 9)]
    old = [candidate(number, releases=(OLD,)) for number in (2, 4, 6, 8, 0)]
    new = [candidate(number, releases=(NEW,)) for number in (12, 14, 16, 18, 10)]
    assert len(choose([*both, *old, *new], [], 0)) == 15, "of even numbers each release has its own"


def test_selection_takes_one_case_of_a_label_with_only_long_questions() -> None:
    some = [candidate(number, "00" * 8000) for number in (91, 93, 95, 97, 99)]
    chosen = choose([candidate(1), *some], [], 100)
    assert numbers(chosen) == [1, 91], "one of the kind `many`"


def test_selection_alternates_between_shapes_of_answers_up_to_the_quota() -> None:
    zeros = [candidate(number) for number in range(1, 60, 2)]
    below = [candidate(number, answer=-1) for number in range(61, 80, 2)]
    chosen = choose([*zeros, *below], [], 12)
    assert len(chosen) == 12
    assert sum(number > 60 for number in numbers(chosen)) >= 3, "alternating, though all of these are larger"
    several = CaseCandidate(
        RULE,
        PartitionForKeyQuestion("00", 1),
        ((to_json({"partition": 0}), (OLD,)), (to_json({"raises": "x"}), (NEW,))),
    )
    assert several.sort == " | partition | raises x"
    assert len(choose([several, *zeros], [], 12)) == 11, "the quota counts cases, and this one is two"


def test_thinning_questions_keeps_requested_questions_some_of_each_label_and_no_duplicates() -> None:
    every = source_of(RULE, "some", tuple(PartitionForKeyQuestion(f"{n:04x}", n) for n in range(1000)))
    wanted = PartitionForKeyQuestion("ff", 5)
    asked = thinned(RULE, [every, every], [wanted], 50)
    assert wanted in asked
    assert len(set(asked)) == len(asked)
    assert 150 <= len(asked) <= 200
    assert sum(question.partitions > 90 for question in asked) >= 100  # type: ignore[attr-defined]
    assert len(thinned(RULE, [every], [], 1000)) == 1000


def test_sort_key_of_a_candidate_case_with_steps_lists_distinct_shapes_of_step_answers() -> None:
    script = {"steps": [{"partition": 3}, {"partition": 4}, {}, None, {"done": True}]}
    assert CaseCandidate(RULE, PartitionForKeyQuestion("", 1), ((to_json(script), (NEW,)),)).sort == (
        " | done done True; nothing; null; partition"
    )
