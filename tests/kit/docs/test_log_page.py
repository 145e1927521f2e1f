"""The page of ``log inspect``: every kind of finding in the words of the command, and the output of its examples."""

from __future__ import annotations

import io
import shutil
import struct
from pathlib import Path

from log_edits import change, kinds, seen
from rich.console import Console

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.find_time import find_time, parse_time
from kafka_conformance.log_inspect.findings import KINDS
from kafka_conformance.log_inspect.next_steps import next_step
from kafka_conformance.log_inspect.reports import text

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "kit" / "docs" / "log.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "kit" / "docs" / "examples" / "log" / "orders-0"


def shown(command: str) -> str:
    """The output of a command in the page."""
    return PAGE.partition(f"$ kafka-conformance {command}\n")[2].partition("\n```")[0]


def test_log_page_lists_all_kinds_of_finding_with_severity_and_meaning() -> None:
    listed = [line for line in PAGE.partition("## Findings")[2].splitlines() if line.startswith("| `")]
    assert listed == [
        f"| `{kind.name}` | {kind.severity} | {kind.meaning} | {next_step(kind.name, kind.effect)} |"
        for kind in KINDS.values()
    ]


def test_log_page_shows_current_output_for_a_damaged_partition(tmp_path: Path) -> None:
    """Two bits of a batch are flipped, and an index entry is added."""
    folder = tmp_path / "orders-0"
    shutil.copytree(EXAMPLE, folder)
    log, index = folder / f"{0:020}.log", folder / f"{63:020}.index"
    change(log, 1_211, bytes([log.read_bytes()[1_211] ^ 3]))
    index.write_bytes(index.read_bytes() + struct.pack(">ii", 62, 1_000_000))
    found = seen(folder)
    assert kinds(found) == {"crc-mismatch", "index-past-end"}
    out = Console(file=io.StringIO(), width=140, highlight=False)
    text.show(out, found)
    lines = [line.rstrip() for line in out.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert lines[:-1] == shown("log inspect DATA/orders-0").splitlines()[:-1]
    assert (
        lines[-1].partition(" bytes, ")[0]
        == shown("log inspect DATA/orders-0").splitlines()[-1].partition(" bytes, ")[0]
    )


def test_log_page_shows_current_output_of_an_offset_search() -> None:
    out = Console(file=io.StringIO(), width=140, highlight=False)
    text.show_search(out, find_offset(one_partition(open_directory(EXAMPLE), ""), 77))
    lines = [line.rstrip() for line in out.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert lines == shown("log find kit/docs/examples/log/orders-0 77").splitlines()


def test_log_page_output_of_a_search_by_time_is_current() -> None:
    out = Console(file=io.StringIO(), width=140, highlight=False)
    text.show_times(out, find_time(open_directory(EXAMPLE.parent), parse_time("2023-11-14T22:13:20.082")))
    lines = [line.rstrip() for line in out.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert lines == shown("log find kit/docs/examples/log --time 2023-11-14T22:13:20.082").splitlines()
