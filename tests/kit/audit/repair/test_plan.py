from __future__ import annotations

import json

import msgspec
import pytest
from admins import Admin, FakeSpark, Held

from kafka_conformance.audit.repair.plan import RepairPlan, check_target, make_plan, resumed_plan
from kafka_conformance.audit.topics import Span, Topics
from kafka_conformance.core.errors import BadInput

# As the run's folder of an earlier version of the kit has it.
WRITTEN = """{"source": "a", "source_id": "ID-1", "target": "b", "before": 2, "partitions": 3, "replication": 2,
    "settings": {"retention.ms": "7"}, "begins": {"0": 3, "1": 0}, "ends": {"0": 7, "1": 0}}"""
PLAN = RepairPlan("a", "ID-1", "b", 2, 3, 2, {"retention.ms": "7"}, {0: 3, 1: 0}, {0: 7, 1: 0})


@pytest.fixture
def topics() -> Topics:
    held = {"a": Held((3, 7, 9), (0, 0, 2), settings={"retention.ms": "7"}), "there": Held((0, 0, 0))}
    return Topics(FakeSpark(Admin(held)), {"kafka.bootstrap.servers": "b:1"})  # type: ignore[arg-type]


def test_repair_plan_ends_at_last_stable_offset_and_keeps_the_partition_count_by_default(topics: Topics) -> None:
    assert make_plan(topics, "a", "b", 3) == PLAN
    assert make_plan(topics, "a", "b", None).partitions == 2
    assert PLAN.spans == {0: Span(3, 7), 1: Span(0, 0)}


def test_repair_plan_json_of_an_earlier_run_round_trips_unchanged() -> None:
    assert resumed_plan(json.loads(WRITTEN), "a", "b", None, "run") == PLAN
    assert msgspec.to_builtins(PLAN, str_keys=True) == json.loads(WRITTEN)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("x", "b", None), "the source is a there and x here"),
        (("a", "x", None), "the target is b there and x here"),
        (("a", "b", 4), "the number of partitions is 3 there and 4 here"),
    ],
)
def test_resuming_a_repair_with_another_source_target_or_partition_count_raises_naming_both(
    asked: tuple[str, str, int | None], words: str
) -> None:
    with pytest.raises(BadInput, match=f"^run holds another run: {words}"):
        resumed_plan(json.loads(WRITTEN), *asked, "run")


def test_resuming_from_json_that_is_not_a_repair_plan_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^run holds another run: .*missing required field"):
        resumed_plan({"topic": "a"}, "a", "b", None, "run")


def test_repair_of_invalid_source_target_or_partition_count_is_refused(topics: Topics) -> None:
    with pytest.raises(BadInput, match=r"^topic a cannot be rewritten to itself"):
        make_plan(topics, "a", "a", None)
    with pytest.raises(BadInput, match=r"^topic x does not exist at b:1: "):
        make_plan(topics, "x", "b", None)
    with pytest.raises(BadInput, match=r"^invalid partition count 0: expected 1 or more$"):
        make_plan(topics, "a", "b", 0)
    with pytest.raises(BadInput, match=r"^topic there exists already"):
        check_target(topics, msgspec.structs.replace(PLAN, target="there"))
    check_target(topics, PLAN)
