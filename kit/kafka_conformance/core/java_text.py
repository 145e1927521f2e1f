r"""Parse text as Java does: numbers, lines and words of the files that a broker reads.

Python's ``int`` takes ``1_0``, `` 1`` and numbers of any size, which Java refuses, and no more than 4,300 digits, of which
Java takes any number of leading zeros. Python's ``split`` cuts at 25 characters, Java's ``\s`` at six.

>>> parse_int("007")
7
>>> parse_int("0_0")
Traceback (most recent call last):
ValueError: '0_0' is not a 32-bit integer
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["LINE_END", "lines_of", "parse_int", "parse_long", "split"]

LINE_END = re.compile(r"\r\n|\r|\n")
_NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_SHOWN = 40


def parse_int(text: str) -> int:
    """Return the number that ``Integer.parseInt`` returns. Raises ValueError where it throws NumberFormatException."""
    return _parsed(text, 32)


def parse_long(text: str) -> int:
    """Return the number that ``Long.parseLong`` returns. Raises ValueError where it throws NumberFormatException."""
    return _parsed(text, 64)


def lines_of(text: str) -> list[str]:
    r"""Return the lines as ``BufferedReader.readLine`` does: ``\n``, ``\r`` or ``\r\n`` ends one."""
    lines = LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def split(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the parts as ``Pattern.split`` does: without empty ones at the end. The pattern matches no empty text."""
    parts = pattern.split(text)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts if parts[-1] or not text else []


def _parsed(text: str, bits: int) -> int:
    digits, most = text if text.isascii() else "".join(map(_digit, text)), 1 << bits - 1
    if _NUMBER.fullmatch(digits) and len(digits.lstrip("+-").lstrip("0")) <= len(str(most)):
        number = int(digits.lstrip("+-").lstrip("0") or "0")
        number = -number if digits[0] == "-" else number
        if -most <= number < most:
            return number
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    raise ValueError(f"{shown!r} is not a {bits}-bit integer")


def _digit(sign: str) -> str:
    """Return the ASCII digit for a digit of any script, as ``Character.digit(char, 10)``: above U+FFFF nothing is one."""
    number = unicodedata.decimal(sign, None) if sign <= "\uffff" else None
    return sign if number is None else str(number)
