"""What happens to the brokers in a history: faults that several topics of one cluster undergo together.

A slot is where requests and changes of a topic's settings may stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from kafka_reference.cluster.script import Continue, Kill, Pause, Settle, Start

__all__ = ["SEQUENCES", "Fault", "FaultSequence", "Slot"]

Fault: TypeAlias = Pause | Continue | Kill | Start | Settle


@dataclass(frozen=True, slots=True)
class Slot:
    """Room for requests and changes of settings."""


_SLOT: Final = Slot()


@dataclass(frozen=True, slots=True)
class FaultSequence:
    """Faults in order, with slots between them."""

    title: str
    """What happens, in a few words."""
    steps: tuple[Fault | Slot, ...]
    """Faults, waits and slots."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults and waits without the slots."""
        return tuple(step for step in self.steps if not isinstance(step, Slot))


def _sequence(title: str, *rounds: tuple[Fault | Slot, ...]) -> FaultSequence:
    """Return rounds of faults: before and after each there is a slot, and the cluster settles."""
    steps: list[Fault | Slot] = [_SLOT, Settle()]
    for faults in rounds:
        steps += [*faults, _SLOT, Settle(), _SLOT, Settle()]
    return FaultSequence(title, tuple(steps))


SEQUENCES: Final = (
    _sequence("no broker fails", (), ()),
    _sequence(
        "a broker is paused and continues, another dies and returns",
        (Pause(3),),
        (Continue(3),),
        (Kill(2),),
        (Start(2),),
    ),
    _sequence("two brokers are paused one after the other", (Pause(3),), (Pause(2),), (Continue(2),), (Continue(3),)),
    _sequence("two brokers die together", (Kill(2), Kill(3)), (Start(3),), (Start(2),)),
    _sequence(
        "a broker dies before the others fetch",
        (Pause(2), Pause(3), _SLOT, Kill(1), Continue(2), Continue(3)),
        (Start(1),),
    ),
    _sequence(
        "a broker is paused before the others fetch",
        (Pause(2), Pause(3), _SLOT, Pause(1), Continue(2), Continue(3)),
        (Continue(1),),
    ),
    _sequence(
        "the brokers die in turn, each while the others run",
        (Kill(1),),
        (Start(1),),
        (Kill(2),),
        (Start(2),),
        (Kill(3),),
    ),
    _sequence("a broker dies while another is paused", (Pause(3),), (Kill(1),), (Continue(3),), (Start(1),)),
    _sequence(
        "all brokers die, and return in reverse", (Kill(3),), (Kill(2),), (Kill(1),), (Start(1),), (Start(2), Start(3))
    ),
    _sequence(
        "all brokers die, and return in order",
        (Kill(3),),
        (Kill(2),),
        (Kill(1),),
        (Start(3),),
        (Start(1),),
        (Start(2),),
    ),
    _sequence(
        "all brokers are paused, and continue in order",
        (Pause(3),),
        (Pause(2),),
        (Pause(1),),
        (Continue(3),),
        (Continue(2),),
        (Continue(1),),
    ),
    _sequence(
        "all brokers are paused, and the second continues first",
        (Pause(3),),
        (Pause(2),),
        (Pause(1),),
        (Continue(2),),
        (Continue(1), Continue(3)),
    ),
)
"""The sequences, from harmless to severe."""
