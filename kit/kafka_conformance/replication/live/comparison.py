"""Compare what was seen of a history with what is expected, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from kafka_conformance.replication.live.player import PlayedHistory
from kafka_conformance.replication.live.timing import Timing
from kafka_reference.cluster.observation import Answer, Settled

__all__ = ["Difference", "compare", "differing_fields"]


@dataclass(frozen=True, slots=True)
class Difference:
    """An event whose answer is not as expected."""

    event: int
    """The index of the event."""
    what: str
    """What differs, in a sentence."""


def compare(played: PlayedHistory, expected: Sequence[Answer], timing: Timing) -> tuple[Difference, ...]:
    """Return the differences in the order of events: answers, parts of the cluster that disagree, times out of bounds."""
    found = [
        Difference(event, what)
        for event, (actual, wanted) in enumerate(zip(played.answers, expected, strict=True))
        for what in differing_fields(actual, wanted)
    ]
    found += [Difference(event, text) for event, text in played.disagreements]
    for shrink in played.shrinks:
        if fault := shrink.fault(timing.shrink_bounds_ms):
            found.append(Difference(shrink.event, fault))
    return tuple(sorted(found, key=lambda one: one.event))


def differing_fields(actual: Answer, expected: Answer) -> Iterator[str]:
    """Yield each field of an answer that differs, with both values."""
    if type(actual) is not type(expected):
        yield f"{type(actual).__name__}, expected {type(expected).__name__}"
    elif actual != expected:
        for field in fields(actual):
            one, other = getattr(actual, field.name), getattr(expected, field.name)
            if isinstance(actual, Settled) and field.name == "replicas":
                yield from _differing_replicas(one, other)
            elif one != other:
                yield f"{field.name} {_text(one)}, expected {_text(other)}"


def _differing_replicas(actual: dict[int, object], expected: dict[int, object]) -> Iterator[str]:
    for broker in sorted(actual.keys() | expected.keys()):
        one, other = actual.get(broker), expected.get(broker)
        if one is None or other is None:
            yield f"replica {broker} {_text(one)}, expected {_text(other)}"
            continue
        for field in fields(one):  # type: ignore[arg-type]
            seen, wanted = getattr(one, field.name), getattr(other, field.name)
            if seen != wanted:
                yield f"replica {broker}: {field.name} {_text(seen)}, expected {_text(wanted)}"


def _text(value: object) -> str:
    return str(sorted(value)) if isinstance(value, frozenset) else str(value)
