"""The question of ``idempotence-config``: producer settings as texts, by Kafka's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["NAMES", "AskedConfig", "Config", "IdempotenceConfigQuestion", "Setting", "combination", "to_config"]

Config: TypeAlias = Mapping[str, str | None]
Setting: TypeAlias = str | msgspec.UnsetType | None
NAMES = {
    "idempotence": "enable.idempotence",
    "acks": "acks",
    "retries": "retries",
    "in_flight": "max.in.flight.requests.per.connection",
    "transactional_id": "transactional.id",
    "two_phase": "transaction.two.phase.commit.enable",
    "timeout": "transaction.timeout.ms",
}


class AskedConfig(Question, frozen=True, rename=NAMES):
    """Settings of a producer, as text. An absent setting is not set; null is set, to null."""

    idempotence: Setting = msgspec.UNSET
    """``enable.idempotence``."""
    acks: Setting = msgspec.UNSET
    """``acks``."""
    retries: Setting = msgspec.UNSET
    """``retries``."""
    in_flight: Setting = msgspec.UNSET
    """``max.in.flight.requests.per.connection``."""
    transactional_id: Setting = msgspec.UNSET
    """``transactional.id``."""
    two_phase: Setting = msgspec.UNSET
    """``transaction.two.phase.commit.enable``, since 4.1.0."""
    timeout: Setting = msgspec.UNSET
    """``transaction.timeout.ms``."""


class IdempotenceConfigQuestion(Question, frozen=True):
    """The configuration of a producer."""

    config: AskedConfig
    """The settings that the user makes."""


def to_config(config: AskedConfig) -> dict[str, str | None]:
    """Return the settings that are set, by Kafka's names."""
    found = ((name, getattr(config, field)) for field, name in NAMES.items())
    return {name: text for name, text in found if text is not msgspec.UNSET}


def combination(**settings: Setting) -> IdempotenceConfigQuestion:
    """Return the question with these settings, by the fields of AskedConfig."""
    return IdempotenceConfigQuestion(AskedConfig(**settings))
