"""Known mistakes about replicas: which are in sync, what is committed, which may lead, and what a replica keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.delivery.adapter import ask
from kafka_conformance.rules.delivery.rule import RULE
from kafka_reference.delivery.messages import Batch, Truncation
from kafka_reference.delivery.replica_log import ReplicaLog
from kafka_reference.delivery.replicas import Replicas
from kafka_reference.releases import NEWEST, Release, parse_release
from kafka_reference.replication.produce_acks import ALL, Completion, error_before_append

__all__ = ["MUTANTS"]


class _KeepsStoppedInSync(Replicas):
    def shrink(self) -> None:
        in_sync = self.in_sync
        super().shrink()
        self.in_sync = in_sync


class _RemovesAllStopped(Replicas):
    """Remove stopped followers that lack nothing as well."""

    def shrink(self) -> None:
        super().shrink()
        self.in_sync -= {broker for broker, log in enumerate(self.logs) if not log.fetches}


class _AcknowledgesAtAppend(Replicas):
    def check_completion(self, _: int) -> Completion:
        return Completion(True, "NONE")


class _CommitsAtAppend(Replicas):
    def _advance_high_watermark(self) -> None:
        self.leader_log.high_watermark = self.leader_log.end_offset


class _KeepsCommitted(Replicas):
    """Give a leader that was not in sync the committed records of the last one."""

    def _lead(self, broker: int, in_sync: list[int]) -> None:
        last, log = self.leader_log, self.logs[broker]
        committed = last.batches[log.end_offset : last.high_watermark] if broker not in self.in_sync else []
        for batch in committed:
            log.append(batch, self.leader_epoch)
        super()._lead(broker, in_sync)


class _ElectsAnyReplica(Replicas):
    """Elect the first replica whose broker runs, in sync or not."""

    def _elect(self) -> None:
        alive = [broker for broker, log in enumerate(self.logs) if log.is_alive]
        self._lead(alive[0], sorted({alive[0]} | (self.in_sync & set(alive))))


class _ElectsNoneUncleanly(Replicas):
    def _elect(self) -> None:
        self._unclean_election = False
        super()._elect()


class _KeepsNoCopyAfterError(Replicas):
    """Remove a record from the log again if it is not acknowledged."""

    def check_completion(self, required_offset: int) -> Completion:
        completion = super().check_completion(required_offset)
        if not completion.done or completion.error != "NONE":
            log = self.leader_log
            del log.batches[required_offset - 1 :], log.history[required_offset - 1 :]
        return completion


class _ChecksMinIsrAlways(Replicas):
    """Refuse every request while too few replicas are in sync, whatever its acks."""

    def error_before_append(self, _: int) -> str:
        return error_before_append(ALL, len(self.in_sync), self._min_in_sync)


class _CountsAllReplicas(Replicas):
    """Count all replicas against min.insync.replicas, and not those in sync."""

    def error_before_append(self, acks: int) -> str:
        return error_before_append(acks, len(self.logs), self._min_in_sync)


class _NeedsMoreThanThereAre(Replicas):
    """Use min.insync.replicas unchanged, even above the number of replicas."""

    def __init__(self, release: Release, count: int, min_in_sync: int, *, unclean_election: bool) -> None:
        super().__init__(release, count, min_in_sync, unclean_election=unclean_election)
        self._min_in_sync = min_in_sync


class _NeedsAtMostAllReplicas(Replicas):
    """Count min.insync.replicas only up to the number of replicas."""

    def __init__(self, release: Release, count: int, min_in_sync: int, *, unclean_election: bool) -> None:
        super().__init__(release, count, min(min_in_sync, count), unclean_election=unclean_election)


class _NeverTruncates(ReplicaLog):
    def follow(self, _: ReplicaLog, leader_epoch: int) -> None:
        self.followed_epoch = leader_epoch


class _KeepsDivergingRecords(Replicas):
    """Let a follower fetch from its log end on, without truncation."""

    def _elect(self) -> None:
        if not any(isinstance(log, _NeverTruncates) for log in self.logs):
            self.logs = [_NeverTruncates() for _ in self.logs]
        super()._elect()


class _ForgetsProducersAtTruncation(Replicas):
    """After a truncation, do not read the producers from the records that are left."""

    def history(self) -> tuple[Batch | Truncation, ...]:
        log = super().history()
        last = max((place for place, entry in enumerate(log) if isinstance(entry, Truncation)), default=-1)
        return tuple(
            Batch(entry.records, -1, -1, -1) if last >= 0 and isinstance(entry, Batch) else entry for entry in log
        )


class _JoinsWithoutRecords(Replicas):
    """Count a follower as in sync again once it fetches, before it has the records."""

    def resume_follower(self, broker: int) -> None:
        self.logs[broker].fetches = True
        self.in_sync |= {broker}


def _mutant(
    slug: str, description: str, replicas: Callable[..., Replicas], *references: str, release: Release = NEWEST
) -> Mutant:
    return Mutant(slug, RULE.slug, description, partial(ask, replicas=replicas), release, references)


MUTANTS = (
    _mutant("stopped-follower-in-sync", "a follower that lags stays in the in-sync replicas", _KeepsStoppedInSync),
    _mutant(
        "idle-follower-out-of-sync",
        "a follower that has stopped leaves the in-sync replicas although it lacks no record",
        _RemovesAllStopped,
    ),
    _mutant(
        "acks-all-before-followers",
        "acks=all is acknowledged before the followers have the record",
        _AcknowledgesAtAppend,
    ),
    _mutant("high-watermark-is-log-end", "the high watermark is the leader's log end offset", _CommitsAtAppend),
    _mutant(
        "unclean-election-keeps-committed",
        "a leader that was out of sync has the committed records",
        _KeepsCommitted,
    ),
    _mutant("any-replica-leads", "a replica that is out of sync leads without unclean election", _ElectsAnyReplica),
    _mutant("no-unclean-election", "unclean.leader.election.enable has no effect", _ElectsNoneUncleanly),
    _mutant(
        "unacknowledged-is-removed",
        "a record that is appended and answered with an error is removed from the log",
        _KeepsNoCopyAfterError,
    ),
    _mutant("min-isr-for-every-acks", "min.insync.replicas refuses acks=0 and acks=1 too", _ChecksMinIsrAlways),
    _mutant("min-isr-counts-replicas", "min.insync.replicas counts all replicas", _CountsAllReplicas),
    _mutant(
        "min-isr-above-replicas-refuses",
        "min.insync.replicas above the number of replicas refuses acks=all, as up to 3.6.x (KAFKA-15583)",
        _NeedsMoreThanThereAre,
        "https://github.com/apache/kafka/pull/14594",
    ),
    _mutant(
        "min-isr-above-replicas-accepts",
        "min.insync.replicas counts at most the number of replicas, as since 3.7.0 (KAFKA-15583)",
        _NeedsAtMostAllReplicas,
        "https://github.com/apache/kafka/pull/14594",
        release=parse_release("3.6.2"),
    ),
    _mutant(
        "followers-never-truncate",
        "a returning leader keeps the records that the new one lacks",
        _KeepsDivergingRecords,
    ),
    _mutant(
        "truncation-forgets-producers",
        "a leader whose log was truncated does not know the producers of the rest",
        _ForgetsProducersAtTruncation,
    ),
    _mutant("in-sync-without-records", "a follower is in sync once it fetches again", _JoinsWithoutRecords),
)
