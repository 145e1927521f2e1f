"""The Hypothesis strategy of ``zookeeper-leader-election``: up to 5 replicas in any state."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion

__all__ = ["elections"]

_BROKERS = st.lists(st.sampled_from((1, 2, 3, 4, 5, 0, 7)), max_size=5, unique=True).map(tuple)
_EPOCH = st.integers(0, 9)


def elections() -> st.SearchStrategy[ZookeeperLeaderElectionQuestion]:
    """Return the strategy."""
    return st.builds(
        ZookeeperLeaderElectionQuestion,
        election=st.sampled_from(("offline", "reassign", "preferred", "shutdown")),
        assignment=_BROKERS,
        isr=_BROKERS,
        live=_BROKERS,
        shutting_down=_BROKERS | st.just(()),
        unclean=st.booleans(),
        removing=_BROKERS | st.just(()),
        leader=st.sampled_from((1, 2, 3, -1)),
        leader_epoch=_EPOCH,
        version=_EPOCH,
        recovery=st.sampled_from(("recovered", "recovering")),
        recovery_supported=st.booleans(),
        known=st.integers(0, 9).map(bool),
    )
