"""The kinds of configuration that ``idempotence-config`` is asked about, and the paths that group differences."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.idempotence_config.question import NAMES, Config, IdempotenceConfigQuestion, to_config
from kafka_conformance.rules.idempotence_config.spaces import FIVE, TWO_PHASE

__all__ = ["REQUIRED_LABELS", "labels", "path"]

_VALID = frozenset(text for values in (*FIVE.values(), *TWO_PHASE.values()) for text in values if isinstance(text, str))
_WITHOUT_CONFLICT = (
    ("retries", ("1", "2147483647")),
    ("acks", ("all", "-1")),
    (NAMES["in_flight"], tuple("1235")),
)
_CONFLICTS = ("retries", "acks", NAMES["in_flight"], "retries and acks")
REQUIRED_LABELS = frozenset(
    {"texts", "null", "nothing set", "transactional.id", "two-phase commit with a timeout"}
    | {f"idempotence {value}" for value in ("unset", "true", "false")}
    | {f"idempotence {value}, {conflict}" for value in ("unset", "true") for conflict in _CONFLICTS}
)


def labels(question: IdempotenceConfigQuestion) -> Iterator[str]:
    """Yield the path of the question, and what else its settings are."""
    config = to_config(question.config)
    yield path(question)
    if None in config.values():
        yield "null"
    if config.get(NAMES["transactional_id"]) is not None:
        yield "transactional.id"
    if not config:
        yield "nothing set"


def path(question: IdempotenceConfigQuestion) -> str:
    """Return the group of a difference: "texts" if one may be invalid, otherwise idempotence and the conflicts with it."""
    config = to_config(question.config)
    if _may_be_invalid(config):
        return "texts"
    if config.get(NAMES["two_phase"]) == "true" and NAMES["timeout"] in config:
        return "two-phase commit with a timeout"
    idempotence = (config.get(NAMES["idempotence"]) or "unset").strip().lower()
    conflicts = [name for name, fine in _WITHOUT_CONFLICT if (config.get(name) or fine[0]).strip() not in fine]
    return f"idempotence {idempotence}{', ' if conflicts else ''}{' and '.join(conflicts)}"


def _may_be_invalid(config: Config) -> bool:
    return any(text is None or text.strip().lower() not in _VALID for text in config.values())
