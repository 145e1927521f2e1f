"""A Spark session: in Spark's JVM that the kit starts and ends itself, or the one that ``spark-submit`` has started.

* On one machine (``local[*]``, the default) executors are threads of that JVM, and Spark's Kafka connector is on its class
  path.
* With another ``--master`` the connector's jars and the kit's own Java go to the executors with the application. Python
  there needs the same version of this package, which ``spark.archives`` and ``spark.pyspark.python`` bring:
  :meth:`Spark.check_executors` checks it.
* Inside ``spark-submit`` the master is the one of ``spark-submit``, and ``--master`` is refused. Connector and Java
  go to the executors in the same way.

All files that Spark writes on its own (shuffles, spills, copies of jars) are in one temporary folder, which is deleted with
the session. On one machine PySpark's workers run the interpreter of this process, since another Python could have another
version of the kit.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError, NoJava
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.core.submission import is_submitted
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.bridge import Compiler
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_sources import java_sources
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.spark.errors import SparkFault, spark_fault
from kafka_conformance.spark.submit_log import silence_default_log
from kafka_jars import ORACLE_SOURCES
from kafka_jars.pins import load
from kafka_jars.scratch import ScratchFolder
from kafka_jars.store import Stored, default_store

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["Spark", "open_spark"]

T = TypeVar("T")

# A chunk of a run is minutes at most: a call into the JVM that takes longer than this hangs.
CALL_LIMIT_S = 3600.0
# A cluster may serve other applications first.
EXECUTOR_LIMIT_S = 300.0
_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SETTINGS = {
    "spark.app.name": "kafka-conformance",
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "true",
    # Batches that stay in a core's cache, and memory that stays flat whatever a key weighs.
    _PER_BATCH: "65536",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.shuffle.partitions": "16",
    # Rows of two kinds into two folders, without sorting them for it.
    "spark.sql.maxConcurrentOutputFileWriters": "8",
}
# Settings and options whose values Spark leaves out of its pages, its plans and its event log. By default it shows
# sasl.jaas.config, which holds a password, and ssl.keystore.key.
_HIDDEN = "(?i)secret|password|token|credential|access[.]?key|jaas|[.]key$"
_REDACTED = {"spark.redaction.regex": _HIDDEN, "spark.sql.redaction.options.regex": f"{_HIDDEN}|url"}
_ON_ONE_MACHINE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# What pyspark imports into the view of a gateway that it starts itself.
_IMPORTS = (
    "org.apache.spark.SparkConf", "org.apache.spark.api.java.*", "org.apache.spark.api.python.*",
    "org.apache.spark.ml.python.*", "org.apache.spark.mllib.api.python.*", "org.apache.spark.resource.*",
    "org.apache.spark.sql.*", "org.apache.spark.sql.api.python.*", "org.apache.spark.sql.hive.*", "scala.Tuple2",
)  # fmt: skip


class Spark:
    """A session, and what a job needs besides it."""

    def __init__(self, session: SparkSession, master: str, class_path: str, connector: Sequence[Stored] = ()) -> None:
        self.session, self.master = session, master
        self._class_path, self._connector = class_path, connector
        self._java: set[str] = set()

    @property
    def jvm(self) -> Any:
        """py4j's view of the driver's JVM; use it inside :meth:`call`."""
        return self.session._jvm  # noqa: SLF001  the one way to it

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return int(self.session.sparkContext.defaultParallelism)

    @property
    def on_one_machine(self) -> bool:
        """Whether executors are threads of the driver."""
        return _on_one_machine(self.master)

    def alive(self) -> bool:
        """Whether the JVM still responds."""
        try:
            self.jvm.java.lang.System.nanoTime()
        except Exception:  # noqa: BLE001  py4j has several errors for a JVM that is gone
            return False
        return True

    def call(self, work: Callable[[], T], doing: str = "Spark") -> T:
        """Return ``work()``, which calls Spark. Raises SparkFault, one line, for any error there."""
        try:
            return work()
        except KitError:
            raise
        except Exception as error:
            if (fault := spark_fault(error, doing)) is None:
                raise
            raise fault from error

    @contextmanager
    def conf(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Apply these Spark settings within the block, and restore the previous ones after it."""
        conf = self.session.conf
        before = {name: conf.get(name, None) for name in settings}
        try:
            for name, value in settings.items():
                conf.set(name, value)
            yield
        finally:
            if self.alive():
                for name, was in before.items():
                    if was is None:
                        conf.unset(name)
                    else:
                        conf.set(name, was)

    def batches_of(self, rows: int) -> AbstractContextManager[None]:
        """Within the block, move this many rows to Python at once: few if a row has megabytes."""
        return self.conf({_PER_BATCH: str(rows)})

    def add_java(self, *names: str) -> None:
        """Compile classes of the kit's own Java (``kafkaoracle.spark``), once, for the driver and every executor.

        Only these and what they use: classes that name Kafka's clients need a session with the connector.
        """
        if set(names) <= self._java:
            return
        sources = java_sources([f"kafkaoracle.spark.{name}" for name in names], ORACLE_SOURCES)
        _add_jar(self, self.compiler().jar(sources, "Spark", self._connector, [self._class_path]))
        self._java.update(names)

    def register(self, functions: Mapping[str, str], gives: str) -> None:
        """Make classes of the kit's own Java (``kafkaoracle.spark``) functions of SQL, by name; each ``gives`` this type."""
        self.add_java(*functions.values())
        for name, written in functions.items():
            java = f"kafkaoracle.spark.{written}"
            self.call(partial(self.session.udf.registerJavaFunction, name, java, gives), f"registering {java}")

    def compiler(self) -> Compiler:
        """Eclipse's compiler, in the driver's JVM."""
        store = default_store()
        return Compiler(_Calls(self), fetched(load().compiler, store), store.folder)

    def check_executors(self) -> None:
        """Check that an executor registers within the limit and that its Python has the same package. Raises SparkFault."""
        if _on_one_machine(self.master):
            return
        mine = kit_version()

        def theirs(_: Any) -> Iterator[tuple[str]]:
            try:
                from kafka_conformance.core.version import kit_version as version
            except ImportError as missing:
                yield (f"no kafka-conformance: {missing}",)
            else:
                yield (version(),)

        asked = self.session.sparkContext.parallelize(range(self.cores), self.cores).mapPartitions(theirs)
        with self._executors_awaited():
            versions = set(self.call(lambda: asked.collect(), "checking the executors' Python"))
        if versions - {(mine,)}:
            raise SparkFault(
                f"the executors' Python has {', '.join(sorted(one for (one,) in versions))} and the driver's {mine}:"
                " send it with the job, as kit/docs/spark-cluster.md shows, or install the same kafka-conformance on every"
                " worker"
            )

    @contextmanager
    def _executors_awaited(self) -> Iterator[None]:
        """Run a job within the block; without executors Spark alone would wait for ever. Raises SparkFault."""
        context, group, alone = self.session.sparkContext, "kafka-conformance", threading.Event()

        def look() -> None:
            with suppress(Exception):  # the caller that waits for the job reports a JVM that has ended
                if context._jsc.sc().getExecutorMemoryStatus().size() <= 1:  # the driver is one  # noqa: SLF001
                    alone.set()
                    context.cancelJobGroup(group)

        context.setJobGroup(group, "checking the executors")
        looking = threading.Timer(EXECUTOR_LIMIT_S, look)
        looking.daemon = True
        looking.start()
        try:
            yield
        except SparkFault as fault:
            if not alone.is_set():
                raise
            raise SparkFault(
                f"{self.master} registered no executor within {EXECUTOR_LIMIT_S:g} s: check that the cluster has free"
                " cores and memory for spark.executor.cores and spark.executor.memory"
            ) from fault
        finally:
            looking.cancel()
            if self.alive():  # None clears it, whatever its type says
                context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


