"""The finite spaces of ``broker-producer-state``: batches and markers on every state, requests, snapshot files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    AskedOrigin,
    BrokerConfig,
    BrokerProducerStateQuestion,
    DeleteSnapshotsStep,
    ExpireStep,
    HighWatermarkStep,
    LoadStep,
    LogStartStep,
    LookStep,
    MarkerStep,
    ReloadStep,
    RequestStep,
    SnapshotStep,
    StartOverStep,
    TruncateStep,
    VerifyStep,
)
from kafka_conformance.rules.broker_producer_state.snapshot_files import SnapshotEntry, snapshot_of, strange_files
from kafka_conformance.rules.common.scripts import every_script

__all__ = [
    "EXPIRATION_MS",
    "every_batch",
    "every_broken_file",
    "every_marker",
    "every_pair",
    "every_repeat",
    "every_short_history",
    "every_strange_file",
    "every_verification",
    "question_of",
]  # fmt: skip

EXPIRATION_MS = 1000
MOST = 2**31 - 1
_ID, _EPOCH = 7, 3
_LOOK = LookStep()
_ORIGINS: tuple[AskedOrigin, ...] = ("client", "coordinator", "replication")


def question_of(steps: Sequence[Any]) -> BrokerProducerStateQuestion:
    """Return the question of these steps, with the expiration that all spaces use."""
    return BrokerProducerStateQuestion(BrokerConfig(EXPIRATION_MS), tuple(steps))


def _data(first: int, records: int = 1, **changes: Any) -> AppendStep:
    return AppendStep(_ID, changes.pop("epoch", _EPOCH), first, records, **changes)


# A state: the steps that lead to it, and the last sequence appended under epoch 3, -1 for none.
_STATES: tuple[tuple[tuple[Any, ...], int], ...] = (
    ((), -1),
    ((MarkerStep(_ID, _EPOCH, True),), -1),
    ((_data(0, 3),), 2),
    ((_data(0, 3), MarkerStep(_ID, _EPOCH, True)), 2),
    ((_data(0, 3, transactional=True),), 2),
    (tuple(_data(number) for number in range(6)), 5),
    ((_data(0, MOST), _data(MOST, 1)), MOST),
    ((_data(0, MOST), _data(MOST, 3)), 1),
)
_VERIFICATIONS: tuple[tuple[Any, ...], ...] = (
    (),
    (VerifyStep(_ID, _EPOCH, 0),),
    (VerifyStep(_ID, _EPOCH, 3),),
    (VerifyStep(_ID, _EPOCH, 3, 0, True),),
)
_EPOCHS = (-1, _EPOCH - 1, _EPOCH, _EPOCH + 1, 2**15 - 1)


def every_batch() -> Iterator[BrokerProducerStateQuestion]:
    """Yield a batch for 8 states, 4 verifications, 5 epochs, 7 sequences, 2 lengths, 3 origins, transactional or not."""
    for (before, last), verifying, epoch, records in product(_STATES, _VERIFICATIONS, _EPOCHS, (1, 3)):
        # Some of these are equal: each is asked once.
        firsts = dict.fromkeys((0, last + 1 & MOST, last + 2 & MOST, max(last - records + 1, 0), 1, MOST, -1))
        for first, origin, transactional in product(firsts, _ORIGINS, (False, True)):
            step = AppendStep(_ID, epoch, first, records, 500, origin, transactional)
            yield question_of((*before, *verifying, step, _LOOK))


def every_marker() -> Iterator[BrokerProducerStateQuestion]:
    """Yield a marker for 9 states, 2 verifications, 5 epochs, 3 coordinator epochs, 4 versions, 3 origins."""
    bumping = _VERIFICATIONS[3]
    highest = ((_data(0, epoch=2**15 - 1, transactional=True),), 0)
    for (before, _), verifying, epoch in product((*_STATES, highest), ((), bumping), _EPOCHS):
        for coordinator_epoch, version, origin in product((-2, 0, 5), (-1, 0, 1, 2), _ORIGINS):
            marker = MarkerStep(_ID, epoch, version != 1, coordinator_epoch, 500, origin, version)
            yield question_of((*before, *verifying, marker, _LOOK))


def every_repeat() -> Iterator[BrokerProducerStateQuestion]:
    """Yield up to 7 batches of 1 to 3 records, then one at each sequence there or after it, of 1 to 4 records."""
    for count, length in [(0, 1), *product(range(1, 8), (1, 2, 3))]:
        before = [_data(number * length, length) for number in range(count)]
        for first, records in product(range(count * length + 2), (1, 2, 3, 4)):
            yield question_of((*before, _data(first, records), _LOOK))


_PAIRED: tuple[Any, ...] = (
    _data(0), _data(0, 3), _data(1), _data(3, 2), _data(5), _data(0, epoch=4), _data(1, epoch=4), _data(0, epoch=2),
    _data(0, transactional=True), _data(1, transactional=True), _data(3, transactional=True), AppendStep(8, 0, 0, 2),
    AppendStep(-1, -1, -1, 2), MarkerStep(_ID, _EPOCH, True), MarkerStep(_ID, 4, False, 1), MarkerStep(8, 0, True, -3),
)  # fmt: skip


def every_pair() -> Iterator[BrokerProducerStateQuestion]:
    """Yield requests of two of 16 batches, from 3 origins, on 4 states."""
    for (before, _), origin in product((_STATES[0], _STATES[2], _STATES[4], _STATES[5]), _ORIGINS):
        for pair in product(_PAIRED, repeat=2):
            verifying = _VERIFICATIONS[1] if pair[0].epoch == 4 else ()
            yield question_of((*before, *verifying, RequestStep(pair, origin), _LOOK))


# Two producers, as every release writes them: one in a transaction, one after a marker.
FILE = bytes.fromhex(
    "0001ea8befe100000002"
    "0000000000000007000300000002000000000000000200000002000000000000019000000005" "0000000000000000"
    "0000000000000008000000000009000000000000000c00000000000000000000006400000000" "ffffffffffffffff"
)  # fmt: skip


def every_broken_file() -> Iterator[BrokerProducerStateQuestion]:
    """Yield a file, every prefix, every flipped bit, a byte more; then files that stay in the folder."""
    whole = FILE
    files = [whole, whole + b"\0", *(whole[:length] for length in range(len(whole)))]
    for place, bit in product(range(len(whole)), range(8)):
        files.append(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    for file in files:
        yield question_of((LoadStep(file.hex()),))
    for file in (whole, whole[:-1], b""):
        for end in (2, 3, 4):
            steps = (LoadStep(file.hex(), 3), SnapshotStep(), ReloadStep(0, end), _LOOK, _data(3), SnapshotStep())
            yield question_of((*steps, ReloadStep(0, 9), _LOOK))
            # Written over a file that is longer, or that did not exist when the partition was opened.
            yield question_of((_data(0, 3), *steps, ReloadStep(0, 9), _LOOK))


_STRANGE = (
    SnapshotEntry(_ID, _EPOCH, 2, 2, 2, 400, 5, -1), SnapshotEntry(8, 0, 9, 1, 0, 100, 0, -1),
    SnapshotEntry(23, 1, 0, 0, 0, 100, 0, 0),
)  # fmt: skip
# What happens to a partition that is opened from a strange file: each is asked separately.
_AFTERWARDS: tuple[tuple[Any, ...], ...] = (
    (ExpireStep(1399), _LOOK, ExpireStep(1400)),
    (_data(3), _data(4, 2), _data(0, 3), _data(0, epoch=_EPOCH + 1)),
    (_data(0, 3), _data(1), _data(MOST), AppendStep(8, 0, 10, 1), _data(0, epoch=0)),
    (_data(3, transactional=True), MarkerStep(_ID, _EPOCH, True, 5), MarkerStep(8, 0, False), MarkerStep(23, 1, True)),
    (RequestStep((MarkerStep(8, 1, True), MarkerStep(_ID, 4, True, 6), MarkerStep(23, 1, True)), "replication"),),
    (LogStartStep(1), _LOOK, LogStartStep(2), _LOOK, LogStartStep(3), TruncateStep(0, 2, 500)),
    (AppendStep(39, 0, 0, 1), SnapshotStep(), ReloadStep(0, 9, 500)),
)


def every_strange_file() -> Iterator[BrokerProducerStateQuestion]:
    """Yield a partition opened from each file that no broker writes, over a file that one writes, and what follows."""
    before = LoadStep(snapshot_of(_STRANGE), 2)
    for file in dict.fromkeys(strange_files(_STRANGE)):
        for steps in _AFTERWARDS:
            yield question_of((before, LoadStep(file, 3), ReloadStep(0, 9, 500), _LOOK, *steps, _LOOK))


def every_verification() -> Iterator[BrokerProducerStateQuestion]:
    """Yield two verifications of a producer, with each order of their epochs and sequences; then a batch, or expiration."""
    for epoch, sequence, bumps in product((_EPOCH - 1, _EPOCH, _EPOCH + 1), (0, 3, 5), (False, True)):
        verified = (VerifyStep(_ID, _EPOCH, 3, 100, bumps), VerifyStep(_ID, epoch, sequence, 200, not bumps), _LOOK)
        for step in (
            *(_data(first, epoch=by, transactional=True) for first in (0, 3, 4) for by in (_EPOCH, _EPOCH + 1)),
            ExpireStep(1099),
            ExpireStep(1100),
            ExpireStep(1200),
        ):
            yield question_of((*verified, step, _LOOK))


def every_short_history() -> Iterator[BrokerProducerStateQuestion]:
    """Yield two producers, then every history of up to 3 of 16 steps, then a look."""
    alphabet: tuple[Any, ...] = (
        AppendStep(7, 0, 3, 2, 400, transactional=True),
        MarkerStep(7, 0, True, 0, 600),
        AppendStep(23, 0, 0, 1, 900, "replication"),
        SnapshotStep(),
        ReloadStep(),
        ReloadStep(0, 100, 1000),
        TruncateStep(0, 4),
        TruncateStep(4, 5, 1400),
        LogStartStep(3),
        LogStartStep(9),
        StartOverStep(2),
        HighWatermarkStep(8),
        ExpireStep(1099),
        ExpireStep(1100),
        ExpireStep(1600),
        DeleteSnapshotsStep(5),
    )
    before = (AppendStep(7, 0, 0, 3, 99), AppendStep(8, 0, 0, 1, 100), SnapshotStep())
    for steps in every_script(alphabet, 3):
        yield question_of((*before, *steps, _LOOK))
