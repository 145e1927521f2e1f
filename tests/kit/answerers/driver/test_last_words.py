"""The lines of a panic or traceback that say what broke, however long the trace is."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.driver.last_words import DETAILED, LastWords

RUST = """
thread 'main' (817) panicked at src/main.rs:2:131:
index out of bounds: the len is 0 but the index is 7
stack backtrace:
""" + "".join(
    f"  {n:2}:     0x55d5b1 - <T as core::error::Error>::frame\n         at /rustc/lib.rs:{n}:5\n" for n in range(200)
)
RUST_ABORT = """
thread 'main' panicked at src/lib.rs:1:59:
index out of bounds: the len is 3 but the index is 7
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

thread 'main' panicked at library/core/src/panicking.rs:230:5:
panic in a function that cannot unwind
thread caused non-unwinding panic. aborting.
fatal runtime error: failed to initiate panic, error 3, aborting
"""
RUST_OLD = "thread 'main' panicked at 'no such table', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`\n"
GO = (
    "panic: no such table\n\ngoroutine 1 [running]:\npanic({0x4a2b40, 0xc0})\n\t/go/runtime/panic.go:884 +0x212\n"
    "exit status 2\n"
)
CGO = (
    """starting
SIGSEGV: segmentation violation
PC=0x4a0232 m=0 sigcode=1 addr=0x0
signal arrived during cgo execution

goroutine 1 gp=0x18c m=0 mp=0x589320 [syscall]:
runtime.cgocall(0x4a0220, 0x18c)
"""
    + "rax    0x0\n" * 100
)
GO_SIGNAL = (
    "fatal error: unexpected signal during runtime execution\n[signal SIGSEGV: segmentation violation addr=0x0]\n\nx\n"
)
CPP = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  no such table\nAborted\n"
JAVA = (
    'Exception in thread "main" java.lang.IllegalStateException: no\n\tat Main.main(Main.java:3)\n'
    "Caused by: java.io.IOException: disk\n\tat Main.read(Main.java:9)\n\t... 1 more\n"
)
PYTHON = (
    'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    raise ValueError("no")\n'
    "ValueError: no such table\n"
)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            RUST,
            "thread 'main' (817) panicked at src/main.rs:2:131: index out of bounds: the len is 0 but the index is 7",
        ),
        (RUST_ABORT, "thread 'main' panicked at src/lib.rs:1:59: index out of bounds: the len is 3 but the index is 7"),
        (RUST_OLD, "thread 'main' panicked at 'no such table', src/main.rs:2:5"),
        (GO, "panic: no such table"),
        (CGO, "SIGSEGV: segmentation violation; signal arrived during cgo execution"),
        (
            GO_SIGNAL,
            "fatal error: unexpected signal during runtime execution; [signal SIGSEGV: segmentation violation addr=0x0]",
        ),
        (CPP, "terminate called after throwing an instance of 'std::out_of_range'; what():  no such table"),
        (JAVA, 'Exception in thread "main" java.lang.IllegalStateException: no; Caused by: java.io.IOException: disk'),
        (PYTHON, "ValueError: no such table"),
        ("main.c:3: main: Assertion `x' failed.\nAborted\n", "main.c:3: main: Assertion `x' failed."),
        ("starting\nready\n\n", "ready"),
        ("", ""),
    ],
)
def test_crash_message_is_the_panic_exception_or_assertion_in_stderr_else_the_last_line(
    written: str, words: str
) -> None:
    last_words = LastWords()
    for line in written.encode().splitlines(keepends=True):
        last_words.add(line)
    assert str(last_words) == words


def test_crash_message_is_found_and_whole_lines_shown_if_stderr_comes_in_small_chunks() -> None:
    shown: list[bytes] = []
    last_words = LastWords(shown.append)
    for number in range(0, len(RUST), 7):
        last_words.add(RUST[number : number + 7].encode())
    last_words.add(b"the end")
    assert "index out of bounds: the len is 0" in str(last_words)
    last_words.end()
    assert shown == [*RUST.encode().splitlines(), b"the end"]


def test_crash_message_ending_long_stderr_is_kept_though_later_lines_are_not_shown() -> None:
    shown: list[bytes] = []
    last_words = LastWords(shown.append)
    for _ in range(40):
        last_words.add(b"still here\n" * (DETAILED // 110))
    last_words.add(b"ValueError: no such table\nbye\n")
    assert str(last_words) == "ValueError: no such table"
    assert len(shown) <= DETAILED // 11


def test_crash_message_is_cut_to_300_characters_and_sanitized() -> None:
    last_words = LastWords()
    last_words.add(b"Error: \x1b[2J" + b"x" * 100_000)
    assert str(last_words).startswith(r"Error: \x1b[2Jxxx")
    assert len(str(last_words)) <= 301
