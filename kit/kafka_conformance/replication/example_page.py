"""The part of the page of replication that is made from the examples.

``python -m kafka_conformance.replication.example_page FILE`` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from kafka_conformance.replication.examples import EXAMPLES, HistoryExample
from kafka_conformance.replication.history_table import history_table
from kafka_conformance.reports.page_block import write_block
from kafka_reference.cluster.history import ClusterMode, simulate
from kafka_reference.cluster.observation import Answer, Settled

__all__ = ["CLUSTERS", "COMMAND", "example_page"]

COMMAND: Final = "kafka_conformance.replication.example_page"
"""What the marks on the page name."""
CLUSTERS: Final[tuple[tuple[str, ClusterMode], ...]] = (
    ("4.4.0", "kraft"),
    ("3.9.2", "kraft"),
    ("3.9.2", "zookeeper"),
)  # fmt: skip
"""The clusters whose timelines the page shows: the newest, the last one without eligible leaders, one with ZooKeeper."""


def example_page() -> str:
    """Return each example with its timeline, as Markdown."""
    return "\n".join(line for example in EXAMPLES for line in _section(example)) + "\n"


def _section(example: HistoryExample) -> Iterator[str]:
    newest, older, zookeeper = (simulate(example.script, *cluster) for cluster in CLUSTERS)
    settings = f"`min.insync.replicas={example.script.min_insync_replicas}`"
    yield from ("", f"### {example.title}", "", example.text, "", f"{settings}, Kafka 4.4.0:", "")
    yield from _table(example, newest)
    if _visible(older) != _visible(newest):
        yield from ("", "Kafka 3.9.2:", "")
        yield from _table(example, older)
    if _without_epochs(zookeeper) != _without_epochs(older):
        yield from ("", "Kafka 3.9.2 with ZooKeeper:", "")
        yield from _table(example, zookeeper)
    elif zookeeper != older:
        yield from (
            "",
            "With ZooKeeper the leader epochs are higher: a follower whose session ends in the ISR raises them.",
        )


def _table(example: HistoryExample, answers: Sequence[Answer]) -> Iterator[str]:
    yield "```text"
    yield from history_table(example.script, answers)
    yield "```"


def _visible(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers without what only the controller sees."""
    return [replace(one, elr=frozenset(), isr=frozenset()) if isinstance(one, Settled) else one for one in answers]


def _without_epochs(answers: Sequence[Answer]) -> list[Answer]:
    return [_plain(one) if isinstance(one, Settled) else one for one in answers]


def _plain(state: Settled) -> Settled:
    replicas = {
        broker: replace(replica, batches=tuple((base, records, 0) for base, records, _ in replica.batches))
        for broker, replica in state.replicas.items()
    }
    return replace(state, leader_epoch=0, replicas=replicas)


if __name__ == "__main__":
    write_block(Path(sys.argv[1]), COMMAND, example_page())
