"""List, fetch and pin the jars of Kafka's releases, each checked by its sha256."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from kafka_conformance.cli import options
from kafka_conformance.oracle.fetching import fetched, published_codecs, published_versions
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_jars import pins as pinning
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import default_store

__all__ = ["command", "list_jars", "list_published", "pin", "resolve"]

_PUBLISHED = "published"


def list_jars() -> int:
    """List every pinned jar, and whether it is in the cache."""
    pins, store = pinning.load(), default_store()
    rows = [
        [of, jar.coordinates, (jar.sha256 or "")[:16], "not fetched" if store.missing([jar]) else "cached"]
        for of, jars in [
            *_of_releases(pins),
            ("every release", pins.beside),
            ("compiler", pins.compiler),
            ("coverage", pins.coverage),
            *((f"Spark {spark}'s connector", jars) for spark, jars in pins.connectors.items()),
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
        *dict.fromkeys(jar for jars in pins.connectors.values() for jar in jars),
        *dict.fromkeys(
            jar for at in map(str, releases) for jar in (*pins.jars(at), *pins.broker(at), *pins.codec_jars(at))
        ),
    ]
    stored = fetched(jars, store)
    rows = [[s.jar.coordinates, s.sha256[:16], "as pinned" if s.pinned else "unpinned", str(s.path)] for s in stored]
    console().print(table("", ["coordinates", "sha256", "", "file"], rows))
    return 0


@click.argument("versions", metavar="RELEASE...", nargs=-1, required=True)
def pin(*, versions: Sequence[str]) -> int:
    """Fetch releases that are not pinned yet, and write their sha256 into releases.toml.

    'published' stands for every release that Kafka has published.
    """
    pins, store = pinning.load(), default_store()
    out = console()
    published = list(versions) == [_PUBLISHED]
    wanted = published_versions() if published else chosen_releases(",".join(versions), pins)
    new = [release for release in map(str, wanted) if not pins.is_pinned(release)]
    codecs = published_codecs(new)
    jars = dict.fromkeys(
        jar for release in new for jar in (*pins.clients(release), *pins.broker(release), *codecs[release])
    )
    found = {stored.jar.coordinates: stored.sha256 for stored in fetched(list(jars), store)}
    for release in new:
        pinning.pin(
            release,
            _those(pins.clients(release), found),
            broker=_those(pins.broker(release), found),
            codecs=_those(codecs[release], found),
        )
    for coordinates, sha256 in found.items():
        out.print(f"pinned {coordinates} sha256 {sha256}", markup=False)
    for release in map(str, wanted):
        if pins.is_pinned(release):
            out.print(f"{release} was pinned already")
    return 0


def list_published() -> int:
    """List the releases that Kafka has published and that are not pinned; exit code 1 if there are any."""
    pins, releases, out = pinning.load(), list(map(str, published_versions())), console()
    missing = [release for release in releases if not pins.is_pinned(release)]
    for release in missing:
        out.print(f"{release} is published and not pinned", markup=False)
    out.print(f"{len(releases) - len(missing)} of {len(releases)} published releases are pinned", markup=False)
    return 1 if missing else 0


def _of_releases(pins: Pins) -> Iterator[tuple[str, Sequence[Jar]]]:
    for version, jars in pins.releases.items():
        yield version, jars
        yield f"{version} broker", pins.brokers.get(version, ())
        yield f"{version} codecs", pins.codecs.get(version, ())


def _those(jars: Sequence[Jar], found: Mapping[str, str]) -> dict[str, str]:
    return {jar.coordinates: found[jar.coordinates] for jar in jars}


command = click.Group(
    "jars",
    help=__doc__,
    commands=[
        click.command("list")(list_jars),
        click.command("pin")(pin),
        click.command("published")(list_published),
        click.command("resolve")(resolve),
    ],
)
