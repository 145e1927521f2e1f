"""The settings that decide idempotence: definitions, by release, in the order in which they are parsed.

That order is ``retries``, ``acks``, ``max.in.flight.requests.per.connection``, ``enable.idempotence``,
``transaction.timeout.ms``, ``transactional.id``, ``transaction.two.phase.commit.enable`` (since 4.1.0). Up to 0.10.2.x there
are three, in the order of a hash map of names: ``acks``, ``retries``, ``max.in.flight.requests.per.connection``. The first
invalid value is reported and ends the parsing (:mod:`kafka_reference.config_def`).

Java source mirrored: the definitions of ``ProducerConfig``, every release.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kafka_reference.config_def import (
    Definition,
    Value,
    anything,
    at_least,
    boolean,
    integer,
    invalid,
    one_of,
    parse,
    string,
)
from kafka_reference.idempotence.config_behaviour import (
    ACKS,
    IDEMPOTENCE,
    IN_FLIGHT,
    RETRIES,
    TRANSACTION_TIMEOUT,
    TRANSACTIONAL_ID,
    TWO_PHASE_COMMIT,
    ProducerConfigBehaviour,
)

__all__ = ["Value", "parse_config"]


def _non_empty(name: str, value: Value) -> None:
    if value == "":
        raise invalid(name, value, "String must be non-empty")


@lru_cache(maxsize=64)
def _definitions(behaviour: ProducerConfigBehaviour) -> tuple[Definition, ...]:
    retries = Definition(RETRIES, integer, at_least(0), behaviour.default_retries)
    acks = Definition(ACKS, string, one_of("all", "-1", "0", "1"), behaviour.default_acks)
    found = [acks, retries] if behaviour.parses_in_hash_order else [retries, acks]
    found.append(Definition(IN_FLIGHT, integer, at_least(1), 5))
    if behaviour.defines_idempotence:
        found += [
            Definition(IDEMPOTENCE, boolean, anything, behaviour.default_idempotence),
            Definition(TRANSACTION_TIMEOUT, integer, anything, 60_000),
            Definition(TRANSACTIONAL_ID, string, _non_empty, None),
        ]
    if behaviour.defines_two_phase_commit:
        found.append(Definition(TWO_PHASE_COMMIT, boolean, anything, False))
    return tuple(found)


def parse_config(config: Mapping[str, object], behaviour: ProducerConfigBehaviour) -> dict[str, Value]:
    """Return the value of every setting that the release defines, by name.

    Raises ConfigException, with Kafka's text, for the first invalid one.
    """
    return parse(config, _definitions(behaviour))
