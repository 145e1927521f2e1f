from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.rules.common.partitioner_labels import sticky_labels
from kafka_conformance.rules.common.partitioner_steps import EXTREME_SEEDS, NewBatchStep, PartitionStep, StickyQuestion
from kafka_reference.java.thread_local_random import SeededDraws, seed_for

C = '{"nodes":[{"id":0}],"partitions":[{"id":4,"leader":0},{"id":9,"leader":0}]}'
UNLED = '{"nodes":[{"id":0}],"partitions":[{"id":4,"leader":null},{"id":9,"leader":null}]}'


def asked(steps: str, seed: str = "7", cluster: str = C) -> StickyQuestion:
    return msgspec.json.decode(f'{{"seed":{seed},"cluster":{cluster},"steps":[{steps}]}}', type=StickyQuestion)


PLACE = '{"op":"partition","topic":"t","key":null}'
BATCH = '{"op":"new_batch","topic":"t","previous":%d}'


def test_sticky_partitioner_question_round_trips_as_published_json() -> None:
    question = asked(f"{PLACE},{BATCH % 2}")
    assert question.steps == (PartitionStep("t"), NewBatchStep("t", 2))
    assert msgspec.json.encode(question).decode() == (
        f'{{"seed":7,"cluster":{C},"steps":[{PLACE},{{"op":"new_batch","topic":"t","previous":2}}]}}'
    )


@pytest.mark.parametrize(
    "steps",
    [
        '{"op":"partition"}',
        '{"op":"partition","topic":"t","partition":1}',
        '{"op":"partition","topic":"t","key":"6"}',
        '{"op":"new_batch","topic":"t"}',
        '{"op":"new_batch","topic":"t","previous":2147483648}',
        '{"op":"peek"}',
        '{"topic":"t"}',
    ],
)
def test_unknown_or_malformed_sticky_partitioner_step_raises_validation_error(steps: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(steps)


def test_seed_above_2_to_53_is_accepted_only_as_int64_string() -> None:
    assert asked("", "9007199254740992").draws().next() == SeededDraws(2**53).next()
    for draw in (0, -1, -(2**31), 2**31 - 1):
        assert asked("", f'"{seed_for(draw)}"').draws().next() == draw
    for seed in ("9007199254740993", '"9223372036854775808"', '"-9223372036854775809"', '"seven"', "1.5", "null"):
        with pytest.raises(msgspec.ValidationError):
            asked("", seed)


def test_extreme_seeds_give_the_intended_extreme_value_as_first_random_draw() -> None:
    assert {draw: SeededDraws(seed).next() for draw, seed in EXTREME_SEEDS.items()} == {d: d for d in EXTREME_SEEDS}
    assert all(abs(seed) <= 2**53 for seed in EXTREME_SEEDS.values())


# Of partitions 4 and 9, draw 1 of seed 7 chooses 4, and the draws after it go on with 9, 9, 4.
@pytest.mark.parametrize(
    ("steps", "cluster", "labels"),
    [
        (f"{PLACE},{PLACE}", C, ["first choice, several available", "sticks"]),
        (f"{PLACE},{BATCH % -1}", UNLED, ["first choice, none available", "a batch of another partition"]),
        (BATCH % -1, C, ["first choice at a new batch, several available"]),
        (PLACE, '{"nodes":[{"id":0}],"partitions":[]}', ["first choice, no partitions"]),
        (PLACE, '{"nodes":[{"id":0}],"partitions":[{"id":4,"leader":0}]}', ["first choice, one available"]),
    ],
)
def test_sticky_partitioner_labels_name_first_choice_kept_partition_and_new_batch(
    steps: str, cluster: str, labels: list[str]
) -> None:
    assert list(sticky_labels(asked(steps, cluster=cluster), keys_matter=True))[1:] == labels


def test_keyed_record_is_labelled_as_first_sticky_choice_only_if_keys_are_ignored() -> None:
    question = asked('{"op":"partition","topic":"t","key":""},{"op":"partition","topic":"u"}')
    assert list(sticky_labels(question, keys_matter=True))[1:] == [
        "keyed", "empty key", "first choice, several available",
    ]  # fmt: skip
    assert list(sticky_labels(question, keys_matter=False))[1:] == [
        "keyed", "empty key", "first choice, several available", "first choice, several available", "several topics",
    ]  # fmt: skip
