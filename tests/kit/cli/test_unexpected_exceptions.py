"""Exit code 1 means that something differs: no exception, in any layer and of any kind, ends a command with it."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from processes import run_script

import kafka_conformance
from kafka_conformance.cli import main as cli
from kafka_conformance.core.errors import KitError

ASKS = b'{"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "666f6f"}}\n'


class Unreadable(Exception):
    """Asks a JVM for its text, which has ended."""

    def __str__(self) -> str:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


class UnreadableKitError(KitError):
    """An error for the user that has no text."""

    def __str__(self) -> str:
        raise Unreadable


class NoException(BaseException):
    """What `except Exception` does not catch."""


ERRORS: dict[str, BaseException] = {
    "AssertionError": AssertionError("never"),
    "BrokenPipeError": BrokenPipeError(errno.EPIPE, "Broken pipe"),
    "ExceptionGroup": ExceptionGroup("several", [ValueError("one"), ValueError("other")]),
    "GeneratorExit": GeneratorExit(),
    "ImportError": ImportError("libx.so: failed to map segment from shared object"),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "MemoryError": MemoryError(),
    "NoException": NoException("at all"),
    "OSError": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "RecursionError": RecursionError("maximum recursion depth exceeded"),
    "StopIteration": StopIteration(1),
    "SystemExit": SystemExit(1),
    "SystemExit with a text": SystemExit("a text"),
    "UnicodeEncodeError": UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"),
    "Unreadable": Unreadable(),
    "UnreadableKitError": UnreadableKitError(),
}
"""One of each kind."""

LAYERS = {
    "kafka_conformance.cli": "rules",
    "kafka_conformance.core": "sample murmur2",
    "kafka_conformance.rules": "answer",
    "kafka_conformance.reports": "coverage --shipped --rules murmur2",
    "kafka_conformance.answerers": "answer",
    "kafka_conformance.cases": "replay murmur2-key-null",
    "kafka_conformance.gate": "gate -- false",
    "kafka_conformance.log_inspect": "log inspect .",
    "kafka_conformance.replication": "cluster play script.json",
    "kafka_conformance.brokers": "broker run --kafka 4.4.0",
    "kafka_conformance.oracle": "verify --rules murmur2",
    "kafka_conformance.audit": "audit orders --engine local --bootstrap-server 127.0.0.1:1",
    "kafka_conformance.spark": "sweep --rules murmur2",
    "kafka_conformance.verify": "certificate --shipped",
    "kafka_conformance.generated_mutants": "selftest --generated --rules murmur2",
    "kafka_conformance.kit_mistakes": "selftest --kit",
    "kafka_jars": "jars list",
    "kafka_reference": "delivery",
}
"""Of each package, a command that calls one of its functions each time: not what a test before has left in a cache."""


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    """A command, run here; its exit code and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java-may-be-needed"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ASKS)))

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["kafka-conformance", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, capsys.readouterr().err

    return run


class Plant:
    """Raises an error at the first call of a function of a package, once the command has begun."""

    def __init__(self, package: str, error: BaseException) -> None:
        self.package, self.error, self.raised = package, error, False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        inside = name == self.package or name.startswith(f"{self.package}.")
        if event == "call" and inside and frame.f_code.co_name != "<module>" and not self._before(frame):
            self.raised = True
            sys.setprofile(None)
            raise self.error

    @staticmethod
    def _before(frame: FrameType) -> bool:
        """Whether this is what prepares the command, or reports its error."""
        return frame.f_globals.get("__name__") == cli.__name__ or frame.f_code.co_filename == interrupts_file()


def interrupts_file() -> str:
    return str(Path(kafka_conformance.__path__[0], "core", "interrupts.py"))


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", ERRORS)
def test_exception_in_any_package_exits_2_without_traceback(
    run: Callable[..., tuple[int, str]], layer: str, kind: str
) -> None:
    if layer == "kafka_conformance.spark":
        pytest.importorskip("numpy")  # An audit needs it.
    plant = Plant(layer, ERRORS[kind])
    sys.setprofile(plant)
    try:
        code, err = run(*LAYERS[layer].split())
    finally:
        sys.setprofile(None)
    assert plant.raised, "nothing was planted"
    assert code == 2, err
    assert "Traceback" not in err


# Does something when a module is imported for the first time, then runs the program.
AT_IMPORT = """
import os, signal, sys
from importlib.abc import MetaPathFinder
module = sys.argv[1]
class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == module:
            sys.meta_path.remove(self)
            {then}
sys.meta_path.insert(0, Finder())
from kafka_conformance.__main__ import main
sys.argv = ["kafka-conformance", "sample", "murmur2"]
main()
"""


@pytest.mark.parametrize(
    ("number", "module"),
    [
        (signal.SIGINT, "kafka_conformance.cli.main"),
        (signal.SIGINT, "click"),
        (signal.SIGTERM, "platformdirs"),
        (signal.SIGINT, "msgspec"),
    ],
)
def test_sigint_or_sigterm_during_import_exits_2_with_one_line(
    tmp_path: Path, number: signal.Signals, module: str
) -> None:
    script = AT_IMPORT.format(then=f"os.kill(os.getpid(), {number:d})")
    ran = run_script(script, module, timeout_s=120, cwd=tmp_path)
    line = "kafka-conformance: interrupted: nothing was judged to the end\n"
    assert (ran.returncode, ran.stderr, ran.stdout) == (2, line, "")


@pytest.mark.parametrize(
    ("error", "module"),
    [
        ("ImportError('x.so cannot be mapped')", "msgspec"),
        ("SyntaxError('null bytes')", "kafka_conformance.cli.main"),
        ("MemoryError()", "kafka_conformance.cli.commands.sample"),
        ("SystemExit(1)", "click"),
        ("OSError(23)", "platformdirs"),
    ],
)
def test_module_that_fails_to_import_exits_2_with_one_line(tmp_path: Path, error: str, module: str) -> None:
    ran = run_script(AT_IMPORT.format(then=f"raise {error}"), module, timeout_s=120, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("kafka-conformance: ")
    assert error.partition("(")[0] in line


def test_py4j_error_after_the_jvm_ended_exits_2_with_one_line(tmp_path: Path) -> None:
    """py4j asks the JVM for the text of its exception."""
    pytest.importorskip("py4j")
    script = """
import sys
from py4j.protocol import Py4JJavaError
class Gone:
    _target_id = "o1"
    _gateway_client = property(lambda _: (_ for _ in ()).throw(ConnectionRefusedError(111, "Connection refused")))
from kafka_conformance.cli import main as cli
def lost(words):
    raise Py4JJavaError("An error occurred", Gone())
cli.app.invoke = lost
sys.argv = ["kafka-conformance", "sample", "murmur2"]
cli.main()
"""
    ran = run_script(script, timeout_s=120, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert "Py4JJavaError, whose message cannot be read (ConnectionRefusedError)" in line
