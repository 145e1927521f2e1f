"""``releases.toml``: which jars make up a release, and the sha256 of each.

A release is a set of jars under its version: its clients, and under ``broker`` what a broker adds, which is fetched and
loaded only for the rules that ask about a broker. ``[beside]`` is what every release needs besides its own jars (Kafka's
clients log through slf4j), ``[codecs]`` which libraries it compresses with, whose sha256 are in ``[codec-jars]``,
``[compiler]`` what turns the oracle's source into classes, ``[coverage]`` what measures which of
Kafka's code runs, ``[connector]`` what lets each Spark read and write topics. Which artifacts a release has is in
:mod:`kafka_jars.artifacts`. A version that is not in the file can still be asked about. It is then *unpinned*: its jars
are not compared with a sha256, and all output about it says so, until :func:`pin` adds it to the file.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from kafka_jars.artifacts import Broker, broker_of, clients_of
from kafka_jars.errors import JarError, PinsUnreadable

__all__ = [
    "PINS_FILE",
    "UNREADABLE",
    "Jar",
    "Pins",
    "is_version",
    "load",
    "pin",
    "read_jars",
    "read_version",
    "write_release",
]

PINS_FILE = Path(__file__).parent / "releases.toml"
UNREADABLE = (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError, TOMLKitError)
"""What a file raises that is not as it should be; errors of TOML and of text are ValueErrors."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"\d+(\.\d+){2,3}")
_BROKER, _CODECS, _CODEC_JARS = "broker", "codecs", "codec-jars"
_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")


@dataclass(frozen=True, slots=True)
class Jar:
    """Maven coordinates ``group:artifact:version`` and the sha256 pinned for them, or None."""

    coordinates: str
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        """The jar's name in the store: unique, since the group is part of it."""
        return self.coordinates.replace(":", "_") + ".jar"


@dataclass(frozen=True, slots=True)
class Pins:
    """What ``releases.toml`` says."""

    releases: dict[str, tuple[Jar, ...]]
    beside: tuple[Jar, ...]
    compiler: tuple[Jar, ...]
    connectors: dict[str, tuple[Jar, ...]] = field(default_factory=dict)
    coverage: tuple[Jar, ...] = ()
    brokers: dict[str, tuple[Jar, ...]] = field(default_factory=dict)
    codecs: dict[str, tuple[Jar, ...]] = field(default_factory=dict)
    like: dict[str, str] = field(default_factory=dict)
    """By release, the one whose artifacts it is taken to have."""

    def is_pinned(self, version: str) -> bool:
        """Whether every jar of this release has a sha256 to be held to."""
        return version in self.releases and all(jar.sha256 for jar in self.broker(version))

    def jars(self, version: str) -> tuple[Jar, ...]:
        """The release's own jars, the clients first, then those that every release needs."""
        return self.clients(version) + self.beside

    def clients(self, version: str) -> tuple[Jar, ...]:
        """The release's clients."""
        return self.releases.get(version) or tuple(map(Jar, clients_of(version, self.like.get(version, ""))))

    def connector(self, spark: str) -> tuple[Jar, ...]:
        """What lets this version of Spark read and write topics. Raises JarError."""
        minor = ".".join(spark.split(".")[:2])
        if minor not in self.connectors:
            raise JarError(f"no Kafka connector is pinned for Spark {spark}: expected {', '.join(self.connectors)}")
        return self.connectors[minor]

    def broker(self, version: str) -> tuple[Jar, ...]:
        """What the release's broker adds, the jar that answers first; nothing where no rule asks for it."""
        if (pinned := self.brokers.get(version)) is not None:
            return pinned
        broker = self.broker_parts(version)
        return () if broker is None else tuple(map(Jar, broker.coordinates))

    def broker_parts(self, version: str) -> Broker | None:
        """Return the artifacts of a release's broker, and the class that the first has to hold; None if there are none."""
        return broker_of(version, self.like.get(version, ""))

    def as_unknown(self, version: str, like: str) -> Pins:
        """Return these pins as if ``version`` had none: its artifacts are those that ``like`` has.

        Jars of these coordinates that are pinned are still held to their sha256.
        """
        known = {jar.coordinates: jar for jars in (*self.releases.values(), *self.brokers.values()) for jar in jars}
        bare = replace(
            self,
            releases=_without(self.releases, version),
            brokers=_without(self.brokers, version),
            codecs=_without(self.codecs, version),
            like={**self.like, version: like},
        )
        clients, broker = (
            tuple(known.get(jar.coordinates, jar) for jar in jars)
            for jars in (bare.clients(version), bare.broker(version))
        )
        return replace(bare, releases={**bare.releases, version: clients}, brokers={**bare.brokers, version: broker})

    def codec_jars(self, version: str) -> tuple[Jar, ...]:
        """The libraries that the release compresses with; of a release that is not pinned, those of the one before it."""
        known = [each for each in self.codecs if _numbers(each) <= _numbers(version)]
        return self.codecs[max(known, key=_numbers)] if known else ()


