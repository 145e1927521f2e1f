"""Measure coverage: a JVM with JaCoCo's agent, in which Kafka's classes answer the questions of one rule at a time.

JaCoCo instruments Kafka's classes when they are loaded. The release is loaded again for each rule, with the Java half of
this rule alone, so nothing that another rule runs is counted.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.pipeline import batches
from kafka_conformance.core.protocol import Answered, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source
from kafka_conformance.oracle.bridge import Compiler, instance
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.oracle import OpenRelease, Oracle
from kafka_conformance.verify.coverage.method_names import fold_lambdas
from kafka_conformance.verify.coverage.mirrored_code import MirroredCode, mirrored_code
from kafka_conformance.verify.coverage.record import CoverageRow, Method
from kafka_conformance.verify.fingerprint import answering_rules, fingerprint
from kafka_jars import ORACLE_SOURCES
from kafka_jars.pins import Pins
from kafka_jars.scratch import ScratchFolder
from kafka_jars.store import Stored, default_store
from kafka_reference.releases import Release

__all__ = ["CoverageMeter", "open_meter"]

_AGENT = "jacocoagent.jar"
_READER = "kafkaoracle.coverage.CoverageReader"
_OPTIONS = "output=none,dumponexit=false,jmx=false,includes=org.apache.kafka.*:kafka.*"


@contextmanager
def open_meter(pins: Pins) -> Iterator[CoverageMeter]:
    """Start a JVM with JaCoCo's agent; it ends with the block. Raises JarError, NoJava, JvmLost."""
    jars = fetched(pins.coverage, default_store())
    with ScratchFolder() as folder:
        with zipfile.ZipFile(jars[0].path) as outer:  # the agent is a jar in this jar
            agent = Path(outer.extract(_AGENT, folder))
        with Jvm(options=[f"-javaagent:{agent}={_OPTIONS}"]) as jvm:
            yield CoverageMeter(jvm, pins, jars, agent)


class CoverageMeter:
    """Measures rules in a JVM with JaCoCo's agent."""

    def __init__(self, jvm: Jvm, pins: Pins, jars: Sequence[Stored], agent: Path) -> None:
        self._jvm, self._classes = jvm, dict[str, str]()
        self._oracle = Oracle(jvm, default_store(), pins, lambda _: self._classes)
        compiler = Compiler(jvm, self._oracle.resolve(pins.compiler), default_store().folder)
        spark = str(jvm.call(lambda: jvm.view.java.lang.System.getProperty("java.class.path")))
        sources = sorted((ORACLE_SOURCES / "coverage").glob("*.java"))
        classes = compiler.jar(sources, "JaCoCo", jars, [str(agent), spark])
        self._reader = instance(jvm, _READER, [classes, *(jar.path for jar in jars)])

    def measure(self, rule: Rule, release: Release, sources: Sequence[Source], seed: int, examples: int) -> CoverageRow:
        """Ask Java the questions of ``sources`` in a release, and return what of Kafka's classes has run.

        ``seed`` and ``examples`` are those of the sources, before the rule's share.

        Raises OracleFault if a question has no answer or the release none of the rule's classes; JarError, JvmLost.
        """
        code = mirrored_code(rule.slug)
        assert code is not None  # noqa: S101  the caller asks only rules that say what they mirror
        parts = {part.slug: part.java_class(release) for part in answering_rules(rule)}
        self._classes = {slug: name for slug, name in parts.items() if name is not None}
        self._oracle.close_release(str(release))
        self._call(lambda: self._reader.reset())
        asked = {source.name: self._ask(rule, release, source) for source in sources}
        opened = self._oracle.open_broker(str(release)) if rule.broker else self._oracle.open(str(release))
        row = CoverageRow(
            rule.slug, str(release), opened.broker_sha256 if rule.broker else opened.jar_sha256, fingerprint(rule), seed,
            examples, len({label for source in sources for label in source.labels}),
            {name: count for name, count in asked.items() if name != HYPOTHESIS}, asked.get(HYPOTHESIS, 0),
            self._read(code, opened),
        )  # fmt: skip
        self._oracle.close_release(str(release))
        return row

    def _ask(self, rule: Rule, release: Release, source: Source) -> int:
        """Return how many questions were answered. A question about what the release lacks is none."""
        java, answered = JavaAnswerer(self._oracle), 0
        for batch in batches(source.questions):
            for outcome in java.answer(rule, release, batch):
                if isinstance(outcome, Answered):
                    answered += 1
                elif not isinstance(outcome, Unsupported):
                    raise OracleFault(f"{rule.slug} in {release} cannot be measured: a question failed: {outcome}")
        return answered

    def _read(self, code: MirroredCode, opened: OpenRelease) -> dict[str, tuple[Method, ...]]:
        jars = "\n".join(str(stored.path) for stored in (*opened.stored, *opened.broker))
        names = "\n".join(name for each in code.mirrors for name in each.binary_names)
        counted: dict[str, list[Any]] = msgspec.json.decode(str(self._call(lambda: self._reader.read(jars, names))))
        found = {}
        for each in code.mirrors:
            for name in each.binary_names:
                methods = fold_lambdas({inner: raw for inner, raw in counted.items() if _is_in(inner, name)})
                kept = [one for one in methods if not each.methods or _is_named(one, each.methods)]
                if kept:
                    found[name] = tuple(kept)
        if not found:
            raise OracleFault(f"release {opened.version} has none of {names.split()}: correct coverage.toml")
        return found

    def _call(self, work: Any) -> Any:
        from py4j.protocol import Py4JJavaError

        try:
            return self._jvm.call(work)
        except Py4JJavaError as error:
            raise OracleFault(f"coverage cannot be read: {error.java_exception.toString()}") from error


def _is_in(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}$")


def _is_named(method: Method, names: Sequence[str]) -> bool:
    return method.short_name.partition(".")[2] in names
