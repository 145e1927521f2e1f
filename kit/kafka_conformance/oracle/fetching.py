"""Take jars from the store, and fetch those that are missing; a JVM is started only to fetch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_conformance.core.progress import steps
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar
from kafka_jars.store import Store, Stored

__all__ = ["fetched"]


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


def _never(coordinates: str, _: Path) -> Path:
    raise AssertionError(f"{coordinates} was in the store when the run checked, and is missing now")
