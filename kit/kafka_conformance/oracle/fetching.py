"""Take jars from the store, and fetch those that are missing; a JVM is started only to fetch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_conformance.core.progress import steps
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.artifacts import CLIENTS, CODECS, FIRST, clients_of
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar, is_version
from kafka_jars.scratch import ScratchFolder
from kafka_jars.store import Store, Stored
from kafka_reference.releases import Release, parse_release

__all__ = ["fetched", "published_codecs", "published_versions"]


def fetched(jars: Sequence[Jar], store: Store, jvm: Jvm | None = None) -> list[Stored]:
    """Return each jar, its sha256 checked; fetch the missing ones through ``jvm``, or through a JVM started for it.

    Raises JarError; NoJava or JvmLost if a jar has to be fetched.
    """
    if not store.missing(jars):
        return [store.get(jar, _never) for jar in jars]
    if jvm is None:
        with Jvm() as own:
            return fetched(jars, store, own)
    with steps("fetching jars", len(jars)) as progress:
        ivy, stored = Ivy(jvm.view), []
        for jar in jars:
            progress.doing(jar.coordinates)
            stored.append(jvm.call(lambda jar=jar: store.get(jar, ivy.fetch)))
            progress.advance()
    return stored


def published_versions() -> list[Release]:
    """Return every release that Kafka has published since the first one that is mirrored, in order, without candidates.

    Raises JarUnavailable, NoJava or JvmLost.
    """
    with Jvm() as jvm, ScratchFolder() as folder:
        versions = jvm.call(lambda: Ivy(jvm.view).versions(CLIENTS, folder))
    return sorted(release for release in map(parse_release, filter(is_version, versions)) if release.numbers >= FIRST)


def published_codecs(releases: Sequence[str]) -> dict[str, tuple[Jar, ...]]:
    """Return the libraries that each release compresses with, as its POM names them.

    Raises JarUnavailable, NoJava or JvmLost.
    """
    if not releases:
        return {}
    with Jvm() as jvm, ScratchFolder() as folder:
        ivy = Ivy(jvm.view)
        named = {at: jvm.call(lambda at=at: ivy.closure(clients_of(at)[0], folder)) for at in releases}
    return {
        at: tuple(Jar(each) for each in sorted(closure.coordinates) if each.split(":")[1] in CODECS)
        for at, closure in named.items()
    }


def _never(coordinates: str, _: Path) -> Path:
    raise AssertionError(f"{coordinates} was in the store when the run checked, and is missing now")
