"""Any healthy partition is sound, and any flipped bit is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_edits import flip, seen
from log_partitions import Log, control, data, healthy

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_reference.record_batch import Codec


@st.composite
def appended(draw: st.DrawFn) -> list[tuple[str, int, int, int]]:
    """What happens to a log: a batch of a producer, the end of its transaction, a new segment, another leader."""
    step = st.tuples(
        st.sampled_from(["plain", "idempotent", "transactional", "commit", "abort", "fence", "roll", "leader"]),
        st.integers(1, 4), st.integers(1, 5), st.integers(-5, 50),
    )  # fmt: skip
    return draw(st.lists(step, max_size=40))


def grown(folder: Path, steps: list[tuple[str, int, int, int]]) -> Log:
    log = Log(folder, interval=150)
    state: dict[int, list[int]] = {}
    now = 1_000
    for what, pid, count, later in steps:
        now += later
        producer = state.setdefault(pid, [0, 0, 0])  # epoch, next sequence, is a transaction open
        if what == "plain":
            log.append(data(count, timestamp=now))
        elif what in {"idempotent", "transactional"}:
            transactional = bool(pid % 2)
            producer[2] |= transactional
            batch = data(count, (pid, producer[0], producer[1]), transactional=transactional, timestamp=now,
                         codec=Codec(count % 5))  # fmt: skip
            log.append(batch)
            producer[1] += count
        elif what in {"commit", "abort", "fence"} and producer[2]:
            if what == "fence":
                producer[:2] = [producer[0] + 1, 0]
            producer[2] = 0
            log.append(control(pid, producer[0], commit=what == "commit", timestamp=now))
        elif what == "roll" and log.offset > log.base:
            log.roll()
        elif what == "leader":
            log.epoch += 1
    log.write(preallocated=3)
    return log


ANY = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@ANY
@given(steps=appended())
def test_inspection_of_a_randomly_generated_healthy_partition_finds_only_notes(
    steps: list[tuple[str, int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = grown(tmp_path_factory.mktemp("any") / "t-0", steps)
    found = seen(log.folder, records=True)
    assert [row for row in found.findings if row.severity != "note"] == []


@ANY
@given(
    part=st.floats(0, 1, exclude_max=True),
    suffix=st.sampled_from(["log", "index", "timeindex", "txnindex", "snapshot"]),
)
def test_flipped_bit_outside_timeindex_offset_and_last_stable_offset_is_found_or_harmless(
    part: float, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = healthy(tmp_path_factory.mktemp("flip") / "t-0")
    path = min(log.folder.glob(f"*.{suffix}"))
    bit = int(part * path.stat().st_size * 8)
    if suffix == "txnindex" and bit % (34 * 8) >= 26 * 8:
        return  # the last stable offset, which the log does not tell
    if suffix == "timeindex" and bit % (12 * 8) >= 8 * 8:
        return  # a smaller offset makes searches by time longer, and not wrong
    flip(path, bit)
    if seen(log.folder).verdict == "sound":  # an entry that names the end of a later batch: searches do not suffer
        assert suffix == "index", (path.name, bit)
        partition = one_partition(open_directory(log.folder), "")
        found = [find_offset(partition, offset).record for offset in range(log.offset)]
        assert [record and record.offset for record in found] == list(range(log.offset))
