"""The kinds of questions of ``leader-election``."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.leader_election.question import AskedPartition, LeaderElectionQuestion

__all__ = ["REQUIRED_LABELS", "labels", "path"]

REQUIRED_LABELS = frozenset(
    {f"election {kind}" for kind in ("preferred", "online", "unclean")}
    | {f"metadata version {version}" for version in ("3.1", "3.5", "3.6", "3.7", "newest")}
    | {
        "no leader before",
        "leader not acceptable",
        "leader leaves the ISR",
        "preferred replica leads",
        "nobody in sync",
    }
    | {
        "nobody acceptable",
        "an acceptable replica out of sync",
        "the ISR becomes empty",
        "the ISR shrinks",
        "the ISR grows",
    }
    | {"the ISR in another order", "the ISR names a broker twice", "the ISR stays"}
    | {"a reassignment goes on", "a reassignment is asked for", "the last replica is removed", "other replicas"}
    | {"an added replica is not in sync", "a staying replica is not in sync"}
    | {"ELR enabled", "ELR disabled with members", "ELR member acceptable", "ISR below its minimum", "unclean shutdown"}
    | {"last known leader acceptable", "last known leader not acceptable", "several last known", "no last known leader"}
    | {"last known leader disabled", "recovering", "recovery asked for", "migration from ZooKeeper", "directories"}
    | {
        "directories assigned",
        "no default directory",
        "brokers that share a bucket",
        "unclean allowed in a preferred election",
    }
)


def labels(question: LeaderElectionQuestion) -> Iterator[str]:
    """Yield the kinds that a question belongs to."""
    yield f"election {question.election}"
    yield f"metadata version {question.metadata_version}"
    if question.election == "preferred" and question.unclean_allowed:
        yield "unclean allowed in a preferred election"
    yield from _leader_labels(question, question.partition)
    yield from _isr_labels(question.partition.isr, question.isr)
    yield from _reassignment_labels(question, question.partition)
    yield from _eligible_labels(question, question.partition)
    yield from _state_labels(question, question.partition)


def path(question: LeaderElectionQuestion) -> str:
    """Return the kind of election, and whether a reassignment and eligible replicas take part in it."""
    partition = question.partition
    moves = bool(question.removing or question.adding or question.replicas or partition.removing or partition.adding)
    return f"{question.election}{', reassignment' * moves}{', ELR' * question.elr_enabled}"


def _leader_labels(question: LeaderElectionQuestion, partition: AskedPartition) -> Iterator[str]:
    isr = partition.isr if question.isr is None else question.isr
    acceptable = [one for one in partition.replicas if one in question.acceptable]
    if partition.leader == -1:
        yield "no leader before"
    else:
        if partition.leader not in question.acceptable:
            yield "leader not acceptable"
        if partition.leader not in isr:
            yield "leader leaves the ISR"
    if partition.leader == partition.replicas[0]:
        yield "preferred replica leads"
    if not acceptable:
        yield "nobody acceptable"
    if not isr:
        yield "nobody in sync"
    if any(one not in isr for one in acceptable):
        yield "an acceptable replica out of sync"


def _isr_labels(before: tuple[int, ...], wanted: tuple[int, ...] | None) -> Iterator[str]:
    if wanted is None or wanted == before:
        yield "the ISR stays"
        return
    if before and not wanted:
        yield "the ISR becomes empty"
    if set(before) - set(wanted):
        yield "the ISR shrinks"
    if set(wanted) - set(before):
        yield "the ISR grows"
    if sorted(before) == sorted(wanted):
        yield "the ISR in another order"
    if len(set(wanted)) < len(wanted):
        yield "the ISR names a broker twice"


def _reassignment_labels(question: LeaderElectionQuestion, partition: AskedPartition) -> Iterator[str]:
    if partition.removing or partition.adding:
        yield "a reassignment goes on"
    if question.removing or question.adding:
        yield "a reassignment is asked for"
    if question.replicas is not None and question.replicas != partition.replicas:
        yield "other replicas"
    isr = partition.isr if question.isr is None else question.isr
    replicas = question.replicas or partition.replicas
    removing = partition.removing if question.removing is None else question.removing
    adding = partition.adding if question.adding is None else question.adding
    if removing and not set(replicas) - set(removing):
        yield "the last replica is removed"
    if set(adding) - set(isr):
        yield "an added replica is not in sync"
    elif (removing or adding) and set(replicas) - set(removing) - set(isr):
        yield "a staying replica is not in sync"


def _eligible_labels(question: LeaderElectionQuestion, partition: AskedPartition) -> Iterator[str]:
    isr = partition.isr if question.isr is None else question.isr
    known = partition.last_known_elr
    if question.elr_enabled:
        yield "ELR enabled"
    elif partition.elr:
        yield "ELR disabled with members"
    if not isr and set(partition.elr) & set(question.acceptable):
        yield "ELR member acceptable"
    if len(isr) < question.min_isr:
        yield "ISR below its minimum"
    if question.unclean_shutdown:
        yield "unclean shutdown"
    if len(known) > 1:
        yield "several last known"
    elif not known:
        yield "no last known leader"
    else:
        yield f"last known leader {'' if known[0] in question.acceptable else 'not '}acceptable"
    if not question.last_leader_enabled:
        yield "last known leader disabled"


def _state_labels(question: LeaderElectionQuestion, partition: AskedPartition) -> Iterator[str]:
    if partition.recovery == "recovering":
        yield "recovering"
    if question.recovery is not None:
        yield "recovery asked for"
    if question.zookeeper_migration:
        yield "migration from ZooKeeper"
    if partition.directories is not None:
        yield "directories"
    if question.directories:
        yield "directories assigned"
    if question.default_directory is None:
        yield "no default directory"
    buckets = [one % 16 for one in {*partition.replicas, *partition.elr}]
    if len(set(buckets)) < len(buckets):
        yield "brokers that share a bucket"
