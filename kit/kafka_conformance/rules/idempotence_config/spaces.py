"""The finite spaces of ``idempotence-config``: combinations of settings, and pairs of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

import msgspec

from kafka_conformance.rules.idempotence_config.question import IdempotenceConfigQuestion, Setting, combination

__all__ = ["FIVE", "TWO_PHASE", "every_combination", "every_pair_of_texts", "every_two_phase_commit", "five"]

# For each setting: unset, then each value that some release treats differently from the others. FIVE has valid values, so
# that a combination is decided by the rule; ``_ALL`` adds a value that every release refuses, since a client that parses
# first reports another error.
_UNSET = msgspec.UNSET
FIVE: dict[str, tuple[Setting, ...]] = {
    "idempotence": (_UNSET, "true", "false"),
    "acks": (_UNSET, "all", "-1", "0", "1"),
    "retries": (_UNSET, "0", "1", "2147483647"),
    "in_flight": (_UNSET, "1", "5", "6", "2147483647"),
    "transactional_id": (_UNSET, "id"),
}
_ALL = {
    "idempotence": (*FIVE["idempotence"], "maybe"),
    "acks": (*FIVE["acks"], "2"),
    "retries": (*FIVE["retries"], "-1"),
    "in_flight": (*FIVE["in_flight"], "0"),
    "transactional_id": (*FIVE["transactional_id"], ""),
}
TWO_PHASE: dict[str, tuple[Setting, ...]] = {
    "idempotence": (_UNSET, "true", "false"),
    "acks": (_UNSET, "1"),
    "retries": (_UNSET, "0"),
    "in_flight": (_UNSET, "6"),
    "transactional_id": (_UNSET, "id"),
    "two_phase": (_UNSET, "true", "false"),
    "timeout": (_UNSET, "60000", None),
}
# Texts that are parsed to an unexpected value, or cannot be parsed.
_TEXTS: dict[str, tuple[Setting, ...]] = {
    "idempotence": ("true", "false", " TRUE\t", "fal\u017fe", "maybe", "", None),
    "acks": ("all", "-1", "0", " 1", "2", "ALL", "+1", "", None),
    "retries": ("0", "1", "-1", "2147483647", "2147483648", "+7\x00", "\u00a01", "\u0663", "many", "", None),
    "in_flight": ("1", "5", "6", "0", "-2147483648", "-2147483649", "0006", "5.0", None),
    "transactional_id": ("id", " id ", " ", "", None),
    "two_phase": ("true", "yes", None),
    "timeout": ("60000", "-1", "soon", None),
}


def five() -> Iterator[IdempotenceConfigQuestion]:
    """Yield every combination of valid values of the five settings."""
    return _product(FIVE)


def every_combination() -> Iterator[IdempotenceConfigQuestion]:
    """Yield every combination of the five settings, with invalid values."""
    return _product(_ALL)


def every_two_phase_commit() -> Iterator[IdempotenceConfigQuestion]:
    """Yield every combination of two-phase commit, its timeout, and some values of the five settings."""
    return _product(TWO_PHASE)


def _product(values: Mapping[str, tuple[Setting, ...]]) -> Iterator[IdempotenceConfigQuestion]:
    for chosen in product(*values.values()):
        yield combination(**dict(zip(values, chosen, strict=True)))


def every_pair_of_texts() -> Iterator[IdempotenceConfigQuestion]:
    """Yield each text alone, and any two of different settings: this shows which of two errors is reported."""
    for field, texts in _TEXTS.items():
        yield from (combination(**{field: text}) for text in texts)
    for one, other in combinations(_TEXTS, 2):
        yield from (combination(**{one: left, other: right}) for left, right in product(_TEXTS[one], _TEXTS[other]))
