"""Find the Java source files that a rule's class needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kafka_jars import ORACLE_SOURCES

__all__ = ["java_sources"]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CLASS = re.compile(r"\bkafkaoracle\.(\w+)\.(\w+)")


def java_sources(classes: Iterable[str], folder: Path = ORACLE_SOURCES / "release") -> list[Path]:
    """Return the files of ``classes`` (``kafkaoracle.package.Name``) and of all kit classes that they use, sorted.

    ``folder`` holds one folder per package. A class uses another if it imports it, or names one of the same package
    outside comments. A release that lacks a Kafka class thus compiles only the files that do not need it.
    """
    found: set[Path] = set()
    waiting = [_file(folder, *_CLASS.fullmatch(name).groups()) for name in classes]  # type: ignore[union-attr]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _used(file, folder)
    return sorted(found)


def _used(file: Path, folder: Path) -> list[Path]:
    code = _COMMENT.sub("", file.read_text(encoding="utf-8"))
    words = set(re.findall(r"\w+", code))
    beside = [other for other in file.parent.glob("*.java") if other.stem in words]
    return beside + [_file(folder, package, name) for package, name in _CLASS.findall(code)]


def _file(folder: Path, package: str, name: str) -> Path:
    return folder / package / f"{name}.java"
