"""However the kit ends, at any moment of a history, neither process nor folder is left; also while a broker is stopped."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import accept_interrupts, descendants, nothing_left

from kafka_conformance.replication.script_json import write_script
from kafka_reference.cluster.script import ClusterScript, Continue, Kill, Pause, Produce, Settle, Start

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SEED = random.SystemRandom().randrange(2**32)
SCRIPT = ClusterScript(
    (
        Produce(1), Settle(), Pause(3), Settle(), Kill(2), Settle(), Start(2), Settle(), Continue(3), Settle(), Pause(1),
        Settle(),
    ),
)  # fmt: skip
_LIMIT_S = 240


@pytest.fixture
def rooms(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "rooms").mkdir()
    return os.environ | {"TMPDIR": str(tmp_path / "rooms")}


ON_KRAFT, WITH_ZOOKEEPER = ("4.4.0",), ("3.9.2", "--zookeeper")


@pytest.fixture(params=[ON_KRAFT])
def kit(request: pytest.FixtureRequest, tmp_path: Path, rooms: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """``cluster play``, in a new process group."""
    file = tmp_path / "script.json"
    file.write_text(write_script(SCRIPT), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_conformance", "cluster", "play", str(file), "--kafka", *request.param],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=rooms, cwd=tmp_path,
        start_new_session=True, preexec_fn=accept_interrupts,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def await_state(kit: subprocess.Popen[str], seen: Callable[[list[int]], bool]) -> list[int]:
    """Wait until the processes under the kit are in a state, and return them."""
    limit = time.monotonic() + _LIMIT_S
    while time.monotonic() < limit and kit.poll() is None:
        if seen(pids := descendants(kit.pid)):
            return pids
        time.sleep(0.05)
    raise AssertionError(f"the kit did not come to this state: exit code {kit.poll()}")


def is_stopped(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


@pytest.mark.parametrize("kit", [ON_KRAFT, WITH_ZOOKEEPER], ids=["kraft", "zookeeper"], indirect=True)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl-c"])
def test_sigkill_or_sigint_of_cluster_play_with_paused_broker_leaves_no_process_or_folder(
    kit: subprocess.Popen[str], rooms: dict[str, str], how: signal.Signals
) -> None:
    pids = await_state(kit, lambda found: any(map(is_stopped, found)))
    kit.send_signal(how)
    kit.communicate(timeout=60)
    assert nothing_left(rooms, pids)
    assert kit.returncode == (-how if how == signal.SIGKILL else 2)


@pytest.mark.parametrize("number", range(4))
def test_cluster_play_killed_at_a_random_moment_leaves_no_process_or_folder(
    kit: subprocess.Popen[str], rooms: dict[str, str], number: int
) -> None:
    after_s = random.Random(SEED + number).uniform(0.5, 60.0)
    print(f"seed {SEED}, moment {number}: {after_s:.2f} s")
    pids = list[int]()
    limit = time.monotonic() + after_s
    while time.monotonic() < limit and kit.poll() is None:
        time.sleep(0.02)
    pids = descendants(kit.pid)
    kit.kill()
    kit.communicate(timeout=60)
    assert nothing_left(rooms, pids), f"seed {SEED}, moment {number}"
