"""What a mistake of the kit is, and how it is planted: by replacing one function of the kit while a block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from kafka_conformance.kit_mistakes.bench import Bench

__all__ = ["Mistake", "Plant", "patched", "replacing"]

Plant = Callable[[Bench], AbstractContextManager[None]]
"""Makes the mistake while its block runs."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in the kit: its name, what is wrong, and the names of the checks that all have to find it."""

    slug: str
    description: str
    checks: tuple[str, ...]
    plant: Plant


@contextmanager
def patched(*places: tuple[object, str, Any]) -> Iterator[None]:
    """Within the block, the attributes of these objects, modules or classes have other values."""
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    try:
        for owner, name, value in places:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)


def replacing(*places: tuple[object, str, Any]) -> Plant:
    """Return a plant that replaces these attributes."""
    return lambda _: patched(*places)
