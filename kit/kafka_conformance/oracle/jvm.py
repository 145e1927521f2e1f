"""Start Spark's JVM, call it through py4j, and end it together with this process.

The JVM runs Spark's ``PythonGatewayServer`` on Spark's class path, as ``pyspark`` does through two shell scripts and a
second JVM. Starting it directly gives one process with a known id, and its own options: no ``jdk.incubator.vector``,
which the wheel's Java lacks, and ``java.lang`` opened, which Draws.java needs.

``close`` closes the JVM's standard input, on which ``PythonGatewayServer`` exits; after a time limit it kills the process
by its id. If this process is killed, the operating system closes the pipe. The JVM runs in its own session, so that Ctrl-C
reaches this process alone, which then ends the JVM by SIGTERM: its shutdown hooks delete the folders that Java has made.

Every wait has a limit. A call that does not return in time, or a JVM that has ended, raises JvmLost.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import JvmLost, NoJava
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.oracle.java_home import Java, error_line, find_java
from kafka_jars.scratch import ScratchFolder

__all__ = ["CALL_LIMIT_S", "Jvm", "spark_jars"]

START_LIMIT_S = 60
CALL_LIMIT_S = 300
_END_LIMIT_S = 5

# The packages that Spark 4.0 opens, from org.apache.spark.launcher.JavaModuleOptions.
_OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs",
    "sun.security.action", "sun.util.calendar",
)  # fmt: skip
_OPTIONS = (
    "-Xmx2g",
    "-XX:+UseParallelGC",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-Djava.net.preferIPv4Stack=true",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dlog4j2.level=ERROR",
    "-Duser.language=en",
    "-Duser.country=US",
)


class Jvm:
    """One JVM, as a context manager.

    ``extra_class_path`` is added to Spark's jars, as for a connector; ``options`` are Java options, after the default ones.
    With ``local``, Spark listens on 127.0.0.1 alone; executors elsewhere could not reach it. A call is limited to
    ``call_limit_s`` seconds. Java exceptions are raised as py4j's errors; with ``for_pyspark`` pyspark
    converts them instead. Raises NoJava, JvmLost.
    """

    def __init__(
        self, *, java: Java | None = None, extra_class_path: Sequence[Path] = (), options: Sequence[str] = (),
        call_limit_s: float = CALL_LIMIT_S, for_pyspark: bool = False, local: bool = True,
    ) -> None:  # fmt: skip
        spark = spark_jars()
        self._call_limit_s = call_limit_s
        self.java = java or find_java()
        self._scratch = ScratchFolder(where=_memory_folder())  # for files of a question
        self._temporary = ScratchFolder()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  its standard error: read only if it does not start
        with ScratchFolder() as folder:
            address = folder / "address"
            class_path = [f"{spark}/*", *map(str, extra_class_path)]
            try:
                with interrupts.deferred():
                    folders = (self._scratch.path, self._temporary.path)
                    self._process = _start(self.java, class_path, options, address, self._stderr, folders, local)
                port, secret = self._await_address(address)
                self._gateway = _connect(port, secret, call_limit_s)
                if not for_pyspark:
                    from kafka_conformance.oracle.jvm_errors import keep_errors

                    keep_errors(self._gateway)
                self.version = str(self.call(lambda: self.view.java.lang.System.getProperty("java.vm.version")))
            except BaseException:
                interrupts.acknowledge()
                if hasattr(self, "_process"):
                    self._process.kill()  # while starting, it does not read its standard input yet
                    self.close()
                raise

    @property
    def pid(self) -> int:
        """The JVM's process id."""
        return self._process.pid

    @property
    def view(self) -> Any:
        """py4j's view of the JVM; use it only inside :meth:`call`."""
        return self._gateway.jvm

    @property
    def gateway(self) -> Any:
        """py4j's gateway, for pyspark."""
        return self._gateway

    @property
    def folder(self) -> Path:
        """A folder for files that both sides read, in memory where there is one; it is deleted with the JVM."""
        return self._scratch.path

    def array(self, kind: Any, length: int) -> Any:
        """Create a Java array."""
        return self._gateway.new_array(kind, length)

    def call(self, work: Any) -> Any:
        """Return ``work()``, which calls Java. Raises JvmLost if the JVM has ended or does not respond in time.

        Any other error of ``work`` is its own.
        """
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            return work()
        except Py4JJavaError:
            raise
        except (Py4JError, ConnectionError, TimeoutError) as error:  # another OSError is of the work: a file, a folder
            raise self._lost(error) from error

    def delete_temporary_files(self) -> None:
        """Delete the native libraries that codecs have unpacked: each class loader unpacks its own, and has loaded it."""
        for path in self._temporary.path.iterdir():
            if path.is_file():
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """End the JVM and wait until its process has exited."""
        if (gateway := getattr(self, "_gateway", None)) is not None:
            gateway.close()
        assert self._process.stdin is not None  # noqa: S101  it was started with a pipe
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_LIMIT_S)
        self._stderr.close()
        self._scratch.delete()
        self._temporary.delete()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            interrupts.acknowledge()
            self._process.terminate()  # interrupted: do not wait for the call in progress
        self.close()

    def _await_address(self, address: Path) -> tuple[int, str]:
        limit = time.monotonic() + START_LIMIT_S
        while not address.exists():
            if (code := self._process.poll()) is not None:
                raise JvmLost(
                    f"Spark's JVM ({self.java.program}) ended with code {code} while starting: {self._error_line()}"
                )
            if time.monotonic() > limit:
                raise JvmLost(f"Spark's JVM ({self.java.program}) did not start within {START_LIMIT_S} s")
            time.sleep(0.01)
        written = address.read_bytes()  # Spark renames the file into place, so it is whole
        port, length = struct.unpack_from(">ii", written)
        return port, written[8 : 8 + length].decode()

    def _error_line(self) -> str:
        self._stderr.seek(0)
        return error_line(self._stderr.read().decode(errors="replace"))

    def _lost(self, error: Exception) -> JvmLost:
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return JvmLost(
                f"Spark's JVM did not respond within {self._call_limit_s:g} s and was killed: {_first_line(error)}"
            )
        return JvmLost(
            f"Spark's JVM (process {self.pid}) ended with code {code} in the middle of the run: run it again"
        )


