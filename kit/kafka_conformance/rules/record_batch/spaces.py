"""Finite spaces of ``record-batch``, asked whole."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.record_batch.question import RecordBatchQuestion

__all__: list[str] = []
