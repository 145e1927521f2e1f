"""The harness of the fuzz tests reports what it promises to report."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cramjam
import pytest
from byte_mutations import EXTREMES, arbitrary_or_mutated, mutate
from fuzzing import BrokenPromise, Door, FuzzPlan, explore
from hypothesis import strategies as st
from json_mutations import HOSTILE, mutated_json, mutated_lines
from toml_mutations import HOSTILE as HOSTILE_TOML
from toml_mutations import mutated_toml

QUIET = FuzzPlan(shrink=False)
FILES = [b"\x00\x00\x00\x05hello", b"\x00\x00\x00\x03end"]
SPIN_S, TABLE_MIB = 30, 48
PACKED = bytes(cramjam.zstd.compress(b"x" * TABLE_MIB * 2**20))


def raises_key_error(data: bytes) -> None:
    if data[:1] >= b"\x40":
        raise KeyError(data)
    if not data:
        raise ValueError("empty")


def allocates(data: bytes) -> None:
    if len(data) > 4 and data[:1] >= b"\x40":
        bytearray(TABLE_MIB * 2**20)[-1] = 1


def allocates_in_rust(data: bytes) -> None:
    if data[:1] >= b"\x40":
        cramjam.zstd.decompress(PACKED)


def reserves(data: bytes) -> None:
    if data[:1] >= b"\x40":
        bytearray(8 * 2**30)


def spins(data: bytes) -> None:
    end = time.process_time() + (SPIN_S if data[:1] >= b"\x40" else 0)
    while time.process_time() < end:
        with contextlib.suppress(Exception):  # a parser that swallows errors is interrupted too
            sum(range(1000))


@pytest.mark.parametrize(
    ("read", "found"),
    [
        (raises_key_error, "KeyError is not a documented error"),
        (allocates, r"\d+ MiB of memory: the limit is 16 MiB"),
        (allocates_in_rust, r"\d+ MiB of memory: the limit is 16 MiB"),
        (reserves, "MemoryError is not a documented error"),
        (spins, r"not done after 0\.25 s of processor time"),
    ],
)
def test_fuzz_harness_reports_undocumented_errors_memory_use_and_hangs(read: Any, found: str) -> None:
    seconds = 0.05 if read is spins else 5.0  # a garbage collection takes longer than the first
    with pytest.raises(BrokenPromise, match=found):
        explore(QUIET, Door(read, (ValueError,), 16, seconds), arbitrary_or_mutated(FILES), 1_000)


def test_fuzz_harness_reports_input_over_the_processor_time_limit() -> None:
    def slow(_: bytes) -> None:
        end = time.process_time() + 0.15
        while time.process_time() < end:
            pass

    with pytest.raises(BrokenPromise, match=r"0\.\d s of processor time: the limit is 0\.1 s"):
        explore(QUIET, Door(slow, (), 16, 0.1), st.binary(), 1)


def test_fuzz_harness_accepts_documented_errors_within_limits() -> None:
    def refuses(data: bytes) -> None:
        raise ValueError(data)

    assert explore(QUIET, Door(refuses, (ValueError,), 16, 5.0), arbitrary_or_mutated(FILES), 200) >= 100


def test_fuzz_inputs_are_equal_for_equal_seeds_only_and_the_last_input_is_saved(tmp_path: Path) -> None:
    last, seen = tmp_path / "last", []
    for seed in (1, 1, 2):
        inputs: list[bytes] = []
        explore(FuzzPlan(0.0, seed, last), Door(inputs.append, ()), arbitrary_or_mutated(FILES), 40)
        seen.append(inputs)
        assert last.read_bytes() == inputs[-1]
    assert seen[0] == seen[1] != seen[2]
    assert len(seen[0]) >= 40


def test_every_fuzz_mutation_changes_nonempty_bytes_and_all_but_splice_leave_empty_input_empty() -> None:
    data = bytes(range(64))
    assert mutate(data, []) == data
    assert all(mutate(data, [(kind, 9, 3, 5)], [b"other file"]) != data for kind in range(10))
    assert mutate(b"", [(kind, 9, 3, 5) for kind in range(9)]) == b""
    assert mutate(bytes(8), [(2, 0, EXTREMES.index(2**31 - 1), 2)]) == b"\x7f\xff\xff\xff\0\0\0\0"


def collected(inputs: Any, examples: int = 300) -> set[bytes]:
    seen: list[bytes] = []
    explore(QUIET, Door(seen.append, ()), inputs, examples)
    return set(seen)


def test_mutated_json_includes_hostile_values_duplicate_fields_and_the_original() -> None:
    seen = collected(mutated_json([b'{"a": {"b": [1, 2]}, "c": "x"}'], ["extra"]), 150)
    assert b'{"a":{"b":[1,2]},"c":"x"}' in seen
    assert sum(any(hostile in data for data in seen) for hostile in HOSTILE) > len(HOSTILE) // 6
    assert any(data.count(b'"c":"x"') == 2 for data in seen)
    assert any(b'"extra":' in data for data in seen)
    assert {data.count(b"\n") for data in collected(mutated_lines([b"{}", b"[]"]))} >= {1, 2, 3}


def test_most_mutated_toml_keeps_the_table_header_and_over_10_inputs_have_hostile_values() -> None:
    seen = collected(mutated_toml(["[table]\na = 1\nb = [2]\n"]))
    assert sum(b"[table]" in data for data in seen) > len(seen) // 2
    assert sum(any(hostile.encode() in data for data in seen) for hostile in HOSTILE_TOML if len(hostile) > 3) > 10


def test_fuzz_run_with_seconds_and_seed_prints_seed_and_tries_at_least_100_inputs(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz" / "test_door.py").write_text(
        "from fuzzing import Door, explore\nfrom hypothesis import strategies as st\n"
        "def test_door(plan):\n    print('calls', explore(plan, Door(len, ()), st.binary()))\n",
        encoding="utf-8",
    )
    for name in ("conftest.py", "fuzz/conftest.py"):
        (tmp_path / name).write_bytes((root / "tests" / name).read_bytes())
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 100\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "--basetemp=own", "fuzz", "--fuzz-seconds", "0.5", "--fuzz-seed", "7"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root / "tests" / "shared")},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "fuzz: --fuzz-seed 7 repeats this run" in ran.stdout
    assert int(ran.stdout.split("calls ")[1].split()[0]) >= 100
    assert list((tmp_path / ".kafka-conformance" / "fuzz").iterdir())
