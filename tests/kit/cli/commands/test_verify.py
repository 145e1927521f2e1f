"""``verify``, with the reference in Java's place: exit codes, the JSON document, the certificate."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import verify
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_conformance.verify.certificate import void_rules
from kafka_conformance.verify.fingerprint import fingerprint
from kafka_jars.pins import load
from kafka_reference.certificate import Certificate, CertificateRow, from_json, reference_fingerprint
from kafka_reference.errors import DrawsExhausted, NotInThisRelease


def empty_key(_: str, __: Path, results: Path) -> int:
    """Java's answer in bulk over the one key of no bytes."""
    np.array([275646681], "<i4").tofile(results)
    return 1


OPENED = SimpleNamespace(jar_sha256="ab" * 32, pinned=True, bulk=empty_key)
ORACLE = SimpleNamespace(
    jvm=SimpleNamespace(version="17.0.9", java=SimpleNamespace(found_by="a test")),
    open=lambda _: OPENED,
    close_release=lambda _: None,
)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs the command; the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kafka_conformance.verify.verification.JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.setattr(verify, "open_oracle", lambda _: nullcontext(ORACLE))

    def ran(*, rules: str = "murmur2", answerer: str = "reference", kafka: str = "newest", as_json: bool = False,
            changed: bool = False) -> Any:  # fmt: skip
        code = verify.run(
            kafka=kafka, rules=rules.split(), examples=120, seed=7, exhaustive=0, answerer_name=answerer, as_json=as_json,
            certificate=Path("made") / "certificate.json", changed=changed,
        )  # fmt: skip
        out = capsys.readouterr().out
        return code, json.loads(out) if as_json else out

    return ran


def wrong(monkeypatch: pytest.MonkeyPatch, instead: Any, slug: str = "murmur2") -> None:
    """The reference answers by ``instead``; Java's stand-in as before."""
    monkeypatch.setattr(verify, "reference_or_mutant", lambda _: ReferenceAnswerer("mine", instead))


def test_verify_without_differences_exits_0_and_writes_a_certificate(ran: Any) -> None:
    code, said = ran()
    assert code == 0
    assert "1,495 of 1,495 answers match: no difference. seed 7, JVM 17.0.9 (a test)" in said
    assert "certificate: made/certificate.json" in said
    made = json.loads(Path("made/certificate.json").read_text(encoding="utf-8"))
    (row,) = made["rows"]
    assert (row["rule"], row["release"], row["asked"], row["agreed"]) == ("murmur2", "4.4.0", 1495, 1495)
    assert row["sources"]["every key of up to 0 bytes"] == 1
    assert (made["seed"], made["jvm"], row["jar_sha256"]) == (7, "17.0.9 (a test)", "ab" * 32)


def test_verify_json_has_counts_seed_and_kinds_of_questions(ran: Any) -> None:
    code, document = ran(as_json=True)
    assert code == document["exit_code"] == 0
    (result,) = document["results"]
    assert (document["seed"], document["examples"], document["jvm"]) == (7, 120, "17.0.9 (a test)")
    assert (result["rule"], result["release"], result["pinned"]) == ("murmur2", "4.4.0", True)
    assert (result["asked"], result["agreed"], result["differ"], result["errored"]) == (1495, 1495, 0, [])
    assert result["kinds"]["hash 0x80000000"] >= 2
    assert result["findings"] == []


def test_verify_of_mutant_exits_1_saves_the_failure_and_writes_no_certificate(ran: Any) -> None:
    code, document = ran(answerer="mutant:signed-tail", as_json=True)
    assert code == document["exit_code"] == 1
    (result,) = document["results"]
    (finding,) = result["findings"]
    assert (finding["question"], finding["expected"]) == ({"key": "80"}, {"hash": 857690492})
    assert finding["count"] == result["differ"] == result["asked"] - result["agreed"]
    assert Path(".kafka-conformance/failures", f"{finding['id']}.json").is_file()
    assert not Path("made").exists()


def test_verify_prints_smallest_question_and_replay_command_of_a_difference(ran: Any) -> None:
    code, said = ran(answerer="mutant:signed-tail")
    (saved,) = Path(".kafka-conformance/failures").iterdir()
    assert code == 1
    assert '  question  {"key":"80"}' in said
    assert f"replay: kafka-conformance replay {saved.stem}" in said
    assert "answers not Java's" in said


