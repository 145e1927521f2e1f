from __future__ import annotations

from typing import Any

import pytest
from admins import Admin, FakeSpark, Group, Held

from kafka_conformance.audit.repair.group_offsets import Committed, GroupOffsets, Offset
from kafka_conformance.audit.repair.groups import (
    check_members,
    commit,
    committed_groups,
    offsets_for_times,
    without_moved,
)
from kafka_conformance.audit.topics import Topics
from kafka_conformance.core.errors import BadInput, KitError


@pytest.fixture
def admin() -> Admin:
    made = Admin({"new": Held((0, 9, 9), (0, 5, 5))})
    made.groups = {
        "billing": Group({("old", 0): 3, ("old", 1): None, ("other", 0): 9}),
        "mail": Group({("old", 1): 4, ("new", 0): 2}, members=2),
        "elsewhere": Group({("other", 0): 1}, members=1),
    }
    return made


@pytest.fixture
def topics(admin: Admin) -> Topics:
    spark: Any = FakeSpark(admin)
    return Topics(spark, {"kafka.bootstrap.servers": "b:1"})


BILLING = Committed("billing", {0: 3}, {}, 0, "Empty")
MAIL = Committed("mail", {1: 4}, {0: 2}, 2, "Stable")
MAPPED = GroupOffsets(
    "billing", "Empty", 0, (Offset(0, 3, 2, 1, 0), Offset(1, None, 4, 0, 0), Offset(2, 7, None, 0, 0)), 0
)


def test_consumer_groups_with_committed_offsets_of_the_old_topic_are_found(topics: Topics) -> None:
    assert committed_groups(topics, "old", "new", ()) == [BILLING, MAIL]
    assert committed_groups(topics, "old", "new", ["mail"]) == [MAIL]
    assert committed_groups(topics, "nothing", "new", ()) == []


def test_naming_a_group_without_committed_offsets_of_the_old_topic_raises_an_error(topics: Topics) -> None:
    with pytest.raises(BadInput, match=r"^group elsewhere has no committed offsets of old"):
        committed_groups(topics, "old", "new", ["elsewhere"])


def test_moving_a_consumer_group_with_active_members_raises_an_error_to_stop_the_consumers() -> None:
    check_members([BILLING])
    with pytest.raises(BadInput, match=r"^group mail has 2 members: stop its consumers first"):
        check_members([BILLING, MAIL])


def test_group_with_offsets_of_the_new_topic_is_moved_again_only_if_named() -> None:
    assert without_moved(BILLING, "new", ()) == ""
    assert "has offsets of new already" in without_moved(MAIL, "new", ())
    assert without_moved(MAIL, "new", ["mail"]) == ""


def test_mapped_group_offsets_are_committed_to_the_new_topic(topics: Topics, admin: Admin) -> None:
    commit(topics, "new", MAPPED)
    assert {place: offset for place, offset in admin.groups["billing"].offsets.items() if place.name == "new"} == {
        ("new", 0): 2,
        ("new", 1): 4,
    }


def test_group_offsets_missing_after_the_commit_raise_an_error(topics: Topics, admin: Admin) -> None:
    admin.groups["billing"].refuses = True
    with pytest.raises(KitError, match=r"^group billing has the offsets {} of new, not {0: 2, 1: 4}"):
        commit(topics, "new", MAPPED)


def test_offset_for_a_time_after_the_last_record_is_none(topics: Topics) -> None:
    assert offsets_for_times(topics, "new", {0: 7, 1: 6}) == {0: 7, 1: None}
