"""Which questions of ``uniform-sticky-partitioner`` a user can bring about: records to real topics, and their batches."""

from __future__ import annotations

from kafka_conformance.rules.common.sticky_domain import OPTIONAL_LABELS, domain, nearest, plain

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]
