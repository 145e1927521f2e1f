"""Functions for Spark's Python workers, and how their tasks start sooner.

A worker is used again for the next task, but not at once. Before each task Spark calls ``importlib.invalidate_caches``, and
after each it collects garbage among all objects. Two things make that expensive, a tenth of a second where a task
may take half a second:

* Spark puts its own core jar on Python's path. Since Python 3.10, invalidating an archive
  reads its list of files again, and that jar has thousands of files and no Python.
* Numba, NumPy and pyarrow are some hundred thousand objects that live as long as the worker.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["Work", "mapped"]

Work: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]
"""Arrow batches in, Arrow batches out."""


def mapped(frame: DataFrame, work: Work, schema: str | StructType) -> DataFrame:
    """``DataFrame.mapInArrow``, in workers whose next tasks start sooner."""
    return frame.mapInArrow(_Settled(work), schema)


@dataclass(frozen=True)
class _Settled:
    work: Work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        _settle()
        yield from self.work(batches)


def _settle() -> None:
    for jar in [path for path in sys.path if path.endswith(".jar")]:
        sys.path.remove(jar)
        sys.path_importer_cache.pop(jar, None)
    gc.freeze()  # the garbage was collected after the previous task
