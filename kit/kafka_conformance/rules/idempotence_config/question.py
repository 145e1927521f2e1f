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
    """The settings that matter, as texts. An absent one is unset; null is set, to null."""

    idempotence: Setting = msgspec.UNSET
    acks: Setting = msgspec.UNSET
    retries: Setting = msgspec.UNSET
    in_flight: Setting = msgspec.UNSET
    transactional_id: Setting = msgspec.UNSET
    two_phase: Setting = msgspec.UNSET
    timeout: Setting = msgspec.UNSET


class IdempotenceConfigQuestion(Question, frozen=True):
    """The configuration of a producer."""

    config: AskedConfig


def to_config(config: AskedConfig) -> dict[str, str | None]:
    """Return the settings that are set, by Kafka's names."""
    found = ((name, getattr(config, field)) for field, name in NAMES.items())
    return {name: text for name, text in found if text is not msgspec.UNSET}


def combination(**settings: Setting) -> IdempotenceConfigQuestion:
    """Return the question with these settings, by the fields of AskedConfig."""
    return IdempotenceConfigQuestion(AskedConfig(**settings))
