"""Drivers by name: the folder, its settings, its build."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafka_conformance.answerers.driver.connection import Command
from kafka_conformance.answerers.named_driver import build, named_driver, names
from kafka_conformance.core.errors import BadInput, KitError


def show(_: str) -> None:
    pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("one", 'command = ["./one"]'),
        (
            "two",
            'command = ["./two"]\nbuild = [["make"]]\nsettings = {default.args = ["--crc32"], java.args = ["--java"]}',
        ),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "driver.toml").write_text(text)
    (tmp_path / "three").mkdir()
    return tmp_path


def test_named_drivers_are_listed_with_settings_and_resolved_to_build_and_start_commands(folder: Path) -> None:
    assert names(folder) == ["one", "two", "two:default", "two:java"]
    assert named_driver("one", show=show, folder=folder) == (Command(("./one",), folder / "one", show), ())
    steps = (Command(("make",), folder / "two", show),)
    for name, word in (("two", "--crc32"), ("two:default", "--crc32"), ("two:java", "--java")):
        started = Command(("./two", word), folder / "two", show)
        assert named_driver(name, show=show, folder=folder) == (started, steps)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("three", "unknown driver three in .*: there are one, two, two:default, two:java$"),
        ("../one", r"unknown driver \.\./one in "),
        ("\x1b[2J", r"unknown driver \\x1b\[2J in "),
        ("", "unknown driver "),
        ("two:jave", "the driver two has no setting jave: two:default, two:java$"),
        ("one:java", "the driver one has no setting java: it has none"),
    ],
)
def test_unknown_driver_or_setting_name_raises_bad_input_that_lists_the_known_names(
    folder: Path, name: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        named_driver(name, show=show, folder=folder)


def test_named_driver_outside_a_checkout_raises_bad_input_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="drivers with a name are in a checkout of the repository; a command goes after --"
    ):
        named_driver("one", show=show, folder=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("command = ", "is not a driver: "),
        ('command = "./one"', "is not a driver: Expected `array`, got `str` - at"),
        ("command = []", "is not a driver: a command is empty"),
        ('command = ["x"]\nbuild = [[]]', "is not a driver: a command is empty"),
        ('command = ["x"]\n[settings.a]\ncommand = []', "is not a driver: Object"),
        ('comand = ["x"]', "is not a driver: Object"),
    ],
)
def test_malformed_driver_toml_raises_bad_input_with_the_reason(folder: Path, text: str, why: str) -> None:
    (folder / "one" / "driver.toml").write_text(text)
    with pytest.raises(BadInput, match=why):
        named_driver("one", show=show, folder=folder)
    with pytest.raises(BadInput, match=why):
        named_driver("nobody", show=show, folder=folder)


def make(code: str, shown: list[str], limit_s: float = 30) -> None:
    build(Command((sys.executable, "-c", code), show=shown.append), limit_s=limit_s)


def test_driver_build_output_is_shown_sanitized() -> None:
    shown: list[str] = []
    make("import sys; print('one\\x1b[2J', flush=True); print('two', file=sys.stderr)", shown)
    assert sorted(shown) == [r"one\x1b[2J", "two"]


@pytest.mark.parametrize(
    ("code", "limit_s", "why"),
    [
        ("raise SystemExit('no compiler')", 30, "ended with exit code 1: no compiler$"),
        ("import time; time.sleep(600)", 0.3, "did not end within 0.3 s$"),
    ],
)
def test_driver_build_that_fails_or_times_out_raises_kit_error_with_the_reason(
    code: str, limit_s: float, why: str
) -> None:
    with pytest.raises(KitError, match=f"^the driver cannot be built, .* {why}"):
        make(code, [], limit_s)


def test_driver_build_command_that_cannot_be_started_raises_kit_error() -> None:
    with pytest.raises(KitError, match="no-such-make cannot be started: "):
        build(Command(("no-such-make",)))
