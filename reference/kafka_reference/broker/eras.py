"""How the keeping of producers' state changed from release to release, one row each.

==========  ==================================================================================================
since       what changed
==========  ==================================================================================================
0.11.0.2    one batch is remembered of each producer, and a marker counts as one
1.0.2       five are remembered, and markers leave them alone
2.0.1       a sequence that is not 0 after none is known: UnknownProducerId in place of OutOfOrderSequence
2.1.0       a snapshot is written over a longer one without cutting that off
2.1.1       a batch is as long as its offsets say, where it was as long as its sequences, not seeing them wrap
2.2.1       the last stable offset passes over the other transactions of the producer that completes one
2.4.0       a producer is not forgotten because its records were deleted
2.4.1       an entry has a timestamp of its own, which markers set too; what the leader wrote is not refused any more
2.5.0       an unknown producer may begin with any sequence (KIP-360)
2.7.0       an old epoch: InvalidProducerEpoch in place of ProducerFenced
2.8.0       a marker without a transaction completes none; the names of snapshots are kept in memory
3.6.0       transactions are verified with their coordinator before they begin (KIP-890)
4.0.0       the verification knows whether its client bumps epochs
4.1.0       ... and then wants the first sequence to be 0
4.2.0       markers of transaction version 2 have a bumped epoch
4.3.0       ... unless it is the highest one
==========  ==================================================================================================

Not mirrored: 0.11.0.0 and 0.11.0.1, where followers and a log that is read again were told apart otherwise, and where not
every broken file was a corrupt one; 1.0.0 and 1.0.1, where a batch changed its producer's entry before it was written, and
so even if its request was refused, and where a sequence below those remembered was a DuplicateSequenceException.

The maps of producers went from Scala 2.12's to 2.13's with 2.4.0, and to Java's with 3.5.0: see :mod:`.long_maps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kafka_reference.errors import NotInThisRelease
from kafka_reference.java.long_maps import JavaMap, LongMap, Scala212Map, Scala213Map
from kafka_reference.releases import Release, Spans, parse_release, since

__all__ = ["BROKER_STATE", "Era", "era_of"]

BROKER_STATE = since("0.11.0.2", until="0.11.9.9") | since("1.0.2")
_IN_SCALA_212, _IN_SCALA_213 = since("0.11.0.2", until="2.3.9"), since("2.4.0", until="3.4.9")


@dataclass(frozen=True, slots=True)
class Era:
    """What a release does; each field is a row of the page above."""

    at: Release
    batches_kept: int
    cuts_snapshots: bool
    measures_by_offsets: bool
    passes_own_transactions: bool
    forgets_deleted: bool
    own_timestamp: bool
    completes_nothing: bool
    lists_folder: bool
    verifies: bool
    knows_bumps: bool
    begins_at_zero: bool
    bumps_with_markers: bool
    highest_epoch_may_repeat: bool
    new_map: type[LongMap[Any]]


@lru_cache(maxsize=128)
def era_of(version: str | Release) -> Era:
    """What ``version`` does. Raises NotInThisRelease outside of :data:`BROKER_STATE`."""
    at = parse_release(version)
    if at not in BROKER_STATE:
        raise NotInThisRelease(f"what Kafka {at} keeps of producers is not known here: ask about {BROKER_STATE}")

    def has(spans: Spans) -> bool:
        return at in spans

    return Era(
        at=at,
        batches_kept=5 if has(since("1.0.2")) else 1,
        cuts_snapshots=not has(since("2.1.0")),
        measures_by_offsets=has(since("2.1.1")),
        passes_own_transactions=has(since("2.2.1")),
        forgets_deleted=not has(since("2.4.0")),
        own_timestamp=has(since("2.4.1")),
        completes_nothing=not has(since("2.8.0")),
        lists_folder=not has(since("2.8.0")),
        verifies=has(since("3.6.0")),
        knows_bumps=has(since("4.0.0")),
        begins_at_zero=has(since("4.1.0")),
        bumps_with_markers=has(since("4.2.0")),
        highest_epoch_may_repeat=has(since("4.3.0")),
        new_map=Scala212Map if has(_IN_SCALA_212) else Scala213Map if has(_IN_SCALA_213) else JavaMap,
    )
