"""Keys by the million: the real Java and the bulk reference over the same columns, compared whole.

A column goes to Java as a file both can see, since py4j would carry it as text. The results are compared as arrays;
where they differ, the key is asked about again, one by one, so that what is reported is a question like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Columns, Rule
from kafka_conformance.oracle.oracle import OpenRelease
from kafka_jars.scratch import ScratchFolder

__all__ = ["ColumnResult", "KeyFile", "compare_column", "key_file"]

# Up to this length the scalar reference is asked for every key as well: it is the one people import.
SCALAR_UP_TO = 2


@dataclass(frozen=True, slots=True)
class KeyFile:
    """Two files in a separate folder: keys for Java, results from Java."""

    keys: Path
    results: Path

    def write(self, offsets: Any, data: Any, argument: int) -> None:
        """Put a column into the file (see KeyColumn.java)."""
        import numpy as np

        with self.keys.open("wb") as file:
            np.array([len(offsets) - 1, argument], "<i8").tofile(file)
            offsets.astype("<i4", copy=False).tofile(file)
            data.tofile(file)
        self.results.unlink(missing_ok=True)

    def read(self) -> Any:
        """Java's results, int32."""
        import numpy as np

        return np.fromfile(self.results, "<i4")


@contextmanager
def key_file() -> Iterator[KeyFile]:
    """A :class:`KeyFile` that is gone afterwards."""
    with ScratchFolder() as room:
        yield KeyFile(room / "keys", room / "results")


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """One column: how many keys, how many differ, and the first of those as questions."""

    asked: int
    differing: int
    questions: tuple[Question, ...]


def compare_column(
    rule: Rule, columns: Columns, opened: OpenRelease, file: KeyFile, column: tuple[Any, Any], argument: int,
    bulk: Callable[[Any, Any, int], Any] | None = None,
) -> ColumnResult:  # fmt: skip
    """Ask Java and the reference (or ``bulk`` instead of it) about every key of a column."""
    import numpy as np

    offsets, data = column
    file.write(offsets, data, argument)
    opened.bulk(rule.slug, file.keys, file.results)
    java = file.read()
    mine = (bulk or columns.reference)(offsets, data, argument)
    if len(java) != len(offsets) - 1 or len(mine) != len(java):
        raise AssertionError(
            f"{len(offsets) - 1} keys asked, {len(java)} answers from Java, {len(mine)} from the reference"
        )
    wrong = java != mine
    if bulk is None and len(offsets) > 1 and int(offsets[1]) <= SCALAR_UP_TO:
        whole = data.tobytes()
        scalar = [columns.scalar(whole[a:b], argument) for a, b in pairwise(offsets)]
        wrong |= java != np.array(scalar, np.int32)
    places = np.flatnonzero(wrong)
    keys = [data[offsets[at] : offsets[at + 1]].tobytes() for at in places[:10]]
    return ColumnResult(len(java), len(places), tuple(columns.question(key, argument) for key in keys))
