"""A worker's next tasks begin sooner, and do the same."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kafka_conformance.spark.workers import mapped


class Frame:
    """Maps over two batches, in this process."""

    def mapInArrow(self, work: Any, schema: str) -> tuple[list[int], str]:  # noqa: N802  Spark's own name
        return list(work([1, 2])), schema


def doubled(batches: Iterable[int]) -> Iterator[int]:
    for batch in batches:
        yield 2 * batch


def test_spark_worker_drops_a_jar_from_the_import_path_and_freezes_objects_for_gc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = str(tmp_path / "spark-core.jar")
    with ZipFile(jar, "w") as archive:
        archive.writestr("A.class", "")
    frame: Any = Frame()
    monkeypatch.setattr(sys, "path", [*sys.path, jar])
    with pytest.raises(ImportError):
        __import__("no_such_module")
    assert jar in sys.path_importer_cache
    try:
        frozen = gc.get_freeze_count()
        assert mapped(frame, doubled, "n long") == ([2, 4], "n long")
        assert jar not in sys.path_importer_cache
        assert jar not in sys.path
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
