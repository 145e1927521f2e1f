"""Summarize an audit in sentences and rows that all its reports share.

Nothing is computed here beyond sums and shares. A topic is broken by records attributed to another placement than the
expected one, or explained by none; the expected placement with a former partition count of the topic does not break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from kafka_conformance.audit.attribution.key_views import ENCODED, WHOLE, find_view
from kafka_conformance.audit.reports import framing
from kafka_conformance.audit.reports.formatting import at, key, named, percent, place, when
from kafka_conformance.audit.reports.next_steps import next_step
from kafka_conformance.audit.reports.writers import attributed_totals, bounds, topic_writers
from kafka_conformance.audit.result import (
    EITHER,
    UNEXPLAINED,
    AttributedRun,
    Audit,
    Doubt,
    Growth,
    PartitionLine,
    Place,
    Placed,
    PlacementShare,
)
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.terminal import plural

__all__ = [
    "DEFINITIONS",
    "PARTITIONS",
    "PLACEMENTS",
    "SPANS",
    "alike",
    "broken_since",
    "details",
    "foreign_runs",
    "growth",
    "headline",
    "labels",
    "partition_writers",
    "placed_by",
    "placements",
    "ranked",
    "runs_title",
    "select_partitions",
    "skewed",
    "spans",
    "split",
    "split_rows",
    "topic_writers",
    "until",
]

PARTITIONS = 24
"""The maximum number of partitions in a report; of more, the most affected are shown."""

DEFINITIONS = {
    "elsewhere": "a keyed record outside the partition that the expected placement chooses",
    "explains": "keyed records that the placement would put into their partition, some by chance",
    "alone": "those of them that no other placement listed here explains",
    "attributed": "keyed records that no other producer is likely to have sent",
    "either": "several producers may have sent it, so it is attributed to none",
    "unexplained": "no placement listed here would put it there",
    "estimated": "share of all keyed records, with 99 % confidence",
    "most affected": "with the most records elsewhere",
}
"""The words of the tables, for a report to define where it uses them."""

_DESCRIPTION, _RULE = 120, 60
_PLACES, _WRITERS, _FITTING = 4, 3, 6


def headline(audit: Audit) -> str:
    """Return the verdict as one sentence."""
    if not audit.records:
        return "No record is selected." if audit.selection else "The topic has no records."
    if not audit.keyed:
        return f"None of the {plural(audit.records, 'record')} has a key, so no key can be in a wrong partition."
    return _cannot_tell(audit, audit.doubt) if audit.doubt else _misplaced(audit)


def _misplaced(audit: Audit) -> str:
    """Return how many records are not in the expected partition."""
    by = "" if audit.key_view == WHOLE else f", by {find_view(audit.key_view).text}"
    first = _encoded(audit)
    if not audit.offending:
        return f"{first}{'all' if first else 'All'} {plural(audit.keyed, 'keyed record')} are where {_expected(audit)}{by}."
    share = percent(audit.offending, audit.keyed)
    return f"{first}{share} of {plural(audit.keyed, 'keyed record')} are not where {_expected(audit)}{by}."


def _encoded(audit: Audit) -> str:
    """Return that the keys are an encoding of what was placed, if they are; else nothing."""
    encoding = audit.key_view.partition("+")[0]
    if encoding not in ENCODED:
        return ""
    return f"The export holds the keys as {encoding}: use --key-encoding {encoding}. So read, "


def _cannot_tell(audit: Audit, doubt: Doubt) -> str:
    """Return that there are too few distinct keys to tell placements apart, and how many it would take."""
    if doubt.needed is None:
        return (
            "Cannot tell: with one partition, every rule puts every key into it. Only a topic of several can be judged."
        )
    few = f"Cannot tell: {plural(doubt.keys, 'distinct key')}"
    also = " or by ".join(find_view(view).words for view in audit.fitting_views[:_FITTING])
    if not doubt.fitting:
        fit = (
            f". No rule fits them whole; {_producer(audit)} fits all of them by"
            if also
            else ", and no rule fits all of them"
        )
    elif len(doubt.fitting) == 1:
        fit = f", and only {doubt.fitting[0]} fits all of them, perhaps by chance"
    else:
        more = len(doubt.fitting) - _FITTING
        fit = f", these rules all fit: {', '.join(doubt.fitting[:_FITTING])}" + (
            f" and {more} more" if more > 0 else ""
        )
    if also:
        fit += f" {also}" if not doubt.fitting else f". {_producer(audit)} fits all of them too, by {also}"
    return f"{few}{fit}. It would take {doubt.needed:,} distinct keys ({_confidence(doubt)} confidence)."


def _confidence(doubt: Doubt) -> str:
    """Return the confidence with which that many keys tell, like ``99.9999 %``, rounded down."""
    nines = floor(-log10(doubt.chance) + 1e-9)
    return f"99.{'9' * (nines - 2)} %"


def _expected(audit: Audit) -> str:
    """Return the expected producer with its verb, and its partition count if it is not the topic's."""
    one = audit.expected
    puts = f"{_producer(audit)} puts them"
    return puts if one.partitions == audit.partitions else f"{puts} with {plural(one.partitions, 'partition')}"


