"""What a mutant is: a rule's reference with one known mistake in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from kafka_conformance.core.protocol import Answer
from kafka_reference.releases import NEWEST, Release

__all__ = ["Ask", "Mutant", "replaced", "replaced_in"]

T = TypeVar("T")
Ask = Callable[[Any, Release], Answer]


@dataclass(frozen=True, slots=True)
class Mutant:
    """``ask`` answers like the rule, except for one mistake, which shows in ``release``.

    ``references`` are public issues, pull requests or source lines with this mistake.
    """

    slug: str
    rule: str
    description: str
    ask: Ask
    release: Release = NEWEST
    references: tuple[str, ...] = ()


def replaced(question: T, **changes: Any) -> T:
    """The question with some of its fields changed."""
    return msgspec.structs.replace(question, **changes)  # type: ignore[type-var]


def replaced_in(question: Any, part: str, **changes: Any) -> Any:
    """The question with fields of one of its parts changed."""
    return replaced(question, **{part: replaced(getattr(question, part), **changes)})
