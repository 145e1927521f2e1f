"""``log inspect`` and real brokers judge the same damaged directories.

Compared: does a broker start, what does it set aside, where does a log end, and does a finding name everything that a client
cannot read, or is answered otherwise than on the healthy directory?

``--broker-starts N`` starts each release on N directories, from a seed that is printed; each has one or two damages, from a
seed of its own, which is named with a difference. A start takes five seconds of a processor: ``tox -e nightly`` starts 300.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from broker_starts import DAMAGES, OF_KRAFT, Base, Started, damaged, make_base

from kafka_conformance.log_inspect.directory import METADATA, open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import Inspection
from kafka_reference.releases import parse_release

pytestmark = [pytest.mark.long, pytest.mark.timeout(14_400)]
RELEASES = ("3.3.2", "3.9.2", "3.9.2 with ZooKeeper", "4.3.1", "4.4.0")
NOT_IN_THE_DIRECTORY = {"meta.properties other node", "metadata gone"}
"""Damages whose effect depends on ``server.properties``, or on other nodes."""


@pytest.fixture(scope="module", params=RELEASES)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    """The directories of a broker after a clean stop and after a kill."""
    release, _, zookeeper = request.param.partition(" with ")
    root = tmp_path_factory.mktemp("base")
    yield make_base(release, root, zookeeper=bool(zookeeper))
    shutil.rmtree(root)


def test_log_inspect_prediction_for_damaged_directory_matches_real_broker_start(
    base: Base, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count, first = request.config.getoption("broker_starts"), request.config.getoption("broker_starts_seed")
    count, first = 20 if count is None else count, 1 if first is None else first
    healthy = {state: base.start(state, base.root / state) for state in ("clean", "unclean")}
    differences = []
    for seed in range(first, first + count):
        state, damages = drawn(seed, zookeeper=base.zookeeper)
        folder = damaged(base.root / state, tmp_path / str(seed), damages, seed)
        found = inspect(open_directory(folder), release=parse_release(base.release))
        differences += [
            f"seed {seed}, {state}, {', '.join(damages)}: {each}"
            for each in differing(found, base.start(state, folder), healthy[state])
        ]
        shutil.rmtree(folder)
    assert differences == []


def drawn(seed: int, *, zookeeper: bool) -> tuple[str, tuple[str, ...]]:
    """Return how the broker ended, and one or two damages."""
    chance = random.Random(seed)
    names = [name for name in DAMAGES if name not in NOT_IN_THE_DIRECTORY and not (zookeeper and name in OF_KRAFT)]
    damages = tuple(chance.sample(names, chance.choice((1, 2))))
    return chance.choice(("clean", "unclean")), damages


def differing(found: Inspection, started: Started, healthy: Started) -> Iterator[str]:
    """Yield the differences between an inspection and a broker."""
    if (found.start.starts == "yes") != started.starts:
        yield f"inspected: {found.start.starts}, {found.start.stopped_by}; the broker: {started.starts}, {started.words}"
        return
    if not started.starts:
        return
    expected: set[str] = set()
    for suffix, effect in (("-stray", "sets aside"), ("-delete", "deletes the partition")):
        of_broker = {canonical(name) for name in started.folders if name.endswith(suffix)}
        inspected = {
            canonical(row.file.partition("/")[0]) for row in found.findings
            if row.effect == effect
            or (row.kind == "leftover" and row.file.endswith(suffix))
        }  # fmt: skip
        if of_broker != inspected:
            yield f"{effect}: inspected {sorted(inspected)}, the broker {sorted(of_broker)}"
        expected |= inspected
    for one in found.partitions:
        if one.name not in started.ranges or one.name == METADATA or canonical(one.name) in expected:
            continue
        named = any(
            row.effect == "wrong afterwards" and row.severity != "note" and row.file.startswith(f"{one.name}/")
            for row in found.findings
        )
        low, high = started.ranges[one.name]
        if not one.end_after_start <= high <= one.end_after_start + 1:  # the coordinator may end an open transaction
            yield f"{one.name}: inspected, it ends before {one.end_after_start}; the broker: {low} to {high}"
        same_end = high >= healthy.ranges[one.name][1]
        count, why = started.read[one.name]
        if (why or (same_end and count < healthy.read[one.name][0])) and not named:
            yield f"{one.name}: {count} records, then {why!r}; no finding names it"
        if same_end and started.times[one.name] != healthy.times[one.name] and not named:
            yield f"{one.name}: offsets of times are {started.times[one.name]}; no finding names it"


def canonical(name: str) -> str:
    """Return topic and number as a broker reads them: ``orders-00`` is ``orders-0``."""
    topic, _, number = name.partition(".")[0].rpartition("-")
    return f"{topic}-{int(number)}"
