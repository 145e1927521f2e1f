"""Open releases of Kafka in Spark's JVM, and ask them questions in batches.

Opening a release resolves its jars, compiles the bridge against them, and loads both in an isolated class loader. The
loaded classes then report their version, which must be the requested one; every batch of answers reports it again. A
broker's jars are added to the class loader when a rule first needs a broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import msgspec

from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.oracle.bridge import Compiler, another, instance, with_causes
from kafka_conformance.oracle.java_sources import java_sources
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars import ORACLE_SOURCES
from kafka_jars.ivy import Ivy
from kafka_jars.pins import Jar, Pins
from kafka_jars.store import Store, Stored

__all__ = ["OpenRelease", "Oracle"]

_HOST = "kafkaoracle.host.OracleHost"
_CODEC = "org.xerial.snappy.SnappyOutputStream"
"""A class that every release's codecs have."""


class Oracle:
    """Kafka's own classes, which answer questions in ``jvm``.

    ``store`` holds the jars, ``pins`` names them with their sha256; ``java_classes`` returns, for a release, the Java class
    of each rule by the rule's slug.
    """

    def __init__(self, jvm: Jvm, store: Store, pins: Pins, java_classes: Callable[[str], Mapping[str, str]]) -> None:
        self._jvm, self._store, self._pins, self._java_classes = jvm, store, pins, java_classes
        self._ivy = Ivy(jvm.view)
        self._compiler: Compiler | None = None
        self._host: Any = None
        self._origin: Oracle | None = None
        self._open: dict[str, OpenRelease] = {}
        # One call at a time: the answering thread of every sandbox has the id 0, and JDK locks that identify threads by
        # id (ReentrantReadWriteLock, which JMX uses) would make two of them wait for each other.
        self._one_at_a_time = RLock()

    @property
    def jvm(self) -> Jvm:
        """The JVM in which the releases are opened."""
        return self._jvm

    def beside(self, java_classes: Callable[[str], Mapping[str, str]]) -> Oracle:
        """Return an oracle in the same JVM that has other Java classes, and opens every release separately."""
        other = Oracle(self._jvm, self._store, self._pins, java_classes)
        other._origin, other._one_at_a_time = self, self._one_at_a_time
        return other

    def resolve(self, jars: Sequence[Jar]) -> list[Stored]:
        """Return these jars with checked sha256; fetch the missing ones. Raises JarError, JvmLost."""
        return [self._jvm.call(lambda jar=jar: self._store.get(jar, self._ivy.fetch)) for jar in jars]

    def open(self, version: str) -> OpenRelease:
        """Return the release, opened at first use. Raises JarError, WrongRelease, OracleFault."""
        with self._one_at_a_time:
            if version not in self._open:
                self._open[version] = self._open_release(version, self.resolve(self._pins.jars(version)))
            return self._open[version]

    def open_broker(self, version: str) -> OpenRelease:
        """Return the release with its broker's classes. Raises JarError, WrongRelease, OracleFault."""
        with self._one_at_a_time:
            opened = self.open(version)
            if not opened.broker:
                opened.broker = self._add_broker(version)
            return opened

    def add_codecs(self, version: str) -> None:
        """Load the libraries that an open release compresses with, once. Raises JarError, WrongRelease, OracleFault."""
        with self._one_at_a_time:
            opened = self.open(version)
            if opened.codecs:
                return
            stored = self.resolve(self._pins.codec_jars(version))
            if not stored:
                raise OracleFault(f"no codecs are pinned for release {version}: name them in releases.toml")
            jars = "\n".join(str(each.path) for each in stored)
            self._ask_host(lambda host: host.extend(version, jars, _CODEC))
            opened.codecs = stored

    def close_release(self, version: str) -> None:
        """Unload a release's classes, to free their memory before the next release is opened."""
        with self._one_at_a_time:
            if self._open.pop(version, None) is not None:
                self._ask_host(lambda host: host.close(version))
                self._jvm.delete_temporary_files()

    def _open_release(self, version: str, stored: Sequence[Stored]) -> OpenRelease:
        rules = self._java_classes(version)
        classes = self._ready_compiler().jar(java_sources(rules.values()), f"Kafka {version}", stored)
        jars = [stored[0].path, classes, *(other.path for other in stored[1:])]
        table = "\n".join(f"{slug}={name}" for slug, name in rules.items())
        loaded = self._ask_host(lambda host: host.open(version, "\n".join(map(str, jars)), table))
        opened = OpenRelease(self, version, stored)
        opened.check(loaded, str(stored[0].path))
        return opened

    def _add_broker(self, version: str) -> Sequence[Stored]:
        broker = self._pins.broker_parts(version)
        if broker is None:
            raise OracleFault(f"no broker is pinned for release {version}: leave its broker rules out")
        stored = self.resolve(self._pins.broker(version))
        jars = "\n".join(str(each.path) for each in stored)
        found = str(self._ask_host(lambda host: host.extend(version, jars, broker.witness)))
        if Path(found).resolve() != stored[0].path.resolve():
            raise WrongRelease(
                f"the broker of {version} was loaded from {found}, expected {stored[0].path}: fix its jars in releases.toml"
            )
        return stored

    def _ready_compiler(self) -> Compiler:
        if self._origin is not None:
            return self._origin._ready_compiler()  # noqa: SLF001
        if self._compiler is None:
            self._compiler = Compiler(self._jvm, self.resolve(self._pins.compiler), self._store.folder)
        return self._compiler

    def _ask_host(self, work: Callable[[Any], Any]) -> Any:
        from py4j.protocol import Py4JJavaError

        with self._one_at_a_time:
            if self._host is None:
                self._host = self._create_host()
            try:
                return self._jvm.call(lambda: work(self._host))
            except Py4JJavaError as error:
                raise OracleFault(f"the oracle failed: {with_causes(error.java_exception)}") from error

    def _create_host(self) -> Any:
        if self._origin is not None:
            origin = self._origin._ask_host(lambda host: host)  # noqa: SLF001
            return another(self._jvm, origin)
        sources = sorted((ORACLE_SOURCES / "host").glob("*.java"))
        spark = str(self._jvm.call(lambda: self._jvm.view.java.lang.System.getProperty("java.class.path")))
        classes = self._ready_compiler().jar(sources, "Spark", [], [spark])
        return instance(self._jvm, _HOST, [classes])