def _producer(audit: Audit) -> str:
    return "Java's producer" if audit.expected.rule == "murmur2" else clipped(audit.expected.rule, _RULE)


def labels(audit: Audit) -> dict[str, str]:
    """Return the label of each placement of the topic, by ``str(Placed)``.

    The partition count is left out if it is the topic's.
    """
    return {
        str(one.placed): clipped(one.placed.rule, _RULE)
        + ("" if one.placed.partitions == audit.partitions else f" of {plural(one.placed.partitions, 'partition')}")
        for one in audit.shares
    }


def ranked(audit: Audit) -> list[PlacementShare]:
    """Return the shares, the expected one first, then by attributed records."""
    return sorted(audit.shares, key=lambda one: (not _is_expected(audit, one), -one.attributed, one.placed))


def _is_expected(audit: Audit, one: PlacementShare) -> bool:
    return one.expected or one.placed == audit.expected


PLACEMENTS = ("placement", "partitions", "attributed", "share", "estimated", "explains", "alone", "description")
"""The columns of :func:`placements`."""


def placements(audit: Audit) -> list[tuple[str, ...]]:
    """Return a row per placement, then rows for records attributed to either of several or to none."""
    totals = attributed_totals(audit)
    rows: list[tuple[str, ...]] = [
        (
            clipped(one.placed.rule, _RULE) + (" (expected)" if _is_expected(audit, one) else ""),
            f"{one.placed.partitions:,}",
            f"{one.attributed:,}",
            percent(one.attributed, audit.keyed),
            bounds(one.estimated) if one.estimated else "-",
            f"{one.explains:,}",
            f"{one.alone:,}",
            clipped(one.description, 4 * _DESCRIPTION),
        )
        for one in ranked(audit)
    ]
    for name, description in (
        (EITHER, "several producers may have sent it, and neither its neighbours nor the number of keys decides"),
        (UNEXPLAINED, "an explicit partition, or an unknown partitioner"),
    ):
        if totals[name]:
            estimated = bounds(audit.foreign) if audit.foreign and name == UNEXPLAINED else "-"
            count = f"{totals[name]:,}"
            rows.append((named(name), "-", count, percent(totals[name], audit.keyed), estimated, "-", "-", description))
    return rows


def alike(audit: Audit) -> list[str]:
    """Return a sentence for each placement with records that no key of the topic tells from other rules."""
    return [
        f"No key of the topic tells {clipped(one.placed.rule, _RULE)} from {', '.join(one.alike[:_FITTING])}"
        f"{f' and {len(one.alike) - _FITTING} more' if len(one.alike) > _FITTING else ''}."
        for one in ranked(audit)
        if one.alike and one.attributed
    ]


SPANS = ("placement", "first seen", "partition", "offset", "last seen", "partition", "offset")
"""The columns of :func:`spans`."""


def spans(audit: Audit) -> list[tuple[str, ...]]:
    """Return the first and the last record of each placement, the earliest first."""
    names, older = labels(audit), _older(audit)
    rows: list[tuple[str, ...]] = []
    for one in sorted((one for one in audit.shares if one.first), key=lambda one: (one.first, one.placed)):
        what = " (expected)" if _is_expected(audit, one) else " (old partition count)" if one.placed in older else ""
        rows.append((names[str(one.placed)] + what, *_place(one.first), *_place(one.last)))
    return rows


def _place(one: Place | None) -> tuple[str, str, str]:
    return (when(one.time_ms), f"{one.partition:,}", f"{one.offset:,}") if one else ("-", "-", "-")


def _older(audit: Audit) -> set[Placed]:
    """Return the expected placement with the topic's former partition counts."""
    return {Placed(one.rule, one.before) for one in audit.growth if one.rule == audit.expected.rule}


def broken_since(audit: Audit) -> str:
    """Return the first record that is not placed as expected; empty if there is none, or if it is unknown.

    Unexplained records count too, provided the audit holds every run.
    """
    older, names = _older(audit), labels(audit)
    if audit.doubt:
        return ""
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


def details(audit: Audit) -> list[str]:
    """Return the sentences after the headline: writers, partition count increases, first broken record."""
    frames = framing.verdict(audit.framing) if audit.framing and audit.framing.split else ""
    fits = bool(audit.fitting_views)  # then the whole keys are elsewhere by design
    writers = ("" if fits else _misplaced(audit)) if audit.doubt and audit.keyed else topic_writers(audit)
    grown = [*map(_growth_sentence, audit.growth), *map(_mixed_sentence, audit.mixed_counts)]
    return list(filter(None, [writers, _undecided(audit), *grown, broken_since(audit), frames, next_step(audit)]))


