"""``log inspect`` and real brokers judge the same damaged directories.

Compared: does a broker start; which file does it name if not; what does it set aside; where does a log end; are the offsets
that it does not return those that findings have as lost; does it know the producers; and does a finding name everything that
a client cannot read, or that is answered otherwise than on the healthy directory: records, times, ends of leader epochs?

``--broker-starts N`` starts each release on N directories, from a seed that is printed; each has one or two damages, from a
separate seed, which is printed with a difference. One broker after another is started in one JVM, which takes two seconds of
a processor in place of eleven: ``tox -e nightly`` starts 300, and 30 of them in a new JVM too, to compare the answers.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from broker_starts import DAMAGES, OF_KRAFT, Base, Batch, Started, batches_of, damaged, make_base

from kafka_conformance.log_inspect.directory import METADATA, open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import FindingRow, Inspection, PartitionSummary
from kafka_reference.releases import parse_release

pytestmark = [pytest.mark.long, pytest.mark.timeout(14_400)]
RELEASES = ("3.3.2", "3.9.2", "3.9.2 with ZooKeeper", "4.3.1", "4.4.0")
ENOUGH = 60
"""So many starts have some that name a file, and some that lose batches."""
ENOUGH_FOR_AN_END = 20
"""So many have one that ends the broker."""
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
    differences: list[str] = []
    named = unread = False
    with base.host() as host:
        healthy = {state: base.start(state, base.root / state, host) for state in ("clean", "unclean")}
        batches = {state: batches_of(base.root / state) for state in healthy}
        for seed in range(first, first + count):
            state, damages = drawn(seed, zookeeper=base.zookeeper)
            folder = damaged(base.root / state, tmp_path / str(seed), damages, seed)
            found = inspect(open_directory(folder), release=parse_release(base.release))
            started = base.start(state, folder, host)
            named, unread = named or started.blamed != (), unread or any(started.unreadable.values())
            differences += [
                f"seed {seed}, {state}, {', '.join(damages)}: {each}"
                for each in differing(found, started, healthy[state], batches[state])
            ]
            shutil.rmtree(folder)
    assert not differences, "\n".join(differences)
    assert count < ENOUGH or (named and unread), "no broker named a file, or all of them returned all batches"


def test_broker_on_damaged_directory_behaves_equally_in_a_reused_and_a_new_jvm(
    base: Base, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count, first = request.config.getoption("broker_starts"), request.config.getoption("broker_starts_seed")
    count, first = 3 if count is None else max(3, count // 10), 1 if first is None else first
    ended = []
    with base.host() as host:
        for seed in range(first, first + count):
            state, damages = drawn(seed, zookeeper=base.zookeeper)
            folder = damaged(base.root / state, tmp_path / str(seed), damages, seed)
            used, new = (replace(base.start(state, folder, each), words="") for each in (host, None))
            assert used == new, f"seed {seed}, {state}, {', '.join(damages)}"
            ended.append(not used.starts)
            shutil.rmtree(folder)
    assert count < ENOUGH_FOR_AN_END or any(ended[:-1]), "no broker ended before another was started in its JVM"


def drawn(seed: int, *, zookeeper: bool) -> tuple[str, tuple[str, ...]]:
    """Return how the broker ended, and one or two damages."""
    chance = random.Random(seed)
    names = [name for name in DAMAGES if name not in NOT_IN_THE_DIRECTORY and not (zookeeper and name in OF_KRAFT)]
    damages = tuple(chance.sample(names, chance.choice((1, 2))))
    return chance.choice(("clean", "unclean")), damages


def differing(
    found: Inspection, started: Started, healthy: Started, batches: Mapping[str, Sequence[Batch]]
) -> Iterator[str]:
    """Yield the differences between an inspection and a broker."""
    if (found.start.starts == "yes") != started.starts:
        yield f"inspected: {found.start.starts}, {found.start.stopped_by}; the broker: {started.starts}, {started.words}"
        return
    if not started.starts:
        blamed = {row.file for row in found.findings if row.effect == "stops the start" and row.severity != "note"}
        if started.blamed and blamed.isdisjoint(started.blamed):
            yield f"inspected: {sorted(blamed)} stop the start; the broker names {started.blamed}: {started.words}"
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
        if one.name in started.ranges and one.name != METADATA and canonical(one.name) not in expected:
            yield from differing_partition(one, found, started, healthy)
            yield from differing_losses(one, found, started, healthy, batches[one.name])


def differing_partition(one: PartitionSummary, found: Inspection, started: Started, healthy: Started) -> Iterator[str]:
    """Yield the differences between the end of a partition, and its wrong answers, and those of the broker."""
    name = one.name
    named = any(
        row.folder == name and row.severity != "note"
        and (row.effect == "wrong afterwards" or (row.effect == "deletes" and row.lost is not None))
        for row in found.findings
    )  # fmt: skip
    low, high = started.ranges[name]
    if not one.end_after_start <= high <= one.end_after_start + 1:  # the coordinator may end an open transaction
        yield f"{name}: inspected, it ends before {one.end_after_start}; the broker: {low} to {high}"
    if named:
        return
    same_end = high >= healthy.ranges[name][1]
    count, why = started.read[name]
    if why or (same_end and count < healthy.read[name][0]):
        yield f"{name}: {count} records, then {why!r}; no finding names it"
    if same_end and started.times[name] != healthy.times[name]:
        yield f"{name}: offsets of times are {started.times[name]}; no finding names it"
    if any(row.folder == METADATA and row.severity != "note" for row in found.findings):
        return  # the controller may have lost records with leader epochs, and begins again with an earlier one
    begun = max(epoch for epoch, _ in started.epochs[name])
    marked = max(high, one.end_after_start + 1)  # as above, before the end of the log was asked or after
    spans = ((high, high), (high - 1, high), (high, marked))
    expected, *others = (ends_of_epochs(healthy.epochs[name], cut, end, begun) for cut, end in spans)
    if started.epochs[name] not in {expected, *others}:
        yield f"{name}: epochs end at {started.epochs[name]}, not at {expected}; no finding names it"


def ends_of_epochs(
    healthy: Sequence[tuple[int, int]], cut: int, end: int, begun: int = -1
) -> tuple[tuple[int, int], ...]:
    """Return the answers to OffsetForLeaderEpoch of a log that a start cut off at ``cut``, from those of the whole log.

    The epochs that began there or later are gone, but for that of the start: it is the last, and ends with ``end``. It may
    be a further one, ``begun``: the controller elects the leader again if the directory has another id.
    """
    latest = max(begun, *(epoch for epoch, _ in healthy))
    starts = {epoch: 0 for epoch, _ in healthy[:1]}
    for (_, before), (epoch, _) in pairwise(healthy):
        starts.setdefault(epoch, before)
    left = [epoch for epoch in starts if 0 <= epoch < latest and starts[epoch] < cut]
    return tuple(
        (-1, -1) if asked > latest
        else (latest, end) if asked == latest
        else (max((each for each in left if each <= asked), default=asked), min(offset if epoch >= 0 else cut, cut))
        for asked, (epoch, offset) in enumerate(healthy)
    )  # fmt: skip


def differing_losses(
    one: PartitionSummary, found: Inspection, started: Started, healthy: Started, batches: Sequence[Batch]
) -> Iterator[str]:
    """Yield the differences between what findings of a partition say is lost and what the broker returns."""
    name = one.name
    rows = [row for row in found.findings if row.folder == name]
    # What was after the end of a log, its last index tells alone.
    blind = not one.segments or any(row.file.endswith(".index") and row.kind != "index-past-end" for row in rows)
    losses = [row for row in rows if row.lost is not None]
    open_end = any(row.lost and row.lost.last is None for row in rows)
    unreadable = started.unreadable[name]
    hidden = hidden_by_index(name, found)
    for batch in batches:
        lost = any(within(row, batch.first) or within(row, batch.last) for row in losses)
        lost = lost or (blind and batch.first >= one.end_after_start)
        if batch.first in unreadable and not lost and not any(low <= batch.first < high for low, high in hidden):
            yield f"{name}: the broker does not return offsets {batch.first} to {batch.last}; no finding has them as lost"
        returned = batch.first if batch.first not in unreadable else batch.last
        if returned not in unreadable and not open_end and any(within(row, returned) for row in losses):
            yield f"{name}: offset {returned} is lost by a finding; the broker returns it"
    for row in losses:
        markers = [each for each in batches if each.control and within(row, each.first)]
        if row.transaction_marker == ("no" if markers else "yes") and (markers or not open_end):
            yield f"{name}: {row.kind}: transaction_marker is {row.transaction_marker}; {len(markers)} are among them"
        good = row.next_good_offset
        if good in unreadable and not any(low <= good < high for low, high in hidden):
            yield f"{name}: {row.kind}: offset {good} is good; the broker does not return it"
    answers = {row.only_producer_state for row in rows} - {""}
    forgotten = frozenset() if not one.segments else healthy.producers[name] - started.producers[name]
    if forgotten and not answers & {"yes", "unknown"}:
        yield f"{name}: the broker has forgotten the producers {sorted(forgotten)}; findings: {sorted(answers)}"
    if not forgotten and "yes" in answers:
        yield f"{name}: the only copy of a producer's state is lost by a finding; the broker has all producers"


def within(row: FindingRow, offset: int) -> bool:
    """Return whether a finding has an offset as lost."""
    return row.lost is not None and row.lost.first <= offset and (row.lost.last is None or offset <= row.lost.last)


def hidden_by_index(name: str, found: Inspection) -> list[tuple[int, int]]:
    """Return the offsets of the segments whose index is wrong: their records are in the log, and a broker finds none."""
    bases = [each.base_offset for one in found.partitions if one.name == name for each in one.by_segment] + [2**63]
    wrong = {
        int(Path(row.file).stem)
        for row in found.findings
        if row.folder == name and row.file.endswith(".index") and row.effect == "wrong afterwards"
    }
    return [(base, end) for base, end in pairwise(bases) if base in wrong]


def canonical(name: str) -> str:
    """Return topic and number as a broker reads them: ``orders-00`` is ``orders-0``."""
    topic, _, number = name.partition(".")[0].rpartition("-")
    return f"{topic}-{int(number)}"
