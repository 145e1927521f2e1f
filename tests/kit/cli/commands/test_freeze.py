"""``freeze``, with the reference in Java's place: files, what is printed, exit codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases import generation as freezing
from kafka_conformance.cases.store import frozen, read, write
from kafka_conformance.cli.commands import freeze
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.rule import Space
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.releases import parse_release

SLUG = "sequence-increment"


class Oracle:
    """What the command asks of the oracle."""

    pinned = True
    jvm = SimpleNamespace(version="21", java=SimpleNamespace(found_by="a fake"))

    def open(self, version: str) -> Any:
        return SimpleNamespace(jar_sha256=f"clients {version}", pinned=self.pinned)

    def open_broker(self, version: str) -> Any:
        return SimpleNamespace(broker_sha256=f"broker {version}", pinned=self.pinned)


ORACLE = Oracle()


@pytest.fixture(autouse=True)
def java_is_the_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @contextmanager
    def opened(_: Any) -> Iterator[Oracle]:
        yield ORACLE

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(freeze, "JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.setattr(freeze, "open_oracle", opened)
    monkeypatch.setattr(freeze, "load", lambda: SimpleNamespace(releases={"4.4.0": (), "2.0.1": ()}))
    rule = RULES[SLUG]
    spaces = tuple(Space(s.name, lambda s=s: islice(s.questions(), 0, None, 397)) for s in rule.spaces)
    monkeypatch.setitem(RULES, SLUG, replace(rule, spaces=spaces))


def run(*words: str) -> int:
    with app.make_context("kafka-conformance", ["freeze", *words]) as context:
        return int(app.invoke(context))


def made(folder: str, seed: int = 7) -> int:
    return run("--rules", SLUG, "--examples", "20", "--seed", f"{seed}", "--folder", folder)


def test_freeze_writes_java_answers_with_jar_and_jvm_provenance_that_pass_freeze_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert made("one") == 0
    said = " ".join(capsys.readouterr().out.split())
    found = read(Path("one") / f"{SLUG}.ndjson")
    count, size = len(found.cases), (Path("one") / f"{SLUG}.ndjson").stat().st_size
    assert f"{count} cases in one, {size:,} bytes; the reference answers {count} of them as Java does. seed 7" in said
    assert "5 of 5" in said, "mutants"
    assert found.provenance.jars == {"2.0.1": "clients 2.0.1", "4.4.0": "clients 4.4.0"}
    assert found.provenance.jvm == "21 (a fake)"
    assert run("--rules", SLUG, "--check", "one") == 0
    answers = sum(len(case.releases) for case in found.cases)
    assert f"{count} cases, {answers:,} answers asked for again: all as frozen" in capsys.readouterr().out


def test_freeze_with_equal_seeds_writes_identical_files() -> None:
    made("one")
    made("two")
    made("three", 8)
    one, two, three = ((Path(folder) / f"{SLUG}.ndjson").read_bytes() for folder in ("one", "two", "three"))
    assert one == two != three


def test_freeze_keep_preserves_ids_and_answers_of_existing_cases() -> None:
    made("one")
    before = read(Path("one") / f"{SLUG}.ndjson").cases
    assert run("--rules", SLUG, "--examples", "50", "--seed", "8", "--folder", "one", "--keep") == 0
    after = {case.id: case.answer for case in read(Path("one") / f"{SLUG}.ndjson").cases}
    assert len(after) > len(before)
    assert {case.id: case.answer for case in before}.items() <= after.items()
    made("other", 8)
    assert not {case.id for case in before} <= {case.id for case in read(Path("other") / f"{SLUG}.ndjson").cases}


@pytest.mark.exhaustive
def test_freeze_keep_without_existing_cases_equals_plain_freeze() -> None:
    assert run("--rules", SLUG, "--examples", "20", "--seed", "7", "--folder", "one", "--keep") == 0
    made("two")
    assert (Path("one") / f"{SLUG}.ndjson").read_bytes() == (Path("two") / f"{SLUG}.ndjson").read_bytes()


def test_freeze_check_of_altered_answers_exits_1_and_prints_ten_drifts_and_the_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made("one")
    path = Path("one") / f"{SLUG}.ndjson"
    found = read(path)
    write(path, found.provenance, [msgspec.structs.replace(case, answer={"sequence": -7}) for case in found.cases])
    capsys.readouterr()
    assert run("--rules", SLUG, "--check", "one") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11, "ten, and the count"
    assert "Java returns" in lines[0]
    drifted = int(lines[-1].split(": ")[1].split(" drifts")[0].replace(",", ""))
    assert drifted >= sum(len(case.releases) for case in found.cases)


def test_freeze_check_of_truncated_or_missing_file_is_refused() -> None:
    made("one")
    path = Path("one") / f"{SLUG}.ndjson"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadInput):
        run("--rules", SLUG, "--check", "one")
    with pytest.raises(BadInput, match=r"nowhere cannot be read: No such file or directory"):
        run("--rules", SLUG, "--check", "nowhere")


def test_freeze_with_a_mutant_that_no_case_kills_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(freezing, "written_mutants", lambda _: [Mutant("survivor", SLUG, "none", RULES[SLUG].ask)])
    assert made("one") == 1
    assert "sequence-increment: mutants that no case catches: survivor" in capsys.readouterr().out


def test_freeze_records_javas_answer_and_exits_1_if_the_reference_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(freeze, "JavaAnswerer", lambda _: ReferenceAnswerer("java", lambda *_: {"sequence": 3}))
    assert made("one") == 1
    said = capsys.readouterr().out
    assert "the reference answers otherwise" in said
    assert {case.answer["sequence"] for case in read(Path("one") / f"{SLUG}.ndjson").cases} == {3}, (
        "Java's, whatever it is"
    )


def test_freeze_exits_2_if_java_cannot_answer_a_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def sometimes(question: Any, at: Any) -> Any:
        if question.sequence == 1:
            raise RuntimeError("broke")
        return RULES[SLUG].ask(question, at)

    monkeypatch.setattr(freeze, "JavaAnswerer", lambda _: ReferenceAnswerer("java", sometimes))
    assert made("one") == 2
    assert "Java could not answer" in capsys.readouterr().out


def test_freeze_with_unpinned_jars_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ORACLE, "pinned", False)
    with pytest.raises(KitError, match="not pinned"):
        made("one")


def test_freeze_check_of_cases_for_unpinned_release_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made("one")
    monkeypatch.setattr(freeze, "load", lambda: SimpleNamespace(releases={"4.4.0": ()}))
    with pytest.raises(KitError, match=r"not pinned: 2\.0\.1"):
        run("--rules", SLUG, "--check", "one")


@pytest.mark.exhaustive
def test_freeze_check_without_folder_checks_the_shipped_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    made("one")
    monkeypatch.setattr(freeze, "folder_of_cases", lambda: Path("one"))
    assert run("--check", "--rules", SLUG) == 0


def test_freeze_records_broker_jar_for_broker_rules_and_clients_jar_otherwise() -> None:
    java = freeze.OracleJava(ORACLE)  # type: ignore[arg-type]
    at = parse_release("4.4.0")
    assert java.sha256(RULES["broker-producer-state"], at) == "broker 4.4.0"
    assert java.sha256(RULES[SLUG], at) == "clients 4.4.0"


def test_freeze_extend_adds_newly_pinned_releases_to_existing_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freeze, "load", lambda: SimpleNamespace(releases={"4.3.1": (), "2.0.1": ()}))
    assert made("one") == 0
    file = Path("one") / f"{SLUG}.ndjson"
    before = read(file)
    newer = {"4.4.0": (), "4.3.1": (), "2.1.0": (), "2.0.1": ()}
    monkeypatch.setattr(freeze, "load", lambda: SimpleNamespace(releases=newer))
    assert run("--rules", SLUG, "--check", "one") == 1
    assert run("--rules", SLUG, "--check", "one", "--kafka", "2.0.1") == 0
    assert run("--rules", SLUG, "--extend", "--folder", "one") == 0
    after = read(file)
    assert [case.id for case in after.cases] == [case.id for case in before.cases], "names are published"
    assert {case.releases for case in after.cases} == {("2.0.1", "2.1.0", "4.3.1", "4.4.0")}
    assert {case.release for case in after.cases} == {"4.3.1"}
    assert list(after.provenance.jars) == ["2.0.1", "2.1.0", "4.3.1", "4.4.0"]
    assert (after.provenance.seed, after.provenance.examples) == (before.provenance.seed, before.provenance.examples)
    assert run("--rules", SLUG, "--check", "one") == 0


def test_freeze_add_appends_new_questions_once_and_keeps_existing_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made("f") == 0
    before = read(tmp_path / "f" / f"{SLUG}.ndjson")
    capsys.readouterr()
    lines = ['{"rule": "sequence-increment", "question": {"sequence": 77777, "by": 12345}}'] * 2
    (tmp_path / "add.ndjson").write_text("\n".join(lines))
    for _ in range(2):  # what is there already is not added again
        assert app(["freeze", "--add", "add.ndjson", "--folder", "f", "--seed", "6"], standalone_mode=False) == 0
        now = read(tmp_path / "f" / f"{SLUG}.ndjson")
        assert now.cases[:-1] == before.cases
        assert msgspec.json.decode(now.cases[-1].question) == {"sequence": 77777, "by": 12345}
        assert now.provenance.seed == before.provenance.seed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no question"),
        ("[]", "line 1 is not a rule and its question"),
        ('{"rule": "no-such", "question": {}}', "unknown rule 'no-such'"),
        ('{"rule": "murmur2", "question": {"key": 5}}', "line 1 is not a rule and its question"),
    ],
)
def test_freeze_add_of_malformed_or_missing_question_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "add.ndjson").write_text(text)
    with pytest.raises(BadInput, match=message):
        app(["freeze", "--add", "add.ndjson"], standalone_mode=False)
    with pytest.raises(BadInput, match="cannot be read"):
        app(["freeze", "--add", "none.ndjson"], standalone_mode=False)


def test_freeze_keep_together_with_extend_is_refused() -> None:
    with pytest.raises(BadInput, match="exclude one another"):
        app(["freeze", "--keep", "--extend"], standalone_mode=False)


def test_freeze_kills_option_recounts_killed_mutants_without_java_and_exits_1_for_survivors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made("f") == 0
    before = frozen(RULES[SLUG], Path("f"))
    assert before is not None
    monkeypatch.setattr(freeze, "open_oracle", lambda *_: pytest.fail("no Java is needed"))
    path = Path("f") / f"{SLUG}.ndjson"
    write(path, before.provenance, [msgspec.structs.replace(case, kills=()) for case in before.cases])
    capsys.readouterr()
    assert app(["freeze", "--kills", "--rules", SLUG, "--folder", "f"], standalone_mode=False) == 0
    assert capsys.readouterr().out == "1 rule recounted in f; each mutant is killed\n"
    assert frozen(RULES[SLUG], Path("f")) == before
    correct = Mutant("correct-one", SLUG, "", RULES[SLUG].ask)
    monkeypatch.setattr(freeze, "written_mutants", lambda rule: [*written_mutants(rule), correct])
    assert app(["freeze", "--kills", "--rules", SLUG, "--folder", "f"], standalone_mode=False) == 1
    assert "mutants that no case kills: correct-one" in capsys.readouterr().out


def test_freeze_add_is_refused_if_pinned_releases_differ_from_those_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made("f") == 0
    (tmp_path / "add.ndjson").write_text('{"rule": "sequence-increment", "question": {"sequence": 1, "by": 2}}')
    monkeypatch.setattr(freeze, "load", lambda: SimpleNamespace(releases={"4.4.0": ()}))
    with pytest.raises(KitError, match="run freeze --extend first"):
        app(["freeze", "--add", "add.ndjson", "--folder", "f"], standalone_mode=False)


def test_freeze_from_option_accepts_several_sweep_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def swept(runs: Sequence[str]) -> None:
        raise BadInput(" and ".join(runs))

    monkeypatch.setattr(freeze, "_swept", swept)
    done = CliRunner().invoke(
        app, ["freeze", "--rules", "murmur2", "--from", "a", "--from", "b"], standalone_mode=False
    )
    assert str(done.exception) == "a and b"
