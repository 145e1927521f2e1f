"""``brokers.toml``: the jars a whole broker runs on, by release, and the sha256 of each.

``releases.toml`` has the few classes that rules are proven against; a broker that is started needs all that the POM of
``kafka_2.13`` asks for, forty to fifty jars. They are pinned one by one when a release is added (``kafka-conformance broker
pin``), so that starting a broker reads no POM and needs no network.

Brokers start since 2.4: the wire has no schemas of older releases. Up to 3.2.x a broker runs with ZooKeeper, whose jar the
POM names; since 3.3, the first release whose KRaft was meant for use, without. What a POM asks for and a broker does without
may be absent from the repositories (:data:`NOT_NEEDED`); anything else that is absent keeps a release from being pinned.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from kafka_jars.errors import PinsUnreadable
from kafka_jars.pins import UNREADABLE, Jar, read_jars, read_version, write_release

__all__ = [
    "BROKERS_FILE", "FIRST", "FIRST_ON_KRAFT", "NOT_NEEDED", "BrokerPins", "broker_coordinates", "load_brokers",
    "pin_broker", "runs_on_kraft",
]  # fmt: skip

BROKERS_FILE = Path(__file__).parent / "brokers.toml"
FIRST = (2, 4)
"""The first release whose broker starts here."""
FIRST_ON_KRAFT = (3, 3)
"""The first release whose broker runs without ZooKeeper here."""
NOT_NEEDED = ("org.apache.kafka:kafka-tools-api",)
"""Interfaces for the decoders of command line tools; 4.4.0's was in no repository, and its broker runs without."""


@dataclass(frozen=True, slots=True)
class BrokerPins:
    """What ``brokers.toml`` says."""

    releases: dict[str, tuple[Jar, ...]]
    beside: tuple[Jar, ...]

    def jars(self, version: str) -> tuple[Jar, ...]:
        """All that this release's broker runs on. Raises KeyError for one that is not pinned."""
        return self.releases[version] + self.beside

    @property
    def newest(self) -> str:
        """The newest release that is pinned."""
        return max(self.releases, key=_numbers)


def broker_coordinates(version: str) -> str:
    """The jar whose POM names all others."""
    return f"org.apache.kafka:kafka_2.13:{version}"


def runs_on_kraft(version: str) -> bool:
    """Return whether the broker of a release runs on KRaft; up to 3.2.x it needs ZooKeeper."""
    return _numbers(version) >= FIRST_ON_KRAFT


def load_brokers(path: Path = BROKERS_FILE) -> BrokerPins:
    """Read and check the pins. Raises PinsUnreadable, naming the entry."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        releases = {read_version(version): read_jars(table, path) for version, table in document["releases"].items()}
        made = BrokerPins(releases, read_jars(document["beside"], path))
    except UNREADABLE as error:
        raise PinsUnreadable(f"{path} cannot be read as a list of brokers' jars: {error!r}") from error
    if not made.releases:
        raise PinsUnreadable(f"{path} pins no broker")
    return made


def pin_broker(version: str, jars: dict[str, str], path: Path = BROKERS_FILE) -> None:
    """Write the jars of a release's broker, coordinates to sha256, keeping everything else. Raises JarError."""
    write_release(path, version, dict(jars))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
