"""Run tests of the light install once as another user, who may neither write to the checkout nor read root's files.

::

    python ci/light_tests.py      # what CI runs; root's runs are as uid 65534, those of other users as themselves

Copies what git lists to a folder that all users may read, makes a venv there, installs the copy without extras and what its
tests import, and runs :data:`TESTS` in it. Children have no supplementary groups, SIGHUP ignored as under ``nohup``,
``FORCE_COLOR=1``, a separate home folder, and no other variable of this process.

:data:`LEFT_OUT` are tests below these that need an extra. Each is run too, and has to fail for want of the module named: a
test that needs it no longer is put back by the change that frees it. Exits with 1 if a test or such a check fails.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
OTHER_USER = 65534
LIMIT_S = 900
NEEDED = ("jsonschema", "markdown-it-py", "pytest", "pytest-timeout", "pytest-xdist", "pyyaml")
"""What tests import, of the extra ``test``."""

TESTS = (
    "tests/kit/answerers/driver",
    "tests/kit/cli",
    "tests/kit/core",
    "tests/kit/gate/reports",
    "tests/kit/gate/test_known_failures.py",
    "tests/kit/log_inspect",
    "tests/kit/reports",
    "tests/kit/test_file_access.py",
    "tests/reference/test_arguments.py",
    "tests/reference/test_errors.py",
    "tests/reference/test_public.py",
)
"""What opens files, starts processes and prints."""

LEFT_OUT = {
    "tests/kit/cli/commands/test_audit.py": "numpy",
    "tests/kit/cli/commands/test_gate_broker.py": "kafka",
    "tests/kit/cli/commands/test_gate_client.py": "kafka",
    "tests/kit/cli/commands/test_join.py": "pyarrow",
    "tests/kit/cli/commands/test_skew.py": "numpy",
    "tests/kit/cli/commands/test_verify.py": "numpy",
    "tests/kit/cli/test_audit_exports.py": "pyarrow",
    "tests/kit/cli/test_audit_segments.py": "pyarrow",
    "tests/kit/cli/test_audit_source.py": "pyarrow",
    "tests/kit/cli/test_effects.py": "numpy",
    "tests/kit/core/test_decoding.py": "numpy",
    "tests/kit/core/test_sources.py": "numpy",
    "tests/kit/log_inspect/test_bounds.py": "numpy",
    "tests/reference/test_public.py::test_docstring_examples_of_every_module_pass[kafka_reference.bulk]": "numpy",
    "tests/reference/test_public.py::test_docstring_examples_exist_in_the_main_modules": "numpy",
}
"""Files and functions that need a module of an extra."""


def main() -> None:
    """Run the tests; exits with 1 if one fails, or one that is left out does not lack its module."""
    begun = time.monotonic()
    os.umask(0o022)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with tempfile.TemporaryDirectory(prefix="kc-light-") as name:
        folder = Path(name)
        make_readable(folder)
        copy_tree(folder / "tree")
        python = install(folder)
        installed = time.monotonic()
        left_out = [f"--{'deselect' if '::' in each else 'ignore'}={each}" for each in LEFT_OUT]
        workers = ("-n", "auto", "--dist", "worksteal")
        code = run_as_other([*pytest_command(python, folder), *workers, *left_out, *TESTS], folder).returncode
        tested = time.monotonic()
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            faults = list(filter(None, pool.map(lambda entry: tried_left_out(entry, python, folder), LEFT_OUT)))
    print(f"uid {OTHER_USER if os.geteuid() == 0 else os.geteuid()}: installed in {installed - begun:.0f} s, tested in "
          f"{tested - installed:.0f} s; {len(LEFT_OUT) - len(faults)} of {len(LEFT_OUT)} left out lack their module, "
          f"{time.monotonic() - tested:.0f} s", flush=True)  # fmt: skip
    if faults or code:
        sys.exit("\n".join([*faults, *([f"light tests: pytest ended with {code}"] if code else [])]))


def make_readable(folder: Path) -> None:
    """Let all users into this folder, and give the other user a home and a folder for temporary files in it."""
    folder.chmod(0o755)
    for name in ("home", "tmp"):
        (folder / name).mkdir()
        if os.geteuid() == 0:
            os.chown(folder / name, OTHER_USER, OTHER_USER)


def copy_tree(target: Path) -> None:
    """Copy the present files that git lists; all users may read the copies, whatever the checkout's modes."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = ROOT / name, target / name
        if source.is_file():  # One that is deleted and not yet committed is listed too.
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            copy.chmod(0o755 if os.access(source, os.X_OK) and source.stat().st_mode & 0o111 else 0o644)


