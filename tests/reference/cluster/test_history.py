"""Histories: requests, faults, and what is left to chance."""

from __future__ import annotations

import pytest

from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.observation import Elected, Produced, Settled, Unanswered
from kafka_reference.cluster.script import (
    BrokerId,
    ClusterScript,
    Continue,
    Elect,
    Event,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    SetUncleanElection,
    Start,
)
from kafka_reference.cluster.undetermined import UndeterminedHistory

NEWEST = "4.4.0"
ALL, LEADER = -1, 1


def play(*events: Event, release: str = NEWEST, min_isr: int = 1, unclean: bool = False) -> list[object]:
    return list(simulate(ClusterScript(events, min_insync_replicas=min_isr, unclean_leader_election=unclean), release))


def last(*events: Event, release: str = NEWEST, min_isr: int = 1, unclean: bool = False) -> Settled:
    state = play(*events, Settle(), release=release, min_isr=min_isr, unclean=unclean)[-1]
    assert isinstance(state, Settled)
    return state


def test_cluster_history_without_faults_answers_produce_and_election_requests_like_kafka() -> None:
    answers = play(
        Produce(0), Produce(1), Produce(ALL, 2), Produce(5), Elect("preferred"), SetUncleanElection(True), Settle()
    )
    assert answers[:-1] == [
        Produced(None, None), Produced("NONE", 1), Produced("NONE", 2), Produced("INVALID_REQUIRED_ACKS", None),
        Elected("ELECTION_NOT_NEEDED"), Unanswered(),
    ]  # fmt: skip
    state = answers[-1]
    assert isinstance(state, Settled)
    assert (state.leader, state.leader_epoch, state.readable) == (1, 0, 4)
    assert (sorted(state.isr), sorted(state.elr)) == ([1, 2, 3], [])
    assert state.replicas[3].batches == ((0, 1, 0), (1, 1, 0), (2, 2, 0))


def test_acks_all_waits_for_a_paused_follower_until_isr_shrinks() -> None:
    answers = play(Pause(2), Produce(ALL, wait=False), Settle())
    assert answers[1] == Produced("NONE", 0)
    assert isinstance(answers[2], Settled)
    assert answers[2].isr == {1, 3}
    assert (answers[2].readable, answers[2].replicas[2].end_offset) == (1, 0)


def test_acks_all_below_min_isr_times_out_and_commits_once_follower_continues() -> None:
    events = (Pause(2), Produce(ALL, wait=False), Settle())
    assert play(*events, min_isr=3)[1] == Produced("REQUEST_TIMED_OUT", None)
    assert last(*events, min_isr=3).readable == 0
    assert last(*events, Continue(2), min_isr=3).readable == 1


def test_paused_leader_truncates_unreplicated_records_on_return() -> None:
    state = last(Pause(2), Pause(3), Produce(LEADER), Pause(1), Continue(2), Continue(3), Settle(), Continue(1))
    assert (state.leader, state.leader_epoch, sorted(state.isr)) == (2, 1, [1, 2, 3])
    assert state.replicas[1].batches == ()


def test_lowered_min_isr_advances_high_watermark_only_at_the_next_append() -> None:
    events = (Kill(3), Settle(), Produce(LEADER), Settle(), SetMinInsyncReplicas(2))
    assert last(*events, min_isr=3).readable == 0
    assert last(*events, Settle(), Produce(LEADER), min_isr=3).readable == 2


LEADERLESS = (Kill(3), Settle(), Kill(2), Settle(), Kill(1), Settle(), Start(3), Settle())
"""Broker 3 runs and may not lead."""


LAST_LEADER_PAUSED = (Kill(1), Settle(), Kill(3), Settle(), Pause(2), Settle())
"""Broker 2 alone is in the ISR, and its session has ended."""


def test_leaderless_partition_refuses_produce_and_gets_leader_once_unclean_election_is_enabled() -> None:
    assert play(*LEADERLESS, Produce(ALL))[-1] == Produced("LEADER_NOT_AVAILABLE", None)
    assert last(*LEADERLESS, SetUncleanElection(True)).leader == 3


def test_preferred_election_restores_the_preferred_leader_after_restart() -> None:
    events = (Kill(1), Settle(), Start(1), Settle())
    assert last(*events).leader == 2
    assert last(*events, Elect("preferred")).leader == 1


