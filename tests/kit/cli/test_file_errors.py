"""The command line with files that cannot be read or written: every command, one line, and never a mistake of the kit."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from permissions import run_obeying

DRIVER = Path(__file__).parents[3] / "kit" / "docs" / "examples" / "driver.py"
GATE = ["gate", "--rules", "murmur2", "--examples", "1"]
TARGET = ["--", sys.executable, str(DRIVER)]

# One process for all commands: to start Python for each takes a minute in all.
_SCRIPT = """
import contextlib, io, json, sys
from kafka_conformance.cli import main
for words in json.loads(sys.argv[1]):
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
        code = main._run(words)
    print(json.dumps([words, code, printed.getvalue()]), flush=True)
"""


def _run(commands: Sequence[Sequence[str]], folder: Path) -> list[tuple[list[str], int, str]]:
    done = run_obeying([sys.executable, "-c", _SCRIPT, json.dumps(commands)], timeout_s=240, cwd=folder)
    assert not done.returncode, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(commands)
    return [(words, code, printed) for words, code, printed in found]


@pytest.fixture
def bad(tmp_path: Path) -> dict[str, str]:
    """Names that cannot be read, each with the reason."""
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file.json").write_text("{}")
    closed.chmod(0)
    os.mkfifo(tmp_path / "fifo.json")
    for name, target in (("endless.json", "/dev/zero"), ("lost.json", "gone"), ("loop.json", "loop.json")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "folder.json").mkdir()
    return {
        "closed/file.json": "Permission denied",
        "fifo.json": "it is a FIFO, not a file",
        "endless.json": "it is a device, not a file",
        "folder.json": "it is a folder, not a file",
        "loop.json": "Too many levels of symbolic links",
        "n" * 300: "File name too long",
    }


def test_command_given_an_unreadable_file_exits_2_with_one_line_that_names_file_and_reason(
    tmp_path: Path, bad: dict[str, str]
) -> None:
    commands = [
        [*command[:-1], name] if command[-1] == "FILE" else [name if word == "FILE" else word for word in command]
        for name in bad
        for command in (
            ["explain", "FILE"],
            ["replay", "FILE"],
            ["report", "FILE"],
            ["freeze", "--add", "FILE"],
            ["certificate", "FILE"],
            ["behaviour", "all", "--check", "FILE"],
            ["cluster", "play", "FILE"],
            [*GATE, "--known-failures", "FILE", *TARGET],
            ["audit", "orders", "--bootstrap-server", "127.0.0.1:1", "--command-config", "FILE"],
        )
    ]
    for words, code, printed in _run(commands, tmp_path):
        (name,) = [each for each in bad if each in words]
        assert code == 2, (words, printed)
        assert printed.count("\n") == 1, (words, printed)
        assert f"{name} cannot be read: {bad[name]}\n" in printed, (words, printed)


LOG = DRIVER.parent / "log" / "orders-0"
EXPORT = ["--partitions", "3", "--engine", "local"]
# Every argument and option that names a file or folder, of the commands that need no Java before they look at it.
NAMED = (
    ["audit", "FILE", "--format", "json", *EXPORT],
    ["audit", "FILE", "--format", "parquet", *EXPORT],
    ["audit", "--segments", "FILE", "--topic", "orders", *EXPORT],
    ["behaviour", "all", "--check", "FILE"],
    ["certificate", "FILE"],
    ["cluster", "play", "FILE"],
    ["diff", "4.3.0", "4.4.0", "--check", "FILE"],
    ["explain", "FILE"],
    ["explain", str(DRIVER.parent / "sticky-switch.json"), "--svg", "FILE"],
    ["freeze", "--add", "FILE"],
    [*GATE, "--known-failures", "FILE", *TARGET],
    ["gate", "./FILE"],
    ["log", "find", "FILE", "0"],
    ["log", "inspect", "FILE"],
    ["log", "inspect", str(LOG), "--html", "FILE"],
    ["replay", "FILE"],
    ["report", "FILE"],
    ["report", "events", "--since", "FILE"],
    ["report", "events", "--junit", "FILE", "--markdown", "FILE", "--html", "FILE", "--badge", "FILE"],
)


def test_unreadable_or_hostile_file_arguments_never_exit_1_or_print_several_error_lines(
    tmp_path: Path, bad: dict[str, str]
) -> None:
    names = [*bad, "", ".", "file/below", "\udcff\x1b[31m", "a\nb", "lost.json"]
    (tmp_path / "file").write_text("{}")
    _run([[*GATE, "--events", "events", *TARGET]], tmp_path)
    named = [[word.replace("FILE", name) for word in words] for words in NAMED for name in names]
    for words, code, printed in _run(named, tmp_path):
        assert "mistake" not in printed, (words, printed)
        assert "the system refused" not in printed, (words, printed)
        assert printed.replace("\n", "").isprintable(), (words, printed)
        assert code in {0, 2}, (words, code, printed)
        assert code == 0 or printed.count("\n") <= 1, (words, printed)


def test_rules_write_or_check_of_unusable_folder_exits_2_before_pages_are_generated(
    tmp_path: Path, bad: dict[str, str]
) -> None:
    names = [name for name in bad if name != "folder.json"]
    script = _SCRIPT.replace(
        "for words", "main.import_module('kafka_conformance.cli.commands.rules').rule_pages = None\nfor words"
    )
    commands = [["rules", option, name] for name in names for option in ("--write", "--check")]
    done = run_obeying([sys.executable, "-c", script, json.dumps(commands)], timeout_s=60, cwd=tmp_path)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for _, code, _ in found] == [2] * len(commands), done.stderr
    assert not [printed for _, _, printed in found if "mistake" in printed or printed.count("\n") != 1]


def test_unwritable_report_file_of_conforming_gate_or_log_inspect_gives_warning_and_exit_0(
    tmp_path: Path, bad: dict[str, str]
) -> None:
    reports = [name for name in bad if name not in ("folder.json", "endless.json")]
    options = ("--html", "--junit", "--markdown", "--badge", "--events")
    commands = [[*GATE, *(word for option in options for word in (option, name)), *TARGET] for name in reports]
    commands += [["log", "inspect", str(DRIVER.parent / "log" / "orders-0"), "--html", name] for name in reports]
    for words, code, printed in _run(commands, tmp_path):
        (name,) = [each for each in reports if each in words]
        wanted = len(options) if "--badge" in words else 1
        assert code == 0, (words, printed)
        assert printed.count(f"kafka-conformance: warning: {name} cannot be written: ") == wanted, (words, printed)
        assert "mistake" not in printed


def test_unwritable_output_file_of_a_command_is_refused_in_one_line(tmp_path: Path, bad: dict[str, str]) -> None:
    names = [name for name in bad if name not in ("folder.json", "endless.json", "fifo.json")]
    commands = [
        [*command, name]
        for name in names
        for command in (
            ["behaviour", "all", "--table"],
            ["schema", "--write"],
            ["certificate", "--shipped", "--write"],
            ["coverage", "--write"],
            ["selftest", "--record"],
            ["diff", "4.3.0", "4.4.0", "--table"],
            ["idempotence", "--table"],
        )
    ]
    for words, code, printed in _run(commands, tmp_path):
        assert code == 2, (words, printed)
        assert f"{words[-1]} cannot be written: " in printed, (words, printed)
        assert printed.count("\n") == 1, (words, printed)


def test_command_except_version_in_a_deleted_working_directory_exits_2_with_one_line(tmp_path: Path) -> None:
    script = "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n" + _SCRIPT
    commands = [["--version"], ["rules"], ["explain", "missing.json"], [*GATE, *TARGET]]
    done = run_obeying([sys.executable, "-c", script, json.dumps(commands)], timeout_s=240, cwd=tmp_path)
    (_, version, _), *found = (json.loads(line) for line in done.stdout.splitlines())
    assert version == 0, done.stderr
    why = "the working directory cannot be read: No such file or directory; change to another"
    assert [(code, printed) for _, code, printed in found] == 3 * [(2, f"kafka-conformance: {why}\n")]
