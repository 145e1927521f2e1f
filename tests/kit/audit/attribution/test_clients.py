"""A topic of each client in its default setting is healthy where that client is expected."""

from __future__ import annotations

import random
from pathlib import Path

import audit_truth
import numpy as np
import pyarrow as pa
import pytest

from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.attribution.placements import ANY, find_placement
from kafka_conformance.audit.attribution.weak_candidates import find_foreign
from kafka_conformance.audit.initial_sample import examine
from kafka_conformance.audit.result import Placed
from kafka_reference.partitioning.places import CLIENTS

DRIVERS = Path(__file__).parents[4] / "ci" / "drivers"
UNKNOWN_DEFAULT = {"go-protocol"}
"""It is not a client."""


@pytest.mark.parametrize("partitions", [1, 2, 12, 16])
@pytest.mark.parametrize("client", CLIENTS)
def test_topic_of_a_client_default_partitioner_has_no_misplaced_record_if_that_is_expected(
    client: str, partitions: int
) -> None:
    """Keys of text, of numbers and an empty one, each several times; librdkafka draws for the empty one."""
    draws = random.Random(partitions)
    rule, turn = CLIENTS[client], 0
    keys = [
        draws.choice([b"", b"order-%d" % number, b"%d" % number, b"\xff\x00%d" % number]) for number in range(600)
    ] * 3
    where = []
    for key in keys:
        if rule == ANY or (not key and find_placement(rule).draws_empty):
            turn += 1
            where.append(turn % partitions)
        else:
            where.append(0 if rule == "constant-0" else audit_truth.place(rule, key, partitions))
    expected = Placed(rule, partitions)
    column = audit_truth.column(keys, np.array(where, np.int32), partitions)
    known, doubt = examine(column, expected)
    assert (known, doubt is None) == ((expected,), True) if partitions > 1 else (doubt is not None)
    for partition in range(partitions):
        rows = np.flatnonzero(column.where == partition)
        block = Block(partition, rows, rows, pa.array([keys[row] for row in rows], pa.binary()))
        foreign = find_foreign(column, known)
        summary = judge(
            block, partitions, expected, known, foreign=foreign, doubtful=doubt is not None, weakest=False
        ).summary
        assert summary.offending == 0
        if not doubt:
            assert summary.attributed == ({str(expected): rows.size} if rows.size else {})


def test_every_client_with_a_ci_driver_has_a_partitioner_rule() -> None:
    names = {folder.name.partition("-0.")[0].partition("-1.")[0].partition("-2.")[0] for folder in DRIVERS.iterdir()
             if folder.is_dir()}  # fmt: skip
    assert names - UNKNOWN_DEFAULT <= set(CLIENTS)
    assert all(find_placement(rule) for rule in CLIENTS.values())
