"""Signatures as the source has them: types without quotes, defaults as a caller writes them, long ones on several lines."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from kafka_conformance.reports.signatures import import_lines, signature
from kafka_reference.releases import NEWEST, Release

HERE = __name__


class Ends:
    """Has no form in the source."""


def short(key: bytes | None, *, release: str | Release = NEWEST, made: type = Ends, ends: Ends = Ends()) -> int:  # noqa: B008
    raise NotImplementedError


def long(
    first_of_many: int, second_of_many: str = "", *all_that_follow: int, third_of_many: Callable[[], int] = sys.gettrace
) -> Ends:
    raise NotImplementedError


def by_name(
    first_of_many: int, second_of_many: tuple[int, ...] = (), *, third_of_many: bool = False, fourth: int = 0
) -> None:
    raise NotImplementedError


class Made:
    def __init__(self, key: bytes) -> None: ...

    def ask(self, other: Made) -> Made:
        raise NotImplementedError


LONG = """\
long(
    first_of_many: int,
    second_of_many: str = '',
    *all_that_follow: int,
    third_of_many: Callable[[], int] = ...,
) -> Ends"""
BY_NAME = """\
by_name(
    first_of_many: int,
    second_of_many: tuple[int, ...] = (),
    *,
    third_of_many: bool = False,
    fourth: int = 0,
) -> None"""
SHORT = f"short(key: bytes | None, *, release: str | Release = '{NEWEST}', made: type = Ends, ends: Ends = ...) -> int"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("short", SHORT),
        ("long", LONG),
        ("by_name", BY_NAME),
        ("Made", "Made(key: bytes)"),
        ("Made.ask", "Made.ask(other: Made) -> Made"),
    ],
)
def test_signature_text_has_types_and_literal_defaults_as_in_source_and_wraps_if_long(name: str, shown: str) -> None:
    assert signature(f"{HERE}:{name}") == shown


def test_import_lines_import_a_module_once_with_all_names() -> None:
    names = ["a.b:First", "a.b:First.ask", "c:other", "a.b:second"]
    assert list(import_lines(names)) == ["from a.b import First, second", "from c import other"]
