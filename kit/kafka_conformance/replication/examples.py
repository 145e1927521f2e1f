"""Examples of replication: what ``acks``, the high watermark, the in-sync replicas and elections do, each as a script.

Most are in every introduction to Kafka; here each is a history that can be played on a real cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.cluster.script import (
    ClusterScript,
    Continue,
    Elect,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    Start,
)

__all__ = ["EXAMPLES", "HistoryExample"]

_ALL, _LEADER, _NOBODY = -1, 1, 0


@dataclass(frozen=True, slots=True)
class HistoryExample:
    """A script with a title and a paragraph that says what it shows."""

    title: str
    """The title."""
    text: str
    """What happens, and why."""
    script: ClusterScript
    """The script."""


def _script(*events: object, min_isr: int = 1, unclean: bool = False) -> ClusterScript:
    return ClusterScript(tuple(events), min_insync_replicas=min_isr, unclean_leader_election=unclean)  # type: ignore[arg-type]


_SETTLE = Settle()

EXAMPLES = (
    HistoryExample(
        "The high watermark follows the slowest in-sync replica",
        "A record takes two rounds of fetching. In the first, a follower fetches the record and appends it. In "
        "the second, it fetches from behind it: only that tells the leader that the follower has the record, and "
        "the response tells the follower the new high watermark. Consumers read up to the high watermark. While "
        "broker 3 is paused it is still in the ISR, so the record of `acks=1` is in the log and no consumer reads it; "
        "when broker 3 fetches again, it is committed.",
        _script(Pause(3), Produce(_LEADER), Continue(3), _SETTLE),
    ),
    HistoryExample(
        "acks=0, acks=1 and acks=all",
        "With `acks=0` there is no response. With `acks=1` the leader responds when it has appended the record "
        "itself. With `acks=all` it responds when every in-sync replica has it. Other numbers are refused. In a "
        "cluster without failures the log is the same in all cases.",
        _script(Produce(_NOBODY), Produce(_LEADER), Produce(_ALL), Produce(2), _SETTLE),
    ),
    HistoryExample(
        "With acks=1 a record is lost with its leader",
        "The leader acknowledges the record before a follower has it, and is killed. Broker 2 leads, appends "
        "other records at the same offset, and when broker 1 returns it finds by the leader epoch where its log "
        "diverges and truncates the record that it had acknowledged.",
        _script(
            Produce(_ALL),
            _SETTLE,
            Pause(2),
            Pause(3),
            Produce(_LEADER),
            Kill(1),
            Continue(2),
            Continue(3),
            _SETTLE,
            Produce(_ALL, 2),
            _SETTLE,
            Start(1),
            _SETTLE,
        ),
    ),
    HistoryExample(
        "With acks=all the record survives its leader",
        "The leader acknowledges only what all in-sync replicas have. It is killed right after; whichever of them "
        "leads next has the record.",
        _script(Produce(_ALL), Produce(_ALL, 2), _SETTLE, Kill(1), _SETTLE, Produce(_ALL), _SETTLE, Start(1), _SETTLE),
    ),
    HistoryExample(
        "A follower that lags leaves the ISR",
        "Broker 3 is paused. A request with `acks=all` waits for it until `replica.lag.time.max.ms` has passed: "
        "then the leader asks the controller to remove it from the ISR, the high watermark rises and the request "
        "is answered. When broker 3 has caught up, it joins the ISR again.",
        _script(Pause(3), Produce(_ALL, wait=False), _SETTLE, Produce(_ALL), _SETTLE, Continue(3), _SETTLE),
    ),
    HistoryExample(
        "min.insync.replicas refuses what could be lost",
        "With `min.insync.replicas=2` and one in-sync replica left, `acks=all` is refused with "
        "NOT_ENOUGH_REPLICAS. `acks=1` is still accepted, but since 3.7.0 its record is not committed while the "
        "ISR is below the minimum: consumers do not read it until broker 2 is back (KAFKA-15583).",
        _script(
            Kill(3),
            _SETTLE,
            Kill(2),
            _SETTLE,
            Produce(_ALL),
            Produce(_LEADER),
            _SETTLE,
            Start(2),
            _SETTLE,
            Produce(_ALL),
            _SETTLE,
            min_isr=2,
        ),
    ),
    HistoryExample(
        "A request that timed out is in the log",
        "The ISR shrinks below the minimum while the request waits. The record is appended, but cannot be "
        "committed, and the request times out. When broker 2 returns, the record is committed: REQUEST_TIMED_OUT "
        "does not say that the record is lost, and a retry of a producer that is not idempotent appends it again. "
        "Up to 3.6.x the response was NOT_ENOUGH_REPLICAS_AFTER_APPEND.",
        _script(
            Kill(3),
            _SETTLE,
            Pause(2),
            Produce(_ALL, wait=False),
            _SETTLE,
            Continue(2),
            _SETTLE,
            Produce(_ALL),
            _SETTLE,
            min_isr=2,
        ),
    ),
    HistoryExample(
        "Without unclean elections the partition waits",
        "Broker 3 is alive but was not in sync when the last in-sync replica died. It may lack committed records, "
        "so the partition has no leader until broker 1 returns, with all its records. A cluster without eligible "
        "leader replicas keeps the last replica in the ISR; a new cluster of 4.1.0 or later empties the ISR and "
        "notes the last known leader.",
        _script(
            Kill(3),
            _SETTLE,
            Kill(2),
            _SETTLE,
            Produce(_ALL, 2),
            _SETTLE,
            Kill(1),
            _SETTLE,
            Start(3),
            _SETTLE,
            Produce(_ALL),
            Start(1),
            _SETTLE,
        ),
    ),
    HistoryExample(
        "An unclean election loses committed records",
        "The same, but an administrator asks for an unclean election. Broker 3 leads with what it has. The "
        "records that `acks=all` had acknowledged and consumers had read are gone, and broker 1 truncates them "
        "when it returns.",
        _script(
            Kill(3),
            _SETTLE,
            Kill(2),
            _SETTLE,
            Produce(_ALL, 2),
            _SETTLE,
            Kill(1),
            _SETTLE,
            Start(3),
            _SETTLE,
            Elect("unclean"),
            _SETTLE,
            Produce(_ALL),
            _SETTLE,
            Start(1),
            Start(2),
            _SETTLE,
        ),
    ),
    HistoryExample(
        "The preferred leader leads again when asked",
        "After its return broker 1 follows. An election of the preferred leader makes the first replica lead, if "
        "it is in sync; a second one is not needed. `auto.leader.rebalance.enable` asks for the same every five "
        "minutes.",
        _script(
            Kill(1),
            _SETTLE,
            Elect("preferred"),
            Start(1),
            _SETTLE,
            Elect("preferred"),
            _SETTLE,
            Elect("preferred"),
            Produce(_ALL),
            _SETTLE,
        ),
    ),
    HistoryExample(
        "An eligible replica leads without the last leader",
        "All brokers are paused in turn with `min.insync.replicas=2`. Broker 2 left the ISR when nothing could be "
        "committed any more, so it has all committed records: since 4.1.0 a new cluster lets it lead, although it "
        "is not in the ISR. The record with `acks=1` that only broker 1 had is truncated; it was never committed. "
        "In 3.9.2 the partition waits for broker 1.",
        _script(
            Produce(_ALL),
            _SETTLE,
            Pause(3),
            _SETTLE,
            Pause(2),
            _SETTLE,
            Produce(_LEADER),
            _SETTLE,
            Pause(1),
            _SETTLE,
            Continue(2),
            _SETTLE,
            Continue(1),
            _SETTLE,
            min_isr=2,
        ),
    ),
    HistoryExample(
        "A lower minimum moves no high watermark",
        "A record is appended below the minimum, and the minimum is lowered. The high watermark is not looked at "
        "again until the next append, or until a follower fetches from another offset: the record stays "
        "invisible.",
        _script(
            Kill(3),
            _SETTLE,
            Kill(2),
            _SETTLE,
            Produce(_LEADER),
            _SETTLE,
            SetMinInsyncReplicas(1),
            _SETTLE,
            Produce(_LEADER),
            _SETTLE,
            min_isr=2,
        ),
    ),
    HistoryExample(
        "A change of min.insync.replicas forgets who may lead",
        "The last leader is dead and broker 3 has returned, but may not lead. The administrator lowers the "
        "minimum, in the hope of helping. Since 4.1.0 that clears the eligible leader replicas and the last known "
        "leader: the ISR is empty already, so even broker 1, which has every record, is not elected when it "
        "returns. Only an unclean election ends that. In 3.9.2 broker 1 is still in the ISR and leads.",
        _script(
            Produce(_ALL),
            _SETTLE,
            Kill(3),
            _SETTLE,
            Kill(2),
            _SETTLE,
            Kill(1),
            _SETTLE,
            Start(3),
            _SETTLE,
            SetMinInsyncReplicas(1),
            _SETTLE,
            Start(1),
            _SETTLE,
            Elect("unclean"),
            _SETTLE,
            min_isr=2,
        ),
    ),
)
"""The examples, in the order of the page."""
