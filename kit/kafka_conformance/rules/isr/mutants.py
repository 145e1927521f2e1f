"""Known mistakes in ``isr``: which replica is removed, which may join, and what the controller's answer changes."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition import mistakes
from kafka_conformance.rules.isr.adapter import ask
from kafka_conformance.rules.isr.rule import RULE
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
    return Mutant(f"isr-{slug}", RULE.slug, description, answer, parse_release(release), references)


def _partition(slug: str, description: str, create: type[Partition], *references: str) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create), *references)


MUTANTS = (
    _mutant(
        "any-broker-epoch", "a follower joins with any broker epoch", _behaving(checks_broker_epoch=False),
        f"{_KAFKA}13489",
    ),
    _mutant(
        "broker-epoch-early", "the broker epoch is checked before there was a release that did so",
        _behaving(checks_broker_epoch=True), f"{_KAFKA}13489", release="3.4.1",
    ),
    _mutant(
        "stale-fetch", "a fetch with an older broker epoch counts", _behaving(fences_stale_fetch=False),
        f"{_KAFKA}14053",
    ),
    _partition("at-limit", "a follower is removed exactly at the lag limit", mistakes.ShrinksAtLimit),
    _partition("any-fetch", "any fetch catches up", mistakes.UsesFetchTime),
    _partition(
        "never-behind", "a fetch from the leader's previous end does not catch up",
        mistakes.LaggardsOnly, f"{_KAFKA}2208",
    ),
    _partition("epoch-start", "a follower joins before the start of the leader's epoch", mistakes.IgnoresEpochStart),
    _partition("from-end", "a follower joins only at the end of the log", mistakes.NeedsEnd),
    _partition("fenced", "a fenced follower joins", mistakes.IgnoresBrokers, f"{_KAFKA}12181"),
    _partition("new-offset", "a follower joins only by an offset that is new", mistakes.NeverRejoins),
    _partition("in-flight", "a change is asked for while another is in flight", mistakes.AsksInFlight),
    _partition(
        "expands-at-once", "a follower is in sync before the controller says so",
        mistakes.CommitsExpansionAtOnce,
    ),
    _partition(
        "shrinks-at-once", "a follower is out of sync before the controller says so",
        mistakes.CommitsShrinkAtOnce,
    ),
    _partition("removes-leader", "the leader removes itself", mistakes.RemovesLeader),
    _partition("resets", "every error drops the change", mistakes.ResetsOnEveryError, f"{_KAFKA}9100"),
    _partition("retries", "every error is retried", mistakes.RetriesEverything),
    _partition("late-answers", "an answer to an older request is taken", mistakes.TakesLateAnswers),
    _partition("older-answers", "an answer with an older partition epoch is taken", mistakes.TakesAnyAnswer),
    _partition("same-epoch", "metadata of the same epoch reset the followers", mistakes.ResetsSameEpoch),
    _partition("older-metadata", "older metadata are taken over", mistakes.KeepsRoleState),
    _partition("answers", "the high watermark does not move when the in-sync replicas change", mistakes.KeepsHighWatermark,
        f"{_KAFKA}11245",
    ),
)  # fmt: skip
