"""The command line as its users run it, and the real Java: everything here asks for a JVM."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from processes import accept_interrupts

from kafka_conformance.cli.main import app
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.oracle.session import open_oracle

LIMIT_S = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.jvm)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def kit(tmp_path: Path) -> Callable[..., Ran]:
    """Runs ``kafka-conformance`` in an empty folder, to its end."""

    def run(*arguments: str, env: dict[str, str] | None = None, stdin: str = "") -> Ran:
        done = subprocess.run(
            command(*arguments), cwd=tmp_path, env=os.environ | (env or {}), input=stdin, capture_output=True, text=True,
            timeout=LIMIT_S, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def kit_here(oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs ``kafka-conformance`` in this process and in an empty folder, with the oracle that all tests share."""

    def run(*arguments: str) -> Ran:
        monkeypatch.chdir(tmp_path)
        for module in (f"kafka_conformance.cli.commands.{arguments[0]}", "kafka_conformance.answerers.names"):
            monkeypatch.setattr(import_module(module), "open_oracle", lambda *_: nullcontext(oracle), raising=False)
        done = CliRunner().invoke(app, list(arguments), standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return Ran(done.return_value, done.stdout, done.stderr)

    return run


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``kafka-conformance`` and leaves it running; ends what is left of it after the test."""
    running = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command(*arguments),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=accept_interrupts,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def jvm_of() -> Callable[[subprocess.Popen[str]], int]:
    """The process id of the JVM that a run has started; waits for it."""
    return the_jvm_of


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """One oracle for all tests that only ask."""
    with open_oracle() as opened:
        yield opened


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kafka_conformance", *arguments]


def the_jvm_of(process: subprocess.Popen[str]) -> int:
    """The process id of the JVM that this run has started; waits for it."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue  # it ended meanwhile
            # `java -version` is a child too, for a moment: the one meant serves the gateway
            if (
                name == "java"
                and _is_below(int(rest.split()[1]), process.pid)
                and (b"PythonGatewayServer" in _command_line(stat))
            ):
                return int(stat.parent.name)
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("it never started a JVM")


def _is_below(pid: int, ancestor: int) -> bool:
    """Whether a process is ``ancestor`` or one of its descendants: each worker of verify has its own JVM."""
    while pid not in (0, 1, ancestor):
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return pid == ancestor


def _command_line(stat: Path) -> bytes:
    try:
        return stat.with_name("cmdline").read_bytes()
    except OSError:
        return b""
