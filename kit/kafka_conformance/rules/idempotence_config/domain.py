"""Which questions of ``idempotence-config`` a user can bring about: all of them, since a setting takes any text."""

from __future__ import annotations

from kafka_conformance.rules.idempotence_config.question import IdempotenceConfigQuestion

__all__ = ["OPTIONAL_LABELS", "domain"]

OPTIONAL_LABELS = {
    "texts": "settings that are given as text",
    "null": "settings that are set, to null",
    "transactional.id": "transactions",
    "two-phase commit with a timeout": "two-phase commit",
}


def domain(_: IdempotenceConfigQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return ""
