"""What the kit holds after a round: memory, threads, classes, descriptors, processes and temporary files.

The JVM is measured after forced garbage collections, through its own MXBeans. py4j keeps every object that a call returns,
so a gauge fetches its objects once; each sample then returns numbers and texts only, and adds no further binding.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafka_conformance.core.errors import KitError
from kafka_conformance.oracle.jvm import Jvm

__all__ = ["Gauges", "python_objects"]

_MIB = 1 << 20
_LOADER = "kafkaoracle.host.ReleaseSandbox$Loader"
# A soft reference that was used since the last collection survives one; threads that are ending need a moment.
_COLLECTIONS, _PAUSE_S = 3, 0.2


class Gauges:
    """Measures ``jvm``, this process, and the files in ``temporary``; the keys are the names of soak_growth.MEASURES."""

    def __init__(self, jvm: Jvm, temporary: Path) -> None:
        self._jvm = jvm
        self._beans = jvm.call(lambda: _Beans(jvm))
        scratch = str(jvm.call(lambda: jvm.view.java.lang.System.getProperty("kafka.conformance.scratch")))
        self._folders = (temporary, Path(scratch))

    def sample(self) -> dict[str, float]:
        """Return the values of all measures. Raises JvmLost, KitError."""
        held: dict[str, float] = self._jvm.call(self._beans.sample)
        return held | {
            "JVM resident memory": _resident_mib(self._jvm.pid),
            "JVM descriptors": _descriptors(self._jvm.pid),
            **_python(),
            "child processes": len(_children(os.getpid())),
            **_files(self._folders),
        }

    def histogram(self) -> Counter[str]:
        """Return the live objects of the JVM by class. Raises JvmLost, KitError."""
        return _counts(self._jvm.call(self._beans.histogram))


class _Beans:
    """The JVM's platform beans. Their classes are not exported, so methods are called through the public interface."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm, self._gateway, java = jvm, jvm.gateway, jvm.view.java
        self._system, self._runtime = java.lang.System, java.lang.Runtime.getRuntime()
        self._server = java.lang.management.ManagementFactory.getPlatformMBeanServer()
        self._get, self._invoke = self._method("getAttribute", 2), self._method("invoke", 4)
        self._count_beans, self._none = self._method("getMBeanCount", 0), self._array([])
        command = jvm.view.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
        words = [self._array([self._strings([])]), self._strings(["[Ljava.lang.String;"])]
        self._histogram = self._array([command, "gcClassHistogram", *words])
        self._trim = self._array([command, "systemTrimNativeHeap", self._array([]), self._strings([])])
        self._threads = self._attribute("java.lang:type=Threading", "ThreadCount")
        self._classes = self._attribute("java.lang:type=ClassLoading", "LoadedClassCount")
        self._unloaded = self._attribute("java.lang:type=ClassLoading", "UnloadedClassCount")
        self._direct = self._attribute("java.nio:type=BufferPool,name=direct", "Count")
        self._mapped = self._attribute("java.nio:type=BufferPool,name=mapped", "Count")
        self._metaspace = self._attribute("java.lang:type=MemoryPool,name=Metaspace", "Usage")
        hooks = java.lang.Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks")
        hooks.setAccessible(True)
        self._hooks = hooks.get(None)
        # The map itself, which counts what is bound later, and itself.
        self._bindings = self._gateway.java_gateway_server.getGateway().getBindings()

    def sample(self) -> dict[str, float]:
        for _ in range(_COLLECTIONS):
            self._system.gc()
            time.sleep(_PAUSE_S)
        histogram = _counts(self.histogram())  # collects once more
        self._diagnose(self._trim)  # malloc keeps what was freed: 10 MiB more with each round
        metaspace = self._value(self._metaspace)
        used = metaspace.get("used")
        self._gateway.detach(metaspace)
        return {
            "JVM heap": (self._runtime.totalMemory() - self._runtime.freeMemory()) / _MIB,
            "JVM metaspace": used / _MIB,
            "JVM threads": self._value(self._threads),
            "JVM loaded classes": self._value(self._classes),
            "JVM unloaded classes": self._value(self._unloaded),
            "JVM class loaders of releases": histogram[_LOADER],
            "JVM shutdown hooks": self._hooks.size(),
            "JVM MBeans": self._count_beans.invoke(self._server, self._none),
            "JVM direct buffers": self._value(self._direct),
            "JVM mapped buffers": self._value(self._mapped),
            "py4j bindings": self._bindings.size(),
        }

    def histogram(self) -> str:
        return self._diagnose(self._histogram)

    def _diagnose(self, command: Any) -> str:
        from py4j.protocol import Py4JJavaError

        try:
            return str(self._invoke.invoke(self._server, command))
        except Py4JJavaError as error:
            raise KitError(
                f"{self._jvm.java.program} lacks the diagnostic command {command[1]}: set JAVA_HOME to a HotSpot JVM of"
                " 17.0.9 or newer on Linux"
            ) from error

    def _method(self, name: str, parameters: int) -> Any:
        methods = self._jvm.view.java.lang.Class.forName("javax.management.MBeanServerConnection").getMethods()
        return next(m for m in methods if m.getName() == name and m.getParameterCount() == parameters)

    def _attribute(self, bean: str, name: str) -> Any:
        return self._array([self._jvm.view.javax.management.ObjectName(bean), name])

    def _value(self, attribute: Any) -> Any:
        return self._get.invoke(self._server, attribute)

    def _array(self, values: list[Any]) -> Any:
        return _filled(self._jvm.array(self._jvm.view.java.lang.Object, len(values)), values)

    def _strings(self, values: list[str]) -> Any:
        return _filled(self._jvm.array(self._jvm.view.java.lang.String, len(values)), values)


def python_objects() -> Counter[str]:
    """Return the objects that Python's garbage collector tracks, by type."""
    return Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())


def _filled(array: Any, values: list[Any]) -> Any:
    for index, value in enumerate(values):
        array[index] = value
    return array


def _counts(histogram: str) -> Counter[str]:
    """Return the instances of each class: ``num: instances bytes class (module)``; classes of one name are added up."""
    counts: Counter[str] = Counter()
    for line in histogram.splitlines():
        words = line.split()
        if len(words) >= 4 and words[0].endswith(":") and words[1].isdigit():
            counts[words[3]] += int(words[1])
    return counts


def _python() -> dict[str, float]:
    gc.collect()
    return {
        "Python resident memory": _resident_mib(os.getpid()),
        "Python memory blocks": sys.getallocatedblocks(),
        "Python threads": threading.active_count(),
        "Python descriptors": _descriptors(os.getpid()),
    }


def _resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def _descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  names alone


def _children(pid: int) -> list[int]:
    """Return the processes below ``pid``, also those that have ended and were not waited for."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
        below.setdefault(parent, []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        children = below.get(left.pop(), [])
        found += children
        left += children
    return found


def _files(folders: Iterable[Path]) -> dict[str, float]:
    """Return the number of files and folders, and their size."""
    found = [path for folder in folders for path in folder.rglob("*")]
    size = 0
    for path in found:
        try:
            size += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # it was deleted meanwhile
    return {"temporary files": len(found), "temporary bytes": size / _MIB}
