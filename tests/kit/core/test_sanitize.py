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
def test_unprintable_characters_are_replaced_by_escapes(given: str, shown: str) -> None:
    assert harmless(given) == shown


def test_sanitizer_leaves_characters_in_keep_unescaped() -> None:
    assert harmless("two\nlines\x1b\r", keep="\n") == "two\nlines\\x1b\\r"
