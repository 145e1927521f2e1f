"""Sequences and epochs in segment files, checked by the rules by which a broker appends batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_partitions import Log, control
from segment_topics import batch, evidence_of, surveyed


@pytest.mark.parametrize(("batches", "kind", "certain"), [
    ([(5, 0, 0, 3), (5, 0, 3, 3), (5, 1, 0, 2)], "", True),
    ([(5, 0, 0, 3), (5, 0, 4, 3)], "sequence gap", True),
    ([(5, 0, 0, 3), (5, 0, 3, 3), (5, 0, 3, 3)], "sequence repeated", True),
    ([(5, 0, 0, 3), (5, 0, 1, 2)], "sequence repeated", True),
    ([(5, 1, 0, 3), (5, 0, 0, 3)], "epoch back", True),
    ([(5, 0, 0, 3), (5, 1, 4, 3)], "sequence gap", True),
    ([(5, 0, 9, 3), (6, 3, 9, 1)], "", True),
    ([(5, 0, 2**31 - 2, 2), (5, 0, 0, 2)], "", True),
])  # fmt: skip
@pytest.mark.parametrize("roll", [False, True])
def test_sequence_gaps_repeats_and_epoch_regressions_in_segments_are_reported(
    batches: list[tuple[int, int, int, int]], kind: str, certain: bool, roll: bool, tmp_path: Path
) -> None:
    log = Log(tmp_path / "orders-0")
    for producer, epoch, sequence, count in batches:
        if roll and log.offset:
            log.roll()
        log.append(batch([b"k"] * count, (producer, epoch, sequence)))
    log.append(batch([b"k"], (77, 0, 0)))
    log.write()
    found = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a")
    assert [(one.kind, one.certain) for one in found.problems] == ([(kind, certain)] if kind else [])
    if kind:
        (one,) = found.problems
        base, position, _ = log.positions[len(batches) - 1]
        assert (one.file, one.position) == (f"orders-0/{base:020}.log", position)


def test_sequence_gap_next_to_missing_offsets_is_reported_as_uncertain(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    log.append(batch([b"a"] * 3, (5, 0, 0)))
    log.offset += 4
    log.append(batch([b"a"] * 3, (5, 0, 7)))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert (one.kind, one.certain, one.offset) == ("sequence gap", False, 7)


@pytest.mark.parametrize("missing", [0, 5])
def test_sequence_gap_across_transaction_markers_is_certain_only_without_missing_offsets(
    missing: int, tmp_path: Path
) -> None:
    """The cleaner removes the batches of a transaction, and keeps its marker."""
    log = Log(tmp_path / "orders-0")
    for sequence in (0, 8):
        log.append(batch([b"a"] * 3, (5, 0, sequence), transactional=True))
        log.append(control(5, 0, commit=True))
        log.offset += missing if not sequence else 0
        log.append(control(5, 0, commit=True))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert (one.kind, one.certain) == ("sequence gap", not missing)


def test_sequence_gap_in_a_log_that_begins_after_offset_0_is_uncertain(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0", offset=100, base=100)
    log.append(control(5, 3, commit=True))
    log.append(batch([b"a"] * 3, (5, 3, 70)))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert not one.certain
