"""What has to hold at the end of a script: acknowledged is stored, once and in order, as far as the settings promise it.

====================  ===================================================================================================
setting               promise
====================  ===================================================================================================
acks 1 or all         an acknowledged record is stored, at the offset that the client reports
idempotence           every record is stored once, also if connections were lost
idempotence, or one   records of a partition are stored in the order in which they were sent
request in flight
no faults             every record is stored once and in order
====================  ===================================================================================================

A client that does not promise to send records in the order of the calls, as its adapter declares, may store them in another
one: a harmless difference from Java's client. A record that a client reports as failed may be stored or not. It is a
separate finding where Java's client delivers it. A consumer delivers every record of a partition once and in order, and
its group commits what was delivered and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import msgspec

from kafka_conformance.reports.terminal import plural
from kafka_conformance.wire.client_gate.log import LogRecord
from kafka_conformance.wire.client_gate.script import Script
from kafka_conformance.wire.client_gate.workload import Record
from kafka_reference.partitioning import partition_for_key

__all__ = ["KINDS", "PromiseDifference", "ResultLine", "Results", "judge_consumer", "judge_producer"]

KINDS: Final[Mapping[str, str]] = {
    "lost": "A record was acknowledged to the program and is not stored.",
    "stored-twice": "A record is stored twice, though the settings promise once.",
    "stored-out-of-order": "Records of a partition are stored in another order than they were sent in, though the settings "
                           "promise it.",
    "stored-altered": "A stored record is not one that the program sent: its key or its value differs.",
    "stored-elsewhere": "A record is stored, but not at the partition and offset that the client reported.",
    "failed": "The client reports records as failed, or a call of a consumer, where Java's client goes on.",
    "key-elsewhere": "A record with a key is not where Java's default partitioner puts it.",
    "no-end": "The client did not end before the deadline.",
    "not-delivered": "A consumer was not given a record that is stored before others that it was given, or at the end.",
    "delivered-twice": "A consumer was given a record twice.",
    "delivered-out-of-order": "A consumer was given records of a partition in another order than they are stored in.",
    "delivered-hidden": "A consumer was given a record of an aborted transaction, a marker, or one that is not stored.",
    "commit-beyond": "A group committed past records that its members did not receive: they are skipped.",
    "commit-behind": "A group has committed less than it was given, though the commit succeeded: records come again.",
}  # fmt: skip
"""Kinds of findings, beside those on the wire, and what each means."""


class ResultLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of RESULTS.

    Of a producer: ``record``, and either ``error``, or ``offset`` and ``partition`` as far as the client reports them. Of a
    consumer: ``partition``, ``offset`` and ``value`` of a record, or ``error`` for a call that failed. ``order`` false says
    that the client does not promise to send records in the order of the calls.
    """

    record: int = -1
    partition: int = -1
    offset: int | None = -1
    value: str = ""
    error: str = ""
    order: bool = True


@dataclass(frozen=True, slots=True)
class PromiseDifference:
    """A difference: its kind, and what; ``harmless`` if the client does not promise otherwise."""

    kind: str
    what: str
    harmless: bool = False


@dataclass
class Results:
    """What an adapter has reported."""

    lines: Sequence[ResultLine] = ()
    acknowledged: dict[int, ResultLine] = field(init=False)
    failed: dict[int, str] = field(init=False)

    def __post_init__(self) -> None:
        self.acknowledged = {one.record: one for one in self.lines if one.record >= 0 and not one.error}
        self.failed = {one.record: one.error for one in self.lines if one.record >= 0 and one.error}

    @property
    def promises_order(self) -> bool:
        """Whether the client sends records in the order of the calls."""
        return all(one.order for one in self.lines)


def judge_producer(
    script: Script, records: Sequence[Record], results: Results, log: Sequence[LogRecord],
    indivisible: Collection[bytes] = frozenset(),
) -> Iterator[PromiseDifference]:  # fmt: skip
    """Yield what is wrong, one finding for each kind, with the first example.

    Records with an ``indivisible`` value may fail: Java's client fails them too.
    """
    by_value = {record.value.encode(): record for record in records}
    stored: dict[int, list[LogRecord]] = {}
    altered = []
    for one in log:
        record = by_value.get(one.value or b"")
        if record is None or one.key != (None if record.key is None else record.key.encode()):
            altered.append(f"{_place(one)} has key {one.key!r} and value {_short(one.value)}")
        else:
            stored.setdefault(record.number, []).append(one)
    yield from _found("stored-altered", altered)
    settings = script.settings
    if settings.acks != "0":
        yield from _found("lost", [f"record {number}" for number in results.acknowledged if number not in stored])
        yield from _found("stored-elsewhere", _elsewhere(results, stored))
    yield from _found("stored-elsewhere", [
        f"record {one.number} was sent to partition {one.partition}, and is in {place.partition}"
        for one in records if one.partition >= 0
        for place in stored.get(one.number, ()) if place.partition != one.partition
    ])  # fmt: skip
    if settings.idempotence or not script.loses:
        twice = {number: places for number, places in stored.items() if len(places) > 1}
        yield from _found(
            "stored-twice", [f"record {at}: {', '.join(map(_place, each))}" for at, each in twice.items()]
        )
    if settings.idempotence or settings.in_flight == 1 or not script.faults:
        for found in _found("stored-out-of-order", _disorder(results, stored)):
            yield replace(found, harmless=not results.promises_order)
    if not script.java_fails:
        may_fail = {record.number for record in records if record.value.encode() in indivisible}
        yield from _found("failed", [
            f"record {number}: {error}" for number, error in results.failed.items() if number not in may_fail
        ])  # fmt: skip
    if script.judges_keys:
        yield from _found("key-elsewhere", _misplaced(script, records, stored))


