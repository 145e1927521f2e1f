"""Take back attributions that hold only if another producer wrote nothing among these records.

``attribute`` gives a record that several placements explain to the one of its neighbours. That is right if no other of those
placements wrote among them, and the neighbours show it only if they are many. So a record is "either" again, unless the
absence of each other placement that explains it is shown: if it had written its share of these records, they would look like
this less than once in 10^6 times. Its share is that of its distinct keys in the block, or of its records, if these are
fewer: a rare producer that writes every key now and then has half of the keys. A placement without a record of its own in
the block may have 2 % of it. A newer partition count that implies the attributed one has no records of its own in the old
partitions, only more of them than chance; if these do not show it, it may have 5 %.

Records that no placement explains show a *foreign* producer. Some of its records are explained too, by chance, and nothing
tells them from those of the placement that explains them. Where more than 1 in 200 of these may be foreign, they are
"either". If a rule fits all foreign keys of the topic (:mod:`.weak_candidates`), every record that it explains may be
foreign.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.attribution import EITHER_AT, FURTHER, REACH, UNEXPLAINED_AT, Attributed, Bits
from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.attribution.evidence import LIKELY, SURE_OF_EXPECTED, evidence
from kafka_conformance.audit.attribution.patterns import follows_bytes
from kafka_conformance.audit.attribution.presence import UNSEEN, implies
from kafka_conformance.audit.result import Foreign, Placed

__all__ = ["without_absent", "without_foreign"]

REACHES = REACH, FURTHER, 1 << 30
"""The neighbours of a record, a wider circle, and the block, which has 65,536 records at most."""
NEAR = 20, 60, 200, *REACHES
"""Records before and behind, among which a placement may be absent: 41, 121, 401, 2,001 and 16,001 records show that of
a placement with 29, 11, 3.4, 0.7 and 0.1 % of them.

Without 20, records within 60 of the change from one producer to another would be "either".
"""
UNSEEN_NEWER = 0.05
"""As UNSEEN, for a newer count, which explains an older one's keys by chance, so that its share is known less well.

Where that is a quarter, 3,900 keys rule out 5 %. At 0.02, it would take 24,000; at 0.1, 1,000 would do and leave a
producer of 5 % unseen.
"""
FOREIGN = 0.005
"""The share of a rule's records that may be of an unknown sender: the promise of the report, 1 in 200.

With 12 partitions, up to 5.5 % unexplained records leave the others attributed; at 0.001, 1.1 %. At 0.02, one
attribution in 50 could be wrong.
"""
RARE = 0.001
"""As FOREIGN, for an older count of the same rule: of four times as many partitions, 0.3 % of its keys.

At 0, one record of an older count would leave a block "either"; at 0.005, 1.5 % of its keys would be attributed
wrongly.
"""
LEAST_SEEN = 0.001
"""The least share of a rival's records that is taken to be seen, so that one stands for 1,000 at most: a sample shows
no less.
"""
BEYOND = 3
"""Foreign keys that may be missing in a window: more are missing once in 20 times.

