"""Audits to try reports on: topics of every kind, made up so that their counts fit together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kafka_conformance.audit.result import (
    EITHER,
    UNEXPLAINED,
    AttributedRun,
    Audit,
    FormPlace,
    Framing,
    Growth,
    Keyless,
    LogicalKey,
    PartitionLine,
    Place,
    Placed,
    PlacementShare,
    Skew,
    SplitKey,
    Splits,
    TimeSlot,
)

BEGIN_MS = 1_740_787_200_000  # 2025-03-01T00:00:00Z
HOUR_MS = 3_600_000
DESCRIPTIONS = {
    "murmur2": "Java's own: murmur2, its sign masked",
    "librdkafka-consistent": "librdkafka's default, and ruby-kafka's: CRC32, unsigned",
    "sarama-hash": "sarama's default, kafka-go's Hash, librdkafka's fnv1a: FNV-1a, its sign dropped",
}

Writer = Callable[[int, int], dict[str, int]]
"""How many records of an hour of a partition go to whom; ``keyless`` among them."""


def audit(
    hours: int, partitions: int, writer: Writer, *, timed: bool = True, source: str = "orders", **more: Any
) -> Audit:
    """The audit of a topic in which each partition is written hour by hour."""
    counts = {(hour, partition): writer(hour, partition) for hour in range(hours) for partition in range(partitions)}
    shares = tuple(_shares(counts, partitions, timed))
    lines = tuple(_line(counts, hours, partition, partitions) for partition in range(partitions))
    runs = tuple(run for partition in range(partitions) for run in _runs(counts, hours, partition, timed))
    records, keyed = sum(line.records for line in lines), sum(line.keyed for line in lines)
    unexplained = sum(line.attributed.get(UNEXPLAINED, 0) for line in lines)
    keyless = records - keyed
    given: dict[str, Any] = {
        "source": source, "partitions": partitions, "expected": Placed("murmur2", partitions), "records": records,
        "keyed": keyed, "explained": keyed - unexplained, "offending": sum(line.offending for line in lines),
        "shares": shares, "runs": runs, "runs_in_all": len(runs), "growth": (), "by_partition": lines,
        "over_time": tuple(_slots(counts, hours, partitions)) if timed else (),
        "splits": Splits(0, min(keyed, 4_321), 0, None, ()),
        "keyless": Keyless(keyless, {"sticky runs": keyless} if keyless else {}), "skew": _skew(lines),
        "offending_records": "", "kit": "0.1.0", "took_s": 12.34,
    }  # fmt: skip
    return Audit(**{**given, **more})


def _line(counts: dict[tuple[int, int], dict[str, int]], hours: int, partition: int, partitions: int) -> PartitionLine:
    summed = _summed([counts[hour, partition] for hour in range(hours)])
    keyless = summed.pop("keyless", 0)
    keyed = sum(summed.values())
    offending = keyed - summed.get(f"murmur2@{partitions}", 0) - summed.get(EITHER, 0)
    return PartitionLine(partition, 1000, 1000 + keyed + keyless, keyed + keyless, keyed, keyless, offending, summed)


def _summed(every: list[dict[str, int]]) -> dict[str, int]:
    summed: dict[str, int] = {}
    for one in every:
        for name, count in one.items():
            summed[name] = summed.get(name, 0) + count
    return summed


def _slots(counts: dict[tuple[int, int], dict[str, int]], hours: int, partitions: int) -> list[TimeSlot]:
    slots = []
    for hour in range(hours):
        summed = _summed([counts[hour, partition] for partition in range(partitions)])
        keyless = summed.pop("keyless", 0)
        slots.append(TimeSlot(BEGIN_MS + hour * HOUR_MS, HOUR_MS, sum(summed.values()) + keyless, summed, keyless))
    return slots


def _runs(
    counts: dict[tuple[int, int], dict[str, int]], hours: int, partition: int, timed: bool
) -> list[AttributedRun]:
    runs: list[AttributedRun] = []
    offset = 1000
    for hour in range(hours):
        here = {name: count for name, count in counts[hour, partition].items() if count}
        names = tuple(placed(name) for name in here if "@" in name)
        records = sum(here.values())
        if "keyless" not in here and records:
            begin = BEGIN_MS + hour * HOUR_MS
            times = (begin, begin + HOUR_MS - 1) if timed else (None, None)
            last = runs[-1] if runs else None
            if last and last.placed == names and last.last_offset == offset - 1:
                runs.pop()
                runs.append(AttributedRun(partition, names, last.first_offset, offset + records - 1, last.first_ms, times[1],
                                last.records + records))  # fmt: skip
            else:
                runs.append(AttributedRun(partition, names, offset, offset + records - 1, *times, records))
        offset += records
    return runs


def placed(name: str) -> Placed:
    rule, _, count = name.rpartition("@")
    return Placed(rule, int(count))


def _shares(counts: dict[tuple[int, int], dict[str, int]], partitions: int, timed: bool) -> list[PlacementShare]:
    found: dict[str, list[tuple[int, int, int, int]]] = {f"murmur2@{partitions}": []}
    offsets = dict.fromkeys(range(partitions), 1000)
    for (hour, partition), here in sorted(counts.items()):
        for name, count in here.items():
            if "@" in name and count:
                found.setdefault(name, []).append((hour, partition, offsets[partition], count))
        offsets[partition] += sum(here.values())
    shares = []
    for name, every in found.items():
        total = sum(count for *_, count in every)
        first, last = (min(every), max(every)) if every else (None, None)
        ends = [
            Place(BEGIN_MS + end[0] * HOUR_MS + 123 if timed else -1, end[1], end[2]) if end else None
            for end in (first, last)
        ]
        one = placed(name)
        shares.append(
            PlacementShare(one, DESCRIPTIONS.get(one.rule, "text"), total + 17 * bool(total), max(0, total - 29), total,
                  *ends, expected=one == Placed("murmur2", partitions))
        )  # fmt: skip
    return shares


def _skew(lines: tuple[PartitionLine, ...]) -> Skew:
    counts = [line.records for line in lines]
    mean = sum(counts) / len(counts)
    if not mean:
        return Skew(0, 0.0, 0, 0.0, 0.0)
    variance = sum((count - mean) ** 2 for count in counts) / len(counts)
    fullest, emptiest = counts.index(max(counts)), counts.index(min(counts))
    return Skew(fullest, max(counts) / mean, emptiest, min(counts) / mean, variance**0.5 / mean)


def healthy(**more: Any) -> Audit:
    return audit(48, 6, lambda hour, partition: {"murmur2@6": 3000 + 400 * partition + 37 * hour}, **more)


def strange(**more: Any) -> Audit:
    """A partitioner that nobody knows."""
    return audit(3, 2, lambda _, __: {UNEXPLAINED: 1234}, **more)


def librdkafka() -> Audit:
    return audit(
        48, 12, lambda hour, partition: {"librdkafka-consistent@12": 2917 + partition, EITHER: 11 * (hour % 2)}
    )


def mixed(**more: Any) -> Audit:
    """Java until noon of the first day; then librdkafka joins, and Sarama for two hours; some without a key; some lost."""

    def writer(hour: int, partition: int) -> dict[str, int]:
        here = {"murmur2@12": 5200 + 211 * (partition % 5)}
        if hour >= 12:
            here["librdkafka-consistent@12"] = 1031 + hour * 13
        if 30 <= hour < 33:
            here["sarama-hash@12"] = 2222
        if hour == 40:
            here |= {UNEXPLAINED: 613, EITHER: 401}
        if hour % 12 == 7:
            here["keyless"] = 977
        return here

    given: dict[str, Any] = {
        "splits": Splits(8_765, 64_321, 345_678, Place(BEGIN_MS + 12 * HOUR_MS + 123, 3, 63_456), split_keys()),
        "keyless": Keyless(46_896, {"sticky runs": 40_000, "round robin": 6_000, "unclear": 896}),
        "offending_records": "/data/audits/orders/offending",
        "notes": ("217 offsets between the first and the last were missing: compacted, or of transactions",),
        **more,
    }
    return audit(48, 12, writer, **given)


def split_keys() -> tuple[SplitKey, ...]:
    keys = ("757365722d31", "00ff10", "", "68c3a96c6c6f20e4bda0e5a5bd", "61" * 300, "1b5b324a", "e280ae")
    return tuple(
        SplitKey(
            key,
            tuple(
                Place(BEGIN_MS + (12 + step) * HOUR_MS, 3 + step, 63_456 + 7 * step) for step in range(2 + 2 * number)
            ),
            250 + number,
        )
        for number, key in enumerate(keys)
    )


def framing(key: str = "75736572", **more: Any) -> Framing:
    """A topic that one writer after another framed with its own schema id."""
    given: dict[str, Any] = {
        "format": "confluent", "framed": 723, "unframed": 177, "forms": {"schema id 7": 601, "schema id 9": 122},
        "keys": 2_345, "several": 1_234, "split": 111, "records": 3_456, "since": Place(BEGIN_MS + HOUR_MS, 5, 63_463),
        "earliest": (LogicalKey(key, 1_003, (
            FormPlace("schema id 7", Place(BEGIN_MS, 2, 63_456), 1_001),
            FormPlace("schema id 9", Place(BEGIN_MS + HOUR_MS, 5, 63_463), 2),
        )),),
    }  # fmt: skip
    return Framing(**{**given, **more})


def grown() -> Audit:
    """From 3 to 12 partitions after a day."""

    def writer(hour: int, partition: int) -> dict[str, int]:
        if hour < 24:
            return {"murmur2@3": 4001} if partition < 3 else {}
        return {"murmur2@12": 1102}

    growth = Growth("murmur2", 3, 12, dict.fromkeys(range(3), 97_023), BEGIN_MS + 24 * HOUR_MS - 1)
    return audit(48, 12, writer, growth=(growth,))


def keyless() -> Audit:
    return audit(24, 4, lambda _, partition: {"keyless": 2511 + partition}, splits=Splits(0, 0, 0, None, ()))


def empty() -> Audit:
    return audit(1, 3, lambda _, __: {}, splits=Splits(0, 0, 0, None, ()), notes=("the topic is empty",))


def thousand() -> Audit:
    def writer(hour: int, partition: int) -> dict[str, int]:
        return {
            "murmur2@1000": 1500 + partition % 7 * 31,
            "librdkafka-consistent@1000": 700 if partition % 37 == 5 and hour > 1 else 0,
        }

    return audit(4, 1000, writer, runs_in_all=1_234_567)


def timeless() -> Audit:
    return audit(
        6,
        6,
        lambda hour, _: {"murmur2@6" if hour < 3 else "librdkafka-consistent@6": 2003},
        timed=False,
        notes=("no record carries a timestamp",),
    )


def many() -> Audit:
    """More placements than there are colours."""
    rules = [f"rule-{number}" for number in range(12)]
    return audit(24, 8, lambda hour, _: {"murmur2@8": 2000, f"{rules[hour % 12]}@{8 - hour % 3}": 1500})


def hostile(text: str) -> Audit:
    """What somebody else named, in every place there is."""
    made = mixed(
        source=text,
        notes=(text,),
        offending_records=text,
        kit=text,
        splits=Splits(2, 9, 5, None, (SplitKey(text, (Place(-1, 0, 1), Place(-1, 1, 2)), 5),)),
        keyless=Keyless(5, {text: 5}),
        growth=(Growth(text, 3, 12, {0: 5}, 10**18),),
        framing=framing(
            text, forms={text: 4}, split=1, earliest=(LogicalKey(text, 5, (
                FormPlace(text, Place(-1, 0, 1), 2), FormPlace("", Place(-1, 1, 2), 3),
            )),),
        ),
    )  # fmt: skip
    shares = tuple(
        PlacementShare(Placed(text, 12), text, 9, 9, 9, None, None) if one.placed.rule == "sarama-hash" else one
        for one in made.shares
    )
    lines = tuple(
        PartitionLine(one.partition, one.first_offset, one.end_offset, one.records, one.keyed, one.keyless, one.offending,
                      {f"{text}@12": 7, f"{text}@7": 8, **one.attributed})
        for one in made.by_partition
    )  # fmt: skip
    runs = (*made.runs, AttributedRun(1, (Placed(text, 12),), 1000, 1009, -(10**17), 10**18, 10))
    return replaced(made, shares=shares, by_partition=lines, runs=runs)


def replaced(made: Audit, **more: Any) -> Audit:
    return Audit(**{name: more.get(name, getattr(made, name)) for name in made.__struct_fields__})


def numbers(made: Audit) -> set[int]:
    """Every number of an audit, and what reports may add up or take away from these."""
    found = set(_numbers(msgspec.to_builtins(made)))
    names = {name for line in made.by_partition for name in line.attributed}
    found |= {sum(line.attributed.get(name, 0) for line in made.by_partition) for name in names}
    hidden = sorted(made.by_partition, key=lambda line: (-line.offending, -line.records))[24:]
    found |= {sum(line.offending for line in hidden), made.runs_in_all - len(made.runs), len(made.runs)}
    found |= {made.splits.keys - shown for shown in (len(made.splits.earliest), 10)}
    if len(made.by_partition) > 400:  # drawn by groups of three
        groups = [made.by_partition[begin : begin + 3] for begin in range(0, len(made.by_partition), 3)]
        for group in groups:
            whose = [sum(line.attributed.get(name, 0) for line in group) for name in names]
            found |= {sum(line.records for line in group), *whose}
    return found


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, str):
        yield from (int(digits) for digits in re.findall(r"\d+", value))
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from _numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _numbers(each)


ALL = {
    "strange": strange(),
    "healthy": healthy(),
    "framed": healthy(framing=framing()),
    "librdkafka": librdkafka(),
    "mixed": mixed(),
    "grown": grown(),
    "keyless": keyless(),
    "empty": empty(),
    "thousand": thousand(),
    "timeless": timeless(),
    "many": many(),
}
