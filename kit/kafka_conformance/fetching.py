"""Jars before there is a JVM that needs them: from the cache alone, or by a JVM that is started to fetch them and ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.progress import steps
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar
from kafka_jars.store import Store, Stored

__all__ = ["fetched"]


def fetched(jars: Sequence[Jar], store: Store) -> list[Stored]:
    """Each jar, checked; a JVM is started only if one has to be fetched. Raises JarError, NoJava, JvmLost."""
    if not store.missing(jars):
        return [store.get(jar, _never) for jar in jars]
    with steps("fetching jars", len(jars)) as progress, Jvm() as jvm:
        ivy, stored = Ivy(jvm.view), []
        for jar in jars:
            progress.doing(jar.coordinates)
            stored.append(jvm.call(lambda jar=jar: store.get(jar, ivy.fetch)))
            progress.advance()
    return stored


def _never(coordinates: str, _: Path) -> Path:
    raise AssertionError(f"{coordinates} was there a moment ago")
