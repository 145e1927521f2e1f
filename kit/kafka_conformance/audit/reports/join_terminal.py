"""Print a join audit at a terminal: both topics, the worst keys, the topic to repair, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from kafka_conformance.audit.isolation import notes_of
from kafka_conformance.audit.join_result import Join, JoinFraming, JoinSide, KeyInPartition, MissedKey
from kafka_conformance.audit.result import FormPlace
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import plural

__all__ = ["show"]

_MOST = 10
_PLACES, _FRAMED = 6, 3
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


def _framed(found: JoinFraming) -> Iterator[tuple[str, str]]:
    what = "spellings" if found.format == "json" else "frames"
    unframed = f"; {plural(found.unframed, 'key')} without {found.format}" if found.unframed else ""
    if not found.missed:
        both = f"{plural(found.keys, 'logical key')} in both topics in different {what}"
        yield f"none is missed because of different {what}: {both}{unframed}", ""
        return
    missed = f"a join misses {plural(found.missed, 'logical key')} because of different {what}"
    pairs = f"{found.never:,} of them entirely; "
    pairs += f"{found.pairs_missed:,} of {plural(found.pairs, 'pair')} of records in different {what}"
    yield f"{missed}, {pairs}{unframed}", "bold red"
    for one in found.worst[:_FRAMED]:
        yield f"  {_shown(one.key)}: {_in_forms(one.a)} in the first, {_in_forms(one.b)} in the second", ""


def _in_forms(places: tuple[FormPlace, ...]) -> str:
    more = f", {len(places) - _FRAMED} more" if len(places) > _FRAMED else ""
    shown = [
        f"{clipped(one.form, 48)} in partition {one.place.partition} ({one.records:,})" for one in places[:_FRAMED]
    ]
    return ", ".join(shown) + more


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
    for side, reading in zip((a, b), join.reading or (), strict=False):
        for note in notes_of(reading, side.name):
            yield note, "yellow"
    yield from ((note, "yellow") for note in join.notes)
    if join.framing:
        yield from _framed(join.framing)
    yield _verdict(join)


def _verdict(join: Join) -> tuple[str, str]:
    took = f"{join.took_s:.1f} s"
    both = f"{plural(join.keys_in_both, 'key')} in both topics"
    pairs = f"{plural(join.pairs, 'pair')} of records. {took}"
    if join.keys_missed:
        missed = f"a join misses {plural(join.keys_missed, 'key')} of {both}, {join.keys_never:,} of them entirely"
        return f"{missed}; {join.pairs_missed:,} of {pairs}", "bold red"
    if join.framing and join.framing.missed:
        return f"a join misses no key for another reason: {both}, {pairs}", "bold red"
    if join.same_count:
        return f"a join misses no key: {both}, {pairs}", "bold green"
    return f"no key is missed at present: {both}, {pairs}", "bold red"
