"""The Java half with a mistake: a copy of its source with one place changed, compiled and loaded as always."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_conformance.core.errors import KitError
from kafka_conformance.kit_mistakes.bench import RELEASE, Bench
from kafka_conformance.kit_mistakes.mistake import patched
from kafka_conformance.oracle import oracle as oracles
from kafka_conformance.oracle.java_sources import java_sources
from kafka_jars import ORACLE_SOURCES

__all__ = ["JavaEdit", "changed_java", "reopened"]

JavaEdit = tuple[str, str, str]
"""A file of the Java half, a text that is in it once, and what is put in its place."""


@contextmanager
def changed_java(bench: Bench, edit: JavaEdit) -> Iterator[None]:
    """Within the block, the Java half is as edited. Raises KitError if the text is not in the file once."""
    file, old, new = edit
    folder = bench.folder / "release"
    shutil.copytree(ORACLE_SOURCES / "release", folder)
    try:
        source = folder / file
        text = source.read_text(encoding="utf-8")
        if (count := text.count(old)) != 1:
            raise KitError(f"{file} of the Java half has {old!r} {count} times, expected once: edit another place")
        source.write_text(text.replace(old, new), encoding="utf-8")

        def edited(classes: Iterable[str]) -> list[Path]:
            return java_sources(classes, folder)

        with reopened(bench, (oracles, "java_sources", edited)):
            yield
    finally:
        shutil.rmtree(folder)


@contextmanager
def reopened(bench: Bench, *places: tuple[object, str, Any]) -> Iterator[None]:
    """Within the block, the release is reopened with these attributes replaced."""
    bench.oracle.close_release(str(RELEASE))
    try:
        with patched(*places):
            yield
    finally:
        bench.oracle.close_release(str(RELEASE))