def test_verify_exits_2_without_certificate_if_the_reference_fails(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(question: Any, at: Any) -> Answer:
        if question.key == "80":
            raise DrawsExhausted("the question holds no draws")
        return RULES["murmur2"].ask(question, at)

    wrong(monkeypatch, broken)
    code, said = ran()
    assert code == 2
    assert "murmur2 in 4.4.0 could not be judged: mine 4.4.0: the question holds no draws" in said
    assert not Path("made").exists()


@pytest.mark.parametrize("absent", [lambda _: True, lambda key: key == "80"])
def test_verify_exits_nonzero_without_certificate_if_only_java_supports_a_question(
    ran: Any, monkeypatch: pytest.MonkeyPatch, absent: Callable[[str | None], bool]
) -> None:
    def ask(question: Any, at: Any) -> Answer:
        if absent(question.key):
            raise NotInThisRelease("murmur2 came later")
        return RULES["murmur2"].ask(question, at)

    wrong(monkeypatch, ask)
    assert ran()[0] != 0
    assert not Path("made").exists()


def test_verify_exits_2_if_a_required_kind_of_question_was_never_asked(
    ran: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = RULES["murmur2"]
    monkeypatch.setitem(RULES, "murmur2", replace(rule, required_labels=rule.required_labels | {"key of the moon"}))
    code, said = ran()
    assert code == 2
    assert "never asked: key of the moon" in said


def test_verify_of_release_without_the_rule_exits_with_2(ran: Any) -> None:
    code, said = ran(kafka="0.8.2.2")
    assert code == 2
    assert "none of these rules exists in these releases" in said


def test_unpinned_release_is_marked_in_certificate_and_output(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPENED, "pinned", False)
    assert "3.6.1 (unpinned)" in ran(kafka="3.6.1")[1]
    assert json.loads(Path("made/certificate.json").read_text(encoding="utf-8"))["rows"][0]["pinned"] is False


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Certificate:
    """A certificate that proves murmur2 in the newest release, and sequence-increment in another form."""
    jar_sha256 = load().clients("4.4.0")[0].sha256 or ""
    rows = [
        CertificateRow(slug, "4.4.0", 9, 9, {"hypothesis": 9}, jar_sha256, True, of_code)
        for slug, of_code in (("murmur2", fingerprint(RULES["murmur2"])), ("sequence-increment", "ab" * 32))
    ]
    made = Certificate("2026-01-30", "0.0.9", 5, "17.0.8", "cd" * 32, tuple(rows))
    monkeypatch.setattr(verify, "shipped", lambda: made)
    return made


def test_verify_changed_copies_certificate_rows_of_unchanged_rules(ran: Any, shipped: Certificate) -> None:
    code, said = ran(rules="murmur2 sequence-increment", changed=True)
    assert code == 0
    assert "murmur2:" not in said
    made = from_json(Path("made/certificate.json").read_text(encoding="utf-8"))
    assert [(row.rule, row.asked == 9, row.seed, row.made) for row in made.rows] == [
        ("murmur2", True, 5, "2026-01-30"), ("sequence-increment", False, None, None),
    ]  # fmt: skip
    assert made.rows[1].fingerprint == fingerprint(RULES["sequence-increment"])
    assert void_rules(made) == []


def test_verify_changed_of_an_unchanged_rule_compares_only_releases_without_certificate_row(
    ran: Any, shipped: Certificate
) -> None:
    assert ran(kafka="3.9.2,4.4.0", changed=True)[0] == 0
    made = from_json(Path("made/certificate.json").read_text(encoding="utf-8"))
    assert [(row.release, row.asked == 9, row.made) for row in made.rows] == [
        ("3.9.2", False, None), ("4.4.0", True, "2026-01-30"),
    ]  # fmt: skip


def test_verify_changed_without_changed_rules_does_not_start_java(
    ran: Any, shipped: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "open_oracle", None)
    assert ran(changed=True) == (0, "unchanged since the shipped certificate: murmur2; nothing to verify\n")
    made = from_json(Path("made/certificate.json").read_text(encoding="utf-8"))
    assert made.rows == shipped.rows[:1]
    assert (made.seed, made.reference_sha256) == (5, reference_fingerprint())
    assert ran(changed=True, as_json=True) == (0, {"exit_code": 0, "unchanged": ["murmur2"], "results": []})


def test_verify_changed_with_a_mutant_answerer_is_refused(ran: Any, shipped: Certificate) -> None:
    with pytest.raises(BadInput, match="--changed proves the reference: leave it out with --answerer mutant:one-bit"):
        ran(answerer="mutant:one-bit", changed=True)
