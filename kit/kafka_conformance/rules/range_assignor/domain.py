"""Which questions of ``range-assignor`` a user can bring about: groups of consumers, in racks or not."""

from __future__ import annotations

from kafka_conformance.rules.common.assignors.domain import (
    GROUP_OPTIONAL_LABELS,
    RACK_OPTIONAL_LABELS,
    domain,
    nearest,
    plain,
)

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

OPTIONAL_LABELS = GROUP_OPTIONAL_LABELS | RACK_OPTIONAL_LABELS