class _Calls:
    """What the compiler needs of a JVM that may not be the kit's."""

    def __init__(self, spark: Spark) -> None:
        self._spark = spark

    @property
    def view(self) -> Any:
        return self._spark.jvm

    def array(self, kind: Any, length: int) -> Any:
        return self._spark.session.sparkContext._gateway.new_array(kind, length)  # type: ignore[union-attr]  # noqa: SLF001

    def call(self, work: Callable[[], T]) -> T:
        return self._spark.call(work, "compiling the kit's Java")


@contextmanager
def open_spark(
    master: str = "", *, connector: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[Spark]:
    """Open a session, which ends with the block unless it existed before.

    ``master`` is Spark's, ``local[*]`` if empty; ``connector``: topics are read or written. ``settings`` are Spark settings,
    ``spark.driver.memory`` among them. Raises BadInput, NoJava, JvmLost, JarError, SparkFault.
    """
    _pyspark()
    asked = {**_SETTINGS, **_REDACTED, **(settings or {})}
    if is_submitted():
        if master:
            raise BadInput(f"--master {master} within spark-submit: give it to spark-submit instead")
        spark = _submitted(asked, connector)
        with _quiet_interrupt(spark):
            yield spark
        return
    with ScratchFolder("kafka-conformance-spark-") as room:
        yield from _own(master or "local[*]", asked, connector, room)


def _pyspark() -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError as missing:
        raise NoJava(f"this needs Spark: {how_to_install('jvm')} ({missing})") from missing


def _connector(spark: str) -> list[Stored]:
    return fetched(load().connector(spark), default_store())


def _own(master: str, settings: Mapping[str, str], connector: bool, room: Path) -> Iterator[Spark]:
    import pyspark

    stored = _connector(pyspark.__version__) if connector else []
    jars = [each.path for each in stored]
    memory = settings.get("spark.driver.memory", "2g")
    options = [f"-Xmx{memory}", f"-Djava.io.tmpdir={room}"]
    local = _on_one_machine(master)
    with Jvm(extra_class_path=jars, options=options, call_limit_s=CALL_LIMIT_S, for_pyspark=True, local=local) as jvm:
        session = None
        try:
            session = _session(jvm, master, {**settings, "spark.local.dir": str(room),
                                             "spark.sql.warehouse.dir": str(room / "warehouse")}, jars)  # fmt: skip
            yield Spark(session, master, str(jvm.call(lambda: _class_path(jvm.view))), stored)
        finally:
            if session is not None and sys.exc_info()[0] in (None, GeneratorExit):
                with suppress(Exception):  # the JVM ends next in any case
                    session.stop()
            _forget()


def _on_one_machine(master: str) -> bool:
    """Whether executors are threads of the driver."""
    return master == "local" or master.startswith("local[")


def _python(master: str, settings: Mapping[str, str]) -> str:
    """The Python of the executors."""
    return sys.executable if _on_one_machine(master) else settings.get("spark.pyspark.python", sys.executable)


def _session(jvm: Jvm, master: str, settings: Mapping[str, str], jars: list[Path]) -> SparkSession:
    from py4j.java_gateway import java_import
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = _python(master, settings)
    # It prints a page of JSON for an error that is also raised.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    gateway = jvm.gateway
    for name in _IMPORTS:
        java_import(gateway.jvm, name)
    conf = SparkConf(_jvm=gateway.jvm).setMaster(master).setAll(list(settings.items()))
    if _on_one_machine(master):
        conf.setAll(list(_ON_ONE_MACHINE.items()))
    elif jars:
        conf.set("spark.jars", ",".join(map(str, jars)))

    def made() -> SparkSession:
        context = SparkContext(conf=conf, gateway=gateway)
        _silence(context)
        context.setLogLevel("OFF")
        return SparkSession(context)

    try:
        return made()
    except Exception as error:
        if "stopped SparkContext" in str(error):  # it tries for a minute, and gives up in the background
            raise SparkFault(f"no master responds at {master}, or it refused the application") from error
        fault = spark_fault(error, f"starting Spark on {master}")
        if fault is None:
            raise
        raise fault from error


def _submitted(settings: Mapping[str, str], connector: bool) -> Spark:
    from pyspark.sql import SparkSession

    silence_default_log()
    session = SparkSession.builder.getOrCreate()
    _silence(session.sparkContext)
    for name, value in settings.items():
        if name.startswith("spark.sql."):
            with suppress(Exception):  # a static one, which the cluster's own settings decide
                session.conf.set(name, value)
    jvm = session._jvm  # noqa: SLF001
    jars = _connector(session.version) if connector else []
    spark = Spark(session, str(session.sparkContext.master), _class_path(jvm), jars)
    for stored in jars:
        _add_jar(spark, stored.path)
    return spark


def _silence(context: SparkContext) -> None:
    """Take Ctrl-C back from a new context, and have it print nothing when its JVM ends first.

    Its server for accumulators would print a traceback. The caller that waits for a job reports that the JVM has ended.
    """
    interrupts.restore()
    if (server := getattr(context, "_accumulatorServer", None)) is not None:
        server.handle_error = lambda *_: None


@contextmanager
def _quiet_interrupt(spark: Spark) -> Iterator[None]:
    """Cancel the jobs of an interrupted block, without what Spark logs about their ends."""
    try:
        yield
    except KeyboardInterrupt:
        interrupts.acknowledge()
        with suppress(Exception):  # spark-submit's JVM receives the Ctrl-C of a terminal too, and may have ended
            spark.session.sparkContext.setLogLevel("OFF")
            spark.session.sparkContext.cancelAllJobs()
        raise


def _add_jar(spark: Spark, jar: Path) -> None:
    spark.call(lambda: spark.session.sql(f"ADD JAR '{jar}'").collect(), f"adding {jar.name} to Spark")


def _class_path(view: Any) -> str:
    return str(view.java.lang.System.getProperty("java.class.path"))


def _forget() -> None:
    """pyspark keeps its context, gateway and view on classes: the next session would get the ones that have ended."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001
