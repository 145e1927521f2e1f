"""The certificate from counts to file to table."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from pathlib import Path

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules import RULES
from kafka_conformance.verify import certificate as certifying
from kafka_conformance.verify.verification import Judged, Plan
from kafka_reference.certificate import Certificate, Row, from_json, reference_fingerprint
from kafka_reference.releases import parse_release

PLAN = Plan([RULES["murmur2"]], [parse_release("4.4.0")], 100, 7, 2)


def judged(version: str, asked: int, *, pinned: bool = True) -> Judged:
    tally = Tally(RULES["murmur2"], Counter({"edges": 10, "hypothesis": asked - 10}), agreed=asked)
    return Judged(parse_release(version), tally, (), "ab" * 32, pinned)


def row(rule: str, version: str, asked: int, agreed: int) -> Row:
    return Row(rule, version, asked, agreed, {"hypothesis": asked}, "ab" * 32, True)


def certificate(*rows: Row) -> Certificate:
    return Certificate("2026-11-30", "0.1.0", 7, "17", "cd" * 32, rows)


def test_what_was_counted_is_what_is_certified() -> None:
    made = certifying.made_from([judged("4.4.0", 110), judged("3.6.1", 110, pinned=False)], PLAN, "17.0.9 (PATH)")
    assert made.rows == (
        Row("murmur2", "4.4.0", 110, 110, {"edges": 10, "hypothesis": 100}, "ab" * 32, True),
        Row("murmur2", "3.6.1", 110, 110, {"edges": 10, "hypothesis": 100}, "ab" * 32, False),
    )
    assert (made.seed, made.jvm, made.kit) == (7, "17.0.9 (PATH)", kit_version())
    assert made.reference_sha256 == reference_fingerprint()
    assert abs(datetime.date.fromisoformat(made.made) - datetime.datetime.now(datetime.UTC).date()).days <= 1


def test_it_is_written_as_json_and_read_back(tmp_path: Path) -> None:
    made = certificate(row("murmur2", "4.4.0", 10, 10))
    path = tmp_path / "new" / "certificate.json"
    certifying.write(made, path)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["rows"][0]["sources"] == {"hypothesis": 10}
    assert from_json(text) == made
    assert text.endswith("}\n")


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "certificate.json"
    with pytest.raises(KitError, match=f"the certificate cannot be written to {path}: "):
        certifying.write(certificate(), path)


def test_the_table() -> None:
    made = certificate(
        row("murmur2", "3.9.2", 1000, 1000),
        row("partition-for-key", "3.9.2", 2000, 2000),
        row("murmur2", "4.4.0", 16_843_009, 16_843_000),
        row("partition-for-key", "4.4.0", 2000, 2000),
        row("producer-partition", "4.4.0", 5, 5),
    )
    assert certifying.markdown(made) == (
        "| rule | releases | questions a release | asked in all | agreed |\n"
        "|---|---|---:|---:|---:|\n"
        "| `murmur2` | 2: 3.9.2 to 4.4.0 | 1,000 to 16,843,009 | 16,844,009 | 16,844,000 |\n"
        "| `partition-for-key` | 2: 3.9.2 to 4.4.0 | 2,000 | 4,000 | 4,000 |\n"
        "| `producer-partition` | 4.4.0 | 5 | 5 | 5 |\n"
    )
