"""Rows of a verification that is still running, on disk, so that the same command resumes after a kill.

The file is next to the certificate, as ``<certificate>.partial``: JSON lines, the plan first, then one row for each rule
and release whose answers all match. Other results are asked again, also after a run that found them: the file is deleted
when all match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.core.notices import warn
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.verify.fingerprint import fingerprint
from kafka_conformance.verify.verification import RuleResult, VerificationPlan
from kafka_reference.releases import Release

__all__ = ["Finished", "record_rows", "resumed_seed"]

Finished = Mapping[tuple[str, str], RuleResult]
"""Results by slug and release."""


class _Head(msgspec.Struct, frozen=True):
    kit: str
    rules: tuple[str, ...]
    releases: tuple[str, ...]
    examples: int
    longest_key: int
    seed: int


class _Row(msgspec.Struct, frozen=True):
    rule: str
    release: str
    fingerprint: str
    jvm: str
    asked: dict[str, int]
    agreed: int
    unsupported: int
    labels: dict[str, int]
    jar_sha256: str
    pinned: bool


def resumed_seed(path: Path, plan: VerificationPlan) -> int | None:
    """Return the seed of an unfinished run of this plan, whatever the plan's own seed; None if there is none."""
    head, _ = _read(path)
    return head.seed if head == _head(plan, head.seed if head else 0) and head is not None else None


@contextmanager
def record_rows(
    path: Path | None, plan: VerificationPlan, jvm: str
) -> Iterator[tuple[Finished, Callable[[RuleResult], None]]]:
    """Resume or begin the file: yields the finished results and a function that writes another one.

    Rows of another plan, JVM or form of the rule are dropped. Without a ``path``, nothing is kept. A file that
    cannot be written is a warning.
    """
    if path is None:
        yield {}, lambda _: None
        return
    head, rows = _read(path)
    wanted = _head(plan, plan.seed)
    by_slug = {rule.slug: rule for rule in plan.rules}
    kept = [
        row
        for row in rows
        if head == wanted
        and row.rule in by_slug
        and row.release in wanted.releases
        and (row.jvm, row.fingerprint) == (jvm, fingerprint(by_slug[row.rule]))
    ]
    finished = {(row.rule, row.release): _result(by_slug[row.rule], row, plan.releases) for row in kept}
    lines, all_match, writes = [msgspec.json.encode(line) for line in (wanted, *kept)], True, True

    def write(result: RuleResult) -> None:
        nonlocal all_match, writes
        all_match = all_match and result.matches
        if result.matches and writes:
            lines.append(msgspec.json.encode(_row(result, jvm)))
            try:
                write_whole(path, b"\n".join(lines) + b"\n")
            except KitError as error:
                writes = False
                warn(f"{error}; the run goes on, and cannot be resumed")

    yield finished, write
    if all_match:
        path.unlink(missing_ok=True)


def _head(plan: VerificationPlan, seed: int) -> _Head:
    rules, releases = (rule.slug for rule in plan.rules), map(str, plan.releases)
    return _Head(kit_version(), tuple(rules), tuple(releases), plan.examples, plan.longest_key, seed)


def _read(path: Path) -> tuple[_Head | None, list[_Row]]:
    if not exists(path):
        return None, []
    data = read_bytes(path)
    try:
        head, *rows = data.splitlines()
        return msgspec.json.decode(head, type=_Head), [msgspec.json.decode(row, type=_Row) for row in rows]
    except (ValueError, *UNREADABLE):  # ValueError: the file is empty
        return None, []


def _row(result: RuleResult, jvm: str) -> _Row:
    counts = result.tally
    return _Row(counts.rule.slug, str(result.release), fingerprint(counts.rule), jvm, counts.asked, counts.agreed,
                counts.unsupported, counts.labels, result.jar_sha256, result.pinned)  # fmt: skip


def _result(rule: Rule, row: _Row, releases: Any) -> RuleResult:
    counts = Tally(rule, Counter(row.asked), row.agreed, row.unsupported, Counter(row.labels))
    release: Release = next(release for release in releases if str(release) == row.release)
    return RuleResult(release, counts, (), row.jar_sha256, row.pinned)
