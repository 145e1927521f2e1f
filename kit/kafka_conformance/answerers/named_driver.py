"""Drivers by name: ``ci/drivers/<name>/driver.toml`` says whose client it drives, how it is built, started and set.

::

    client = "sarama"                                # what it drives, where that is published, and which version of it
    language = "go"
    registry = "Go modules"
    version = "1.61.1"
    build = [["go", "build", "-o", "driver", "."]]   # run in the driver's own folder, one after another, before it starts
    command = ["./driver"]                           # run there too
    sequences = "no idempotent producer"             # why its sequence numbers are not asked, if they are not
    [settings.default]                               # what <name> and <name>:default mean
    args = []                                        # what comes after the command
    [settings.java]                                  # <name>:java
    args = ["java"]
    chosen_by = "NewMurmur2Partitioner"              # what a user of the client sets
    without_key = "random, for each record"          # where records without a key go
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import msgspec

from kafka_conformance.answerers.driver.connection import Command
from kafka_conformance.answerers.driver.process import Child, End, OutputLine, Show, TooLong
from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.core.decoding import UNREADABLE_TOML
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import entries, is_file, is_folder, read_text
from kafka_conformance.core.suggestion import did_you_mean

__all__ = ["DEFAULT", "FOLDER", "NamedDriver", "Setting", "build", "named_driver", "names", "read_driver"]

FOLDER = Path("ci", "drivers")
FILE = "driver.toml"
DEFAULT = "default"
BUILD_LIMIT_S = 900


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to set a client.

    ``args`` come after the driver's command. ``chosen_by`` is what a user of the client sets, empty for nothing;
    ``without_key`` is where records without a key go: both are for the page of the clients.
    """

    args: tuple[str, ...] = ()
    chosen_by: str = ""
    without_key: str = ""


class NamedDriver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ``driver.toml``; ``sequences`` says why the client's sequence numbers are not asked."""

    command: tuple[str, ...]
    build: tuple[tuple[str, ...], ...] = ()
    settings: dict[str, Setting] = {}
    client: str = ""
    language: str = ""
    registry: str = ""
    version: str = ""
    sequences: str = ""


def names(folder: Path = FOLDER) -> list[str]:
    """The drivers there are, with their settings: ``a``, ``a:java``."""
    found = [one.name for one in entries(folder) if is_file(one / FILE)] if is_folder(folder) else []
    return [
        named
        for name in found
        for named in (name, *(f"{name}:{setting}" for setting in read_driver(folder / name).settings))
    ]


def named_driver(name: str, *, show: Show, folder: Path = FOLDER) -> tuple[Command, tuple[Command, ...]]:
    """How this driver is started, and how it is built first. Raises BadInput."""
    driver, _, setting = name.partition(":")
    if Path(driver).name != driver or not is_file(folder / driver / FILE):
        raise BadInput(f"unknown driver {quoted(driver)} in {folder}: {_hint(driver, folder)}")
    read = read_driver(folder / driver)
    if setting and setting not in read.settings:
        there = ", ".join(f"{driver}:{one}" for one in read.settings) or "it has none"
        raise BadInput(f"the driver {driver} has no setting {quoted(setting)}: {there}")
    words = read.command + read.settings.get(setting or DEFAULT, Setting()).args
    where = (folder / driver).resolve()
    return Command(words, where, show), tuple(Command(step, where, show) for step in read.build)


def build(command: Command, *, limit_s: float = BUILD_LIMIT_S) -> None:
    """Run a driver's build to its end; what it prints is shown. Raises KitError."""
    try:
        child = Child(command.words, folder=command.folder, show=command.show)
    except (OSError, ValueError) as error:
        raise KitError(f"the driver cannot be built, {command} cannot be started: {quoted(str(error))}") from error
    until = time.monotonic() + limit_s
    try:
        child.end_input()
        while isinstance(received := child.receive(until), OutputLine | TooLong):
            command.show(quoted(received.text, 500))
        code = child.code(max(0.0, until - time.monotonic())) if isinstance(received, End) else None
        if code is not None:
            child.join_stderr(1)
    finally:
        child.kill()
    if code != 0:
        how = f"did not end within {limit_s:g} s" if code is None else f"ended with exit code {code}"
        words = f": {quoted(child.last_error_line)}" if child.last_error_line else ""
        raise KitError(f"the driver cannot be built, {command} {how}{words}")


def _hint(driver: str, folder: Path) -> str:
    try:
        found = names(folder)
    except BadInput as error:
        return str(error)
    if not found:
        return "drivers with a name are in a checkout of the repository; a command goes after --"
    return did_you_mean(driver, found, f"there are {', '.join(found)}")


def read_driver(driver: Path) -> NamedDriver:
    """The ``driver.toml`` in this folder. Raises BadInput."""
    path = driver / FILE
    try:
        read = msgspec.convert(tomllib.loads(read_text(path)), type=NamedDriver)
    except UNREADABLE_TOML as error:
        raise BadInput(f"{path} is not a driver: {quoted(str(error))}") from error
    if not all((read.command, *read.build)):
        raise BadInput(f"{path} is not a driver: a command is empty")
    return read
