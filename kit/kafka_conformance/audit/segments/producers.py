"""Judge the records of each producer id as a whole: one producer id is one writer.

A topic's placements are found from all of its records; records that several of them explain stay open. A single writer
uses one rule, so all records of a producer id together show it: a rule that explains every one of them, with more distinct
keys than chance would allow. A record that contradicts its producer's rule was placed otherwise: its partition was named by
the application, the writer's partitioner looked at a partition count that is not known here, or clients with different
partitioners used one ``transactional.id`` in turn, which keeps its producer id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import column_of
from kafka_conformance.audit.attribution.candidates import CustomCandidate, register
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.placements import ANY, PLACEMENTS
from kafka_conformance.audit.result import Audit, Placed
from kafka_conformance.audit.segments.decode import Piece, Task, decode
from kafka_conformance.audit.segments.result import Producer, RuleShare
from kafka_conformance.core.errors import KitError

__all__ = ["Judging", "TaskEvidence", "by_rule", "known_rules", "producers_of"]

_PIECE, _NEVER = 65_536, 2**63 - 1
_CHANCE = 1e-6
"""Rules are named if by chance any would explain all keys of a producer with at most this probability."""


class Seen(msgspec.Struct, array_like=True):
    """The records of a producer in a segment; ``explains`` counts the keyed ones by rule."""

    producer_id: int
    first_epoch: int
    last_epoch: int
    records: int = 0
    keyed: int = 0
    distinct: int = 0
    first_ms: int = -1
    last_ms: int = -1
    explains: dict[str, int] = {}


class TaskEvidence(msgspec.Struct):
    """The producers of a segment, and its batches that cannot be decoded: position, offset, message.

    ``gone``: a broker has deleted the file, and nothing of it was read.
    """

    producers: list[Seen]
    bad: list[tuple[int, int, str]]
    gone: bool = False


def known_rules(audit: Audit) -> dict[str, tuple[Placed, ...]]:
    """Return the placements that explain a producer's records, by rule.

    These are the ones present in the topic with all their partition counts, and every hash with the current one.
    """
    rules: dict[str, list[Placed]] = {audit.expected.rule: [audit.expected]}
    for placed in (share.placed for share in audit.shares):
        if placed not in rules.setdefault(placed.rule, []):
            rules[placed.rule].append(placed)
    for each in PLACEMENTS:
        rules.setdefault(each.slug, [Placed(each.slug, audit.partitions)])
    return {rule: tuple(placed) for rule, placed in rules.items() if rule != ANY}


class Judging(msgspec.Struct, frozen=True):
    """Counts the records of a segment by producer: what a worker does."""

    rules: dict[str, tuple[Placed, ...]]
    partitions: int
    candidates: tuple[CustomCandidate, ...]

    def __call__(self, task: Task) -> bytes:
        """Return the evidence of a segment, as JSON."""
        register(self.candidates)
        found: dict[int, Seen] = {}
        bad: list[tuple[int, int, str]] = []
        try:
            for piece in decode(task, lambda *each: bad.append(each), most=_PIECE):
                for seen in self._seen(piece, task.file.partition):
                    before = found.get(seen.producer_id)
                    found[seen.producer_id] = seen if before is None else _added(before, seen, max)
        except KitError:
            if found or Path(task.file.path).exists():
                raise
            return msgspec.json.encode(TaskEvidence([], [], gone=True))
        return msgspec.json.encode(TaskEvidence(list(found.values()), bad))

    def _seen(self, piece: Piece, partition: int) -> Iterator[Seen]:
        """Yield the producers of a piece. Their number may be that of its records."""
        valid = np.asarray(piece.keys.is_valid())
        keys = column_of(piece.keys, partition, self.partitions)
        ids, inverse = np.unique(piece.producers, return_inverse=True)
        count, of_keys = len(ids), inverse[valid]
        order = np.argsort(inverse, kind="stable")
        starts = np.searchsorted(inverse[order], np.arange(count))
        times, epochs = piece.timestamps_ms[order], piece.epochs[order]
        columns = [
            ids, np.minimum.reduceat(epochs, starts), np.maximum.reduceat(epochs, starts),
            np.bincount(inverse, minlength=count), np.bincount(of_keys, minlength=count), _distinct(keys, of_keys, count),
            np.minimum.reduceat(np.where(times < 0, _NEVER, times), starts), np.maximum.reduceat(times, starts),
        ]  # fmt: skip
        explains = {rule: self._counts(keys, placed, of_keys, count) for rule, placed in self.rules.items()}
        for at, (number, *rest, first_ms, last_ms) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            by_rule = {rule: int(counts[at]) for rule, counts in explains.items() if counts[at]}
            first_epoch, last_epoch, records, keyed, distinct = rest
            first_ms = -1 if first_ms == _NEVER else first_ms
            yield Seen(number, first_epoch, last_epoch, records, keyed, distinct, first_ms, max(last_ms, -1), by_rule)

    @staticmethod
    def _counts(
        keys: KeyColumn, placed: Sequence[Placed], producers: NDArray[Any], count: int
    ) -> NDArray[np.int64]:  # fmt: skip
        if not keys.size:
            return np.zeros(count, np.int64)
        return np.bincount(producers[keys.explained_by(placed)], minlength=count)


def _distinct(keys: KeyColumn, producers: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the number of different keys of each producer."""
    if not keys.size:
        return np.zeros(count, np.int64)
    order = np.lexsort((keys.ids[:, 1], keys.ids[:, 0], producers))
    columns = producers[order], keys.ids[order, 0], keys.ids[order, 1]
    new = np.ones(keys.size, np.bool_)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.bincount(columns[0][new], minlength=count)


