"""Behaviour records: resolved by release, described field by field, overridden for a while."""

from __future__ import annotations

import pytest

from kafka_reference.behaviour import Behaviour, behaviour, differing_fields, holds, overridden, varies
from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import since


@behaviour("Door", releases=since("1.0.0"))
class DoorBehaviour(Behaviour):
    """What a door does."""

    creaks: bool = holds(since("2.1.0", until="2.3.0"), "It creaks.", "KAFKA-1")
    hinges: int = varies("Its hinges.", (since("1.0.0", until="1.1.x"), 1), (since("2.0.0"), 5), otherwise=0)


def test_behaviour_fields_have_the_values_of_the_release() -> None:
    assert DoorBehaviour.of("1.1.1") == DoorBehaviour(creaks=False, hinges=1)
    assert DoorBehaviour.of("2.3.0") == DoorBehaviour(creaks=True, hinges=5)
    assert DoorBehaviour.of("2.3.1") == DoorBehaviour(creaks=False, hinges=5)
    assert DoorBehaviour.of("2.3.1") is DoorBehaviour.of("2.3.1"), "resolved once"


def test_behaviour_of_a_release_without_the_class_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease, match=r"Door of Kafka 0\.11\.0\.3 is not mirrored: expected since 1\.0\.0"):
        DoorBehaviour.of("0.11.0.3")


def test_differing_behaviour_fields_are_named_with_effect_and_ticket() -> None:
    assert differing_fields(DoorBehaviour.of("1.1.1"), DoorBehaviour.of("2.3.0")) == ["creaks", "hinges"]
    assert [(change.name, change.effect, change.ticket) for change in DoorBehaviour.changes()] == [
        ("creaks", "It creaks.", "KAFKA-1"),
        ("hinges", "Its hinges.", ""),
    ]


def test_overridden_behaviour_field_is_restored_after_the_block() -> None:
    with overridden(DoorBehaviour, creaks=True):
        assert DoorBehaviour.of("4.4.0") == DoorBehaviour(creaks=True, hinges=5)
    assert not DoorBehaviour.of("4.4.0").creaks


def test_behaviour_field_without_releases_raises_type_error() -> None:
    with pytest.raises(TypeError, match=r"Loose\.plain has no releases"):

        @behaviour("Loose")
        class Loose(Behaviour):
            plain: bool