def _undecided(audit: Audit) -> str:
    """Return the rules that the keys cannot tell apart, if records are unexplained for this reason."""
    if not audit.undecided:
        return ""
    more = len(audit.undecided) - _FITTING
    rules = ", ".join(audit.undecided[:_FITTING]) + (f" and {more} more" if more > 0 else "")
    return f"The keys cannot tell which of these rules placed records that are unexplained: {rules}."


def growth(one: Growth) -> str:
    """Return an increase of the partition count: placement, old and new count."""
    return f"{clipped(one.rule, _RULE)}, from {one.before:,} to {plural(one.after, 'partition')}"


def _growth_sentence(one: Growth) -> str:
    """Return a sentence about an increase of the partition count, with its time."""
    last = (
        ""
        if when(one.until_ms) == "-"
        else f" The last record with the old partition count is of {when(one.until_ms)}."
    )
    return f"The partition count increased while this was in use: {growth(one)}.{last}"


def _mixed_sentence(one: Growth) -> str:
    """Return a sentence about two partition counts that were in use at the same time."""
    return (
        f"Producers that know of different partition counts wrote at the same time: {clipped(one.rule, _RULE)} with"
        f" {one.before:,} and with {plural(one.after, 'partition')}. This shows no increase of the partition count."
    )


def until(one: Growth) -> tuple[list[tuple[int, int]], int]:
    """Return partitions with their last offset of the old partition count, and the number of partitions not shown."""
    every = sorted(one.until.items())
    return every[:PARTITIONS], len(every[PARTITIONS:])


def runs_title(audit: Audit) -> str:
    """Return the title of :func:`foreign_runs`; an audit of many runs does not hold them all."""
    kept = "" if len(audit.runs) == audit.runs_in_all else f" among the {len(audit.runs):,} runs that were kept"
    return f"The earliest runs of other placements than the expected one{kept}"


def foreign_runs(audit: Audit, most: int) -> tuple[list[AttributedRun], int]:
    """Return the earliest runs of other placements than the expected one, and the number of further ones."""
    runs = [run for run in audit.runs if run.placed != (audit.expected,)]
    runs.sort(key=lambda run: (run.first_ms is None, run.first_ms or 0, run.partition, run.first_offset))
    return runs[:most], len(runs[most:])


def placed_by(audit: Audit, run: AttributedRun) -> str:
    """Return the placements of a run."""
    names = labels(audit)
    return " and ".join(names.get(str(one)) or named(one) for one in run.placed[:4]) or named(UNEXPLAINED)


def select_partitions(lines: Sequence[PartitionLine]) -> tuple[list[PartitionLine], int, int]:
    """Return the partitions to show, the number of hidden ones, and the number of offending records in those.

    Most affected are those with the most records elsewhere, then the fullest.
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


def partition_writers(audit: Audit, line: PartitionLine, most: int = _WRITERS) -> str:
    """Return the placements of a partition's keyed records, by share; of more than ``most``, the number of the rest."""
    names = labels(audit)
    by = sorted(((name, count) for name, count in line.attributed.items() if count), key=lambda one: -one[1])
    shown = [f"{names.get(name) or named(name)} {percent(count, line.keyed)}" for name, count in by[:most]]
    return "; ".join([*shown, *([f"{len(by) - most} more"] if len(by) > most else [])]) or "-"


def split(audit: Audit) -> str:
    """Return how many keys are in several partitions, and since when."""
    seen = audit.splits
    if not seen.of_keys:  # a single placement: no search for split keys
        one_way = "One placement placed all keys, so no key is in several partitions."
        return one_way if audit.keyed else "There are no keys."
    if not seen.keys:
        return f"Each of {plural(seen.of_keys, 'key')} is in one partition."
    since = f"; first at {place(seen.since)}" if seen.since else ""
    share, records = percent(seen.keys, seen.of_keys), plural(seen.records, "record")
    return f"{seen.keys:,} of {plural(seen.of_keys, 'key')} ({share}) are in several partitions, with {records}{since}."


def split_rows(audit: Audit) -> Iterator[tuple[str, str, str]]:
    """Yield the earliest split keys: key, records, and the first record in each partition."""
    for one in audit.splits.earliest:
        places = [f"{each.partition:,} from offset {each.offset:,}{at(each.time_ms)}" for each in one.places[:_PLACES]]
        more = len(one.places) - _PLACES
        yield key(one.key), f"{one.records:,}", "; ".join([*places, *([f"{more:,} more"] if more > 0 else [])])


def skewed(audit: Audit) -> str:
    """Return how unevenly records are distributed."""
    one = audit.skew
    return (
        f"The fullest partition, {one.fullest:,}, holds {one.fullest_over_mean:.2f} × the mean; the emptiest,"
        f" {one.emptiest:,}, {one.emptiest_over_mean:.2f} ×; coefficient of variation {one.variation:.2f}."
    )