def producers_of(
    found: Iterable[tuple[int, TaskEvidence]], audit: Audit, rules: Mapping[str, Sequence[Placed]]
) -> list[Producer]:
    """Return the producers of a topic by the number of their records, from the evidence of each partition's segments."""
    by_partition: dict[int, dict[int, Seen]] = defaultdict(dict)
    for partition, evidence in found:
        for seen in evidence.producers:
            of = by_partition[seen.producer_id]
            of[partition] = seen if partition not in of else _added(of[partition], seen, max)
    present = [share.placed.rule for share in audit.shares]
    order = list(dict.fromkeys((*present, *rules)))
    every = [_producer(list(of.values()), audit.partitions, order, set(present), rules) for of in by_partition.values()]
    return sorted(every, key=lambda one: (-one.records, one.producer_id))


def by_rule(producers: Sequence[Producer]) -> tuple[RuleShare, ...]:
    """Return the keyed records by the rule that the ids of their producers show."""
    sums: dict[tuple[tuple[str, ...], bool], list[int]] = defaultdict(lambda: [0, 0])
    for one in producers:
        if one.keyed:
            sum_ = sums[one.rules if one.verdict == "rule" else (), one.producer_id < 0]
            sum_[0] += one.producer_id >= 0
            sum_[1] += one.keyed
    shares = [RuleShare(rules, anonymous, count, keyed) for (rules, anonymous), (count, keyed) in sums.items()]
    return tuple(sorted(shares, key=lambda share: (not share.rules, share.anonymous, -share.keyed, share.rules)))


def _producer(
    parts: Sequence[Seen],
    partitions: int,
    order: Sequence[str],
    present: set[str],
    rules: Mapping[str, Sequence[Placed]],
) -> Producer:
    whole = parts[0]
    for part in parts[1:]:
        whole = _added(whole, part, lambda a, b: a + b)
    counts = {rule: whole.explains.get(rule, 0) for rule in order}
    fitting = [rule for rule in order if counts[rule] == whole.keyed]
    fitting = [rule for rule in fitting if rule in present] or fitting
    verdict, named, contradictions = "rule", fitting, 0
    if whole.producer_id < 0:
        verdict, named = "several writers", []
    elif not whole.keyed:
        verdict, named = "no keys", []
    elif sum(min(1.0, len(each) / partitions) ** whole.distinct for each in rules.values()) > _CHANCE:
        verdict = "too few keys"
    elif not fitting:
        best = max(order, key=lambda rule: counts[rule])
        usual = counts[best] / whole.keyed > (1 + 1 / partitions) / 2
        verdict, named = "contradicted", [best] if usual else []
        contradictions = whole.keyed - (counts[best] if usual else 0)
    shown = dict.fromkeys((*named, order[0], *present)) if whole.keyed else {}
    return Producer(
        whole.producer_id, whole.first_epoch, whole.last_epoch, whole.records, whole.keyed, whole.distinct, len(parts),
        None if whole.first_ms < 0 else whole.first_ms, None if whole.last_ms < 0 else whole.last_ms, verdict,
        tuple(named), contradictions, {rule: counts[rule] for rule in shown},
    )  # fmt: skip


def _added(a: Seen, b: Seen, distinct: Any) -> Seen:
    times = [time for time in (a.first_ms, b.first_ms) if time >= 0]
    explains = {rule: a.explains.get(rule, 0) + b.explains.get(rule, 0) for rule in {**a.explains, **b.explains}}
    return Seen(
        a.producer_id, min(a.first_epoch, b.first_epoch), max(a.last_epoch, b.last_epoch), a.records + b.records,
        a.keyed + b.keyed, distinct(a.distinct, b.distinct), min(times, default=-1), max(a.last_ms, b.last_ms), explains,
    )  # fmt: skip
