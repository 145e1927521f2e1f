"""The releases opened in Spark's JVM, each asked in batches.

Opening a release resolves its jars, compiles the bridge against them, and loads both in a class loader that sees
nothing else. The version is then read back from what was loaded and has to be the one asked for; every batch of answers
names it again. A broker's jars are put behind them once a rule asks about a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import msgspec

from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.java_sources import java_sources
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars import ORACLE_SOURCES
from kafka_jars.artifacts import broker_of
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import Store, Stored

__all__ = ["OpenRelease", "Oracle"]

_HOST = "kafkaoracle.host.OracleHost"


class Oracle:
    """Answers as Kafka's own classes do. ``jvm`` is the JVM, ``store`` and ``pins`` say which jars.

    ``java_classes`` gives, for a release, the Java class of each rule by its slug.
    """

    def __init__(self, jvm: Jvm, store: Store, pins: Pins, java_classes: Callable[[str], Mapping[str, str]]) -> None:
        self._jvm, self._store, self._pins, self._java_classes = jvm, store, pins, java_classes
        self._ivy = Ivy(jvm.view)
        self._compiler: Compiler | None = None
        self._host: Any = None
        self._open: dict[str, OpenRelease] = {}
        # One call at a time: in every sandbox the thread that answers has the id 0, and locks of the JDK's that tell
        # threads apart by their ids (ReentrantReadWriteLock, which JMX uses) would make two of them wait for each other.
        self._one_at_a_time = RLock()

    @property
    def jvm(self) -> Jvm:
        """The JVM underneath."""
        return self._jvm

    def resolve(self, jars: Sequence[Jar]) -> list[Stored]:
        """These jars, fetched if need be and checked."""
        return [self._jvm.call(lambda jar=jar: self._store.get(jar, self._ivy.fetch)) for jar in jars]

    def open(self, version: str) -> OpenRelease:
        """The release, opened at first use. Raises JarError, WrongRelease, OracleFault."""
        with self._one_at_a_time:
            if version not in self._open:
                self._open[version] = self._opened(version, self.resolve(self._pins.jars(version)))
            return self._open[version]

    def open_broker(self, version: str) -> OpenRelease:
        """The release with its broker's part. Raises JarError, WrongRelease, OracleFault."""
        with self._one_at_a_time:
            opened = self.open(version)
            if not opened.broker:
                opened.broker = self._extended(version)
            return opened

    def close_release(self, version: str) -> None:
        """Let go of a release's classes: twenty-eight of them side by side need no memory nobody asks for."""
        if self._open.pop(version, None) is not None:
            self._ask_host(lambda host: host.close(version))

    def _opened(self, version: str, stored: Sequence[Stored]) -> OpenRelease:
        rules = self._java_classes(version)
        classes = self._ready_compiler().classes(java_sources(rules.values()), f"Kafka {version}", stored)
        jars = [stored[0].path, classes, *(other.path for other in stored[1:])]
        table = "\n".join(f"{slug}={name}" for slug, name in rules.items())
        loaded = self._ask_host(lambda host: host.open(version, "\n".join(map(str, jars)), table))
        opened = OpenRelease(self, version, stored)
        opened.check(loaded, str(stored[0].path))
        return opened

    def _extended(self, version: str) -> Sequence[Stored]:
        broker = broker_of(version)
        if broker is None:
            raise OracleFault(f"release {version} has no broker part to ask")
        stored = self.resolve(self._pins.broker(version))
        jars = "\n".join(str(each.path) for each in stored)
        found = str(self._ask_host(lambda host: host.extend(version, jars, broker.witness)))
        if Path(found).resolve() != stored[0].path.resolve():
            raise WrongRelease(f"the broker of {version} was loaded from {found} and not from {stored[0].path}")
        return stored

    def _ready_compiler(self) -> Compiler:
        if self._compiler is None:
            self._compiler = Compiler(self._jvm, self.resolve(self._pins.compiler), self._store.folder)
        return self._compiler

    def _ask_host(self, work: Callable[[Any], Any]) -> Any:
        from py4j.protocol import Py4JJavaError

        with self._one_at_a_time:
            if self._host is None:
                self._host = self._made_host()
            try:
                return self._jvm.call(lambda: work(self._host))
            except Py4JJavaError as error:
                raise OracleFault(f"the oracle failed: {error.java_exception.toString()}") from error

    def _made_host(self) -> Any:
        sources = sorted((ORACLE_SOURCES / "host").glob("*.java"))
        spark = str(self._jvm.call(lambda: self._jvm.view.java.lang.System.getProperty("java.class.path")))
        classes = self._ready_compiler().classes(sources, "Spark", [], [spark])

        def made() -> Any:
            java = self._jvm.view.java
            urls = self._jvm.array(java.net.URL, 1)
            urls[0] = java.io.File(str(classes)).toURI().toURL()
            loader = java.net.URLClassLoader(urls, java.lang.ClassLoader.getSystemClassLoader())
            return (
                loader.loadClass(_HOST).getDeclaredConstructors()[0].newInstance(self._jvm.array(java.lang.Object, 0))
            )

        return self._jvm.call(made)


class OpenRelease:
    """One release, open."""

    def __init__(self, oracle: Oracle, version: str, stored: Sequence[Stored]) -> None:
        self._oracle, self.version, self.stored = oracle, version, stored
        self.broker: Sequence[Stored] = ()
        self._decode = msgspec.json.Decoder().decode_lines

    @property
    def jar_sha256(self) -> str:
        """The sha256 of the clients jar that answers."""
        return self.stored[0].sha256

    @property
    def broker_sha256(self) -> str:
        """The sha256 of the broker's jar that answers."""
        return self.broker[0].sha256

    @property
    def pinned(self) -> bool:
        """Whether every jar was held against a pinned sha256."""
        return all(stored.pinned for stored in (*self.stored, *self.broker))

    def answer(self, lines: bytes) -> list[dict[str, Any]]:
        """A batch: questions as JSON lines in, one answer line for each, in order."""
        said = self._oracle._ask_host(lambda host: host.answer(self.version, lines))  # noqa: SLF001
        head, *answers = self._decode(said)
        self.check(head["release"], head["jar"])
        return answers

    def bulk(self, rule: str, keys: Path, results: Path) -> int:
        """A whole column of keys, by files (see KeyColumn.java); nanoseconds in the release's own loop."""
        return int(self._oracle._ask_host(lambda host: host.bulk(self.version, rule, str(keys), str(results))))  # noqa: SLF001

    def check(self, loaded: str, jar: str) -> None:
        """Hold what was loaded against what was asked for. Raises WrongRelease."""
        if loaded != self.version:
            raise WrongRelease(
                f"asked for release {self.version} and the loaded jar {jar} says it is {loaded}:"
                " delete that jar from the cache, or fix releases.toml"
            )
        if Path(jar).resolve() != self.stored[0].path.resolve():
            raise WrongRelease(f"release {self.version} was loaded from {jar} and not from {self.stored[0].path}")
