"""A mutant as an answerer: the reference with one known mistake in it."""

from __future__ import annotations

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.rules.mutants import mutant_named

__all__ = ["mutant_answerer"]


def mutant_answerer(slug: str) -> ReferenceAnswerer:
    """Return the mutant of this slug as an answerer. Raises BadInput."""
    return ReferenceAnswerer(f"mutant:{slug}", mutant_named(slug).ask)
