"""Text is parsed as Java parses it; the expected values are those of Java 17 (the classes are named beside them)."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from kafka_conformance.core.java_text import lines_of, parse_int, parse_long, split

# Integer.parseInt and Long.parseLong; None where they throw NumberFormatException.
NUMBERS: list[tuple[str, int | None, int | None]] = [
    ("0", 0, 0), ("7", 7, 7), ("-7", -7, -7), ("+7", 7, 7), ("-0", 0, 0), ("+0", 0, 0), ("007", 7, 7),
    ("", None, None), ("+", None, None), ("-", None, None), ("+-1", None, None), ("--1", None, None),
    (" 1", None, None), ("1 ", None, None), ("1\n", None, None), ("\t1", None, None), ("1_0", None, None),
    ("0x1F", None, None), ("1.0", None, None), ("1e3", None, None), ("1L", None, None), ("NaN", None, None),
    ("2147483647", 2147483647, 2147483647), ("2147483648", None, 2147483648),
    ("-2147483648", -2147483648, -2147483648), ("-2147483649", None, -2147483649),
    ("4294967296", None, 4294967296),
    ("9223372036854775807", None, 9223372036854775807), ("9223372036854775808", None, None),
    ("-9223372036854775808", None, -9223372036854775808), ("-9223372036854775809", None, None),
    ("99999999999999999999", None, None), ("00000000000000000042", 42, 42),
    ("0000000000000000000000000000002147483647", 2147483647, 2147483647),
    ("0" * 5000 + "7", 7, 7), ("9" * 5000, None, None),
    ("\u0664\u0662", 42, 42), ("\uff11\uff12", 12, 12), ("\u0967", 1, 1), ("1\u0662", 12, 12), ("-\u0665", -5, -5),
    ("\u00b2", None, None), ("\u2460", None, None), ("\u2155", None, None), ("\u4e94", None, None),
    ("\U0001d7d9", None, None), ("\u0661\0", None, None), ("\u221212", None, None),
]  # fmt: skip

# Every char c with Character.digit(c, 10) == 0; the nine after it are 1 to 9, and no other of the 65,536 is a digit.
ZEROS = (
    "0030 0660 06f0 07c0 0966 09e6 0a66 0ae6 0b66 0be6 0c66 0ce6 0d66 0de6 0e50 0ed0 0f20 1040 1090 17e0 1810 1946 19d0 1a80"
    " 1a90 1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10"
)

# BufferedReader.readLine until null.
LINES = [
    ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]), ("a\r\nb", ["a", "b"]),
    ("a\rb\r", ["a", "b"]), ("a\u0085b", ["a\u0085b"]), ("a\u2028b", ["a\u2028b"]), ("\r\n\r\n", ["", ""]),
    ("a\n\rb", ["a", "", "b"]),
]  # fmt: skip

# Pattern.compile("\\s+").split(text)
WORDS = [
    ("", [""]), ("a", ["a"]), (" a", ["", "a"]), ("a ", ["a"]), (" ", []), ("  ", []), ("a  b", ["a", "b"]),
    ("\u00a0a", ["\u00a0a"]), ("a\vb", ["a", "b"]), ("a\x1cb", ["a\x1cb"]), ("a\u2003b", ["a\u2003b"]),
    (" a b ", ["", "a", "b"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "as_int", "as_long"), NUMBERS)
def test_integers_parse_as_java_parse_int_and_parse_long(text: str, as_int: int | None, as_long: int | None) -> None:
    for parse, expected in ((parse_int, as_int), (parse_long, as_long)):
        if expected is None:
            with pytest.raises(ValueError, match=r"is not a .*-bit integer"):
                parse(text)
        else:
            assert parse(text) == expected


def test_bmp_characters_parse_as_integer_digits_exactly_as_java_character_digit() -> None:
    found = set()
    for code in range(0x10000):
        try:
            found.add((code, parse_int(chr(code))))
        except ValueError:
            continue
    expected = {(int(zero, 16) + digit, digit) for zero in ZEROS.split() for digit in range(10)}
    assert found == expected, f"Unicode {unicodedata.unidata_version} of Python {sys.version}"


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_lines_split_as_java_buffered_reader(text: str, expected: list[str]) -> None:
    assert lines_of(text) == expected


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_whitespace_split_drops_trailing_empty_strings_as_java_pattern_split(text: str, expected: list[str]) -> None:
    assert split(re.compile(r"\s+", re.ASCII), text) == expected