def _elsewhere(results: Results, stored: Mapping[int, Sequence[LogRecord]]) -> list[str]:
    found = []
    for number, line in results.acknowledged.items():
        places = stored.get(number, ())
        if places and not any(
            line.partition in {-1, one.partition} and line.offset in {-1, None, one.offset} for one in places
        ):
            found.append(f"record {number}: reported at {line.partition}@{line.offset}, stored at {_place(places[0])}")
    return found


def _disorder(results: Results, stored: Mapping[int, Sequence[LogRecord]]) -> list[str]:
    """Return the neighbours that are in the wrong order, by the first place of each record that did not fail."""
    by_partition: dict[int, list[tuple[int, int]]] = {}
    for number, places in stored.items():
        if number not in results.failed:
            first = min(places, key=lambda one: one.offset)
            by_partition.setdefault(first.partition, []).append((first.offset, number))
    return [
        f"partition {partition}: record {number} at offset {offset:,} is before record {other}"
        for partition, order in sorted(by_partition.items())
        for (offset, number), (_, other) in pairwise(sorted(order))
        if number > other
    ]


def _misplaced(script: Script, records: Sequence[Record], stored: Mapping[int, Sequence[LogRecord]]) -> list[str]:
    found = []
    for record in records:
        right = partition_for_key(record.key.encode(), script.partitions) if record.key is not None else -1
        found += [
            f"key {record.key!r} is in partition {one.partition}, not {right} of {script.partitions}"
            for one in stored.get(record.number, ())
            if right not in {-1, one.partition}
        ]
    return found


def judge_consumer(
    script: Script, records: Sequence[Record], results: Results, log: Sequence[LogRecord],
    committed: Mapping[int, int], *, ended: bool = True,
) -> Iterator[PromiseDifference]:  # fmt: skip
    """Yield what is wrong, one finding for each kind, with the first example.

    Of a consumer that has not ``ended`` by itself, only what it left out before other records of a partition is missing. So
    it is where records were given twice, or were hidden: the consumer ended when it had the right number of records.
    """
    hidden = {record.value.encode() for record in records if record.hidden}
    if script.settings.isolation == "read_uncommitted":
        hidden = set()
    visible = {(one.partition, one.offset): one.value for one in log if one.value not in hidden}
    given = [
        (one.partition, one.offset, one.value) for one in results.lines if one.offset is not None and one.offset >= 0
    ]
    yield from _found("failed", [one.error for one in results.lines if one.error])
    yield from _found("delivered-hidden", [
        f"{partition}@{offset}, value {_short(value.encode())}" for partition, offset, value in given
        if visible.get((partition, offset)) != value.encode()
    ])  # fmt: skip
    counts = Counter((partition, offset) for partition, offset, _ in given)
    yield from _found(
        "delivered-twice", [f"{_at(place)} {count} times" for place, count in counts.items() if count > 1]
    )
    order: dict[int, list[int]] = {}
    for partition, offset in counts:
        order.setdefault(partition, []).append(offset)
    yield from _found("delivered-out-of-order", [
        f"partition {partition}: offset {offset:,} before {other:,}"
        for partition, offsets in sorted(order.items()) for offset, other in pairwise(offsets) if offset > other
    ])  # fmt: skip
    last = {partition: max(offsets) for partition, offsets in order.items()}
    whole = ended and len(given) == len({(at, offset) for at, offset, _ in given if (at, offset) in visible})
    left_out = sorted(place for place in visible if place not in counts)
    missing = [place for place in left_out if whole or place[1] < last.get(place[0], -1)]
    yield from _found("not-delivered", list(map(_at, missing)))
    yield from _found("commit-beyond", [
        f"{_at(place)} is skipped: {committed[place[0]]:,} is committed" for place in (left_out if ended else missing)
        if place[1] < committed.get(place[0], -1)
    ])  # fmt: skip
    if not ended:
        return
    yield from _found("commit-behind", [
        f"partition {partition}: offset {max(offsets):,} was given, and "
        + (f"{committed[partition]:,} is committed" if partition in committed else "nothing is committed")
        for partition, offsets in sorted(order.items()) if committed.get(partition, -1) <= max(offsets)
    ])  # fmt: skip


def _found(kind: str, what: Sequence[str]) -> Iterator[PromiseDifference]:
    if what:
        times = "" if len(what) == 1 else f" ({plural(len(what), 'time')} in all)"
        yield PromiseDifference(kind, f"{what[0]}{times}")


def _place(one: LogRecord) -> str:
    return f"{one.partition}@{one.offset}"


def _at(place: tuple[int, int]) -> str:
    return f"{place[0]}@{place[1]}"


def _short(value: bytes | None) -> str:
    return repr(value) if value is None or len(value) <= 40 else f"{value[:40]!r}…"
