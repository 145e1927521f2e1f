from __future__ import annotations

import pytest

from kafka_conformance.core.sanitize import harmless


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("orders", "orders"),
        ("größe → 你好 │ é", "größe → 你好 │ é"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x07c\x7f\x9b", "a\\x00b\\x07c\\x7f\\x9b"),
        ("left\u202eright", "left\\u202eright"),
        ("\ud800 \ufffe", "\\ud800 \\ufffe"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\U000e0001tag", "\\U000e0001tag"),
    ],
)
def test_what_is_not_printable_is_spelled_out(given: str, shown: str) -> None:
    assert harmless(given) == shown


def test_what_is_to_be_kept_is_kept() -> None:
    assert harmless("two\nlines\x1b\r", keep="\n") == "two\nlines\\x1b\\r"
