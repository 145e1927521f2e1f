"""Every field of the behaviour records that differs between two releases shows in a question, unless it is unobservable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_conformance.core.protocol import Answer, answered
from kafka_conformance.reports.behaviour import behaviour_lines
from kafka_conformance.rules.producer_sequences import spaces
from kafka_conformance.rules.producer_sequences.question import ProducerSequencesQuestion, RespondStep
from kafka_conformance.rules.producer_sequences.rule import RULE
from kafka_conformance.verify.explaining_fields import Attribution
from kafka_jars.pins import load
from kafka_reference.behaviour import Behaviour, differing_fields, overridden
from kafka_reference.releases import Release, parse_release

# Of each space, the questions that show some field; found by asking them all.
SHOWING = {
    spaces.every_pair_of_answers: (23, 30, 743, 774, 836, 902, 960, 1022, 1053, 1115),
    spaces.every_short_history: (41, 165, 320, 568, 1095),
    spaces.every_number_in_flight: (3, 4),
    spaces.every_expiry: (149, 242, 304, 397, 552, 707, 739, 740),
    spaces.every_expiry_after_a_reset: (16,),
    spaces.every_last_sequence: (877, 908),
    spaces.every_order_of_nodes: (0, 5),
    spaces.every_refusal_of_an_id: (10, 16),
    spaces.every_wait_for_an_id: (521,),
    spaces.every_recurrence_of_an_id: (0, 1811, 2675),
    spaces.every_other_epoch_of_an_id: (1,),
    spaces.every_failure_without_an_id: (1, 4),
    spaces.every_abort: (8,),
    spaces.every_split: (4,),
}


@cache
def questions() -> tuple[ProducerSequencesQuestion, ...]:
    chosen = [list(space())[place] for space, places in SHOWING.items() for place in places]
    old_leader = replace(chosen[0], config=replace(chosen[0].config, retries=0), steps=(
        spaces.APPEND, spaces.RUN, RespondStep("NOT_LEADER_OR_FOLLOWER"), spaces.RUN,
    ))  # fmt: skip
    return (*chosen, old_leader)


@cache
def answer(place: int, release: Release) -> Answer:
    return answered(RULE.ask, questions()[place], release)


def changes(older: Release, newer: Release) -> Iterator[tuple[type[Behaviour], str, Any]]:
    """Yield the fields that differ and show, with the older value."""
    for record in RULE.behaviours:
        for field in differing_fields(record.of(older), record.of(newer)):
            if f"{record.__name__}.{field}" not in RULE.unobservable:
                yield record, field, getattr(record.of(older), field)


_RELEASES = sorted(map(parse_release, load().releases))
PAIRS = [(parse_release("2.8.2"), parse_release("4.4.0")), *pairwise(_RELEASES)]
# That a split batch no longer stays in flight in 2.3.1 shows in no question.
HIDDEN = {("SenderBehaviour", "split_batch_stays_in_flight", "2.3.1")}
FIELDS = [
    pytest.param(record, field, value, newer, id=f"{older}-{newer}-{record.__name__}.{field}")
    for older, newer in PAIRS
    for record, field, value in changes(older, newer)
    if (record.__name__, field, str(newer)) not in HIDDEN
]


@pytest.mark.parametrize(("record", "field", "value", "newer"), FIELDS)
def test_observable_behaviour_field_that_differs_between_releases_changes_some_answer(
    record: type[Behaviour], field: str, value: object, newer: Release
) -> None:
    expected = [answer(place, newer) for place in range(len(questions()))]
    with overridden(record, **{field: value}):
        assert any(
            answered(RULE.ask, question, newer) != one for question, one in zip(questions(), expected, strict=True)
        )


@pytest.mark.parametrize(("older", "newer"), PAIRS, ids=lambda release: str(release))
def test_reference_with_behaviour_fields_of_the_older_release_answers_as_the_older_release(
    older: Release, newer: Release
) -> None:
    with ExitStack() as stack:
        for record in RULE.behaviours:
            values = {
                field: getattr(record.of(older), field)
                for other, field, _ in changes(older, newer)
                if other is record
            }  # fmt: skip
            stack.enter_context(overridden(record, **values))
        flipped = [answered(RULE.ask, question, newer) for question in questions()]
    assert flipped == [answer(place, older) for place in range(len(questions()))]


# Questions that, between 2.8.2 and 4.4.0, need every field that differs: found among all spaces by their attribution.
NEEDING = {
    spaces.every_expiry: (50, 739),
    spaces.every_failure_without_an_id: (1, 4),
    spaces.every_split: (8,),
    spaces.every_refusal_of_an_id: (10, 30),
    spaces.every_order_of_nodes: (0,),
    spaces.every_short_history: (38,),
}


def test_behaviour_lines_between_two_releases_list_the_11_fields_that_change_some_answer() -> None:
    releases = PAIRS[0]
    attribution = Attribution(RULE, releases)
    explained = [attribution.fields_of(list(space())[place]) for space, places in NEEDING.items() for place in places]
    assert all(explained)
    named = {str(field) for fields in explained for field in fields}
    assert named == {str(line) for line in behaviour_lines(RULE, releases)}
    assert len(named) == 11


def test_fields_declared_unobservable_or_shown_only_with_another_exist_in_behaviour_records() -> None:
    known = {f"{record.__name__}.{change.name}" for record in RULE.behaviours for change in record.changes()}
    assert known >= RULE.unobservable | set(RULE.shows_with) | set(RULE.shows_with.values())
