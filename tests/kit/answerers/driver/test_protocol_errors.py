"""A driver's words within a message: cut, and nothing a terminal obeys."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.driver.protocol_errors import HINTS, lost, one_line, quoted
from kafka_conformance.core.protocol import Lost


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b" plain \r\n", "plain"),
        (b"\xff\xfe", "\\ufffd\\ufffd" if not "\ufffd".isprintable() else "\ufffd\ufffd"),
        ("a\nb\x1b[31m\u202e", r"a\nb\x1b[31m\u202e"),
        ("é" * 200, "é" * 160 + "…"),
        (b"x" * 10**6, "x" * 160 + "…"),
        ("", ""),
    ],
)
def test_driver_text_in_error_messages_is_shortened_and_sanitized(text: bytes | str, shown: str) -> None:
    assert quoted(text) == shown


def test_protocol_error_is_printed_with_a_hint_in_one_line() -> None:
    assert lost("noise", "it spoke") == Lost("noise", "it spoke", HINTS["noise"])
    assert one_line(lost("noise", "it spoke")) == f"it spoke: {HINTS['noise']}"
    assert all(hint.isprintable() for hint in HINTS.values())
