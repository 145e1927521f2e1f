"""Releases of Kafka, sent to the executors: the jars of each, and the Java half of the oracle compiled against them.

They travel by ``SparkContext.addFile``, where ``oracle/spark`` finds them. Every question carries a description of its
release as text: file names, their sha256, the class for each rule. An executor checks the sha256 of each file before
it loads it, reads the release back from the loaded classes, and refuses to answer if they differ. So a wrong jar on
one machine of many is one line and exit code 2, never a slightly wrong proof.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_sources import java_sources
from kafka_conformance.rules import java_classes
from kafka_conformance.spark.session import Spark
from kafka_jars.artifacts import broker_of
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import Stored, default_store
from kafka_reference.releases import Release

__all__ = ["SentRelease", "fetch_releases", "register_java", "send"]

_FUNCTIONS = {"kafkaoracle_key_block": "KeyBlock", "kafkaoracle_answers": "Answers"}


@dataclass(frozen=True, slots=True)
class SentRelease:
    """The description of a release for executors; ``sha256`` is that of the jar that answers."""

    release: Release
    sha256: str
    pinned: bool
    description: str


def fetch_releases(rules: Sequence[Rule], releases: Sequence[Release], pins: Pins) -> None:
    """Have all jars in the cache: before Spark's JVM is up, since another one fetches. Raises JarError."""
    jars: list[Jar] = list(pins.compiler)
    for at in releases:
        jars += pins.jars(str(at))
        jars += pins.broker(str(at)) if any(rule.broker for rule in rules) else ()
        jars += pins.codec_jars(str(at)) if any(rule.codecs for rule in rules) else ()
    fetched(list(dict.fromkeys(jars)), default_store())


def register_java(spark: Spark) -> None:
    """Make the releases' half of the kit's Java callable as functions of SQL."""
    spark.register(_FUNCTIONS, "binary")


def send(spark: Spark, rule: Rule, release: Release, pins: Pins) -> SentRelease:
    """Send a release with the class of a rule. Raises JarError, OracleFault, KitError."""
    store = default_store()
    stored = fetched(pins.jars(str(release)), store)
    classes = java_classes(release)
    bridge = spark.compiler().jar(java_sources(classes.values()), f"Kafka {release}", stored)
    broker = broker_of(str(release)) if rule.broker else None
    behind = fetched(pins.broker(str(release)), store) if broker else []
    codecs = fetched(pins.codec_jars(str(release)), store) if rule.codecs else []
    files = [(stored[0].path, stored[0].sha256), (bridge, _sha256(bridge)), *_files(stored[1:]), *_files(codecs)]
    description: dict[str, Any] = {
        "release": str(release),
        "jars": _sent(spark, files),
        "rules": classes,
        "broker": None,
    }
    if broker is not None:
        description["broker"] = {"witness": broker.witness, "jars": _sent(spark, _files(behind))}
    answers = (behind or stored)[0]
    pinned = all(each.pinned for each in (*stored, *behind, *codecs))
    return SentRelease(release, answers.sha256, pinned, msgspec.json.encode(description, order="sorted").decode())


def _files(stored: Sequence[Stored]) -> list[tuple[Path, str]]:
    return [(each.path, each.sha256) for each in stored]


def _sent(spark: Spark, files: Sequence[tuple[Path, str]]) -> list[Mapping[str, str]]:
    for path, _ in files:
        spark.call(partial(spark.session.sparkContext.addFile, str(path)), f"sending {path.name}")
    return [{"file": path.name, "sha256": sha256} for path, sha256 in files]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise KitError(f"{path} cannot be read: {error.strerror}") from error
