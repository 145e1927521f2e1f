"""The rows that a scan has written into a run's folder, as the totals read them: the same for every engine.

A total is a pure function of Arrow batches (:data:`~kafka_conformance.spark.workers.Work`), applied where the rows are, and
a merge of its results in this process. An engine (Spark, or this process alone) finds the rows, applies the function and
collects its results; it computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from kafka_conformance.spark.workers import Work

__all__ = ["BLOCK", "FORMS", "KEYS", "RECORD", "Findings", "Where", "condition"]

BLOCK, KEYS, FORMS, RECORD = "block", "keys", "forms", "record"
"""The kinds of rows, each in its own folder; :mod:`~kafka_conformance.audit.scan` has their columns."""

Where: TypeAlias = Sequence[Mapping[str, Sequence[Any]]]
"""Rows to read: those for which some mapping lists the row's value for each of its columns; all rows if it is empty."""


def condition(where: Where, column: Callable[[str], Any]) -> Any:
    """Return the condition, which is not empty, as an expression of an engine whose columns ``column`` returns by name."""
    parts = [reduce(and_, (column(name).isin(list(values)) for name, values in each.items())) for each in where]
    return reduce(or_, parts)


class Findings(Protocol):
    """The rows of a finished run, by kind."""

    def rows(self, kind: str, columns: Sequence[str], where: Where = ()) -> pa.Table:
        """Return these columns of the rows of a kind, in no order."""
        ...

    def mapped(
        self, kind: str, columns: Sequence[str], work: Work, gives: pa.Schema, *, where: Where = (), buckets: int = 0
    ) -> pa.Table:
        """Return the rows of schema ``gives`` that ``work`` makes of these columns, in no order.

        ``work`` is called for each part of the rows. ``buckets``: the rows have a column ``bucket`` with numbers below it,
        and all rows of a bucket are in one part.
        """
        ...
