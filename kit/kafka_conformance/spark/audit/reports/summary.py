"""What an audit comes down to, in sentences and rows that every report of it shares.

Nothing is reckoned here beyond sums and shares. A topic is broken by records that are attributed to another placement than
the expected one, or explained by none; not by the expected one with the number of partitions from which the topic grew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.terminal import plural
from kafka_conformance.spark.audit.reports.formatting import at, counted, key, named, percent, place, when
from kafka_conformance.spark.audit.result import (
    EITHER,
    UNEXPLAINED,
    Audit,
    Growth,
    PartitionLine,
    Place,
    Placed,
    Run,
    Share,
)

__all__ = [
    "PARTITIONS",
    "PLACEMENTS",
    "SPANS",
    "broken_since",
    "foreign_runs",
    "growth",
    "headline",
    "labels",
    "placed_by",
    "placements",
    "ranked",
    "runs_title",
    "said",
    "skewed",
    "spans",
    "split",
    "split_rows",
    "telling",
    "until",
    "who",
    "writers",
]

PARTITIONS = 24
"""So many partitions are shown one by one; of more than these, the most telling."""

_STORY, _RULE = 120, 60
_PLACES, _WRITERS = 4, 3


def headline(audit: Audit) -> str:
    """The verdict, as one sentence."""
    if not audit.records:
        return "There are no records, so there is nothing to tell."
    if not audit.keyed:
        return f"None of the {plural(audit.records, 'record')} has a key, so no key can be on a wrong partition."
    if not audit.offending:
        return f"All {plural(audit.keyed, 'keyed record')} are where {_expected(audit)} would put them."
    share = percent(audit.offending, audit.keyed)
    return f"{share} of {plural(audit.keyed, 'keyed record')} are not where {_expected(audit)} would put them."


def _expected(audit: Audit) -> str:
    """Whoever should have written the topic."""
    one = audit.expected
    who = "Java's producer" if one.rule == "murmur2" else clipped(one.rule, _RULE)
    return (
        who if one.partitions == audit.partitions else f"{who}, reckoning with {plural(one.partitions, 'partition')},"
    )


def who(audit: Audit) -> str:
    """Which producers wrote the keyed records, and what is left; empty where there are none."""
    if not audit.keyed:
        return ""
    totals = _totals(audit)
    rules: Counter[str] = Counter()
    for share in audit.shares:
        rules[share.placed.rule] += share.attributed
    wrote = [(rule, count) for rule, count in rules.most_common() if count]
    parts = [f"{_with_story(audit, rule)} {percent(count, audit.keyed)}" for rule, count in wrote]
    said = f"{counted(len(wrote), 'kind').capitalize()} of producer wrote this topic: {'; '.join(parts)}."
    rest = [
        f"{percent(totals[name], audit.keyed)} {words}"
        for name, words in ((EITHER, "could be of more than one"), (UNEXPLAINED, "are explained by no known placement"))
        if totals[name]
    ]
    left = f"{', and '.join(rest)}." if rest else ""
    return " ".join(filter(None, [said if wrote else "", left]))


def _with_story(audit: Audit, rule: str) -> str:
    story = next((share.story for share in audit.shares if share.placed.rule == rule), "")
    return clipped(rule, _RULE) + (f" ({clipped(story, _STORY)})" if story else "")


def _totals(audit: Audit) -> Counter[str]:
    """Keyed records of the whole topic by whom they are attributed to."""
    totals: Counter[str] = Counter()
    for line in audit.by_partition:
        totals.update(line.attributed)
    return totals


def labels(audit: Audit) -> dict[str, str]:
    """By the text under which records are counted: how a placement is called beside others of this topic.

    Its number of partitions is left out where it is the topic's own.
    """
    return {
        str(one.placed): clipped(one.placed.rule, _RULE)
        + ("" if one.placed.partitions == audit.partitions else f" of {plural(one.placed.partitions, 'partition')}")
        for one in audit.shares
    }


def ranked(audit: Audit) -> list[Share]:
    """Shares, the expected one first, then by what is attributed to them."""
    return sorted(audit.shares, key=lambda one: (not _is_expected(audit, one), -one.attributed, one.placed))


def _is_expected(audit: Audit, one: Share) -> bool:
    return one.expected or one.placed == audit.expected


PLACEMENTS = ("placement", "partitions", "attributed", "share", "explains", "alone", "story")
"""What the columns of ``placements`` are."""


def placements(audit: Audit) -> list[tuple[str, ...]]:
    """A row for each placement, then one for what is left, if anything is."""
    totals = _totals(audit)
    rows: list[tuple[str, ...]] = [
        (
            clipped(one.placed.rule, _RULE) + (" (expected)" if _is_expected(audit, one) else ""),
            f"{one.placed.partitions:,}",
            f"{one.attributed:,}",
            percent(one.attributed, audit.keyed),
            f"{one.explains:,}",
            f"{one.alone:,}",
            clipped(one.story, 4 * _STORY),
        )
        for one in ranked(audit)
    ]
    for name, story in (
        (EITHER, "several explain it, and its neighbours do not tell which"),
        (UNEXPLAINED, "an explicit partition, or a partitioner that is not known here"),
    ):
        if totals[name]:
            rows.append((named(name), "-", f"{totals[name]:,}", percent(totals[name], audit.keyed), "-", "-", story))
    return rows


SPANS = ("placement", "first seen", "partition", "offset", "last seen", "partition", "offset")
"""What the columns of ``spans`` are."""


def spans(audit: Audit) -> list[tuple[str, ...]]:
    """From where to where each placement was seen, the earliest first."""
    names, older = labels(audit), _older(audit)
    rows: list[tuple[str, ...]] = []
    for one in sorted((one for one in audit.shares if one.first), key=lambda one: (one.first, one.placed)):
        what = " (expected)" if _is_expected(audit, one) else " (before the topic grew)" if one.placed in older else ""
        rows.append((names[str(one.placed)] + what, *_place(one.first), *_place(one.last)))
    return rows


def _place(one: Place | None) -> tuple[str, str, str]:
    return (when(one.time_ms), f"{one.partition:,}", f"{one.offset:,}") if one else ("-", "-", "-")


def _older(audit: Audit) -> set[Placed]:
    """The expected placement with the counts that the topic had before it grew."""
    return {Placed(one.rule, one.before) for one in audit.growth if one.rule == audit.expected.rule}


def broken_since(audit: Audit) -> str:
    """Who began to place records otherwise than expected, and where; empty if nobody did, or if it is not known.

    What no one explains counts too, as long as the audit holds every run.
    """
    older, names = _older(audit), labels(audit)
    found = [
        (one.first, f"placed by {names[str(one.placed)]}")
        for one in audit.shares
        if one.first and one.attributed and not _is_expected(audit, one) and one.placed not in older
    ]
    if audit.runs_in_all == len(audit.runs):
        found += [
            (Place(-1 if run.first_ms is None else run.first_ms, run.partition, run.first_offset), "unexplained")
            for run in audit.runs
            if not run.placed
        ]
    if not found:
        return ""
    first, by = min(found)
    return f"Since {place(first)}: the first record {by}."


def said(audit: Audit) -> list[str]:
    """What follows the headline: who wrote the topic, whether it grew, since when it is broken."""
    return list(filter(None, [who(audit), *map(_grew, audit.growth), broken_since(audit)]))


def growth(one: Growth) -> str:
    """Of which placement, from what to what."""
    return f"{clipped(one.rule, _RULE)}, from {one.before:,} to {plural(one.after, 'partition')}"


def _grew(one: Growth) -> str:
    """That a topic grew, and since when."""
    last = "" if when(one.until_ms) == "-" else f" The last record by the older count is of {when(one.until_ms)}."
    return f"The topic grew while this was written: {growth(one)}.{last}"


def until(one: Growth) -> tuple[list[tuple[int, int]], int]:
    """Partition and last offset by the older count; and of how many more partitions it is not shown."""
    every = sorted(one.until.items())
    return every[:PARTITIONS], len(every[PARTITIONS:])


def runs_title(audit: Audit) -> str:
    """What ``foreign_runs`` are called: an audit of many runs does not hold them all."""
    kept = "" if len(audit.runs) == audit.runs_in_all else f" among the {len(audit.runs):,} runs that were kept"
    return f"The earliest runs of anything but the expected{kept}"


def foreign_runs(audit: Audit, most: int) -> tuple[list[Run], int]:
    """The earliest runs that hold something else than the expected placement; how many more of those at hand there are."""
    runs = [run for run in audit.runs if run.placed != (audit.expected,)]
    runs.sort(key=lambda run: (run.first_ms is None, run.first_ms or 0, run.partition, run.first_offset))
    return runs[:most], len(runs[most:])


def placed_by(audit: Audit, run: Run) -> str:
    """Who wrote a run."""
    names = labels(audit)
    return " and ".join(names.get(str(one)) or named(one) for one in run.placed[:4]) or named(UNEXPLAINED)


def telling(lines: Sequence[PartitionLine]) -> tuple[list[PartitionLine], int, int]:
    """The partitions to be shown; how many are not, and how many offending records are in those.

    Most telling are those with the most offending records, then the fullest.
    """
    if len(lines) <= PARTITIONS:
        return list(lines), 0, 0
    order = sorted(lines, key=lambda line: (-line.offending, -line.records, line.partition))
    hidden = order[PARTITIONS:]
    return (
        sorted(order[:PARTITIONS], key=lambda line: line.partition),
        len(hidden),
        sum(line.offending for line in hidden),
    )


def writers(audit: Audit, line: PartitionLine) -> str:
    """Who placed the keyed records of a partition, by share."""
    names = labels(audit)
    by = sorted(((name, count) for name, count in line.attributed.items() if count), key=lambda one: -one[1])
    shown = [f"{names.get(name) or named(name)} {percent(count, line.keyed)}" for name, count in by[:_WRITERS]]
    return "; ".join([*shown, *([f"{len(by) - _WRITERS} more"] if len(by) > _WRITERS else [])]) or "-"


def split(audit: Audit) -> str:
    """How many keys live on several partitions, and since when."""
    seen = audit.splits
    if not seen.of_keys:  # the audit had no reason to look
        one_way = "All keys came to their partitions in one way, so none lives on several."
        return one_way if audit.keyed else "There are no keys."
    if not seen.keys:
        return f"Each of {plural(seen.of_keys, 'key')} lives on one partition."
    since = f"; first at {place(seen.since)}" if seen.since else ""
    share, records = percent(seen.keys, seen.of_keys), plural(seen.records, "record")
    return (
        f"{seen.keys:,} of {plural(seen.of_keys, 'key')} ({share}) live on several partitions, with {records}{since}."
    )


def split_rows(audit: Audit) -> Iterator[tuple[str, str, str]]:
    """The earliest of those keys: the key, its records, and where it was first met on each of its partitions."""
    for one in audit.splits.earliest:
        places = [f"{each.partition:,} from offset {each.offset:,}{at(each.time_ms)}" for each in one.places[:_PLACES]]
        more = len(one.places) - _PLACES
        yield key(one.key), f"{one.records:,}", "; ".join([*places, *([f"{more:,} more"] if more > 0 else [])])


def skewed(audit: Audit) -> str:
    """How unevenly records lie."""
    one = audit.skew
    return (
        f"The fullest partition, {one.fullest:,}, holds {one.fullest_over_mean:.2f} × the mean; the emptiest,"
        f" {one.emptiest:,}, {one.emptiest_over_mean:.2f} ×; coefficient of variation {one.variation:.2f}."
    )
