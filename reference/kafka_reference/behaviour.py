"""Behaviour records: what one release of a Java class does, as one frozen record.

A rule of Kafka changes from release to release. Each class that changed has its own record: one field for each
change, named for its effect and documented with the releases it holds for and the ticket. The record is resolved once
from the release; the code then reads ``if behaviour.split_batch_stays_in_flight:`` and compares no versions::

    @behaviour("Sender")
    class SenderBehaviour(Behaviour):
        split_batch_stays_in_flight: bool = holds(
            since("2.1.0", until="2.3.0"), "A batch that was split remains in flight and expires there.", "KAFKA-8265"
        )
        batches_remembered: int = varies(
            "Batches remembered of each producer.", (since("0.11.0.0", until="0.11.0.x"), 1), (since("1.0.0"), 5)
        )

    SenderBehaviour.of("4.4.0").split_batch_stays_in_flight

To read only the newest rule, read the code together with its record: ``kafka-conformance behaviour RULE`` prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import Release, Spans, parse_release

__all__ = ["Behaviour", "Change", "behaviour", "differing_fields", "holds", "overridden", "varies"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """One field of a behaviour record.

    ``effect`` is a sentence, ``values`` the spans of releases with the value in each (outside of them ``otherwise``),
    ``ticket`` the KAFKA ticket or KIP of the change, if there is one.
    """

    name: str
    effect: str
    values: tuple[tuple[Spans, Any], ...]
    otherwise: Any
    ticket: str

    def value_in(self, release: Release) -> Any:
        """Return the value of this field in ``release``."""
        return next((value for spans, value in self.values if release in spans), self.otherwise)


def holds(spans: Spans, effect: str, ticket: str = "") -> Any:
    """Declare a field that is true in the releases ``spans`` and false in all others."""
    return field(metadata={"effect": effect, "values": ((spans, True),), "otherwise": False, "ticket": ticket})


def varies(effect: str, *values: tuple[Spans, Any], otherwise: Any = None, ticket: str = "") -> Any:
    """Declare a field with a different value in each of several spans of releases, and ``otherwise`` elsewhere."""
    return field(metadata={"effect": effect, "values": values, "otherwise": otherwise, "ticket": ticket})


class Behaviour:
    """What one release of a Java class does; base of all behaviour records."""

    __slots__ = ()
    java_class: ClassVar[str]
    releases: ClassVar[Spans | None]

    @classmethod
    def of(cls, version: str | Release) -> Self:
        """Return the record of ``version``. Raises NotInThisRelease where the class has no such behaviour."""
        record: Self = _resolve(cls, parse_release(version))  # type: ignore[arg-type]
        override = _overrides.get().get(cls)
        return record if override is None else cast(Self, override(record))

    @classmethod
    def changes(cls) -> tuple[Change, ...]:
        """Return the fields of the record with the releases they hold for, in the order they are declared."""
        return tuple(
            Change(
                one.name,
                one.metadata["effect"],
                one.metadata["values"],
                one.metadata["otherwise"],
                one.metadata["ticket"],
            )
            for one in fields(cls)  # type: ignore[arg-type]
        )


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(holds, varies))
def behaviour(java_class: str, releases: Spans | None = None) -> Callable[[type[T]], type[T]]:
    """Make a class a behaviour record of ``java_class``, which exists in ``releases`` (None: in every release)."""

    def decorate(cls: type[T]) -> type[T]:
        made = dataclass(frozen=True, slots=True, kw_only=True)(cls)
        made.java_class, made.releases = java_class, releases  # type: ignore[attr-defined]
        bare = [one.name for one in fields(made) if "effect" not in one.metadata]  # type: ignore[arg-type]
        if bare:
            raise TypeError(f"{cls.__name__}.{bare[0]} has no releases: declare it by holds() or varies()")
        return made

    return decorate


def differing_fields(one: Behaviour, other: Behaviour) -> list[str]:  # unreached: for reports
    """Return the names of the fields in which two records of the same class differ."""
    return [change.name for change in one.changes() if getattr(one, change.name) != getattr(other, change.name)]


_overrides: ContextVar[dict[type[Behaviour], Callable[[Any], Any]]] = ContextVar("behaviour overrides", default={})  # noqa: B039


@contextmanager
def overridden(record: type[Behaviour], **values: Any) -> Iterator[None]:  # unreached: for mutants and reports
    """Within the ``with`` block, every release's ``record`` has these field values.

    For mutants, and to find which field explains a difference between two releases.
    """
    token = _overrides.set({**_overrides.get(), record: lambda resolved: replace(resolved, **values)})
    try:
        yield
    finally:
        _overrides.reset(token)


@lru_cache(maxsize=1024)
def _resolve(cls: type[Any], release: Release) -> Any:
    if cls.releases is not None and release not in cls.releases:
        raise NotInThisRelease(f"{cls.java_class} of Kafka {release} is not mirrored: expected {cls.releases}")
    return cls(**{change.name: change.value_in(release) for change in cls.changes()})
