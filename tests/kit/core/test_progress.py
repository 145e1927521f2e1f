"""Progress: a bar on a terminal, else a line now and then; always on standard error, which is not for machines."""

from __future__ import annotations

import sys
import time

import pytest

from kafka_conformance.core.progress import steps


@pytest.fixture(autouse=True, params=[{}, {"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "1"}])
def colours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes rich take a pipe for a terminal; CI sets it."""
    for name, value in request.param.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_progress_of_a_short_run_prints_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with steps("starting", 3) as progress:
        for _ in range(3):
            clock[0] += 1
            progress.doing("something")
            progress.advance()
    assert capsys.readouterr() == ("", "")


def test_progress_of_a_long_run_prints_lines_to_stderr(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with steps("starting", 40) as progress:
        for each in range(4):
            progress.doing(f"part {each}")
            clock[0] += 3
            progress.advance(10)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["part 1: 20 of 40, 6 s", "part 3: 40 of 40, 12 s"]


def test_progress_on_a_terminal_draws_a_bar_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with steps("starting", 2) as progress:
        progress.doing("murmur2 in 4.4.0")
        progress.advance()
        progress.advance()
    out, err = capsys.readouterr()
    assert out == ""
    assert "murmur2 in 4.4.0" in err
    assert "2/2" in err


def test_progress_on_a_dumb_terminal_prints_lines(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    with steps("starting", 2) as progress:
        clock[0] += 6
        progress.advance()
    assert capsys.readouterr().err == "starting: 1 of 2, 6 s\n"


def test_exception_inside_progress_block_propagates() -> None:
    with pytest.raises(KeyError), steps("starting", 1):
        raise KeyError
