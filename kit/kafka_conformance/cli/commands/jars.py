"""List, fetch and pin the jars of Kafka's releases, each checked by its sha256."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from kafka_conformance.cli import options
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.reports.terminal import console, table
from kafka_jars import pins as pinning
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import default_store

__all__ = ["command", "list_jars", "pin", "resolve"]


def list_jars() -> int:
    """List every pinned jar, and whether it is in the cache."""
    pins, store = pinning.load(), default_store()
    rows = [
        [of, jar.coordinates, (jar.sha256 or "")[:16], "cached" if store.path(jar).is_file() else "not fetched"]
        for of, jars in [
            *_of_releases(pins),
            ("every release", pins.beside),
            ("compiler", pins.compiler),
            ("coverage", pins.coverage),
            ("Spark's connector", pins.connector),
        ]
        for jar in jars
    ]
    out = console()
    out.print(table("", ["release", "coordinates", "sha256", "cache"], rows))
    out.print(f"{len(pins.releases)} releases pinned; cache {store.folder}", markup=False)
    return 0


@options.kafka("all")
def resolve(*, kafka: str) -> int:
    """Fetch and check jars; everything works without a network afterwards."""
    pins, store = pinning.load(), default_store()
    releases = chosen_releases(kafka, pins)
    jars = [
        *pins.compiler,
        *pins.coverage,
        *pins.connector,
        *dict.fromkeys(jar for at in releases for jar in (*pins.jars(str(at)), *pins.broker(str(at)))),
    ]
    stored = fetched(jars, store)
    rows = [[s.jar.coordinates, s.sha256[:16], "as pinned" if s.pinned else "unpinned", str(s.path)] for s in stored]
    console().print(table("", ["coordinates", "sha256", "", "file"], rows))
    return 0


@click.argument("versions", metavar="RELEASE...", nargs=-1, required=True)
def pin(*, versions: Sequence[str]) -> int:
    """Fetch a release that is not pinned yet, and write its sha256 into releases.toml."""
    pins, store = pinning.load(), default_store()
    out = console()
    wanted = chosen_releases(",".join(versions), pins)
    for at in (at for at in wanted if not pins.is_pinned(str(at))):
        own, broker = pins.clients(str(at)), pins.broker(str(at))
        found = {stored.jar.coordinates: stored.sha256 for stored in fetched([*own, *broker], store)}
        pinning.pin(str(at), _those(own, found), broker=_those(broker, found))
        for coordinates, sha256 in found.items():
            out.print(f"pinned {coordinates} sha256 {sha256}", markup=False)
    for at in wanted:
        if pins.is_pinned(str(at)):
            out.print(f"{at} was pinned already")
    return 0


def _of_releases(pins: Pins) -> Iterator[tuple[str, Sequence[Jar]]]:
    for version, jars in pins.releases.items():
        yield version, jars
        yield f"{version} broker", pins.brokers.get(version, ())


def _those(jars: Sequence[Jar], found: Mapping[str, str]) -> dict[str, str]:
    return {jar.coordinates: found[jar.coordinates] for jar in jars}


command = click.Group(
    "jars",
    help=__doc__,
    commands=[click.command("list")(list_jars), click.command("pin")(pin), click.command("resolve")(resolve)],
)
