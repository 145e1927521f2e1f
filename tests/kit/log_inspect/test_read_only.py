"""``log inspect`` and ``log find`` open files for reading only, and change nothing: Python reports every attempt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from log_partitions import healthy

CODE = """
import os, sys
from kafka_conformance.cli.main import app

CHANGES = {"os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink",
           "os.truncate", "os.utime", "shutil.move", "shutil.rmtree"}

def hook(event, arguments):
    if event == "open" and str(arguments[0]).startswith(sys.argv[1]):
        opened.append(arguments[0])
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
            changed.append((event, *map(str, arguments)))
    elif event in CHANGES:
        changed.append((event, *map(str, arguments)))

opened, changed = [], []
sys.addaudithook(hook)
for words in (["inspect", sys.argv[1], "--records", "--json"], ["find", sys.argv[1], "77"],
              ["find", sys.argv[1], "--time", "2023-11-14"]):
    app.main(["log", *words], standalone_mode=False)
if sys.argv[2:]:
    open(sys.argv[1] + "/00000000000000000000.log", "ab").close()
print(len(opened), changed)
"""


def run(folder: Path, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", CODE, str(folder), *words], capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stdout.splitlines()[-1]


def test_log_inspect_and_find_open_no_file_for_writing_and_change_nothing(tmp_path: Path) -> None:
    folder = healthy(tmp_path / "orders-0").folder
    opened, _, changed = run(folder).partition(" ")
    assert int(opened) >= len(list(folder.iterdir()))
    assert changed == "[]"
    assert "open" in run(folder, "break it")
