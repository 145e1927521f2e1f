"""Finite spaces of ``consumer-fetch``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product
from typing import Any

from kafka_conformance.rules.consumer_fetch.generators import ABORT, COMMIT, Log
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_conformance.rules.record_batch.wire import CODECS, raw_record

__all__ = [
    "every_abort_list",
    "every_compacted_batch",
    "every_cut",
    "every_damage",
    "every_marker",
    "every_marker_run",
    "every_offset",
]


def _subsets(count: int) -> Iterator[Sequence[int]]:
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


def every_offset() -> Iterator[ConsumerFetchQuestion]:
    """Yield two batches of four and three records, of each format and codec, fetched at each offset from 10 to 19."""
    for codec in CODECS:
        logs = [Log(11).append(4, codec=codec).append(3, codec=codec)]
        logs += [Log(11).legacy(4, magic, codec).legacy(3, magic, codec) for magic in (0, 1) if codec != "zstd"]
        logs += [Log(11).legacy(4, 0, codec).append(3, codec=codec)] if codec != "zstd" else []
        for log, offset in product(logs, range(10, 20)):
            yield log.question(offset)


def every_compacted_batch() -> Iterator[ConsumerFetchQuestion]:
    """Yield a batch of four offsets with each subset of its records, before and behind another, at each offset."""
    for kept, codec in product(_subsets(4), ("none", "gzip")):
        for offset in range(4, 10):
            yield Log(4).append(4, kept=kept, codec=codec).question(offset)
            yield Log(4).append(4, kept=kept, codec=codec).append(2).question(offset)
            yield Log(2).append(2).append(4, kept=kept, codec=codec).question(offset)
            if kept:
                yield Log(4).legacy(4, 1, codec, kept=kept).question(offset)
    for gap, offset in product(range(3), range(8)):
        yield Log().append(2).gap(gap).append(2).question(offset)


def _three_transactions(codec: str = "none") -> Iterator[Log]:
    """Yield two transactions of one producer around one of another, each committed, aborted or left open."""
    for first, second, third in product((True, False, None), repeat=3):
        log = Log(3).append(2, producer=1, transactional=True, codec=codec).append(1, producer=2, transactional=True)
        if first is not None:
            log.end(1, commit=first)
        log.append(2, producer=1, transactional=True).append(1, producer=7).append(1)
        if second is not None:
            log.end(2, commit=second)
        if third is not None:
            log.end(1, commit=third)
        yield log.append(1, producer=2, transactional=True, codec=codec)


def every_marker() -> Iterator[ConsumerFetchQuestion]:
    """Yield transactions of two producers, committed, aborted and open, at each isolation level and fetch offset."""
    for codec in ("none", "zstd"):
        for log in _three_transactions(codec):
            for offset, committed in product(range(3, log.next_offset + 1), (False, True)):
                yield log.question(offset, read_committed=committed)
    for key, commit, empty in product(
        (None, b"", b"\0\0", b"\0\0\0\2", b"\0\0\0\5", b"\xff\xff\0\0"), (False, True), (False, True)
    ):
        for committed, offset in product((False, True), range(4)):
            log = Log().append(1, producer=1, transactional=True).end(1, commit=commit, key=key, empty=empty)
            yield log.append(1, producer=1).question(offset, read_committed=committed, aborted=((1, 0),))
    for committed, key in product((False, True), (ABORT, COMMIT)):
        # A response that holds a marker alone, or begins with one: the transaction lies below the fetch offset.
        yield Log(9).end(1, key=key).question(9, read_committed=committed)
        yield (
            Log(9)
            .end(1, key=key)
            .append(1, producer=1, transactional=True)
            .question(9, read_committed=committed, aborted=((1, 5),))
        )


def every_marker_run() -> Iterator[ConsumerFetchQuestion]:
    """Yield markers behind which something follows: another transaction, a damaged batch, offsets that go back."""
    cut = raw_record(ABORT, bytes(6))[:-3]
    ends: tuple[dict[str, Any], ...] = (
        {}, {"commit": True}, {"empty": True}, {"count": 2}, {"records": cut}, {"records": cut, "count": 2},
    )  # fmt: skip
    for producer, end, offset in product((0, 1, 2), ends, range(5)):
        for following, committed in product(({}, {"crc_xor": 1}, {"producer_id": -1}), (False, True)):
            log = Log().append(2, producer=producer, transactional=True).end(producer, **end)
            log.append(1, producer=producer, transactional=True, **following)  # type: ignore[arg-type]  # a field of the batch
            yield log.question(offset, read_committed=committed, aborted=((producer, 0),))
    for offset, committed in product(range(6), (False, True)):
        # Behind a batch that is skipped, records below the fetch offset are delivered.
        log = Log().append(2, producer=1, transactional=True).append(2).append(1, crc_xor=1)
        yield log.question(offset, read_committed=committed, aborted=((1, 0),))
    for first, producer in product(range(4, 12), (-1, 0, 1)):
        # A transaction is taken from the list by a batch with a producer alone.
        log = Log(10).append(1, producer=producer)
        log.next_offset = 4
        log.append(2, producer=1, transactional=True).append(1, producer=0, transactional=True)
        for listed in (0, 1):
            yield log.question(0, read_committed=True, aborted=((listed, first),))


def every_abort_list() -> Iterator[ConsumerFetchQuestion]:
    """Yield lists of aborted transactions in every order, with entries too many and too few."""
    log = Log().append(1, producer=1, transactional=True).append(1, producer=2, transactional=True).end(1).end(2)
    log.append(2, producer=1, transactional=True).append(1, producer=2, transactional=True).end(2).end(1)
    for size in range(len(log.aborted) + 1):
        for aborted in permutations(log.aborted, size):
            for offset in (0, 1, 4, 5):
                yield log.question(offset, aborted=aborted, read_committed=True)
    for producer, first in product((1, 2, 3), range(12)):
        yield log.question(0, aborted=((producer, first),), read_committed=True)
        yield log.question(0, aborted=((producer, first),))
    # Two markers of one producer behind one another: the second ends nothing.
    twice = Log().append(1, producer=1, transactional=True).end(1).end(1).append(1, producer=1, transactional=True)
    for aborted in ((), ((1, 0),), ((1, 0), (1, 0)), ((1, 0), (1, 3)), ((1, 3), (1, 0))):
        yield twice.question(0, aborted=aborted, read_committed=True)
    # Only a transactional batch is part of a transaction.
    for aborted in ((), ((1, 0),), ((1, 1),)):
        yield (
            Log()
            .append(2, producer=1)
            .append(1, producer=1, transactional=True)
            .question(0, aborted=aborted, read_committed=True)
        )


def every_cut() -> Iterator[ConsumerFetchQuestion]:
    """Yield each prefix of two batches, of messages, and of a wrapper."""
    for log in (Log().append(2).append(1), Log().legacy(2, 0), Log().legacy(2, 1, "gzip")):
        for length, offset in product(range(len(log.data) + 1), (0, 1)):
            yield log.question(offset, data=log.data[:length])


def every_damage() -> Iterator[ConsumerFetchQuestion]:
    """Yield a damaged batch alone and among sound ones, with each wrong field, with and without check.crcs."""
    fields: dict[str, Sequence[int]] = {
        "crc_xor": (1,), "count": (0, 1, 3, 5, -1), "magic": (0, 1, 3, -1), "attributes": (1, 2, 3, 4, 5, 7),
        "length": (0, 13, 14, 40, 48, 49, 50, 57), "last_offset_delta": (0, 1, 5), "producer_epoch": (-1,),
    }  # fmt: skip
    for name, values in fields.items():
        for value, crcs, committed in product(values, (True, False), (False, True)):
            for before, producer in product((0, 1, 2), (-1, 1)):
                wrong: dict[str, Any] = {name: value}
                log = Log()
                for _ in range(before):
                    log.append(2)
                log.append(3, producer=producer, **wrong)
                if name != "length":
                    log.append(2)
                yield log.question(0, read_committed=committed, check_crcs=crcs)
                yield log.question(1, read_committed=committed, check_crcs=crcs)
    for magic, codec, crcs, offset in product((0, 1), ("none", "gzip"), (True, False), range(4)):
        yield Log().append(1).legacy(2, magic, codec, crc_xor=1).append(1).question(offset, check_crcs=crcs)
