"""Releases that are proven: those of the certificate. A function that takes a release as text takes no other.

A rule has three states in a release that is pinned: Kafka lacks it there; it is there, and the certificate proves it; or it
is there and not proven so far, which the certificate lists.

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

from kafka_reference.certificate import Certificate, certificate
from kafka_reference.releases import Release, parse_release

__all__ = ["UnprovenRelease", "check_proven", "is_proven", "lacks_proof", "nearest_proven", "proven_releases"]


class UnprovenRelease(ValueError):
    """A release was named that the certificate does not have: name a proven one, or pass a Release.

    >>> from kafka_reference.idempotence import producer_outcome
    >>> producer_outcome({}, "9.9.9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kafka_reference.proven.UnprovenRelease: release 9.9.9 is not proven: ...
    """


@cache
def _shipped() -> Certificate | None:  # unreached: rules take a Release
    """Return the certificate, which is read once: it takes 40 ms. None in a checkout without one."""
    try:
        return certificate()
    except FileNotFoundError:
        return None


@cache
def proven_releases(rule: str = "") -> tuple[Release, ...]:  # unreached: rules take a Release
    """Return the releases in which the certificate that ships proves ``rule``, a slug, or any rule, in order.

    None in a checkout without a certificate.
    """
    made = _shipped()
    rows = () if made is None else made.rows
    return tuple(sorted({parse_release(row.release) for row in rows if rule in ("", row.rule)}))


def lacks_proof(release: Release, rule: str) -> bool:  # unreached: rules take a Release
    """Return whether ``release`` has ``rule``, a slug, and the certificate does not prove it there so far."""
    made = _shipped()
    return made is not None and str(release) in made.unproven.get(rule, ())


def is_proven(release: Release, rule: str = "") -> bool:  # unreached: rules take a Release
    """Return whether the certificate has a row of ``release``, and does not lack one of ``rule``."""
    return release in proven_releases() and not lacks_proof(release, rule)


# unreached: rules take a Release
def nearest_proven(release: Release, rule: str = "") -> tuple[Release, ...]:
    """Return the proven releases of the same line as ``release``; else the last one before it and the first one after it."""
    proven = proven_releases(rule)
    line = tuple(each for each in proven if each.numbers[:-1] == release.numbers[:-1])
    before, after = (each for each in reversed(proven) if each < release), (each for each in proven if each > release)
    return line or (*islice(before, 1), *islice(after, 1))


def check_proven(release: Release, instead: str, rule: str = "") -> None:
    """Raise UnprovenRelease if ``rule`` is not proven in ``release``; the message ends with what to do ``instead``."""
    if not is_proven(release, rule):
        partly = rule if release in proven_releases() else ""
        *others, last = map(str, nearest_proven(release, partly) or ("none",))
        near = f"{', '.join(others)}{' or ' if others else ''}{last}"
        raise UnprovenRelease(
            f"{f'{partly} in ' if partly else ''}release {release} is not proven: no answer was compared with its Java "
            f"classes; did you mean {near}? {instead}"
        )
