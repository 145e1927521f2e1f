"""Gate the clients in ``ci/drivers``: each in its settings, two at a time, installed in the cache.

A client's driver is copied into the cache and built there, so that an install is made once and the work tree stays clean.
Each gate is a separate process, ``kafka-conformance gate NAME:SETTING``, whose results are read from its stream of events
alone. A client that cannot be installed is reported, and the others go on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
import msgspec

from kafka_conformance.answerers.named_driver import FOLDER, NamedDriver, read_driver
from kafka_conformance.core.events import from_lines
from kafka_conformance.gate.reports.outline import Outline, outline
from kafka_jars.store import default_store

__all__ = ["ROOT", "Gated", "command", "gate_all", "names", "read", "read_driver", "settings", "stage"]

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "ci" / "known-failures"
FAILURES = ROOT / ".kafka-conformance" / "clients"
PARALLEL = 2
_NO_FAILURE = {"agrees", "known", "unsupported", "not judged"}
BUILT = shutil.ignore_patterns("node_modules", ".venv", "lib", "target", "driver", "Cargo.lock", "__pycache__")


@dataclass(frozen=True, slots=True)
class Gated:
    """A client in one setting, with the exit code and the events of its gate.

    ``settings`` are the names of all settings with the same arguments; ``why`` is the last line that the gate printed.
    """

    name: str
    settings: tuple[str, ...]
    driver: NamedDriver
    exit_code: int
    seen: Outline
    why: str = ""

    @property
    def finished(self) -> bool:
        """Whether the gate has finished."""
        return self.seen.ended is not None

    @property
    def failure(self) -> int:
        """The exit code, with 0 for a gate that finished and left out only rules of which the client answers too little."""
        judged = self.finished and {row.verdict for row in self.seen.rows} <= _NO_FAILURE
        return 0 if judged and self.exit_code == 2 else self.exit_code

    @property
    def setting(self) -> str:
        """The first of the settings."""
        return self.settings[0]

    @property
    def version(self) -> str:
        """The version that the driver reports, else the pinned one."""
        return self.seen.began.target.version if self.seen.began else self.driver.version


def names() -> list[str]:
    """Return the names of all clients."""
    return sorted(path.parent.name for path in (ROOT / FOLDER).glob("*/driver.toml"))


def settings(driver: NamedDriver) -> list[tuple[str, ...]]:
    """Return the settings of a client, those with the same arguments as one."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, setting in driver.settings.items():
        groups.setdefault(setting.args, []).append(name)
    return [tuple(group) for group in groups.values()]


def stage() -> Path:
    """Copy the drivers into the cache, beside what was built there; return the folder to gate in."""
    folder = Path(default_store().folder, "clients")
    shutil.copytree(ROOT / FOLDER, folder / FOLDER, ignore=BUILT, dirs_exist_ok=True)
    return folder


def command(name: str, setting: str, events: Path, options: Sequence[str]) -> list[str]:
    """Return the command line of a gate."""
    known = KNOWN / f"{name}-{setting}.toml"
    known_options = ["--known-failures", str(known)] if known.is_file() else []
    outputs = ["--events", str(events), "--failures", str(FAILURES / f"{name}-{setting}"), "--no-github"]
    return [sys.executable, "-m", "kafka_conformance", "gate", f"{name}:{setting}", *known_options, *outputs, *options]


def gate_all(
    targets: Sequence[str], options: Sequence[str], *, parallel: int = PARALLEL, built: bool = False
) -> list[Gated]:
    """Gate these clients (``NAME`` in every setting, or ``NAME:SETTING``); the results are in the order of ``targets``.

    ``built`` clients were gated before, and are not built again.
    """
    folder = stage()
    with ThreadPoolExecutor(parallel) as pool:
        return list(chain.from_iterable(pool.map(lambda target: list(_gate(target, options, folder, built)), targets)))


def _gate(target: str, options: Sequence[str], folder: Path, built: bool) -> Iterator[Gated]:
    name, _, chosen = target.partition(":")
    driver = read_driver(ROOT / FOLDER / name)
    for group in [(chosen,)] if chosen else settings(driver):
        shutil.rmtree(FAILURES / f"{name}-{group[0]}", ignore_errors=True)  # otherwise they would be asked again
        events = FAILURES / f"{name}-{group[0]}.ndjson"
        events.parent.mkdir(parents=True, exist_ok=True)
        events.unlink(missing_ok=True)
        words, where = command(name, group[0], events, options), folder
        if built:
            started = ["--", *driver.command, *driver.settings[group[0]].args]
            words, where = [*words[:4], *words[5:], *started], folder / FOLDER / name
        ended = subprocess.run(words, cwd=where, check=False, capture_output=True, text=True, errors="replace")
        gated = Gated(name, group, driver, ended.returncode, read(events), _last_line(ended.stderr))
        click.echo(
            f"{name}:{group[0]}: exit code {gated.exit_code}{'' if gated.finished else f', {gated.why}'}", err=True
        )
        yield gated


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def read(events: Path) -> Outline:
    """Return the outline of a gate's events; an interrupted stream gives the events up to its end."""
    try:
        return outline(from_lines(events.read_bytes().splitlines()))
    except (OSError, msgspec.MsgspecError):
        return outline([])