def load(path: Path = PINS_FILE) -> Pins:
    """Read and check the pins. Raises PinsUnreadable, naming the entry."""
    try:
        made = _read_pins(path.read_text(encoding="utf-8"), path)
    except UNREADABLE as error:
        raise PinsUnreadable(f"{path} cannot be read as a list of pinned jars: {error!r}") from error
    if not made.releases:
        raise PinsUnreadable(f"{path} pins no release")
    return made


@lru_cache(maxsize=4)
def _read_pins(text: str, path: Path) -> Pins:
    """Return the pins in the text of a file. By the text: most commands read the same file several times."""
    document = tomllib.loads(text)
    named = {read_version(version): dict(table) for version, table in document["releases"].items()}
    brokers = {version: table.pop(_BROKER) for version, table in named.items() if _BROKER in table}
    return Pins(
        releases={version: read_jars(table, path) for version, table in named.items()},
        beside=read_jars(document["beside"], path),
        compiler=read_jars(document["compiler"], path),
        connectors={spark: read_jars(table, path) for spark, table in document["connector"].items()},
        coverage=read_jars(document["coverage"], path),
        brokers={version: read_jars(table, path) for version, table in brokers.items()},
        codecs=_read_codecs(document, path),
    )


def pin(
    version: str,
    jars: dict[str, str],
    path: Path = PINS_FILE,
    *,
    broker: dict[str, str] | None = None,
    codecs: dict[str, str] | None = None,
) -> None:
    """Write a release's jars, coordinates to sha256, into ``path``, keeping everything else and the order of versions.

    ``jars`` are its clients, ``broker`` what its broker adds, if anything, ``codecs`` the libraries it compresses with.
    """
    own: dict[str, Any] = {**jars, _BROKER: broker} if broker else {**jars}
    write_release(path, version, own)
    if codecs:
        _write_codecs(path, version, codecs)


def write_release(path: Path, version: str, own: dict[str, Any]) -> None:
    """Put the table ``own`` under ``releases`` in the file, in order; whole or not at all. Raises JarError."""
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
        releases = document["releases"]
        everything = {name: dict(table) for name, table in releases.unwrap().items()} | {version: own}
    except UNREADABLE as error:
        raise PinsUnreadable(f"{path} cannot be read as a list of pinned jars: {error!r}") from error
    table = tomlkit.table(is_super_table=True)
    for name in sorted(everything, key=_numbers):
        table[name] = everything[name]
    document["releases"] = table
    _replace(path, document)


def _write_codecs(path: Path, version: str, jars: dict[str, str]) -> None:
    """Name a release's codecs, and add the sha256 of those that no other release has."""
    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    for name in (_CODECS, _CODEC_JARS):
        if name not in document:
            document[name] = tomlkit.table()
    for coordinates, sha256 in jars.items():
        document[_CODEC_JARS][coordinates] = sha256
    document[_CODECS][version] = list(jars)
    _replace(path, document)


def _read_codecs(document: dict[str, Any], path: Path) -> dict[str, tuple[Jar, ...]]:
    if not document.get(_CODECS):
        return {}
    jars = {jar.coordinates: jar for jar in read_jars(document[_CODEC_JARS], path)}
    return {read_version(version): tuple(jars[one] for one in names) for version, names in document[_CODECS].items()}


def _replace(path: Path, document: tomlkit.TOMLDocument) -> None:
    scratch = path.with_suffix(".toml.new")
    try:
        scratch.write_text(tomlkit.dumps(document), encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise JarError(f"{path} cannot be written: {error.strerror}") from error


def _without(jars: dict[str, tuple[Jar, ...]], version: str) -> dict[str, tuple[Jar, ...]]:
    return {name: some for name, some in jars.items() if name != version}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def is_version(name: str) -> bool:
    """Whether a version is a release's: no candidate, no beta."""
    return _VERSION.fullmatch(name) is not None


def read_version(name: str) -> str:
    """Return a release's name, read from a file. Raises ValueError."""
    if not is_version(name):
        raise ValueError(f"{name!r} is not a release")
    return name


def read_jars(table: dict[str, str], path: Path) -> tuple[Jar, ...]:
    """A table of coordinates and sha256. Raises PinsUnreadable, naming the entry."""
    if not table:
        raise PinsUnreadable(f"{path} names no jar where there has to be one")
    for coordinates, sha256 in table.items():
        if not _COORDINATES.fullmatch(coordinates) or not _SHA256.fullmatch(sha256):
            raise PinsUnreadable(f'{path}: "{coordinates}" = "{sha256}" is not coordinates and a sha256')
    return tuple(Jar(coordinates, sha256) for coordinates, sha256 in table.items())
