"""Which questions of ``round-robin-assignor`` a user can bring about: groups of consumers."""

from __future__ import annotations

from kafka_conformance.rules.common.assignors.domain import GROUP_OPTIONAL_LABELS, domain, nearest, plain

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

OPTIONAL_LABELS = {**GROUP_OPTIONAL_LABELS, "racks of members": "partitions by rack"}
