"""A JVM that does not come up: each way ends in one line, and with no process left. None of these is a real one."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import JvmLost, NoJava
from kafka_conformance.oracle import jvm as module
from kafka_conformance.oracle.java_home import Java
from kafka_conformance.oracle.jvm import Jvm

pytest.importorskip("pyspark")

# What Spark writes for the process that started it: a port, the length of a secret, the secret.
ADDRESS = """
import os, struct
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + ".new", "wb") as file:
    file.write(struct.pack(">ii", {port}, 6) + b"secret")
os.rename(path + ".new", path)
"""
WAIT_FOR_THE_END = "import sys; sys.stdin.read()\n"
HANG = "import time; time.sleep(120)\n"


class Program:
    """A program ``java`` that is a Python script; it notes its process id and its arguments."""

    def __init__(self, folder: Path, script: str) -> None:
        self._noted, program = folder / "noted", folder / "java"
        program.write_text(
            f"#!{sys.executable} -IS\nimport os, sys\n"
            f"open({str(self._noted)!r}, 'w').write('\\n'.join([str(os.getpid()), *sys.argv[1:]]))\n{script}",
            encoding="utf-8",
        )
        program.chmod(0o700)
        self.java = Java(program, 17, "a test")

    @property
    def arguments(self) -> list[str]:
        return self._noted.read_text(encoding="utf-8").split("\n")[1:]

    def is_gone(self) -> bool:
        """Whether the process has ended and was waited for: a zombie still accepts signal 0."""
        pid = int(self._noted.read_text(encoding="utf-8").split("\n")[0])
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return False
        return True


@pytest.fixture
def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("script", "code", "error"),
    [
        ("print('Error: no such option', file=sys.stderr); print('  ', file=sys.stderr); sys.exit(3)",
         3, "Error: no such option"),
        ("sys.exit(0)", 0, "it printed no error"),
        ("os.write(2, b'\\xff broken\\n'); os.kill(os.getpid(), 9)", -9, "� broken"),
    ],
)  # fmt: skip
def test_jvm_that_ends_while_starting_raises_jvm_lost_with_exit_code_and_error_line(
    tmp_path: Path, script: str, code: int, error: str
) -> None:
    program = Program(tmp_path, script)
    with pytest.raises(JvmLost) as raised:
        Jvm(java=program.java)
    assert str(raised.value) == f"Spark's JVM ({tmp_path}/java) ended with code {code} while starting: {error}"
    assert program.is_gone()


def test_jvm_that_does_not_start_within_the_limit_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_LIMIT_S", 0.4)
    program = Program(tmp_path, HANG)
    begun = time.monotonic()
    with pytest.raises(JvmLost, match=r"did not start within 0\.4 s"):
        Jvm(java=program.java)
    assert time.monotonic() - begun < 15
    assert program.is_gone()


def test_ctrl_c_while_the_jvm_starts_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(tmp_path, HANG)
    sleep, pressed = time.sleep, []

    def interrupted(seconds: float) -> None:
        if not pressed and (tmp_path / "noted").exists() and (tmp_path / "noted").read_text():
            pressed.append(True)
            raise KeyboardInterrupt
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Jvm(java=program.java)
    assert program.is_gone()


# In a separate process, where whatever is left open shows as a ResourceWarning.
NO_RESPONSE = """
import os, sys
from pathlib import Path
from kafka_conformance.core.errors import JvmLost
from kafka_conformance.oracle.java_home import Java
from kafka_conformance.oracle.jvm import Jvm
try:
    Jvm(java=Java(Path(sys.argv[1]) / "java", 17, "a test"))
except JvmLost as lost:
    print(lost)
try:
    os.kill(int((Path(sys.argv[1]) / "noted").read_text().split()[0]), 0)
except ProcessLookupError:
    print("gone")