def test_min_isr_change_during_pause_of_last_isr_member_raises_undetermined_history() -> None:
    events = (Pause(2), Settle(), SetMinInsyncReplicas(2), Continue(2), Settle(), Kill(1), Settle())
    assert last(*events).leader == 2
    assert last(*LAST_LEADER_PAUSED, Continue(2), Settle(), SetMinInsyncReplicas(2)).leader == 2
    with pytest.raises(UndeterminedHistory, match="before or after it learns the new minimum"):
        last(*LAST_LEADER_PAUSED, SetMinInsyncReplicas(2), Continue(2), release="3.9.2")


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((Pause(1), Produce(1)), "leader that does not run"),
        ((Pause(2), Produce(ALL)), "set wait=False"),
        ((Produce(1), Kill(1)), "while others fetch"),
        ((Kill(1), Kill(1)), "was killed before"),
        ((Start(1),), "cannot start or continue"),
        ((Continue(1),), "cannot start or continue"),
        ((Kill(2), Start(2)), "before its session has ended"),
        ((Kill(2), Elect("preferred")), "an election before the session"),
        ((Kill(2), Settle(), Start(2), Produce(ALL)), "while a broker comes back"),
        ((Pause(1), Settle(), Continue(1), Settle(), Elect("preferred"), Produce(ALL)), "a leader is elected"),
        ((Kill(1), Kill(2), Settle()), "the leader and an in-sync follower"),
        ((Pause(2), Pause(3), Produce(ALL, wait=False), Kill(1)), "while a produce request waits"),
        ((*LEADERLESS, SetUncleanElection(True), Produce(ALL)), "a leader is elected"),
        ((*LEADERLESS, SetUncleanElection(True), Kill(3)), "while others fetch"),
    ],
)
def test_cluster_history_with_impossible_event_or_timing_dependent_outcome_raises_undetermined_history(
    events: tuple[Event, ...], reason: str
) -> None:
    with pytest.raises(UndeterminedHistory, match=reason):
        play(*events)


def test_two_followers_killed_together_raise_undetermined_history_only_if_elr_depends_on_order() -> None:
    events = (Kill(2), Kill(3), Settle())
    with pytest.raises(UndeterminedHistory, match="the first is not eligible"):
        play(*events, min_isr=2)
    assert last(*events, min_isr=3).elr == {2, 3}
    assert last(*events, release="3.9.2", min_isr=2).isr == {1}


def test_high_watermark_waits_for_min_isr_since_3_7() -> None:
    events = (Kill(2), Settle(), Produce(LEADER))
    assert [last(*events, release=release, min_isr=3).readable for release in ("3.6.2", "3.7.0", NEWEST)] == [1, 0, 0]


@pytest.mark.parametrize(
    ("release", "error", "readable"), [("3.6.2", "NOT_ENOUGH_REPLICAS", 1), (NEWEST, "NONE", 2), ("3.9.1", "NONE", 2)]
)
@pytest.mark.parametrize("replicas", [(1,), (2, 3)])
def test_acks_all_with_min_isr_above_replica_count_is_refused_up_to_3_6(
    release: str, error: str, readable: int, replicas: tuple[BrokerId, ...]
) -> None:
    events = (Produce(-1), Produce(1), Settle())
    seen = simulate(ClusterScript(events, replicas, min_insync_replicas=len(replicas) + 1), release)
    assert [answer.error for answer in seen if isinstance(answer, Produced)] == [error, "NONE"]
    assert isinstance(seen[-1], Settled)
    assert (seen[-1].readable, seen[-1].isr, set(seen[-1].replicas)) == (readable, frozenset(replicas), set(replicas))


def test_single_replica_leads_again_with_log_after_kill_and_restart() -> None:
    events = (Produce(-1), Kill(3), Settle(), Produce(1), Start(3), Settle())
    seen = simulate(ClusterScript(events, (3,), min_insync_replicas=2), NEWEST)
    assert seen[3] == Produced("LEADER_NOT_AVAILABLE", None)
    assert isinstance(seen[-1], Settled)
    assert (seen[-1].leader, seen[-1].replicas[3].end_offset) == (3, 1)
