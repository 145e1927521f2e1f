"""Build the package, check it, install the wheel elsewhere and run the gate from it.

::

    python ci/package.py          # what `tox -e package` runs; two minutes, of which most is pip

In this order: sdist and wheel by ``build``; their metadata by ``twine check --strict``; the files of the wheel by
``check-wheel-contents`` and by :func:`missing_files`; ``pip install`` of the wheel in a separate venv, in a folder outside
the checkout; there a gate of the driver of the tutorial, and commands that read the data of the package. The wheel is left
in ``dist``. Exits with 1 at the first step that fails, and names it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PACKAGES = {"reference": "kafka_reference", "kit": "kafka_conformance", "jars": "kafka_jars"}
DRIVER = ROOT / "kit" / "docs" / "examples" / "driver.py"
QUICK = (
    ("--version",),
    ("rules",),
    ("certificate", "--shipped", "--markdown"),
    ("sample", "murmur2"),
    ("behaviour", "producer-partition", "--kafka", "2.8.2", "4.4.0"),
    ("delivery", "--acks", "1", "--lose-response", "2", "--explain"),
)
"""Commands of the light install that read the data of the package; each has to exit with 0."""


def main() -> None:
    """Take every step; exits with 1 at the first that fails."""
    begun = time.monotonic()
    shutil.rmtree(DIST, ignore_errors=True)
    run("build", sys.executable, "-m", "build", "--quiet", "--outdir", str(DIST), str(ROOT))
    sdist, wheel = (next(DIST.glob(pattern)) for pattern in ("*.tar.gz", "*.whl"))
    run("twine check", sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
    run("check-wheel-contents", str(Path(sys.executable).parent / "check-wheel-contents"), str(wheel))
    with zipfile.ZipFile(wheel) as opened:
        wrong = missing_files(set(opened.namelist())) + foreign_files(opened.namelist())
    if wrong:
        fail("files of the wheel", "\n".join(wrong))
    built = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-package-") as name:
        installed = try_installed(wheel, Path(name))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; built and checked in {built - begun:.0f} s, installed in "
          f"{installed - built:.0f} s, gate and commands in {time.monotonic() - installed:.0f} s")  # fmt: skip


def try_installed(wheel: Path, folder: Path) -> float:
    """Install the wheel in this folder, gate the driver of the tutorial, run commands; return when it was installed."""
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python, command = str(scripts / "python"), str(scripts / "kafka-conformance")
    run("pip install", python, "-m", "pip", "install", "-q", str(wheel), folder=folder)
    installed = time.monotonic()
    shutil.copy(DRIVER, folder)
    run("gate", command, "gate", "--seed", "1", "--", python, "driver.py", folder=folder, show=True)
    for arguments in QUICK:
        run(" ".join(arguments), command, *arguments, folder=folder)
    return installed


def missing_files(names: set[str]) -> list[str]:
    """Return what the checkout has in its packages and the wheel lacks: cases, Java sources, styles, the certificate."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True)
    needed = (path.partition("/") for path in listed.stdout.splitlines())
    inside = [rest for folder, _, rest in needed if rest.startswith(f"{PACKAGES[folder]}/")]
    if not inside:
        fail("files of the wheel", "git lists no file of the packages")
    return [f"missing: {path}" for path in inside if path not in names]


def foreign_files(names: list[str]) -> list[str]:
    """Return what is in the wheel and of no package: tests, docs, caches."""
    packages = (*(f"{package}/" for package in PACKAGES.values()), "kafka_conformance-")
    return [f"foreign: {name}" for name in names if not name.startswith(packages) or "__pycache__" in name]


def run(step: str, *command: str, folder: Path | None = None, show: bool = False) -> None:
    """Run one step without the checkout on the path of Python; exits with 1 and its output if it fails."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=folder or ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=900, check=False)  # fmt: skip
    if done.returncode:
        fail(step, done.stdout)
    print(f"{step}: ok", flush=True)
    if show:
        print(done.stdout, flush=True)


def fail(step: str, output: str) -> None:
    """Print why a step failed; exits with 1."""
    sys.exit(f"{output}\npackage: {step} failed")


if __name__ == "__main__":
    main()