def install(folder: Path) -> str:
    """Make a venv with the light install of the copy; return its Python."""
    python = folder / "venv" / "bin" / "python"
    begin([interpreter(folder), "-m", "venv", str(folder / "venv")])
    begin([str(python), "-m", "pip", "install", "-q", str(folder / "tree"), *requirements()])
    return str(python)


def begin(command: Sequence[str]) -> None:
    """Run a step before the tests, as this user; exits with 1 and its output if it fails."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S,
                          check=False)  # fmt: skip
    if done.returncode:
        sys.exit(f"{done.stdout}\nlight tests: {' '.join(command[:5])} failed")


def interpreter(folder: Path) -> str:
    """Return a Python of at least 3.11 that the other user may run: one below root's home may not be."""
    candidates = (os.path.realpath(sys.executable), "/usr/local/bin/python3", "/usr/bin/python3")
    check = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    for candidate in candidates:
        try:
            if not run_as_other([candidate, "-c", check], folder, folder, capture=True).returncode:
                return candidate
        except OSError:
            continue  # It is not there, or not for this user.
    return sys.exit(f"light tests: uid {OTHER_USER} can run none of {', '.join(candidates)} as Python 3.11 with venv; "
                    "install one outside root's home")  # fmt: skip


def requirements() -> list[str]:
    """Return what the tests import, with the versions of ``pyproject.toml``."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    found = {re.split(r"[\[><=~ ]", each)[0]: each for each in extras["test"]}
    return [found[name] for name in NEEDED]


def pytest_command(python: str, folder: Path) -> list[str]:
    """Return how pytest is started in a folder that it may not write to.

    Each run has a separate folder for temporary files: a run that ends removes old folders of ``pytest-of-USER``, and
    another that lists them meanwhile ends with an error.
    """
    own = Path(tempfile.mkdtemp(dir=folder, prefix="run-"))
    if os.geteuid() == 0:
        os.chown(own, OTHER_USER, OTHER_USER)
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={own / 'tmp'}"]


def run_as_other(
    command: Sequence[str], folder: Path, cwd: Path | None = None, *, capture: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command in the copy: if this user is root, as the other user without groups, else as this one."""
    env = {
        "PATH": os.pathsep.join([str(folder / "venv" / "bin"), "/usr/bin", "/bin"]), "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"), "LANG": "C.UTF-8", "FORCE_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    root = os.geteuid() == 0
    return subprocess.run(
        command, cwd=cwd or folder / "tree", env=env, text=True, timeout=LIMIT_S, check=False,
        user=OTHER_USER if root else None, group=OTHER_USER if root else None, extra_groups=[] if root else None,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.STDOUT if capture else None,
    )  # fmt: skip


def tried_left_out(entry: str, python: str, folder: Path) -> str:
    """Run tests that are left out until the first fails; return what is wrong if that is not for want of their module."""
    done = run_as_other([*pytest_command(python, folder), "-x", entry], folder, capture=True)
    return fault(entry, done.returncode, done.stdout)


def fault(entry: str, code: int, output: str) -> str:
    """Return "" if a run failed because the module of this entry is missing, else what to do."""
    missing = LEFT_OUT[entry]
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    if code == 0:
        return f"{entry} passes without {missing}: take it out of LEFT_OUT"
    if not re.search(rf"No module named '{missing}|needs? {missing}:", plain):
        return f"{entry} fails, and not for want of {missing}:\n{output}"
    return ""


if __name__ == "__main__":
    main()
