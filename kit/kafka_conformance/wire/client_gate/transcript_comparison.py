"""Compare the transcript of a client with that of Java's client in the same script.

Lines are compared lane by lane: the batches of a partition, the fetches of a partition, the requests of a group, those of
each other API. Between lanes nothing is compared: which of two partitions had its request first depends on time.

In a lane, lines that differ only in sizes and positions are one *run*, since how many records a batch has depends on time
too. The runs of both clients are compared in their order::

    client                      Java
    next → ok (3 batches)       next → ok (5 batches)
    next → response lost        next → response lost
    next → ok                   again → ok                 the first difference

How many batches were in flight behind a batch that failed depends on time as well: those that have no response, or
OUT_OF_ORDER_SEQUENCE_NUMBER, belong to its run, and so does each that is sent again behind it. Nor is it compared how often
a member joined its group before it committed or left.

A difference is *harmless* in versions, sizes and the number of lines of a run; in requests beside the client's work, such as
Metadata; and where one client has sent no batch to a partition, without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final, Literal, NamedTuple, TypeAlias

from kafka_conformance.wire.client_gate.transcript import NO_RESPONSE, OK, Exchange, Transcript

__all__ = ["ComparedLane", "LaneVerdict", "TranscriptRow", "compare_transcripts"]

LaneVerdict: TypeAlias = Literal["same", "harmless", "differs"]
Lane: TypeAlias = Sequence[Exchange]

_GROUP: Final = "group"
_OF_GROUP: Final = frozenset({
    "ConsumerGroupHeartbeat", "Heartbeat", "JoinGroup", "LeaveGroup", "OffsetCommit", "OffsetFetch", "SyncGroup",
})  # fmt: skip
_OF_JOIN: Final = frozenset({"JoinGroup", "OffsetFetch", "SyncGroup"})
_BY_PARTITION: Final = ("Produce", "Fetch")
_JUDGED: Final = (*_BY_PARTITION, _GROUP, "InitProducerId")
"""Lanes in which another order, or another outcome, is a difference; the worst first."""
_LOST: Final = frozenset({"request lost", "response lost", NO_RESPONSE})
"""Outcomes that a client cannot tell apart: the connection was closed."""
_SENT_ONCE: Final = frozenset({"new", "next"})
_USUAL: Final = _SENT_ONCE | {""}
_OUT_OF_ORDER: Final = "error 45 "


class TranscriptRow(NamedTuple):
    """A line of the client beside one of Java's client, as far as they have them."""

    client: Exchange | None
    java: Exchange | None


@dataclass(frozen=True, slots=True)
class ComparedLane:
    """The lines of both clients, those of equal runs beside each other; ``first`` is the row that differs first, or -1."""

    name: str
    verdict: LaneVerdict
    rows: Sequence[TranscriptRow]
    first: int = -1


def compare_transcripts(client: Transcript, java: Transcript) -> list[ComparedLane]:
    """Return all lanes: those that differ first, and of these those with batches, fetches and groups."""
    ours, javas = _lanes(client), _lanes(java)
    found = []
    for api in sorted({api for api, _ in (*ours, *javas)}, key=_rank):
        for own, other in _pairs({at: lane for (name, at), lane in ours.items() if name == api},
                                 {at: lane for (name, at), lane in javas.items() if name == api}):  # fmt: skip
            found.append(_compared(api, own, other))
    order: dict[LaneVerdict, int] = {"differs": 0, "harmless": 1, "same": 2}
    return sorted(found, key=lambda each: order[each.verdict])


def _rank(api: str) -> tuple[int, str]:
    return _JUDGED.index(api) if api in _JUDGED else len(_JUDGED), api


def _lanes(transcript: Transcript) -> dict[tuple[str, int], list[Exchange]]:
    found: dict[tuple[str, int], list[Exchange]] = {}
    for each in transcript.exchanges:
        name = _GROUP if each.api in _OF_GROUP else each.api
        found.setdefault((name, each.partition if name in _BY_PARTITION else -1), []).append(each)
    return found


