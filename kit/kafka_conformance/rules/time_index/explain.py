"""The timeline of a ``time-index`` question."""

from __future__ import annotations

from kafka_conformance.rules.common.index_explain import index_explain
from kafka_conformance.rules.time_index.adapter import TimeIndexHistory
from kafka_reference.log_files.time_index import TimeIndex

__all__ = ["explain_time_index"]

explain_time_index = index_explain(lambda question, release: TimeIndexHistory(question, release, TimeIndex))