Of 1 it would be one in 3, of 6 one in 400.
"""


def without_absent(
    attributed: Attributed, bits: Bits, members: tuple[Placed, ...], ids: NDArray[np.uint64]
) -> Attributed:
    """Return the attribution with "either" where the absence of another placement is not shown."""
    if len(members) < 2:
        return attributed
    out = attributed.copy()
    own = [1 << at | sum(1 << older for older, other in enumerate(members) if implies(placed, other))
           for at, placed in enumerate(members)]  # fmt: skip
    certain = [(attributed == at) & (bits & ~np.uint32(own[at]) == 0) for at in range(len(members))]
    keys = [len(distinct(ids[rows])[0]) for rows in certain]
    counts = [_running(rows) for rows in certain]
    for owner, placed in enumerate(members):
        for other, rival in enumerate(members):
            # a newer count is certain in a stretch, but an older one may have written a few records there
            mine = (attributed == owner) & (~certain[owner] | implies(placed, rival))
            rows = np.flatnonzero(mine & _explained(bits, other))
            if other == owner or not rows.size:
                continue
            if implies(rival, placed) and follows_bytes(placed):
                shown = np.zeros(rows.size, np.bool_)  # chance is not a share of partitions for such a hash
            elif implies(rival, placed):
                shown = _newer_absent(rows, _explained(bits, owner), _explained(bits, other), certain[other], ids,
                                      placed.partitions / rival.partitions)  # fmt: skip
            elif implies(placed, rival):
                shown = _older_absent(rows, _explained(bits, other), certain[other], ids,
                                      rival.partitions / placed.partitions)  # fmt: skip
            else:
                shown = _absent(rows, counts, keys, other)
            out[rows[~shown]] = EITHER_AT
    return out


def _explained(bits: Bits, at: int) -> NDArray[np.bool_]:
    """Return which records the placement of this number explains."""
    rows: NDArray[np.bool_] = bits & np.uint32(1 << at) != 0
    return rows


def _absent(rows: NDArray[np.int64], counts: list[NDArray[np.int64]], keys: list[int], other: int) -> NDArray[np.bool_]:
    """Return for which of these rows the absence of ``other`` is shown by certain records around."""
    total, records = sum(keys), sum(int(count[-1]) for count in counts)
    by_records = int(counts[other][-1]) / max(records, 1)
    share = min(keys[other] / max(total, 1), by_records, 1 - 1e-9) if keys[other] else UNSEEN
    shown = np.zeros(rows.size, np.bool_)
    for reach in NEAR:
        around = np.minimum(sum(_within(count, rows, reach) for count in counts), total)
        shown |= (_within(counts[other], rows, reach) == 0) & (around * -log(1 - share) >= SURE_OF_EXPECTED)
    return shown


def _older_absent(
    rows: NDArray[np.int64],
    explained: NDArray[np.bool_],
    alone: NDArray[np.bool_],
    ids: NDArray[np.uint64],
    chance: float,
) -> NDArray[np.bool_]:
    """Return for which of these rows it is shown that the older count, which explains them all, wrote none around.

    ``chance`` of its records are explained by the newer count too. So few that they do not matter are as good as none.
    """
    size = len(distinct(ids[explained])[0])
    there, own = _running(explained), _running(alone)
    by_keys = len(distinct(ids[alone])[0]) / size
    shown = np.full(rows.size, by_keys * chance / (1 - chance) <= RARE)
    share = min(by_keys, int(own[-1]) / int(there[-1]), 1 - 1e-9)
    for reach in NEAR:
        around = np.minimum(_within(there, rows, reach), size)
        shown |= (_within(own, rows, reach) == 0) & (around * -log(1 - share) >= SURE_OF_EXPECTED)
    return shown


def _newer_absent(
    rows: NDArray[np.int64],
    explained: NDArray[np.bool_],
    newer: NDArray[np.bool_],
    certain: NDArray[np.bool_],
    ids: NDArray[np.uint64],
    chance: float,
) -> NDArray[np.bool_]:
    """Return for which of these rows it is shown that a newer count explains no more than chance of the records around."""
    there, more, aside = _running(explained & ~certain), _running(explained & newer & ~certain), _running(certain)
    scale = min(1.0, len(distinct(ids[explained])[0]) / max(int(there[-1] + aside[-1]), 1))
    all_there, all_more, all_aside = (int(count[-1]) for count in (there, more, aside))
    share = UNSEEN_NEWER
    if evidence(round((all_there + all_aside) * scale), round((all_more + all_aside) * scale), chance) > LIKELY:
        beyond = max((all_more - chance * all_there) / (1 - chance), 0.0)
        share = min((all_aside + beyond) / (all_there + all_aside), 1 - 1e-9)
    with_it = chance + (1 - chance) * share
    shown = np.zeros(rows.size, np.bool_)
    for reach in REACHES:
        explains = _within(more, rows, reach)
        others = _within(there, rows, reach) - explains
        likelier = explains * log(chance / with_it) + others * log((1 - chance) / (1 - with_it))
        shown |= (_within(aside, rows, reach) == 0) & (likelier * scale >= SURE_OF_EXPECTED)
    return shown


def without_foreign(
    attributed: Attributed,
    members: tuple[Placed, ...],
    ids: NDArray[np.uint64],
    rivals: NDArray[np.bool_],
    foreign: Foreign,
) -> Attributed:
    """Return the attribution with "either" where a foreign producer may have written more than few of the records.

    ``rivals`` are the records that a rival explains; ``foreign`` is the finding about a sample of the topic.
    """
    left = attributed == UNEXPLAINED_AT
    if not members or not (left.any() or foreign.share):
        return attributed
    first = np.zeros(attributed.size, np.bool_)
    first[distinct(ids)[0]] = True
    keys = np.count_nonzero(first)
    by_keys = np.count_nonzero(first & left) / keys
    rows = np.arange(attributed.size)
    shares = []
    for reach in REACHES:
        records = np.minimum(rows + reach + 1, attributed.size) - np.maximum(rows - reach, 0)
        found = _within(_running(left), rows, reach)
        seen = np.minimum(found / records, max(by_keys, foreign.share))
        shares.append(np.minimum(np.maximum(seen, foreign.share), (found + BEYOND) / np.minimum(records, keys)))
    share = np.minimum.reduce(shares)
    out = attributed.copy()
    # of 99 keys in 100 where a rival agrees with a member, it has written 99 records for each that is seen as foreign
    by_rivals = max(1.0, foreign.hidden / max(1 - foreign.hidden, LEAST_SEEN))
    for at, placed in enumerate(members):
        by_chance = by_rivals if foreign.crowded else 1 / (placed.partitions - 1) if placed.partitions > 1 else 1.0
        out[(attributed == at) & (share * np.where(rivals, by_rivals, by_chance) > FOREIGN)] = EITHER_AT
    return out


def _running(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of set rows before each row, and of all."""
    return np.concatenate(([0], np.cumsum(rows, dtype=np.int64)))


def _within(running: NDArray[np.int64], rows: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return the number of set rows within ``reach`` of each of these."""
    last = running.size - 1
    found: NDArray[np.int64] = running[np.minimum(rows + reach + 1, last)] - running[np.maximum(rows - reach, 0)]
    return found
