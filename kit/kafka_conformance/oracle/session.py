"""What commands that ask Java share: the oracle with its JVM, and the releases that the user names."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import java_classes
from kafka_jars.pins import Pins, load
from kafka_jars.store import default_store
from kafka_reference.proven import UnprovenRelease, check_proven, is_proven
from kafka_reference.releases import Release, parse_release

__all__ = [
    "chosen_releases", "fresh_seed", "jvm_name", "known_release", "named_release", "open_oracle", "split", "spread",
    "unproven_releases",
]  # fmt: skip


@contextmanager
def open_oracle(pins: Pins | None = None, options: Sequence[str] = ()) -> Iterator[Oracle]:
    """Open the oracle with a new JVM, which ends with the block; ``options`` are the JVM's."""
    with Jvm(options=options) as jvm:
        yield Oracle(jvm, default_store(), pins or load(), lambda version: java_classes(parse_release(version)))


def jvm_name(oracle: Oracle) -> str:
    """Return the version of the oracle's JVM, and how its Java was found."""
    return f"{oracle.jvm.version} ({oracle.jvm.java.found_by})"


def chosen_releases(named: str, pins: Pins) -> list[Release]:
    """Return the releases named by ``all``, ``spread``, ``newest`` or exact versions joined by commas. Raises BadInput."""
    pinned = sorted(map(parse_release, pins.releases))
    if not named.strip(" ,"):
        raise BadInput("no release named: give exact ones, like 4.4.0,3.9.2, or all, spread or newest")
    groups = {"all": pinned, "spread": spread(pinned), "newest": pinned[-1:]}
    return list(dict.fromkeys(each for name in split(named) for each in groups.get(name) or [named_release(name)]))


def spread(releases: Iterable[Release]) -> list[Release]:
    """Return the newest patch release of each minor release, in order."""
    return list({release.numbers[:-1]: release for release in sorted(releases)}.values())


def named_release(name: str) -> Release:
    """Return one exact release. Raises BadInput."""
    try:
        return parse_release(name)
    except ValueError as error:
        raise BadInput(str(error)) from error


def known_release(name: str) -> Release:
    """Return the release named by ``newest`` or an exact version that is pinned. Raises BadInput."""
    known = sorted(map(parse_release, load().releases))
    if name == "newest":
        return known[-1]
    release = named_release(name)
    if release not in known:
        near = [str(each) for each in known if each.numbers[:-1] == release.numbers[:-1]]
        expected = f"expected one of {known[0]} … {known[-1]} (see jars list), or 'newest'"
        raise BadInput(f"unknown release {name!r}: {did_you_mean(name, near, expected)}")
    return release


def unproven_releases(asked: Iterable[tuple[str, Release]], *, allow: bool | None) -> tuple[str, ...]:
    """Return those releases in which the certificate does not prove a rule that is asked there, by its slug, or any rule.

    ``asked`` are slugs, or "" for any rule, and releases. Raises BadInput for the first, unless ``allow``, the option
    ``--allow-unproven``; None if there is no such option.
    """
    unproven = [(slug, release) for slug, release in asked if not is_proven(release, slug)]
    if unproven and not allow:
        slug, release = unproven[0]
        try:
            check_proven(release, "" if allow is None else "--allow-unproven takes it all the same", slug)
        except UnprovenRelease as error:
            raise BadInput(str(error).rstrip()) from error
    return tuple(dict.fromkeys(str(release) for _, release in unproven))


def split(names: str) -> Sequence[str]:
    """Return the names in ``a,b`` as a list, empty for an empty text."""
    return [name.strip() for name in names.split(",") if name.strip()]


def fresh_seed() -> int:
    """Return a random seed. It is printed, so that a run can be repeated."""
    return secrets.randbelow(2**32)
