"""Run a real Kafka broker on this machine, and fetch or pin the jars it needs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from kafka_conformance.brokers.broker import Engine, chosen_broker, running_broker
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.streams import say, say_error
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.session import named_release, split
from kafka_conformance.reports.terminal import console
from kafka_jars.brokers import FIRST, NOT_NEEDED, broker_coordinates, load_brokers, pin_broker
from kafka_jars.errors import JarUnavailable
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar
from kafka_jars.scratch import ScratchFolder
from kafka_jars.store import default_store

__all__ = ["command", "fetch", "parse_topics", "pin", "run"]

_LOOK_S = 0.5


@click.option("--kafka", default="newest-that-runs", show_default=True, metavar="RELEASE",
              help="An exact release, since 2.4; up to 3.2.x with ZooKeeper.")  # fmt: skip
@click.option("--nodes", default="1", type=click.Choice(["1", "3"]), callback=lambda _, __, value: int(value),
              show_default=True, help="How many nodes the cluster has.")  # fmt: skip
@click.option("--engine", default="auto", type=click.Choice(["auto", "docker", "jars"]), show_default=True,
              help="auto: Docker if it answers and no release is named, else jars.")  # fmt: skip
@click.option("--topic", "topics", multiple=True, metavar="NAME:PARTITIONS", help="Create this topic; repeatable.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A broker setting; repeatable.")
@click.option("--port", default=None, type=click.IntRange(1, 65_535), metavar="N",
              help="Port of the first node (default: a free one).")  # fmt: skip
@click.option("--heap-mb", default=256, type=click.IntRange(96, 65_536), show_default=True, metavar="MB",
              help="Heap of each node, in MB.")  # fmt: skip
def run(
    *,
    kafka: str,
    nodes: int,
    engine: Engine,
    topics: Sequence[str],
    settings: Sequence[str],
    port: int | None,
    heap_mb: int,
) -> int:
    """Run a broker until Ctrl-C. Its address is the only line on standard output."""
    wanted, given = parse_topics(topics), _parse_settings(settings)
    with running_broker(kafka, nodes=nodes, engine=engine, settings=given, port=port, heap_mb=heap_mb) as broker:
        for name, partitions in wanted.items():
            broker.create_topic(name, partitions, replicas=nodes)
        try:
            say(broker.bootstrap, flush=True)
            say_error(f"Kafka {broker.release} from {broker.engine}; Ctrl-C ends it")
            watched: Any = broker
            while True:
                time.sleep(_LOOK_S)
                watched.watch()
        except KeyboardInterrupt:
            interrupts.acknowledge()  # the usual end, and no error
    return 0


@click.option("--kafka", default="newest", show_default=True, metavar="RELEASES",
              help="Exact releases joined by commas, 'newest' or 'all'.")  # fmt: skip
def fetch(*, kafka: str) -> int:
    """Fetch and check the jars of brokers; they start without a network and without Spark afterwards."""
    pins, store = load_brokers(), default_store()
    asked = list(pins.releases) if kafka.strip() == "all" else [chosen_broker(name, pins) for name in split(kafka)]
    if not asked:
        raise BadInput("no release named: give exact ones, like 4.4.0,3.9.2, or all, or newest")
    stored = fetched(list(dict.fromkeys(jar for each in asked for jar in pins.jars(each))), store)
    size = sum(each.path.stat().st_size for each in stored) // 2**20
    console().print(f"{', '.join(asked)}: {len(stored)} jars, {size} MiB, as pinned, in {store.folder}", markup=False)
    return 0


@click.argument("versions", metavar="RELEASE...", nargs=-1, required=True)
def pin(*, versions: Sequence[str]) -> int:
    """Find every jar that the broker of a release needs, and write their sha256 into brokers.toml."""
    pins, store, out = load_brokers(), default_store(), console()
    wanted = [str(named_release(name)) for name in versions]
    for version in wanted:
        if named_release(version).numbers < FIRST:
            raise BadInput(f"the broker of {version} is too old: brokers run here since 2.4")
    new = [version for version in wanted if version not in pins.releases]
    for version in sorted(set(wanted) - set(new)):
        out.print(f"{version} was pinned already")
    if not new:
        return 0
    with Jvm() as jvm:
        for version in new:
            found = fetched([Jar(each) for each in _all_of(version, jvm)], store, jvm)
            pin_broker(version, {stored.jar.coordinates: stored.sha256 for stored in found})
            out.print(f"pinned the broker of {version}: {len(found)} jars", markup=False)
    return 0


def parse_topics(topics: Sequence[str]) -> dict[str, int]:
    """Parse ``NAME:PARTITIONS`` into names and partition counts. Raises BadInput."""
    found = {}
    for topic in topics:
        name, _, partitions = topic.rpartition(":")
        if not name or not partitions.isascii() or not partitions.isdigit() or int(partitions) < 1:
            raise BadInput(f"{topic!r} is not a topic: give a name and a number of partitions, such as orders:12")
        found[name] = int(partitions)
    return found


def _parse_settings(settings: Sequence[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise BadInput(f"{wrong[0]!r} is not a setting: give a name and a value, such as log.segment.bytes=1048576")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _all_of(version: str, jvm: Jvm) -> Sequence[str]:
    """Return the coordinates of every jar a broker needs. Raises JarUnavailable if one is in no repository."""
    with ScratchFolder() as room:
        closure = jvm.call(lambda: Ivy(jvm.view).closure(broker_coordinates(version), room))
    missing = [each for each in closure.absent if each.rpartition(":")[0] not in NOT_NEEDED]
    if missing:
        raise JarUnavailable(
            f"the broker of {version} needs {missing[0]}, which is in no repository: it cannot be pinned"
        )
    own: Sequence[str] = closure.coordinates
    return own


command = click.Group(
    "broker",
    help=__doc__,
    commands=[click.command("fetch")(fetch), click.command("pin")(pin), click.command("run")(run)],
)
