"""A child and its pipes: nothing waits without a limit, whatever the child does."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_conformance.answerers.driver.process import SHOWN_LINES, Child, End, OutputLine, TooLong, on_stderr

LONG = 30.0


@contextmanager
def child(code: str, **options: object) -> Iterator[Child]:
    started = Child((sys.executable, "-c", code), **{"show": lambda _: None, **options})  # type: ignore[arg-type]
    try:
        yield started
    finally:
        started.kill()
        assert not [one for one in started._threads if one.is_alive()]


def soon() -> float:
    return time.monotonic() + LONG


def test_child_process_receives_lines_and_returns_lines_until_end_of_input() -> None:
    with child("import sys\nfor line in sys.stdin: print(line.upper(), flush=True)") as echo:
        echo.send(b"one\ntwo\n")
        assert [echo.receive(soon()), echo.receive(soon())] == [OutputLine(b"ONE"), OutputLine(b"TWO")]
        assert echo.receive(time.monotonic()) is None
        echo.end_input()
        assert echo.receive(soon()) == End()
        assert echo.code(LONG) == 0


def test_child_process_exchanges_more_data_than_pipe_buffers_without_deadlock() -> None:
    line = b"x" * 10_000 + b"\n"
    with child("import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line * 2)") as echo:
        echo.send(line * 500)
        echo.end_input()
        heard = []
        while isinstance(got := echo.receive(soon()), OutputLine):
            heard.append(got)
        assert (len(heard), got) == (1000, End())


def test_first_line_of_a_child_process_with_endless_output_is_received() -> None:
    with child("import sys\nwhile True: sys.stdout.write('x' * 1000 + '\\n')") as flood:
        assert flood.receive(soon()) == OutputLine(b"x" * 1000)


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("x" * 10, [OutputLine(b"x" * 10)]),
        ("x" * 11, [TooLong(b"x" * 11)]),
        ("x" * 9 + "\\n" + "y" * 12, [OutputLine(b"x" * 9), TooLong(b"y" * 11)]),
    ],
)
def test_child_output_line_above_the_limit_is_cut_and_marked(written: str, heard: list[object]) -> None:
    with child(f"print('{written}', flush=True); input()", line_limit=10) as talker:
        assert [talker.receive(soon()) for _ in heard] == heard


def test_last_child_output_line_without_newline_is_marked_incomplete() -> None:
    with child("print('whole'); print('half', end='')") as talker:
        assert [talker.receive(soon()), talker.receive(soon())] == [OutputLine(b"whole"), End(b"half")]


def test_child_process_stderr_is_shown_up_to_the_line_limit() -> None:
    shown: list[str] = []
    code = f"import sys\nfor n in range({2 * SHOWN_LINES}): print(n, file=sys.stderr)\nsys.stderr.write('x' * 9000)"
    with child(code, show=shown.append) as talker:
        assert talker.receive(soon()) == End()
        talker.join_stderr(LONG)
        assert set(talker.last_error_line) == {"x", "…"}
    assert len(shown) == SHOWN_LINES
    assert shown[:2] == ["0", "1"]
    assert shown[-1] == "(further lines are not shown)"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("TypeError: no\n    at main (x.mjs:3:5)\n\nNode.js v20.20.2\n", "TypeError: no"),
        ("panic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2\n", "panic: index out of range"),
        ('Exception in thread "main" java.lang.Error: no\n\tat Main.main(Main.java:3)\n',
         'Exception in thread "main" java.lang.Error: no'),
        ("thread 'main' panicked at src/main.rs:2:5:\nno\n", "thread 'main' panicked at src/main.rs:2:5: no"),
        ("one\ntwo\n", "two"),
        ("", ""),
    ],
)  # fmt: skip
def test_child_error_line_is_the_exception_or_panic_else_the_last_stderr_line(written: str, words: str) -> None:
    with child(f"import sys; sys.stderr.write({written!r})") as broken:
        assert broken.receive(soon()) == End()
        broken.join_stderr(LONG)
        assert broken.last_error_line == words


def test_failing_stderr_callback_does_not_stop_the_child() -> None:
    def closed(_: str) -> None:
        raise ValueError("I/O operation on closed file")

    with child("import sys; print('x' * 200_000, file=sys.stderr); print('on')", show=closed) as talker:
        assert talker.receive(soon()) == OutputLine(b"on")


def test_child_that_ignores_sigterm_is_killed() -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    with child(code) as stubborn:
        assert stubborn.receive(soon()) == OutputLine(b"1")
        stubborn.end(0.1)
        assert stubborn.code(LONG) == -9
        stubborn.kill()


def test_child_process_starts_in_the_given_working_directory(tmp_path: Path) -> None:
    with child("import os; print(os.getcwd())", folder=tmp_path) as talker:
        assert talker.receive(soon()) == OutputLine(str(tmp_path.resolve()).encode())


def test_child_that_cannot_be_started_leaves_no_threads() -> None:
    before = threading.active_count()
    with pytest.raises(FileNotFoundError):
        Child(("no-such-driver-anywhere",))
    assert threading.active_count() == before


def test_driver_stderr_cannot_inject_github_workflow_commands(capsys: pytest.CaptureFixture[str]) -> None:
    on_stderr("::error::a ##[error]b")
    assert capsys.readouterr().err == "driver: ::error::a # #[error]b\n"
