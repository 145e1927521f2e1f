"""``kill -9`` of the client, the proxy or the broker at any moment: exit code 2 in time, and nothing is left."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.wire.client import Connection, parse_address

ADAPTER = Path(__file__).parents[2] / "ci/adapters/confluent_kafka_adapter.py"
SEED, KILLS, PARALLEL = 20261130, 6, 3
LIMIT_S, GONE_S = 180.0, 60.0
"""How long a run may take on a machine with nothing to spare: its script has 15 s."""
SCRIPT_S = 15
MARK = "KAFKA_CONFORMANCE_TEST_MARK"


class Run:
    """A gate of one client, whose processes have a mark in their environment, and whose temporary folder is its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        folder.mkdir()
        self.mark, self.scratch = f"{MARK}={secrets.token_hex(8)}", folder
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kafka_conformance", "gate", "client", "--run", "consume/resumed",
             "--timeout", str(SCRIPT_S), *words, "--", sys.executable, str(ADAPTER)],
            env={**os.environ, name: value, "TMPDIR": str(folder)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def marked(self, *words: str) -> list[int]:
        """Return the processes of this run that have one of the words in their command line, or all."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command, environment = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
            except OSError:
                continue
            if self.mark.encode() in environment.split(b"\0") and (
                not words or any(w.encode() in command for w in words)
            ):
                found.append(int(process.name))
        return found

    def adapters(self) -> list[int]:
        """Return the processes that run the adapter, without the kit, which has its name as an argument."""
        return [pid for pid in self.marked(ADAPTER.name) if pid != self.process.pid]

    def brokers(self) -> list[int]:
        return self.marked("kafka.Kafka")

    def kit(self) -> list[int]:
        return [self.process.pid]

    def kill(self, first: Callable[[], list[int]], found: Callable[[], list[int]], after_s: float) -> bool:
        """Kill processes this long after others were first seen; return whether they were still there."""
        while not first() and self.process.poll() is None:
            time.sleep(0.05)
        time.sleep(after_s)
        killed = False
        for pid in found() if self.process.poll() is None else []:
            os.kill(pid, signal.SIGKILL)
            killed = True
        return killed

    def left(self) -> list[str]:
        """Return what is left of the run after a while: processes and files."""
        until = time.monotonic() + GONE_S
        while (left := [*map(str, self.marked()), *map(str, self.scratch.iterdir())]) and time.monotonic() < until:
            time.sleep(0.2)
        return left


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_broker("4.4.0", engine="jars") as started:
        yield started.bootstrap


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("victim", ["client", "broker", "kit"])
def test_client_gate_leaves_no_process_or_file_after_sigkill_of_client_broker_or_gate(
    address: str, tmp_path: Path, victim: str
) -> None:
    draw = random.Random(f"{SEED} {victim}")
    # Half of the brokers and kits are killed while they start, by the moment, and half while the client runs.
    moments = [draw.uniform(0, 4 if victim == "client" or number % 2 else 15) for number in range(KILLS)]
    words = ("--to", address) if victim == "client" else ()

    def killed(number: int) -> tuple[bool, int, str, list[str]]:
        run = Run(tmp_path / str(number), *words)
        found = {"client": run.adapters, "broker": run.brokers, "kit": run.kit}[victim]
        try:
            was_killed = run.kill(run.adapters if number % 2 else found, found, moments[number])
            output, _ = run.process.communicate(timeout=LIMIT_S)
        finally:
            run.process.kill()
        return was_killed, run.process.returncode, output, run.left()

    print(f"seed {SEED}")
    with ThreadPoolExecutor(PARALLEL) as pool:
        outcomes = list(pool.map(killed, range(KILLS)))
    for moment, (was_killed, code, output, left) in zip(moments, outcomes, strict=True):
        print(f"{victim} after {moment:.1f} s: killed {was_killed}, exit code {code}, left {left}: {output[-200:]!r}")
        # A client or broker that had done its work makes no difference, nor a kit that had ended.
        killed_code = -signal.SIGKILL if victim == "kit" else 2
        assert code == (killed_code if was_killed else 0)
        assert left == []
    assert sum(was_killed for was_killed, *_ in outcomes) >= KILLS - 1
    if victim == "client":
        with Connection(*parse_address(address), 10.0) as connection:
            topics = connection.ask("Metadata", 1, {"topics": None})["topics"]
        assert [one["name"] for one in topics if one["name"].startswith("kafka-conformance")] == []
