"""Kafka releases and sets of them: behaviour belongs to exact releases, never to "3.x".

Kafka backports fixes. 3.9.2 has one that 4.0.0, released before it, does not, so "newer than" does not tell which
releases have it. A change of behaviour is therefore written as *spans* of releases, both ends included, in version order::

    >>> fixed = since("3.9.2", until="3.9.x") | since("4.0.2")
    >>> [version for version in ("3.9.1", "3.9.2", "4.0.0", "4.4.0") if parse_release(version) in fixed]
    ['3.9.2', '4.4.0']
    >>> str(fixed)
    '3.9.2 to 3.9.x, since 4.0.2'

Versions are ordered as tuples of numbers: ``0.10.0.1`` before ``0.11.0.3`` before ``4.4.0``. Any published release may
be named; the certificate lists those that the rules were verified against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kafka_reference.arguments import ANY_RELEASE, checked

__all__ = ["NEWEST", "Release", "Spans", "parse_release", "since"]

_EVERY_PATCH = 9_999
_LINE = re.compile(r"\d{1,4}(\.\d{1,4}){1,2}\.x")
_FORM = re.compile(r"\d{1,4}(\.\d{1,4}){2,3}")


@checked
@dataclass(frozen=True, order=True, slots=True)
class Release:
    """One published Kafka release. ``numbers`` is its version, ``(4, 4, 0)``; ``str()`` gives ``"4.4.0"`` back.

    >>> parse_release("4.4.0") > parse_release("4.3.1"), str(parse_release("4.4.0"))
    (True, '4.4.0')
    """

    numbers: tuple[int, ...]

    def __str__(self) -> str:
        return ".".join("x" if number == _EVERY_PATCH else str(number) for number in self.numbers)


@lru_cache(maxsize=512)
@checked(version=ANY_RELEASE)
def parse_release(version: str | Release) -> Release:
    """Return the :class:`Release` named by ``version``; a Release is returned unchanged.

    Raises ValueError for anything but three or four numbers joined by dots: "3.x" and "newest" are not releases.

        >>> parse_release("0.10.0.1").numbers
        (0, 10, 0, 1)
    """
    if isinstance(version, Release):
        return version
    if not _FORM.fullmatch(version):
        raise ValueError(f"{version!r} is not a Kafka release: name one exactly, like 4.4.0 or 0.10.0.1")
    return Release(tuple(map(int, version.split("."))))


@checked
@dataclass(frozen=True, slots=True)
class Spans:
    """A set of releases, as spans whose both ends are included; an open end is None.

    >>> parse_release("2.2.1") in since("2.1.0", until="2.2.x")
    True
    """

    spans: tuple[tuple[Release, Release | None], ...]

    def __contains__(self, candidate: Release) -> bool:
        # A plain loop over plain tuples: some rules test this hundreds of times per question.
        numbers = candidate.numbers
        for first, last in self.spans:  # noqa: SIM110
            if first.numbers <= numbers and (last is None or numbers <= last.numbers):
                return True
        return False

    def __or__(self, other: Spans) -> Spans:
        return Spans(self.spans + other.spans)

    def __str__(self) -> str:
        return ", ".join(
            f"since {first}" if last is None else str(first) if first == last else f"{first} to {last}"
            for first, last in self.spans
        )


@checked
def since(first: str, *, until: str | None = None) -> Spans:
    """Return the releases from ``first`` to ``until``, both included; without ``until``, every release since ``first``.

    ``until`` may name a whole line, as in ``until="2.2.x"``: every patch of it is included.

        >>> str(since("2.1.0", until="2.2.x"))
        '2.1.0 to 2.2.x'
    """
    return Spans(((parse_release(first), _end_of(until) if until else None),))


def _end_of(until: str) -> Release:
    if not _LINE.fullmatch(until):
        return parse_release(until)
    return Release((*map(int, until.removesuffix(".x").split(".")), _EVERY_PATCH))


NEWEST = parse_release("4.4.0")
