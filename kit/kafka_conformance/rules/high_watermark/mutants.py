"""Known mistakes in ``high-watermark``: which replicas count, when it moves, and what a follower does with it."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition import mistakes
from kafka_conformance.rules.high_watermark.adapter import ask
from kafka_conformance.rules.high_watermark.rule import RULE
from kafka_reference.behaviour import overridden
from kafka_reference.releases import Release, parse_release
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.partition_state import Partition

__all__ = ["MUTANTS"]

_KAFKA = "https://github.com/apache/kafka/pull/"


def _behaving(**values: Any) -> Ask:
    def answer(question: Any, release: Release) -> Answer:
        with overridden(PartitionBehaviour, **values):
            return ask(question, release)

    return answer


def _mutant(slug: str, description: str, answer: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(f"high-watermark-{slug}", RULE.slug, description, answer, parse_release(release), references)


def _partition(
    slug: str, description: str, create: type[Partition], *references: str, release: str = "4.4.0"
) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create), *references, release=release)


MUTANTS = (
    _mutant(
        "below-min-isr", "it moves with fewer in-sync replicas than min.insync.replicas",
        _behaving(high_watermark_waits_for_min_isr=False), f"{_KAFKA}14594",
    ),
    _mutant(
        "at-min-isr-early", "it stays below min.insync.replicas before there was a release that did so",
        _behaving(high_watermark_waits_for_min_isr=True), f"{_KAFKA}14594", release="3.6.2",
    ),
    _mutant(
        "min-isr-not-capped", "min.insync.replicas above the number of replicas stops it",
        _behaving(min_isr_capped_at_replicas=False), f"{_KAFKA}14594",
    ),
    _mutant(
        "waits-for-fenced", "it waits for a follower that is fenced", _behaving(waits_only_for_eligible=False),
        f"{_KAFKA}13765",
    ),
    _mutant(
        "stale-fetch", "a fetch with an older broker epoch counts", _behaving(fences_stale_fetch=False),
        f"{_KAFKA}14053",
    ),
    _mutant("middle-of-batch", "a fetch from the middle of a batch counts as such", _behaving(fetch_starts_at_batch=False)),
    _mutant(
        "newer-epochs", "a follower appends batches of a newer epoch", _behaving(refuses_newer_epochs=False),
        f"{_KAFKA}18852",
    ),
    _partition("assigned", "every assigned replica counts", mistakes.CountsAssigned),
    _partition("only-in-sync", "it waits for no caught-up follower that may join", mistakes.OnlyInSync),
    _partition("unconfirmed", "a follower that is being added does not count", mistakes.IgnoresMaximal),
    _partition("leaving", "followers that are being removed do not count", mistakes.WaitsForShrinking),
    _partition(
        "answers", "it does not move when the in-sync replicas change",
        mistakes.KeepsHighWatermark, f"{_KAFKA}11245",
    ),
    _partition("monotonic", "a follower's never goes down", mistakes.FollowerNeverGoesBack),
    _partition("unbounded", "a follower's goes beyond its log", mistakes.FollowsBlindly),
    _partition("keeps-epochs", "truncation keeps epochs", mistakes.KeepsEpochs),
    _partition("epoch-without-records", "an epoch without records is not remembered", mistakes.EpochEndsWithRecords),
    _partition("forgets-followers", "a leader that leads on forgets its followers", mistakes.ClearsFollowers),
    _partition("same-epoch", "metadata of the same epoch reset the followers", mistakes.ResetsSameEpoch),
    _partition("older-metadata", "older metadata are taken over", mistakes.KeepsRoleState),
    _partition("any-fetch", "any fetch catches up", mistakes.UsesFetchTime),
    _partition(
        "never-behind", "a fetch from the leader's previous end does not catch up",
        mistakes.LaggardsOnly, f"{_KAFKA}2208",
    ),
    _partition("diverging", "a fetch whose log differs counts", mistakes.CountsDiverging, f"{_KAFKA}11136"),
)  # fmt: skip
