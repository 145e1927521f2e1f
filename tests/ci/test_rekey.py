"""Which code differs in names alone."""

from __future__ import annotations

import ast

import pytest
from rekey import differing_definition

from kafka_reference.certificate import dump_code

RELEASE = {"at": "release"}


def code(text: str) -> dict[str, str]:
    return {"module:ask": dump_code(ast.parse(text))}


def test_code_in_which_only_a_given_name_changed_does_not_differ() -> None:
    before = code("def ask(question, at):\n    return question.hash(at)")
    after = code("def ask(question, release):\n    return question.hash(release)")
    assert differing_definition(before, after, RELEASE) == ""
    assert differing_definition(before, after, {}) == "module:ask", "a name that was not given"


@pytest.mark.parametrize(
    "after",
    [
        "def ask(question, release):\n    return question.hash(release, 1)",
        "def ask(question, release):\n    return question.hash(at)",
        "def ask(question, release):\n    return question.crc(release)",
        "def ask(question, release):\n    return question.hash(question)",
    ],
)
def test_code_with_another_change_than_the_rename_differs(after: str) -> None:
    before = code("def ask(question, at):\n    return question.hash(at)")
    assert differing_definition(before, code(after), RELEASE) == "module:ask"


def test_rename_that_makes_one_variable_of_two_differs() -> None:
    before = code("def ask(release, at):\n    return release if at else None")
    after = code("def ask(release, release_):\n    return release if release else None")
    assert differing_definition(before, after, {"at": "release"}) == "module:ask"
    swapped = code("def ask(at, release):\n    return at if release else None")
    assert differing_definition(before, swapped, {"at": "release", "release": "at"}) == ""


def test_definition_renamed_only_in_another_module_keeps_the_old_name() -> None:
    def classes(first: str, second: str) -> dict[str, str]:
        return {
            f"one:{first}": dump_code(ast.parse(f"class {first}: pass")),
            f"two:{second}": dump_code(ast.parse(f"class {second}: pass")),
        }

    renames = {"Tracker": "Sequences"}
    assert differing_definition(classes("Tracker", "Tracker"), classes("Sequences", "Tracker"), renames) == ""
    assert differing_definition(classes("Tracker", "Tracker"), classes("Sequences", "Other"), renames)


def test_texts_that_equal_an_old_name_have_to_stay() -> None:
    before = code("def ask(at):\n    return fields['at'], at")
    assert differing_definition(before, code("def ask(release):\n    return fields['at'], release"), RELEASE) == ""
    assert differing_definition(before, code("def ask(release):\n    return fields['release'], release"), RELEASE)


@pytest.mark.parametrize("quoted", ["id='at'", "arg='at', \"x\"", "value='id=at'"])
def test_text_that_looks_like_a_name_in_a_syntax_tree_has_to_stay(quoted: str) -> None:
    before, after = (
        code(f"def ask(): return {quoted!r}"),
        code(f"def ask(): return {quoted.replace('at', 'release')!r}"),
    )
    assert differing_definition(before, before, RELEASE) == ""
    assert differing_definition(before, after, RELEASE) == "module:ask"


def test_definition_that_is_missing_or_new_differs() -> None:
    before = code("def ask(at): pass")
    assert differing_definition(before, {}, RELEASE) == "module:ask"
    assert differing_definition({}, before, RELEASE) == "module:ask"


def test_renamed_definition_and_module_are_compared_by_the_new_name() -> None:
    before = {"rules.beside:tail": "FunctionDef(name='tail')"}
    after = {"rules.neighbours:tail": "FunctionDef(name='tail')"}
    assert differing_definition(before, after, {"beside": "neighbours"}) == ""
