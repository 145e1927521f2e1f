"""Supervised processes end with their run, however it ends. The brokers of these tests are ``sleep``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import is_gone

from kafka_conformance.brokers.supervisor import ProcessSupervisor
from kafka_conformance.core.errors import BrokerLost

# A run: prints the folder and the process of its supervisor, then waits.
# Where it is started in the background of a script, Ctrl-C is ignored until somebody wants to know of it.
RUN = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from kafka_conformance.brokers.supervisor import ProcessSupervisor
with ProcessSupervisor() as supervisor:
    pid = supervisor.start("a", ["sleep", "60"], "log")
    print(pid, supervisor._process.pid, supervisor.folder, FORKED, flush=True)
    time.sleep(60)
"""


def no_folder(folder: Path, within_s: float = 10) -> bool:
    limit = time.monotonic() + within_s
    while folder.exists() and time.monotonic() < limit:
        time.sleep(0.02)
    return not folder.exists()


@pytest.fixture
def run() -> Iterator[Callable[..., tuple[subprocess.Popen[str], list[str]]]]:
    """Starts a run; gives it and what it says of what it keeps."""
    running: list[subprocess.Popen[str]] = []

    def start(forked: str = "0") -> tuple[subprocess.Popen[str], list[str]]:
        program = RUN.replace("FORKED", forked)
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        running.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().split()

    yield start
    for process in running:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def test_supervised_process_output_and_exit_code_are_kept() -> None:
    with ProcessSupervisor() as supervisor:
        pid = supervisor.start("a", ["sh", "-c", "echo said; echo beside >&2; pwd; exit 3"], "words")
        assert supervisor.wait("a", 10) == 3
        assert pid > 0
        assert supervisor.pid("a") is None
        assert (supervisor.folder / "words").read_text().split() == ["said", "beside", str(supervisor.folder)]


def test_supervised_process_can_be_terminated_and_started_again() -> None:
    with ProcessSupervisor() as supervisor:
        first = supervisor.start("a", ["sleep", "60"], "words")
        assert supervisor.code("a") is None
        assert supervisor.pid("a") == first
        assert supervisor.wait("a", 0.05) is None
        supervisor.signal("a", signal.SIGTERM)
        assert supervisor.wait("a", 10) == -signal.SIGTERM
        assert supervisor.start("a", ["sleep", "60"], "words") != first
        assert supervisor.code("a") is None


def test_supervisor_ends_all_processes_and_deletes_the_folder_at_block_end() -> None:
    with ProcessSupervisor() as supervisor:
        pids = [supervisor.start(name, ["sleep", "60"], "words") for name in "ab"]
        folder = supervisor.folder
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
    assert all(map(is_gone, pids))
    assert not folder.exists()


def test_supervisor_ends_processes_and_deletes_the_folder_after_an_exception() -> None:
    supervisor = ProcessSupervisor()
    pid, folder = supervisor.start("a", ["sleep", "60"], "words"), supervisor.folder
    with pytest.raises(ZeroDivisionError), supervisor:
        _ = 1 / 0
    assert is_gone(pid)
    assert not folder.exists()


def test_supervised_program_that_does_not_exist_raises_broker_lost() -> None:
    with (
        ProcessSupervisor() as supervisor,
        pytest.raises(BrokerLost, match=r"^/no/java cannot be started: .*No such file") as raised,
    ):
        supervisor.start("a", ["/no/java"], "words")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_parent_ended_by_sigkill_sigterm_or_sighup_leaves_no_process_supervisor_or_folder(
    run: Callable[..., tuple[subprocess.Popen[str], list[str]]], number: signal.Signals
) -> None:
    process, (pid, supervisor, folder, _) = run()
    assert Path(folder).is_dir()
    process.send_signal(number)
    assert is_gone(int(pid))
    assert is_gone(int(supervisor))
    assert no_folder(Path(folder))


def test_ctrl_c_for_the_process_group_leaves_no_process_or_folder(
    run: Callable[..., tuple[subprocess.Popen[str], list[str]]],
) -> None:
    process, (pid, supervisor, folder, _) = run()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10)
    assert is_gone(int(pid))
    assert is_gone(int(supervisor))
    assert not Path(folder).exists(), "the run waits until it is gone"


def test_supervisor_of_a_killed_parent_ends_although_a_forked_child_holds_the_pipe(
    run: Callable[..., tuple[subprocess.Popen[str], list[str]]],
) -> None:
    process, (pid, supervisor, folder, forked) = run("os.fork() or (time.sleep(60), os._exit(0))")
    try:
        process.kill()
        assert is_gone(int(pid))
        assert is_gone(int(supervisor))
        assert no_folder(Path(folder))
        os.kill(int(forked), 0)  # it is there still
    finally:
        os.kill(int(forked), signal.SIGKILL)


def test_terminated_supervisor_ends_processes_and_raises_broker_lost() -> None:
    with ProcessSupervisor() as supervisor:
        pid, folder = supervisor.start("a", ["sleep", "60"], "words"), supervisor.folder
        supervisor._process.send_signal(signal.SIGTERM)
        assert is_gone(pid)
        assert no_folder(folder)
        with pytest.raises(BrokerLost, match=r"the supervisor process of the brokers \(\d+\) has ended"):
            supervisor.code("a")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a promise of Linux's kernel")
def test_killing_the_supervisor_ends_processes_and_the_folder_is_deleted_at_block_end() -> None:
    with ProcessSupervisor() as supervisor:
        pid, folder = supervisor.start("a", ["sleep", "60"], "words"), supervisor.folder
        supervisor._process.kill()
        assert is_gone(pid)
        assert folder.exists()
    assert not folder.exists()


def test_supervised_process_that_ignores_sigterm_is_killed_at_block_end() -> None:
    with ProcessSupervisor() as supervisor:
        pid = supervisor.start("a", ["sh", "-c", "trap '' TERM INT HUP; echo deaf; while :; do sleep 1; done"], "words")
        limit = time.monotonic() + 10
        while not (supervisor.folder / "words").read_text() and time.monotonic() < limit:
            time.sleep(0.01)
        supervisor.signal("a", signal.SIGTERM)
        assert supervisor.wait("a", 0.2) is None
        begun = time.monotonic()
    assert time.monotonic() - begun < 4, "it was not asked a second time but killed"
    assert is_gone(pid)


def test_supervisor_answers_400_requests_from_eight_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ProcessSupervisor() as supervisor, ThreadPoolExecutor(8) as pool:
        supervisor.start("a", ["sleep", "60"], "words")
        assert os.getsid(supervisor._process.pid) == supervisor._process.pid, "Ctrl-C in our terminal does not reach it"
        assert set(pool.map(lambda _: supervisor.code("a"), range(400))) == {None}
