"""The timeline of a ``offset-index`` question."""

from __future__ import annotations

from kafka_conformance.rules.common.index_explain import index_explain
from kafka_conformance.rules.offset_index.adapter import OffsetIndexHistory
from kafka_reference.log_files.offset_index import OffsetIndex

__all__ = ["explain_offset_index"]

explain_offset_index = index_explain(lambda question, release: OffsetIndexHistory(question, release, OffsetIndex))
