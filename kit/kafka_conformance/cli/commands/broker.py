"""``broker run``, ``broker fetch``, ``broker pin``: real brokers, and the jars they run on."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_conformance.brokers.broker import Engine, chosen_broker, running_broker
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.session import named_release, split
from kafka_conformance.reports.terminal import console
from kafka_jars.brokers import FIRST, NOT_NEEDED, broker_coordinates, load_brokers, pin_broker
from kafka_jars.errors import JarUnavailable
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar
from kafka_jars.store import default_store

__all__ = ["fetch", "parse_topics", "pin", "run"]

_LOOK_S = 0.5


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
    """Print where the broker is, and keep it until we are asked to stop. Raises BrokerLost if it ends by itself."""
    wanted, given = parse_topics(topics), _parse_settings(settings)
    with running_broker(kafka, nodes=nodes, engine=engine, settings=given, port=port, heap_mb=heap_mb) as broker:
        for name, partitions in wanted.items():
            broker.create_topic(name, partitions, replicas=nodes)
        try:
            print(broker.bootstrap, flush=True)
            print(f"Kafka {broker.release} from {broker.engine}; Ctrl-C ends it", file=sys.stderr, flush=True)
            watched: Any = broker
            while True:
                time.sleep(_LOOK_S)
                watched.watch()
        except KeyboardInterrupt:
            interrupts.heard()  # that is how it is ended: no error
    return 0


def fetch(*, kafka: str) -> int:
    """Fetch and check the jars of brokers: afterwards they start without a network, and without Spark."""
    pins, store = load_brokers(), default_store()
    asked = list(pins.releases) if kafka.strip() == "all" else [chosen_broker(name, pins) for name in split(kafka)]
    if not asked:
        raise BadInput("no release named: give exact ones, like 4.4.0,3.9.2, or all, or newest")
    stored = fetched(list(dict.fromkeys(jar for each in asked for jar in pins.jars(each))), store)
    size = sum(each.path.stat().st_size for each in stored) // 2**20
    console().print(f"{', '.join(asked)}: {len(stored)} jars, {size} MiB, as pinned, in {store.folder}", markup=False)
    return 0


def pin(*, versions: Sequence[str]) -> int:
    """Find all that the brokers of these releases run on, and write their sha256 into brokers.toml."""
    pins, store, out = load_brokers(), default_store(), console()
    wanted = [str(named_release(name)) for name in versions]
    for version in wanted:
        if named_release(version).numbers < FIRST:
            raise BadInput(f"the broker of {version} needs ZooKeeper: brokers run here from 3.3 on")
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
    """``NAME:PARTITIONS`` as names and numbers. Raises BadInput."""
    found = {}
    for topic in topics:
        name, _, partitions = topic.rpartition(":")
        if not name or not partitions.isascii() or not partitions.isdigit() or int(partitions) < 1:
            raise BadInput(f"{topic!r} is no topic: name it with its number of partitions, orders:12")
        found[name] = int(partitions)
    return found


def _parse_settings(settings: Sequence[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise BadInput(f"{wrong[0]!r} is no setting: give a name and a value, log.segment.bytes=1048576")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _all_of(version: str, jvm: Jvm) -> Sequence[str]:
    """The coordinates of all a broker runs on. Raises JarUnavailable if one is absent that is needed."""
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-") as room:
        closure = jvm.call(lambda: Ivy(jvm.view).closure(broker_coordinates(version), Path(room)))
    missing = [each for each in closure.absent if each.rpartition(":")[0] not in NOT_NEEDED]
    if missing:
        raise JarUnavailable(
            f"the broker of {version} needs {missing[0]}, which is in no repository: it cannot be pinned"
        )
    own: Sequence[str] = closure.coordinates
    return own