def _pairs(ours: dict[int, list[Exchange]], javas: dict[int, list[Exchange]]) -> Iterator[tuple[Lane, Lane]]:
    """Pair the partitions of both clients: the same one, but those that faults hit with each other.

    The 3rd Produce request is for partition 0 of one client, and for partition 2 of another, as their partitioners choose.
    """
    hit = [at for at, lane in ours.items() if _is_hit(lane) and not _is_hit(javas.get(at, []))]
    java_hit = [at for at, lane in javas.items() if _is_hit(lane) and not _is_hit(ours.get(at, []))]
    paired = dict(zip(sorted(hit), sorted(java_hit), strict=False))
    used = set(paired.values())
    for at in sorted(ours.keys() - paired.keys()):
        if at in javas.keys() - used:
            paired[at] = at
            used.add(at)
    spare = sorted(javas.keys() - used)
    for at in sorted(ours):
        other = paired.get(at, spare.pop(0) if spare and at not in paired else None)
        yield ours[at], javas[other] if other is not None else []
    for at in spare:
        yield [], javas[at]


def _is_hit(lane: Lane) -> bool:
    return any(each.outcome != OK or each.relation not in _USUAL for each in lane)


def _compared(api: str, ours: Lane, javas: Lane) -> ComparedLane:
    own_runs, java_runs = _runs(ours), _runs(javas)
    rows: list[TranscriptRow] = []
    first = -1
    nothing: tuple[str, list[Exchange]] = ("", [])
    for own, java in zip_longest(own_runs, java_runs, fillvalue=nothing):
        if own[0] != java[0] and first < 0:
            first = len(rows)
        rows += [TranscriptRow(*pair) for pair in zip_longest(own[1], java[1])]
    is_placement = api == "Produce" and not (ours and javas) and not _is_hit([*ours, *javas])
    is_judged = api in _JUDGED and not (api in _BY_PARTITION and (ours or javas)[0].partition < 0)
    verdict: LaneVerdict = "same" if all(row.client == row.java for row in rows) else "harmless"
    if first >= 0 and is_judged and not is_placement:
        verdict = "differs"
    return ComparedLane(_name(api, ours, javas), verdict, rows, first if verdict == "differs" else -1)


def _name(api: str, ours: Lane, javas: Lane) -> str:
    places = list(dict.fromkeys(lane[0].partition for lane in (ours, javas) if lane))
    if api not in _BY_PARTITION or places == [-1]:
        return api
    return f"{api}, partition {places[0]}" + (f" (Java: {places[1]})" if len(places) > 1 else "")


def _runs(lane: Lane) -> list[tuple[str, list[Exchange]]]:
    return [(key, [each for _, each in some]) for key, some in groupby(_keyed(lane), key=lambda pair: pair[0])]


def _keyed(lane: Lane) -> Iterator[tuple[str, Exchange]]:
    """Yield each line with what of it is compared; one that depends on time belongs to the line before."""
    key, before = "", None
    joined: set[str] = set()
    for each in lane:
        outcome = NO_RESPONSE if each.outcome in _LOST else each.outcome
        is_rejoin = outcome == OK and each.api in joined
        if not (is_rejoin or (before is not None and _is_in_flight_behind(each.relation, outcome, *before))):
            key, before = f"{each.api} {each.relation} {outcome}", (each.relation, outcome)
        if each.api not in _OF_JOIN or outcome != OK:
            joined.clear()
        else:
            joined.add(each.api)
        yield key, each


def _is_in_flight_behind(relation: str, outcome: str, first: str, first_outcome: str) -> bool:
    """Return whether a batch failed, or is sent again, because the one before, ``first``, did."""
    if first.startswith("again") and relation.startswith("again"):
        return outcome == first_outcome
    return (
        first_outcome != OK and relation in _SENT_ONCE and (outcome == NO_RESPONSE or outcome.startswith(_OUT_OF_ORDER))
    )
