"""The scan of a run and its totals are those of its plan, whichever process computes them."""

from __future__ import annotations

from types import SimpleNamespace as Of
from typing import Any

import pytest

from kafka_conformance.audit import plan
from kafka_conformance.audit.result import Doubt, Foreign, Placed
from kafka_conformance.audit.selection import RecordSelection
from kafka_conformance.audit.topics import Span

JAVA, OLD = Placed("murmur2", 2), Placed("murmur2", 1)
DOUBT, FOREIGN = Doubt(5, ("murmur2", "sign-abs"), 31, 1e-6), Foreign(0.25)
PLAN = plan.AuditPlan("audit", "1", "t", "b:1", "murmur2", 10, True, {0: Span(0, 5), 1: Span(2, 3)}, (JAVA, OLD), DOUBT,
                foreign=FOREIGN, key_format="json", selection=RecordSelection(share=0.5), key_view="window")  # fmt: skip


def test_scan_and_totals_receive_every_field_of_the_audit_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("block_scanner", "summed"):
        monkeypatch.setattr(plan, name, lambda *given, **named: (*given, named))
    monkeypatch.setattr(plan, "buckets_for", lambda records: 100 * records)
    scan: Any = plan.scan_of(PLAN)
    monkeypatch.setattr(plan, "_with_look", lambda found, of: (*found, of))
    named = {"buckets": 600, "every": True, "doubtful": True, "key_format": "json", "share": 0.5, "key_view": "window"}
    assert scan == (2, JAVA, (JAVA, OLD), FOREIGN, named)
    source: Any = Of(partitions=2)
    findings: Any = "findings"
    assert plan.sum_up(PLAN, findings, source) == ("findings", source, JAVA, 600, DOUBT, "json", {}, PLAN)
