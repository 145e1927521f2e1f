"""Frozen cases held to Java again: whatever is another now is a line, and a damaged file is not asked about at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases import check as case_check
from kafka_conformance.cases.check import damages, drifts, read_folder
from kafka_conformance.cases.generation import GenerationPlan, freeze
from kafka_conformance.cases.store import Case, Frozen, write
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import Release, parse_release

RULE = RULES["sequence-increment"]
RELEASES = [parse_release("2.0.1"), parse_release("4.4.0")]


@dataclass
class Java:
    """The reference in its place."""

    jvm: str = "21"
    answerer: ReferenceAnswerer = field(default_factory=lambda: ReferenceAnswerer("java"))
    jar: str = "00"

    def sha256(self, _: Rule, release: Release) -> str:
        return f"{self.jar} of {release}"


@pytest.fixture(scope="module")
def sound() -> Frozen:
    from itertools import islice

    from kafka_conformance.core.rule import Space

    spaces = tuple(Space(s.name, lambda s=s: islice(s.questions(), 0, None, 97)) for s in RULE.spaces)
    (made,) = freeze(
        GenerationPlan([replace(RULE, spaces=spaces)], RELEASES, 100, 7, {RULE.slug: 60}), Java(), Steps("", 0)
    )
    assert not made.survivors
    return made.frozen


def drifted(found: Frozen, java: Java | None = None, releases: list[Release] = RELEASES) -> list[str]:
    return list(drifts({RULE.slug: found}, releases, java or Java(), Steps("", 0)))


def changed(found: Frozen, place: int = 0, **changes: Any) -> Frozen:
    cases = list(found.cases)
    cases[place] = msgspec.structs.replace(cases[place], **changes)
    return Frozen(found.provenance, tuple(cases))


def test_check_of_unchanged_frozen_cases_against_java_reports_nothing(sound: Frozen) -> None:
    assert len(sound.cases) >= 60
    assert drifted(sound) == []


def test_check_reports_a_wrong_frozen_answer_in_every_release_with_the_answer_of_java(sound: Frozen) -> None:
    (wrong,) = {sound.cases[3].answer["sequence"] + 1}
    lines = [line for line in drifted(changed(sound, 3, answer={"sequence": wrong})) if "Java returns" in line]
    assert len(lines) == 2
    for line, at in zip(lines, RELEASES, strict=True):
        assert line.startswith(f"sequence-increment {sound.cases[3].id} in {at}: frozen {{")
        assert f'Java returns {{"sequence":{wrong - 1}}}' in line


def test_check_reports_a_frozen_answer_true_where_java_returns_1(sound: Frozen) -> None:
    place = next(place for place, case in enumerate(sound.cases) if case.answer == {"sequence": 1})
    assert any("Java returns" in line for line in drifted(changed(sound, place, answer={"sequence": True})))


def test_check_reports_every_frozen_case_that_java_fails_to_answer(sound: Frozen) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("broke")

    lines = drifted(sound, Java(answerer=ReferenceAnswerer("java", broken)))
    assert len(lines) == sum(len(case.releases) for case in sound.cases)
    assert "Java has no answer: Failed(what='RuntimeError: broke')" in lines[0]


def test_check_reports_every_frozen_case_that_the_reference_does_not_answer(
    sound: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(question: Any, release: Release) -> Any:
        raise NotInThisRelease("since 5.0.0")

    monkeypatch.setitem(RULES, RULE.slug, replace(RULE, ask=absent))
    java = Java(answerer=ReferenceAnswerer("java", lambda question, release: RULE.ask(question, release)))
    ids = [case.id for case in sound.cases]
    lines = [line for line in drifted(sound, java) if "reference" in line]
    assert lines == [f"sequence-increment {one}: the reference does not give this answer" for one in ids]


def test_check_reports_a_frozen_case_whose_recorded_list_of_killed_mutants_lacks_one(sound: Frozen) -> None:
    place = next(place for place, case in enumerate(sound.cases) if len(case.kills) > 1)
    gone = sound.cases[place].kills[0]
    (line,) = drifted(changed(sound, place, kills=sound.cases[place].kills[1:]))
    assert line.endswith(f"{sound.cases[place].id}: not the frozen verdict about these mutants: {gone}")


def test_mutant_that_no_frozen_case_kills_is_reported(sound: Frozen, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Mutant("none", RULE.slug, "", RULE.ask)
    monkeypatch.setattr(case_check, "written_mutants", lambda rule: [*written_mutants(rule), none])
    assert drifted(sound) == ["sequence-increment: no case kills the mutant none"]


def test_check_of_frozen_cases_reports_changed_jar_sha256_java_source_and_new_pinned_release(sound: Frozen) -> None:
    assert drifted(sound, Java(jar="01")) == [
        f"sequence-increment in {at}: answered by the jar {'00 of ' + str(at)}, and that is {'01 of ' + str(at)} now"[
            :200
        ]
        for at in RELEASES
    ]
    elsewhere = Frozen(msgspec.structs.replace(sound.provenance, java="Elsewhere.method"), sound.cases)
    assert drifted(elsewhere) == [f"sequence-increment: made with Elsewhere.method, which is {RULE.source} now"]
    more = [*RELEASES, parse_release("4.3.1")]
    assert drifted(sound, releases=more) == ["sequence-increment: release 4.3.1 is pinned and has no cases"]


def test_required_label_without_frozen_case_is_reported(sound: Frozen) -> None:
    kind = min(RULE.required_labels)
    kept = tuple(case for case in sound.cases if kind not in set(RULE.labels(case.typed_question(RULE))))
    assert f"sequence-increment: no case is of the kind: {kind}" in drifted(Frozen(sound.provenance, kept))


def newest_first(case: Case) -> dict[str, Any]:
    return {"releases": case.releases[::-1]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: {"id": "0" * 16}, "0000000000000000 is not the name of its content"),
        (lambda _: {"release": "2.0.1"}, "is not the name of its content"),
        (lambda _: {"question": msgspec.Raw(b'{"by":1,"sequence":77777}')}, "is not the name of its content"),
        (lambda _: {"question": msgspec.Raw(b'{"by":1}')}, "is not a question of this rule: Object missing"),
        (lambda _: {"question": msgspec.Raw(b'{"by":')}, "is not a question of this rule"),
        (newest_first, "names releases that are not in the first line, or not in their order"),
        (lambda _: {"releases": ("4.3.1", "4.4.0")}, "names releases that are not in the first line"),
        (lambda _: {"releases": ()}, "which is not one of its releases"),
        (lambda _: {"releases": ("2.0.1",)}, "which is not one of its releases"),
    ],
)
def test_damaged_frozen_case_is_reported_with_the_kind_of_damage(
    sound: Frozen, change: Callable[[Case], dict[str, Any]], said: str
) -> None:
    assert any(said in what for what in damages(RULE, changed(sound, 3, **change(sound.cases[3]))))


def test_duplicate_frozen_case_and_cases_of_another_rule_are_reported_as_damage(sound: Frozen) -> None:
    assert list(damages(RULE, sound)) == []
    (twice,) = damages(RULE, Frozen(sound.provenance, (*sound.cases, sound.cases[0])))
    assert "answers a question that another case answers in the same release" in twice
    assert "it is about sequence-increment" in next(damages(RULES["sequence-decrement"], sound))


def test_folder_with_missing_damaged_or_unknown_case_file_raises_bad_input_that_names_the_fault(
    sound: Frozen, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"sequence-increment\.ndjson cannot be read: No such file or directory"):
        read_folder(tmp_path, [RULE])
    path = tmp_path / f"{RULE.slug}.ndjson"
    write(path, sound.provenance, sound.cases)
    assert read_folder(tmp_path, [RULE]) == {RULE.slug: sound}
    broken = changed(changed(sound, 1, id="1" * 16), 2, id="2" * 16)
    write(path, sound.provenance, broken.cases)
    with pytest.raises(BadInput, match=r"damaged: sequence-increment: 1111111111111111 is not the .*; and 1 more"):
        read_folder(tmp_path, [RULE])
    (tmp_path / "murmur3.ndjson").write_text("")
    with pytest.raises(BadInput, match=r"rules that do not exist: murmur3\.ndjson"):
        read_folder(tmp_path, [])
