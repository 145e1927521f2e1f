"""The certificate: from what ``verify`` counted to the file, and from the file to the tables people read."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import msgspec

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules import RULES
from kafka_conformance.verify.verification import Judged, Plan
from kafka_reference.certificate import Certificate, Row, reference_fingerprint
from kafka_reference.releases import parse_release

__all__ = ["LAST", "made_from", "markdown", "merged", "write"]

LAST = Path(".kafka-conformance") / "certificate.json"


def made_from(results: Sequence[Judged], plan: Plan, jvm: str) -> Certificate:
    """The certificate of one run."""
    return Certificate(
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        kit=kit_version(),
        seed=plan.seed,
        jvm=jvm,
        reference_sha256=reference_fingerprint(),
        rows=tuple(
            Row(
                rule=judged.tally.rule.slug,
                release=str(judged.release),
                asked=judged.tally.total,
                agreed=judged.tally.agreed,
                sources=dict(judged.tally.asked),
                jar_sha256=judged.jar_sha256,
                pinned=judged.pinned,
            )
            for judged in results
        ),
    )


def merged(parts: Sequence[Certificate]) -> Certificate:
    """One certificate of several runs over the same code with the same seed, in the order of releases and rules.

    Raises BadInput where they are not of the same code, kit, seed and JVM, or two of them tell of the same.
    """
    first, *others = parts
    if not others:
        return first
    for part in others:
        for field in ("reference_sha256", "kit", "seed", "jvm"):
            here, there = getattr(first, field), getattr(part, field)
            if here != there:
                raise BadInput(f"certificates of different runs cannot be one: their {field} is {here}, and {there}")
    rows = [row for part in parts for row in part.rows]
    twice = [key for key, times in Counter((row.rule, row.release) for row in rows).items() if times > 1]
    if twice:
        raise BadInput(f"two of the certificates tell of {' in '.join(twice[0])}: give each once")
    order = [rule for rule in RULES if any(row.rule == rule for row in rows)]
    rows.sort(key=lambda row: (parse_release(row.release), order.index(row.rule)))
    return replace(first, made=max(part.made for part in parts), rows=tuple(rows))


def write(made: Certificate, path: Path) -> None:
    """Write it. Raises KitError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(asdict(made)), indent=1) + b"\n")
    except OSError as error:
        raise KitError(f"the certificate cannot be written to {path}: {error.strerror}") from error


def markdown(made: Certificate) -> str:
    """One row for each rule: releases, questions, agreement. What the README shows."""
    lines = ["| rule | releases | questions a release | asked in all | agreed |", "|---|---|---:|---:|---:|"]
    for rule in made.rules():
        rows = [row for row in made.rows if row.rule == rule]
        each = sorted({row.asked for row in rows})
        asked, agreed = sum(row.asked for row in rows), sum(row.agreed for row in rows)
        span = f"{len(rows)}: {rows[0].release} to {rows[-1].release}" if len(rows) > 1 else rows[0].release
        per = f"{each[0]:,}" if len(each) == 1 else f"{each[0]:,} to {each[-1]:,}"
        lines.append(f"| `{rule}` | {span} | {per} | {asked:,} | {agreed:,} |")
    return "\n".join(lines) + "\n"
