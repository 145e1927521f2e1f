"""A scratch folder ends with its process, also by kill -9 at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_jars.errors import ScratchUnavailable
from kafka_jars.scratch import ScratchFolder
from kafka_jars.scratch_process import owned_folders
from kafka_jars.store import arriving

HEAD = """
import os, signal, subprocess, sys, time
from pathlib import Path
from kafka_jars import scratch
from kafka_jars.scratch import ScratchFolder
where = Path(sys.argv[1])
def hold():
    print("now", flush=True)
    time.sleep(600)
"""
# What a process does before it is killed, and after hold() returns never.
MOMENTS = {
    "a folder with files": "(ScratchFolder(where=where).path / 'file').write_text('x'); hold()",
    "several, some deleted": "made = [ScratchFolder(where=where) for _ in range(9)]; made[3].delete(); hold()",
    "before it is made": "scratch.Path.mkdir = lambda *_: hold(); ScratchFolder(where=where)",
    "while it is deleted": "scratch.shutil.rmtree = lambda *_, **__: hold(); ScratchFolder(where=where).delete()",
    "a name that is not UTF-8": "ScratchFolder(prefix=os.fsdecode(b'\\xff'), where=where); hold()",
    "after its owner was killed": (
        "ScratchFolder(where=where).delete()\n"
        "os.kill(int(subprocess.check_output(['pgrep', '-P', str(os.getpid()), '-f', 'scratch_process']).split()[0]), 9)\n"
        "time.sleep(0.3); ScratchFolder(where=where); hold()"
    ),
    "a forked child that lives on": "ScratchFolder(where=where)\nif os.fork() == 0: time.sleep(8); os._exit(0)\nhold()",
    "a child that writes on": (
        "made = ScratchFolder(where=where).path\n"
        "subprocess.Popen([sys.executable, '-c', 'import os, sys, time\\nfor n in range(20):"
        ' os.makedirs(sys.argv[1], exist_ok=True); open(sys.argv[1] + f"/{n}", "w"); time.sleep(0.05)\', str(made)])\n'
        "hold()"
    ),
}


@contextmanager
def started(code: str, where: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs this, when it has printed a line."""
    with subprocess.Popen(
        [sys.executable, "-c", HEAD + code, str(where)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        yield process
        process.kill()


def until(condition: Callable[[], bool]) -> None:
    """Wait until this is true; fail after a time that only a hang takes."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.parametrize("moment", MOMENTS)
def test_process_killed_by_sigkill_leaves_no_scratch_folder(tmp_path: Path, moment: str) -> None:
    with started(MOMENTS[moment], tmp_path) as process:
        assert bool(list(tmp_path.iterdir())) == (moment != "before it is made")
        process.send_signal(signal.SIGKILL)
        process.wait()
    if moment == "a child that writes on":
        time.sleep(1.5)  # it has ended by then, and the folder has been deleted once at least
    until(lambda: not list(tmp_path.iterdir()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_sent_only_to_scratch_cleanup_process_is_ignored(tmp_path: Path, number: signal.Signals) -> None:
    with started(MOMENTS["a folder with files"], tmp_path) as process:
        (owner,) = subprocess.check_output(["pgrep", "-P", str(process.pid)]).split()
        time.sleep(0.3)  # it ignores signals once it has started
        os.kill(int(owner), number)
        assert len(list(tmp_path.iterdir())) == 1
    until(lambda: not list(tmp_path.iterdir()))


def test_scratch_folder_is_private_and_deleted_at_the_end_of_the_with_block(tmp_path: Path) -> None:
    with ScratchFolder("some-", tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith("some-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep" / "er").mkdir(parents=True)
    assert list(tmp_path.iterdir()) == []


def test_scratch_folder_below_a_file_raises_scratch_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScratchUnavailable, match=r"a temporary folder cannot be made in .*file \(Not a directory\)"):
        ScratchFolder(where=tmp_path / "file")


def test_owned_scratch_folders_exclude_deleted_folders_and_incomplete_entries() -> None:
    assert owned_folders(b"+/a\0+/b\0-/a\0+/c\0+/half") == {b"/b", b"/c"}


def test_stale_download_folder_is_deleted_and_recent_one_is_kept(tmp_path: Path) -> None:
    old, young = tmp_path / "arriving-old", tmp_path / "arriving-young"
    for folder in (old, young):
        (folder / "deep").mkdir(parents=True)
    os.utime(old, (0, 0))
    with arriving(tmp_path) as made:
        assert set(tmp_path.iterdir()) == {young, made}
