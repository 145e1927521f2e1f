"""Releases that are proven: those of the certificate. A function that takes a release as text takes no other.

>>> from kafka_reference import Cluster, Node, Partition, choose_partition, parse_release
>>> cluster = Cluster((Node(0),), (Partition(0, 0),))
>>> choose_partition(cluster=cluster, version="3.9.9")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
kafka_reference.proven.UnprovenRelease: release 3.9.9 is not proven: no answer was compared with its Java classes; ...
>>> choose_partition(cluster=cluster, version=parse_release("3.9.9"))
-1
"""

from __future__ import annotations

from functools import cache
from itertools import islice

from kafka_reference.certificate import certificate
from kafka_reference.releases import Release, parse_release

__all__ = ["UnprovenRelease", "check_proven", "is_proven", "nearest_proven", "proven_releases"]


class UnprovenRelease(ValueError):
    """A release was named that the certificate does not have: name a proven one, or pass a Release.

    >>> from kafka_reference.idempotence import producer_outcome
    >>> producer_outcome({}, "9.9.9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kafka_reference.proven.UnprovenRelease: release 9.9.9 is not proven: ...
    """


@cache
def proven_releases() -> tuple[Release, ...]:  # unreached: rules take a Release
    """Return the releases that have a row in the certificate that ships, in order; none in a checkout without one."""
    try:
        return tuple(sorted(map(parse_release, certificate().releases())))
    except FileNotFoundError:
        return ()


def is_proven(release: Release) -> bool:  # unreached: rules take a Release
    """Return whether ``release`` has a row in the certificate."""
    return release in proven_releases()


# unreached: rules take a Release
def nearest_proven(release: Release) -> tuple[Release, ...]:
    """Return the proven releases of the same line as ``release``; else the last one before it and the first one after it."""
    proven = proven_releases()
    line = tuple(each for each in proven if each.numbers[:-1] == release.numbers[:-1])
    before, after = (each for each in reversed(proven) if each < release), (each for each in proven if each > release)
    return line or (*islice(before, 1), *islice(after, 1))


def check_proven(release: Release, instead: str) -> None:
    """Raise UnprovenRelease for a ``release`` without a row; the message ends with what to do ``instead``."""
    if not is_proven(release):
        *others, last = map(str, nearest_proven(release) or ("none",))
        near = f"{', '.join(others)}{' or ' if others else ''}{last}"
        raise UnprovenRelease(
            f"release {release} is not proven: no answer was compared with its Java classes; did you mean {near}? {instead}"
        )