"""


@pytest.mark.parametrize("then", ["sys.exit(4)", WAIT_FOR_THE_END, HANG])
def test_jvm_that_starts_but_does_not_respond_raises_jvm_lost_and_is_killed(
    tmp_path: Path, free_port: int, then: str
) -> None:
    Program(tmp_path, ADDRESS.format(port=free_port) + then)
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", NO_RESPONSE, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    line, gone = ran.stdout.splitlines()
    assert line.startswith("Spark's JVM ")
    assert (gone, ran.stderr) == ("gone", "")


def test_jvm_command_has_class_path_gateway_class_add_opens_english_and_no_incubator_module(tmp_path: Path) -> None:
    program = Program(tmp_path, "sys.exit(0)")
    with pytest.raises(JvmLost):
        Jvm(java=program.java, extra_class_path=[Path("/somewhere/connector.jar")])
    arguments = program.arguments
    assert arguments[-1] == "org.apache.spark.api.python.PythonGatewayServer"
    assert arguments[0] == "-cp"
    assert arguments[1].endswith("/pyspark/jars/*:/somewhere/connector.jar")
    assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in arguments, "Draws.java sets a private field of Thread"
    assert "-Duser.language=en" in arguments
    assert "jdk.incubator.vector" not in " ".join(arguments), "the wheel's Java lacks that module"


@pytest.mark.parametrize(("local", "address"), [(True, "127.0.0.1"), (False, "")])
def test_jvm_binds_to_loopback_only_for_local_executors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: bool, address: str
) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    program = Program(tmp_path, "sys.exit(os.environ.get('SPARK_LOCAL_IP', ''))")
    with pytest.raises(JvmLost, match=f"while starting: {address or 'it printed no error'}"):
        Jvm(java=program.java, local=local)


def test_starting_a_jvm_without_pyspark_raises_no_java_with_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NoJava, match=r"needs Spark's JVM: pip install '\.\[jvm\]' in a checkout"):
        Jvm()


def test_java_home_without_java_raises_no_java_before_a_jvm_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoJava, match="no working bin/java"):
        Jvm()


def test_sigterm_during_jvm_process_creation_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is there, but nothing has its name yet: an exception at this moment would leave it running."""
    program, start = Program(tmp_path, HANG), module._start

    def interrupted(*arguments: object) -> object:
        process = start(*arguments)  # type: ignore[arg-type]
        while not (tmp_path / "noted").exists() or not (tmp_path / "noted").read_text(encoding="utf-8"):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)  # the signal is handled here
        return process

    monkeypatch.setattr(module, "_start", interrupted)
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGHUP)}
    interrupts.install()
    try:
        with pytest.raises(KeyboardInterrupt):
            Jvm(java=program.java)
    finally:
        interrupts.acknowledge()
        for each, handler in before.items():
            signal.signal(each, handler)
    assert program.is_gone()


def test_temporary_files_of_a_killed_jvm_are_removed(tmp_path: Path) -> None:
    """Codecs unpack native libraries there: a JVM that is killed does not remove them."""
    program = Program(tmp_path, _LEAVE_A_FILE)
    with pytest.raises(JvmLost, match="code -9"):
        Jvm(java=program.java)
    folder = next(word for word in program.arguments if word.startswith("-Djava.io.tmpdir=")).partition("=")[2]
    assert (tmp_path / "left").read_text(encoding="utf-8") == f"{folder}/libcodec.so"
    assert not Path(folder).exists()


_LEAVE_A_FILE = """
folder = next(word for word in sys.argv if word.startswith("-Djava.io.tmpdir=")).partition("=")[2]
open(folder + "/libcodec.so", "w").close()
open(os.path.dirname(os.path.abspath(__file__)) + "/left", "w").write(folder + "/libcodec.so")
os.kill(os.getpid(), 9)
"""


def test_jvm_deletes_unpacked_native_libraries_but_keeps_the_spark_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "snappy-1.1.10-libsnappyjava.so").touch()
    jvm = Jvm.__new__(Jvm)  # not started
    jvm._temporary = SimpleNamespace(path=tmp_path)  # type: ignore[assignment]
    jvm.delete_temporary_files()
    assert list(tmp_path.iterdir()) == [tmp_path / "spark"]


@pytest.mark.parametrize("error", [IsADirectoryError(21, "Is a directory"), PermissionError(13, "Permission denied")])
def test_file_error_in_jvm_call_is_raised_unchanged(error: OSError) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        Jvm.__new__(Jvm).call(work)  # not started
    assert raised.value is error


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), TimeoutError("timed out")])
def test_connection_error_in_jvm_call_raises_jvm_lost_with_exit_code(error: OSError) -> None:
    def work() -> None:
        raise error

    jvm = Jvm.__new__(Jvm)
    jvm._process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(JvmLost, match="ended with code 3 in the middle of the run"):
        jvm.call(work)


# The run that is killed: it prints when it has begun to start a JVM.
STARTING = """
import sys
from pathlib import Path
from kafka_conformance.oracle.java_home import Java
from kafka_conformance.oracle.jvm import Jvm
Jvm(java=Java(Path(sys.argv[1]) / "java", 17, "a test"))
"""


@pytest.mark.parametrize("then", [HANG, WAIT_FOR_THE_END])
def test_run_killed_during_jvm_start_leaves_no_temporary_folder(tmp_path: Path, then: str) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    program = Program(tmp_path, then)
    with subprocess.Popen(
        [sys.executable, "-c", STARTING, str(tmp_path)], env=os.environ | {"TMPDIR": str(temporary)}
    ) as run:
        until(lambda: (tmp_path / "noted").is_file() and len(program.arguments) > 10)
        run.kill()
    scratch = next(word for word in program.arguments if word.startswith("-Dkafka.conformance.scratch=")).partition(
        "="
    )[2]
    until(lambda: not Path(scratch).exists() and not list(temporary.iterdir()))
    with contextlib.suppress(ProcessLookupError):  # a real JVM ends when its standard input is closed
        os.kill(int((tmp_path / "noted").read_text(encoding="utf-8").split()[0]), signal.SIGKILL)


def until(condition: Callable[[], bool]) -> None:
    """Wait until this is true; fail after a time that only a hang takes."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)
