"""The run of the light install's tests as another user: who that is, what it may read, and which tests are left out."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import light_tests
import pytest
from light_tests import LEFT_OUT, ROOT, TESTS, fault, make_readable, run_as_other

IS_ROOT = os.geteuid() == 0
ENTRY = next(iter(LEFT_OUT))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of which every parent lets everybody in, as those of ``tmp_path`` do not."""
    with tempfile.TemporaryDirectory(prefix="kc-light-") as name:
        made = Path(name)
        make_readable(made)
        (made / "tree").mkdir(mode=0o755)
        yield made


@pytest.mark.skipif(not IS_ROOT, reason="only root can start a process of another user")
def test_light_tests_started_by_root_run_as_user_65534_without_supplementary_groups(folder: Path) -> None:
    ran = run_as_other(["sh", "-c", "id -u; id -G"], folder, capture=True)
    assert ran.stdout == "65534\n65534\n"


@pytest.mark.skipif(not IS_ROOT, reason="root may write everywhere, so only root's own run differs")
def test_unprivileged_user_cannot_write_to_the_checkout(folder: Path) -> None:
    planted = "touch planted && echo written"
    assert "ermission denied" in run_as_other(["sh", "-c", planted], folder, capture=True).stdout
    assert not (folder / "tree" / "planted").exists()
    assert run_as_other(["sh", "-c", planted], folder, folder / "home", capture=True).stdout == "written\n"


@pytest.mark.skipif(not IS_ROOT, reason="a file of root's is needed")
def test_unprivileged_user_cannot_read_a_file_of_mode_600(folder: Path) -> None:
    (folder / "tree" / "secret").write_text("read")
    (folder / "tree" / "secret").chmod(0o600)
    ran = run_as_other(["sh", "-c", "cat secret 2>&1"], folder, capture=True)
    assert (ran.returncode, "ermission denied" in ran.stdout) == (1, True)
    (folder / "tree" / "secret").chmod(0o644)
    assert run_as_other(["cat", "secret"], folder, capture=True).stdout == "read"


def test_unprivileged_user_has_writable_home_and_tmpdir_and_a_minimal_environment(folder: Path) -> None:
    ran = run_as_other(["sh", "-c", 'touch "$HOME/a" "$TMPDIR/b" && env'], folder, capture=True)
    assert ran.returncode == 0
    names = {line.partition("=")[0] for line in ran.stdout.splitlines()} - {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE"}


def test_child_of_unprivileged_user_inherits_ignored_sighup(folder: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ran = run_as_other(["grep", "SigIgn", "/proc/self/status"], folder, capture=True)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert int(ran.stdout.split()[1], 16) & 1 << (signal.SIGHUP - 1)


def test_copied_checkout_is_readable_for_all_and_has_only_tracked_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "checkout"
    (source / "below").mkdir(parents=True)
    for name, mode in (("below/closed.py", 0o600), ("run", 0o700), ("unlisted", 0o644), ("deleted", 0o644)):
        (source / name).write_text(name)
        (source / name).chmod(mode)
    monkeypatch.setattr(light_tests, "ROOT", source)
    subprocess.run(["git", "init", "-q"], cwd=source, check=True, timeout=60)
    subprocess.run(["git", "add", "below", "run", "deleted"], cwd=source, check=True, timeout=60)
    (source / "deleted").unlink()
    light_tests.copy_tree(tmp_path / "copy")
    modes = {
        str(each.relative_to(tmp_path / "copy")): stat.S_IMODE(each.stat().st_mode)
        for each in (tmp_path / "copy").rglob("*")
    }
    assert modes == {"below": 0o755, "below/closed.py": 0o644, "run": 0o755}


def test_selected_and_excluded_light_tests_exist() -> None:
    assert [name for name in TESTS if not (ROOT / name).exists()] == []
    for entry in LEFT_OUT:
        path, _, function = entry.partition("::")
        assert path.startswith(TESTS)
        assert f"def {function.partition('[')[0]}" in (ROOT / path).read_text(encoding="utf-8")


def test_light_test_requirements_are_taken_from_the_project_metadata() -> None:
    assert [re.split(r"[\[>]", each)[0] for each in light_tests.requirements()] == list(light_tests.NEEDED)


@pytest.mark.parametrize(
    "output", ["E   ModuleNotFoundError: No module named 'numpy'", "this command needs numpy: pip"]
)
def test_excluded_light_test_that_fails_because_numpy_is_missing_is_accepted(output: str) -> None:
    assert fault(ENTRY, 1, f"\x1b[31m{output}\x1b[0m") == ""


def test_excluded_light_test_that_passes_is_reported() -> None:
    assert fault(ENTRY, 0, "3 passed") == f"{ENTRY} passes without numpy: take it out of LEFT_OUT"


def test_excluded_light_test_that_fails_for_another_reason_is_reported() -> None:
    assert fault(ENTRY, 1, "No module named 'pyarrow'") == (
        f"{ENTRY} fails, and not for want of numpy:\nNo module named 'pyarrow'"
    )


def test_parallel_light_test_runs_use_separate_temporary_folders(folder: Path) -> None:
    first, second = (light_tests.pytest_command("python", folder)[-1].removeprefix("--basetemp=") for _ in "ab")
    assert first != second
    for own in (first, second):  # The other user makes it.
        assert run_as_other(["mkdir", own], folder, capture=True).returncode == 0


def test_light_tests_exit_with_a_message_if_another_user_can_execute_no_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(command: list[str], *_: object, **__: object) -> None:
        raise PermissionError(command[0])

    monkeypatch.setattr(light_tests, "run_as_other", fails)
    with pytest.raises(SystemExit, match=r"65534 can run none of .*/usr/bin/python3 .*outside root's home"):
        light_tests.interpreter(folder)
