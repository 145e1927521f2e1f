"""Drivers by name: ``ci/drivers/<name>/driver.toml`` says how one is built and started, in which settings.

::

    build = ["go", "build", "-o", "driver", "."]     # run before the driver is started, if there is one
    command = ["./driver"]                           # run in the driver's own folder
    [settings.java]                                  # chosen as <name>:java
    command = ["./driver", "--java"]
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import msgspec

from kafka_conformance.answerers.driver_connection import Command
from kafka_conformance.answerers.driver_process import Child, End, Line, Show, TooLong
from kafka_conformance.answerers.driver_troubles import quoted
from kafka_conformance.errors import BadInput, KitError

__all__ = ["FOLDER", "build", "named_driver", "names"]

FOLDER = Path("ci", "drivers")
FILE = "driver.toml"
BUILD_LIMIT_S = 900


class _Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: tuple[str, ...]


class _Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: tuple[str, ...]
    build: tuple[str, ...] = ()
    settings: dict[str, _Setting] = {}


def names(folder: Path = FOLDER) -> list[str]:
    """The drivers there are, with their settings: ``a``, ``a:java``."""
    found = sorted(path.parent.name for path in folder.glob(f"*/{FILE}"))
    return [named for name in found for named in (name, *(f"{name}:{setting}" for setting in _settings(folder / name)))]


def named_driver(name: str, *, show: Show, folder: Path = FOLDER) -> tuple[Command, Command | None]:
    """How this driver is started, and how it is built first, if it is. Raises BadInput."""
    driver, _, setting = name.partition(":")
    if Path(driver).name != driver or not (folder / driver / FILE).is_file():
        raise BadInput(f"there is no driver {quoted(driver)} in {folder}: {_there(folder)}")
    read = _read(folder / driver / FILE)
    if setting and setting not in read.settings:
        there = ", ".join(f"{driver}:{one}" for one in read.settings) or "it has none"
        raise BadInput(f"the driver {driver} has no setting {quoted(setting)}: {there}")
    words = read.settings[setting].command if setting else read.command
    where = (folder / driver).resolve()
    return Command(words, where, show), Command(read.build, where, show) if read.build else None


def build(command: Command, *, limit_s: float = BUILD_LIMIT_S) -> None:
    """Run a driver's build to its end; what it prints is shown. Raises KitError."""
    try:
        child = Child(command.words, folder=command.folder, show=command.show)
    except (OSError, ValueError) as error:
        raise KitError(f"the driver cannot be built, {command} cannot be started: {quoted(str(error))}") from error
    until = time.monotonic() + limit_s
    try:
        child.end_input()
        while isinstance(heard := child.hear(until), Line | TooLong):
            command.show(quoted(heard.text, 500))
        code = child.code(max(0.0, until - time.monotonic())) if isinstance(heard, End) else None
        if code is not None:
            child.join_words(1)
    finally:
        child.kill()
    if code != 0:
        how = f"did not end within {limit_s:g} s" if code is None else f"ended with exit code {code}"
        words = f": {quoted(child.last_words)}" if child.last_words else ""
        raise KitError(f"the driver cannot be built, {command} {how}{words}")


def _there(folder: Path) -> str:
    try:
        found = names(folder)
    except BadInput as error:
        return str(error)
    return f"there are {', '.join(found)}" if found else "there is none; a command goes after --"


def _settings(driver: Path) -> list[str]:
    return list(_read(driver / FILE).settings)


def _read(path: Path) -> _Driver:
    try:
        read = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), type=_Driver)
    except (OSError, ValueError) as error:  # msgspec's and tomllib's are ValueErrors
        raise BadInput(f"{path} is no driver: {quoted(str(error))}") from error
    if not all((read.command, *(one.command for one in read.settings.values()))):
        raise BadInput(f"{path} is no driver: a command is empty")
    return read
