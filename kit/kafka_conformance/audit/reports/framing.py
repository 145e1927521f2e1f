"""Summarize the keys that differ in their frame only, in sentences and rows that all reports share."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.audit.reports.formatting import at, key, percent
from kafka_conformance.audit.result import FormPlace, Framing
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.terminal import plural

__all__ = ["HEADS", "rows", "sentences", "verdict"]

HEADS = ("logical key", "records", "frames and partitions, in order")
"""The columns of :func:`rows`."""

_PLACES, _FORM, _FORMS = 4, 48, 6


def verdict(one: Framing) -> str:
    """Return how many logical keys lie in several partitions because of their frames, with the earliest by name."""
    frames = "spellings" if one.format == "json" else "frames"
    if not one.split:
        more = f", {one.several:,} of them in several {frames}" if one.several else ""
        return f"No key lies in several partitions in different {frames}: {plural(one.keys, 'logical key')}{more}."
    share = percent(one.split, one.keys)
    return (
        f"{one.split:,} of {plural(one.keys, 'logical key')} ({share}) lie in several partitions in different {frames}, with"
        f" {plural(one.records, 'record')}: a join misses them. {_example(one)}"
    )


def _example(one: Framing) -> str:
    """Return the earliest logical key with two of its places that differ in frame and partition."""
    first = one.earliest[0]
    pairs = (
        (a, b) for a in first.places for b in first.places if a.form != b.form and a.place.partition < b.place.partition
    )
    pair = next(pairs, first.places[:2])
    lies = " and ".join(f"under {_form(each)} in partition {each.place.partition:,}" for each in pair)
    return f"The earliest: {key(first.key)} lies {lies}."


def sentences(one: Framing) -> list[str]:
    """Return how many records have the format, and the most frequent frames."""
    every = one.framed + one.unframed
    what = "is JSON" if one.format == "json" else f"has the frame of {one.format}"
    lines = [f"The key of {one.framed:,} of {plural(every, 'keyed record')} ({percent(one.framed, every)}) {what}."]
    if one.unframed:
        lines[0] += f" The {one.unframed:,} others are compared as a whole" + (
            "; is --key-format right?" if not one.framed else "."
        )
    if one.forms:
        shown = [f"{name} {percent(count, every)}" for name, count in list(one.forms.items())[:_FORMS]]
        more = len(one.forms) - _FORMS
        lines.append(f"Frames: {', '.join(shown)}" + (f", and {more} more" if more > 0 else "") + ".")
    return lines


def rows(found: Framing) -> Iterator[tuple[str, str, str]]:
    """Yield the logical keys that were split first: key, records, and the first record in each frame and partition."""
    for each in found.earliest:
        places = [
            f"{_form(one)}: partition {one.place.partition:,} from offset {one.place.offset:,}{at(one.place.time_ms)}"
            for one in each.places[:_PLACES]
        ]
        more = len(each.places) - _PLACES
        yield key(each.key), f"{each.records:,}", "; ".join([*places, *([f"{more:,} more"] if more > 0 else [])])


def _form(one: FormPlace) -> str:
    return clipped(one.form, _FORM)
