"""A JVM that starts one broker after another: :class:`BrokerHost`, the client of ``BrokerHost.java``.

Kafka's own main runs in it; Kafka's Exit does not end the JVM, and is reported instead. A JVM that has threads of an earlier
start is not used again, and none is used for more than :data:`STARTS` starts.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from kafka_conformance.brokers.cluster import ClusterPlan, last_words
from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_jars.pins import load
from kafka_jars.store import default_store

__all__ = ["BrokerHost"]

STARTS = 40
_SOURCE = Path(__file__).with_name("BrokerHost.java")
_STOP_LIMIT_S = 60
_COMPILE_LIMIT_S = 300
_POLL_S = 0.01
_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
            "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.ContainerManager=info")  # fmt: skip


@cache
def _compiled() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """Compile the Java source into a folder that lasts as long as this process."""
    folder = tempfile.TemporaryDirectory()
    compiler = os.pathsep.join(str(stored.path) for stored in fetched(load().compiler, default_store()))
    main = "org.eclipse.jdt.internal.compiler.batch.Main"
    command = [str(find_java().program), "-cp", compiler, main, "-11", "-nowarn", "-d", folder.name, str(_SOURCE)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_COMPILE_LIMIT_S)
    return folder, Path(folder.name)


class BrokerHost:
    """Starts brokers of a plan's release; its JVM ends with the block."""

    def __init__(self, plan: ClusterPlan) -> None:
        self._plan = plan
        self._folder = tempfile.TemporaryDirectory()
        (Path(self._folder.name) / "tmp").mkdir()
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._number = self._starts = 0
        self.jvms = 0
        """How many were started."""
        self.left: list[str] = []
        """The threads that ended a JVM's use."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._folder.cleanup()

    def start(self, what: str, file: Path, log: Path, ready: bytes, limit_s: float) -> None:
        """Run ``kafka.Kafka`` (``start``) or a ``zookeeper`` with a file of settings. Raises BrokerLost if it ends.

        A broker that neither is ready nor ends is no answer: TimeoutError.
        """
        if self._process is None:
            self._launch()
        self._number += 1
        log.touch()
        self._send(f"{what} {self._number} {log} {file}")
        limit = time.monotonic() + limit_s
        while ready not in log.read_bytes():
            if lost := self.ended(log):
                raise BrokerLost(lost)
            if time.monotonic() > limit:
                raise TimeoutError(f"the broker was not ready within {limit_s} s: {last_words(log)}")
            time.sleep(_POLL_S)

    def ended(self, log: Path) -> str:
        """Return why the broker has ended, with the end of its log; empty if it runs."""
        while not self._lines.empty():
            what, *words = self._lines.get().split(" ")
            if what == "lost" or (what == "ended" and words[0] == str(self._number)):
                return f"the broker ended with code {words[-1]}: {last_words(log)}"
        return ""

    def stop(self) -> None:
        """Shut down what runs; end the JVM if threads of it are left, or if it has started enough."""
        self._starts += 1
        try:
            self._send("stop")
            limit = time.monotonic() + _STOP_LIMIT_S
            while not (line := self._lines.get(timeout=max(0.0, limit - time.monotonic()))).startswith("stopped"):
                if line.startswith("lost"):
                    break
            left = line.partition(" ")[2]
        except (queue.Empty, BrokerLost):
            left = "no answer"
        if left:
            self.left.append(left)
        if left or self._starts >= STARTS:
            self._end()

    def _launch(self) -> None:
        plan = replace(self._plan, jars=[*self._plan.jars, _compiled()[1]])
        command = plan.command(Path(self._folder.name), *_OPTIONS, "BrokerHost")
        with (Path(self._folder.name) / "jvm.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self._folder.name, stderr=log
            )
        self._lines, self._starts = queue.SimpleQueue(), 0
        self.jvms += 1
        self._reader = threading.Thread(target=_read, args=(self._process, self._lines), daemon=True)
        self._reader.start()

    def _send(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise BrokerLost(f"the JVM has ended: {error}") from error

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait(_STOP_LIMIT_S)
        self._reader.join(_STOP_LIMIT_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process = None


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line.strip())
    lines.put(f"lost {process.wait()}")
