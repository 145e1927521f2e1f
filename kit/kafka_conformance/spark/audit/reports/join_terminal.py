"""Print a join audit at a terminal: both topics, the worst keys, the topic to repair, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.reports.terminal import plural, table
from kafka_conformance.spark.audit.join import Join, JoinSide, KeyInPartition, MissedKey

__all__ = ["show"]

_MOST = 10
_PLACES = 6
_SIDES = ("topic", "partitions", "records", "without a key", "keys", "keys off the rule", "records affected")
_KEYS = ("key", "meets", "affected", "expected", "partitions in the first", "partitions in the second")


def show(out: Console, join: Join) -> None:
    """Print the report; the verdict is the last line. Control characters in names and keys are escaped."""
    out.print(table("", _SIDES, [_side(join.a), _side(join.b)]))
    if join.missed:
        shown = join.missed[:_MOST]
        out.print(table(f"the {len(shown)} worst of {plural(join.keys_missed, 'key')}", _KEYS, map(_key, shown)))
    for text, style in _lines(join):
        out.print(Text(harmless(text), style=style))


def _side(side: JoinSide) -> list[str]:
    counts = side.partitions, side.records, side.keyless, side.keys, side.off_keys, side.affected
    return [harmless(side.name), *(f"{count:,}" for count in counts)]


def _key(one: MissedKey) -> list[str]:
    expected = str(one.expected[0]) if one.expected[0] == one.expected[1] else "{} / {}".format(*one.expected)
    return [
        _shown(one.key),
        "never" if one.never else "partly",
        f"{one.affected:,}",
        expected,
        _partitions(one.a),
        _partitions(one.b),
    ]


def _shown(key: str) -> str:
    """Return a key as text if it is printable, else as hex."""
    try:
        text = bytes.fromhex(key).decode()
    except UnicodeDecodeError:
        text = ""
    shown = repr(text) if text and text.isprintable() else f"0x{key}"
    return shown if len(shown) <= 40 else shown[:37] + "..."


def _partitions(by_partition: tuple[KeyInPartition, ...]) -> str:
    more = f", {len(by_partition) - _PLACES} more" if len(by_partition) > _PLACES else ""
    return ", ".join(f"{one.partition} ({one.records:,})" for one in by_partition[:_PLACES]) + more


def _lines(join: Join) -> Iterator[tuple[str, str]]:
    a, b = join.a, join.b
    if not join.same_count:
        counts = f"{a.name} has {plural(a.partitions, 'partition')} and {b.name} {b.partitions}"
        yield f"{counts}: Kafka Streams rejects the join", "bold red"
    for side in (a, b):
        if side.off_keys:
            off = f"{side.name} is off {join.rule} for {plural(side.off_keys, 'key')}, {plural(side.off_records, 'record')}"
            yield f"{off}; {plural(side.to_blame, 'missed key')} of these", "yellow"
    if join.neither_to_blame:
        yield (
            f"{plural(join.neither_to_blame, 'missed key')} where {join.rule} puts them in both: the counts differ",
            "yellow",
        )
    took = f"{join.took_s:.1f} s"
    both = f"{plural(join.keys_in_both, 'key')} in both topics"
    if join.keys_missed:
        missed = f"a join misses {plural(join.keys_missed, 'key')} of {both}, {join.keys_never:,} of them entirely"
        yield f"{missed}; {join.pairs_missed:,} of {plural(join.pairs, 'pair')} of records. {took}", "bold red"
    elif join.same_count:
        yield f"a join misses no key: {both}, {plural(join.pairs, 'pair')} of records. {took}", "bold green"
    else:
        yield (
            f"no key is missed at present: {both}, {plural(join.pairs, 'pair')} of records. {took}",
            "bold red",
        )
