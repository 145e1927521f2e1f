"""A file that is nested too deep for Python, or is not UTF-8, is refused in one line by every reader."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.answerers.named_driver import read_driver
from kafka_conformance.audit.engines.finished_run import finished_audit
from kafka_conformance.cases import store
from kafka_conformance.cases.addition import read_questions
from kafka_conformance.cases.failures import read_failure
from kafka_conformance.cli.commands import certificate, explain, report
from kafka_conformance.core.decoding import UNREADABLE, UNREADABLE_TOML, decode_question
from kafka_conformance.core.errors import KitError
from kafka_conformance.gate import known_failures
from kafka_conformance.replication.script_json import load_script
from kafka_conformance.rules import RULES
from kafka_conformance.verify.coverage import mirrored_code
from kafka_conformance.verify.coverage import record as coverage
from kafka_conformance.verify.mutants import record as mutants
from kafka_jars import brokers, pins
from kafka_jars.errors import JarError

DEEP = 100_000
JSON = [
    b"[" * DEEP + b"]" * DEEP,
    b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    b'{"rows": "\xff"}',
    b'{"rows": ["\xed\xa0\x80"]}',
    b"9" * 5_000,
]
TOML = [
    b"known = " + b"[" * 3_000 + b"]" * 3_000,
    b"a = " + b"{a = " * 3_000 + b"1" + b"}" * 3_000,
    b'a = "\xff"',
    b"a = " + b"9" * 5_000,
]
READERS: dict[str, Callable[[Path], object]] = {
    "cases": store.read,
    "failure": lambda path: read_failure(str(path)),
    "explain": lambda path: list(explain._documents(str(path))),
    "report": report.read,
    "certificate": lambda path: certificate._read(path, shipped=False),
    "script": load_script,
    "mutants": mutants.read,
    "coverage": coverage.read,
    "audit.json": lambda path: finished_audit(str(path.parent)),
    "plan.json": lambda path: finished_audit(str(path.parent)),
}
TOML_READERS: dict[str, Callable[[Path], object]] = {
    "known.toml": lambda path: known_failures.read(path, date(2025, 1, 1)),
    "driver.toml": lambda path: read_driver(path.parent),
    "releases.toml": pins.load,
    "brokers.toml": brokers.load_brokers,
    "written.toml": lambda path: pins.write_release(path, "4.4.0", {}),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("data", JSON, ids=["list", "object", "not UTF-8", "surrogate", "digits"])
def test_every_json_reader_raises_one_line_kit_error_for_deep_nesting_invalid_utf8_or_5000_digits(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(KitError) as raised:
        READERS[name](tmp_path / name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", TOML_READERS)
@pytest.mark.parametrize("data", TOML, ids=["list", "table", "not UTF-8", "digits"])
def test_every_toml_reader_raises_kit_or_jar_error_for_deep_nesting_invalid_utf8_or_5000_digits(
    tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises((KitError, JarError)):
        TOML_READERS[name](tmp_path / name)


@pytest.mark.parametrize("data", TOML)
def test_coverage_toml_with_deep_nesting_or_invalid_utf8_raises_kit_error_with_the_file_name(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "coverage.toml").write_bytes(data)
    monkeypatch.setattr(mirrored_code, "files", lambda _: tmp_path)
    with pytest.raises(KitError, match=r"coverage\.toml cannot be read"):
        mirrored_code.mirrored_code.__wrapped__("x")


def test_saved_failure_with_question_nested_900_levels_deep_raises_kit_error(tmp_path: Path) -> None:
    side = b'{"by":"java","release":"4.4.0","answer":{}}'
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    whole = b'{"id":"x","rule":"murmur2","question":%b,"expected":%b,"actual":%b,"found":{}}' % (deep, side, side)
    (tmp_path / "x.json").write_bytes(whole)
    with pytest.raises(KitError):
        read_failure("x", tmp_path).typed_question()


def test_unreadable_file_errors_include_validation_but_not_key_errors() -> None:
    assert not any(issubclass(KeyError, each) for each in (*UNREADABLE, *UNREADABLE_TOML))
    assert issubclass(msgspec.ValidationError, UNREADABLE)


def test_question_above_8_mib_raises_kit_error_with_both_sizes_in_every_reader(tmp_path: Path) -> None:
    large = b'{"key":"' + b"00" * (4 * 2**20) + b'"}'
    path = tmp_path / "large.json"
    path.write_bytes(b'{"rule":"murmur2","question":' + large + b"}")
    why = "it has 8,388,618 bytes: expected at most 8,388,608"
    with pytest.raises(KitError, match=why):
        list(explain._typed(*next(explain._documents(str(path))), ""))
    with pytest.raises(KitError, match=why):
        read_questions(path)
    side = {"by": "reference", "release": "4.4.0", "answer": {}}
    sides = {"id": "x", "rule": "murmur2", "expected": side, "actual": side, "found": {}}
    path.write_bytes(msgspec.json.encode({**sides, "question": msgspec.Raw(large)}))
    with pytest.raises(KitError, match=why):
        read_failure(str(path)).typed_question()
    question = msgspec.json.decode(large[:10] + b'00"}', type=RULES["murmur2"].question)
    assert decode_question(large[:10] + b'00"}', RULES["murmur2"].question) == question