class OpenRelease:
    """An open release. ``version`` is the release, ``stored`` its jars, the clients jar first."""

    def __init__(self, oracle: Oracle, version: str, stored: Sequence[Stored]) -> None:
        self._oracle, self.version, self.stored = oracle, version, stored
        self.broker: Sequence[Stored] = ()
        self.codecs: Sequence[Stored] = ()
        self._decode = msgspec.json.Decoder().decode_lines

    @property
    def jar_sha256(self) -> str:
        """The sha256 of the clients jar whose classes answer."""
        return self.stored[0].sha256

    @property
    def broker_sha256(self) -> str:
        """The sha256 of the broker jar whose classes answer."""
        return self.broker[0].sha256

    @property
    def pinned(self) -> bool:
        """Whether every jar was checked against a pinned sha256."""
        return all(stored.pinned for stored in (*self.stored, *self.broker, *self.codecs))

    def answer(self, lines: bytes) -> list[dict[str, Any]]:
        """Answer a batch of questions given as JSON lines; one answer per question, in order. Raises WrongRelease."""
        lines_out = self._oracle._ask_host(lambda host: self._answered_lines(host, lines))  # noqa: SLF001
        head, *answers = self._decode(lines_out)
        self.check(head["release"], head["jar"])
        return answers

    def _answered_lines(self, host: Any, lines: bytes) -> bytes:
        folder = self._oracle.jvm.folder
        questions, answers = folder / "questions", folder / "answers"
        try:
            answers.unlink(missing_ok=True)
            questions.write_bytes(lines)
            host.answer(self.version, str(questions), str(answers))
            return answers.read_bytes()
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise  # the JVM's, by py4j
            raise OracleFault(
                f"questions and answers cannot be kept in {folder}: {error.strerror or error}: make room there"
            ) from error
        finally:
            questions.unlink(missing_ok=True)
            answers.unlink(missing_ok=True)

    def bulk(self, rule: str, keys: Path, results: Path) -> int:
        """Answer a column of keys from file to file (see KeyColumn.java); return the nanoseconds spent in Java's loop."""
        return int(self._oracle._ask_host(lambda host: host.bulk(self.version, rule, str(keys), str(results))))  # noqa: SLF001

    def check(self, loaded: str, jar: str) -> None:
        """Check that the loaded release and jar are the requested ones. Raises WrongRelease."""
        if loaded != self.version:
            raise WrongRelease(
                f"requested release {self.version}, but the loaded jar {jar} reports {loaded}:"
                " delete that jar from the cache, or fix releases.toml"
            )
        if Path(jar).resolve() != self.stored[0].path.resolve():
            raise WrongRelease(
                f"release {self.version} was loaded from {jar}, expected {self.stored[0].path}:"
                " fix its jars in releases.toml"
            )
