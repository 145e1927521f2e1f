"""The certificate's form, and the fingerprint of the code it proves."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kafka_reference
from kafka_reference.certificate import Certificate, CertificateRow, MutationScore, from_json, reference_fingerprint

ROW: dict[str, Any] = {
    "rule": "murmur2",
    "release": "4.4.0",
    "asked": 1361,
    "agreed": 1360,
    "sources": {"hypothesis": 1361},
    "jar_sha256": "ab" * 32,
    "pinned": True,
}
DOCUMENT: dict[str, Any] = {
    "made": "2026-11-30",
    "kit": "0.1.0",
    "seed": 7,
    "jvm": "17.0.9 (PATH)",
    "reference_sha256": "cd" * 32,
    "rows": [ROW, {**ROW, "rule": "partition-for-key"}, {**ROW, "release": "3.9.2"}],
}


def test_certificate_json_of_verify_is_parsed_with_rules_and_releases() -> None:
    read = from_json(json.dumps(DOCUMENT))
    assert read == Certificate(
        "2026-11-30", "0.1.0", 7, "17.0.9 (PATH)", "cd" * 32,
        tuple(
            CertificateRow(rule, release, 1361, 1360, {"hypothesis": 1361}, "ab" * 32, True)
            for rule, release in (("murmur2", "4.4.0"), ("partition-for-key", "4.4.0"), ("murmur2", "3.9.2"))
        ),
    )  # fmt: skip
    assert read.rules() == ["murmur2", "partition-for-key"]
    assert read.releases() == ["4.4.0", "3.9.2"]


def test_optional_row_fields_and_harness_of_a_certificate_are_parsed() -> None:
    row = {**ROW, "fingerprint": "ef" * 32, "seed": 8, "jvm": "21", "kit": "0.2.0", "made": "2026-12-01"}
    read = from_json(json.dumps({**DOCUMENT, "rows": [row], "harness": {"murmur2": "The loop is the kit's."}}))
    assert read.rows == (CertificateRow("murmur2", "4.4.0", 1361, 1360, {"hypothesis": 1361}, "ab" * 32, True,
                             "ef" * 32, 8, "21", "0.2.0", "2026-12-01"),)  # fmt: skip
    assert read.harness == {"murmur2": "The loop is the kit's."}


def test_certificate_mutation_scores_are_parsed_and_a_text_score_raises_type_error() -> None:
    score = {"mutants": 150, "by_cases": 147, "by_gate": 149, "equivalent": 8, "unreachable": 3}
    read = from_json(json.dumps({**DOCUMENT, "scores": {"murmur2": score}}))
    assert read.scores == {"murmur2": MutationScore(150, 147, 149, 8, 3)}
    with pytest.raises(TypeError, match="by_gate is '149', not int"):
        from_json(json.dumps({**DOCUMENT, "scores": {"murmur2": {**score, "by_gate": "149"}}}))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "5", "null", "[]", "{}", '{"rows": 5}', '{"rows": [5]}',
        json.dumps({**DOCUMENT, "more": 1}),
        json.dumps({**DOCUMENT, "rows": [{**ROW, "more": 1}]}),
        json.dumps({**DOCUMENT, "rows": [{"rule": "murmur2"}]}),
        json.dumps({**DOCUMENT, "rows": [{**ROW, "fingerprint": None}]}),
        json.dumps({**DOCUMENT, "rows": [{**ROW, "seed": "8"}]}),
        json.dumps({**DOCUMENT, "harness": []}),
        json.dumps({name: value for name, value in DOCUMENT.items() if name != "seed"}),
    ],
)  # fmt: skip
def test_malformed_certificate_json_raises_value_key_or_type_error(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_json(text)


@pytest.fixture(scope="module")
def as_it_stands() -> str:
    return reference_fingerprint()


def fingerprint_with(room: Path, file: str, old: str, new: str) -> str:
    """The fingerprint of a copy of the package with one text in it replaced by another."""
    package = room / "kafka_reference"
    shutil.copytree(Path(kafka_reference.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = (package / file).read_text(encoding="utf-8")
    assert old in source
    (package / file).write_text(source.replace(old, new), encoding="utf-8")
    script = "from kafka_reference.certificate import reference_fingerprint; print(reference_fingerprint())"
    command = [sys.executable, "-S", "-c", script]
    return subprocess.run(command, cwd=room, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("partitioning/murmur2.py", "SEED = 0x9747B28C\n", "SEED = 0x9747B28C  # Kafka's own\n\n\n"),
        pytest.param("partitioning/murmur2.py", "0x9747B28C", "0x9747b28c", marks=pytest.mark.exhaustive),
        ("partitioning/murmur2.py", '"""Return the hash of a serialized key,', '"""Hash it,'),
        pytest.param(
            "partitioning/keyed.py", '"""The partition of a key:', '"""A partition:', marks=pytest.mark.exhaustive
        ),
        ("partitioning/cluster.py", '    """Node id to rack."""', '    """Racks,\n        by node."""'),
        ("partitioning/cluster.py", '"""A broker: its id, an int32', '"""An id, an int32'),
    ],
)
def test_reference_fingerprint_ignores_comments_docstrings_and_layout(
    tmp_path: Path, as_it_stands: str, file: str, old: str, new: str
) -> None:
    assert fingerprint_with(tmp_path, file, old, new) == as_it_stands


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("partitioning/murmur2.py", "SEED = 0x9747B28C", "SEED = 0x9747B28D"),
        ("partitioning/keyed.py", "return hashed % num_partitions", "return hashed // num_partitions"),
        ("partitioning/behaviour.py", 'since("3.2.0")', 'since("3.2.1")'),
        ("errors.py", "cls.java_name = cls.__name__", "cls.java_name = cls.__qualname__"),
        ("releases.py", 'NEWEST = parse_release("4.4.0")', 'NEWEST = parse_release("4.3.1")'),
    ],
)
def test_reference_fingerprint_changes_with_the_code(
    tmp_path: Path, as_it_stands: str, file: str, old: str, new: str
) -> None:
    assert fingerprint_with(tmp_path, file, old, new) != as_it_stands