def spark_jars() -> Path:
    """Return the folder of pyspark's jars. Raises NoJava if pyspark is not installed."""
    spark = importlib.util.find_spec("pyspark")
    if spark is None or not spark.submodule_search_locations:
        raise NoJava(f"calling the real Java classes needs Spark's JVM: {how_to_install('jvm')}")
    return Path(spark.submodule_search_locations[0]) / "jars"


def _memory_folder() -> Path | None:
    """Return a folder in memory, or None: a broker syncs each snapshot to the disk, which is slow on a real one."""
    memory = Path("/dev/shm")  # noqa: S108  a temporary folder is created in it
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else None


def _start(
    java: Java,
    class_path: list[str],
    options: Sequence[str],
    address: Path,
    stderr: IO[bytes],
    folders: tuple[Path, Path],
    local: bool,
) -> subprocess.Popen[bytes]:
    command = [
        str(java.program),
        "-cp",
        os.pathsep.join(class_path),
        *_OPTIONS,
        f"-Dkafka.conformance.scratch={folders[0]}",
        # Codecs unpack native libraries there, one copy per release: a JVM that is killed would leave them behind.
        f"-Djava.io.tmpdir={folders[1]}",
    ]
    command += options
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    command.append("org.apache.spark.api.python.PythonGatewayServer")
    environment = os.environ | {
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
        "PYSPARK_PIN_THREAD": "true",
    }
    if local:
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env=environment,
        start_new_session=True,
    )


def _connect(port: int, secret: str, limit_s: float) -> Any:
    """Return a client of the kind pyspark uses: py4j's simpler one fails on Ctrl-C in the middle of a call."""
    from py4j.clientserver import ClientServer, JavaParameters, PythonParameters

    # py4j logs the errors that it also raises, and its finalizers log an ended JVM.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    java = JavaParameters(
        address="127.0.0.1",
        port=port,
        auth_token=secret,
        auto_convert=True,
        read_timeout=limit_s,
        # Few objects are created, and a finalizer would wait for a JVM that has ended.
        enable_memory_management=False,
    )
    return ClientServer(java, PythonParameters(port=0, eager_load=False, daemonize=True, daemonize_connections=True))


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
