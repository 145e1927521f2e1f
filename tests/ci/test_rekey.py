"""Which code differs in names alone."""

from __future__ import annotations

import ast

import pytest
from rekey import differing_definition

from kafka_reference.certificate import dump_code

RELEASE = {"at": "release"}


def code(text: str) -> dict[str, str]:
    return {"module:ask": dump_code(ast.parse(text))}


def test_code_comparison_ignores_a_given_rename_and_reports_a_rename_that_was_not_given() -> None:
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
def test_code_with_a_change_in_addition_to_the_given_rename_differs(after: str) -> None:
    before = code("def ask(question, at):\n    return question.hash(at)")
    assert differing_definition(before, code(after), RELEASE) == "module:ask"


def test_code_comparison_reports_a_rename_that_merges_two_variables_but_not_a_name_swap() -> None:
    before = code("def ask(release, at):\n    return release if at else None")
    after = code("def ask(release, release_):\n    return release if release else None")
    assert differing_definition(before, after, {"at": "release"}) == "module:ask"
    swapped = code("def ask(at, release):\n    return at if release else None")
    assert differing_definition(before, swapped, {"at": "release", "release": "at"}) == ""


def test_given_class_rename_may_be_applied_in_one_module_and_left_out_in_another() -> None:
    def classes(first: str, second: str) -> dict[str, str]:
        return {
            f"one:{first}": dump_code(ast.parse(f"class {first}: pass")),
            f"two:{second}": dump_code(ast.parse(f"class {second}: pass")),
        }

    renames = {"Tracker": "Sequences"}
    assert differing_definition(classes("Tracker", "Tracker"), classes("Sequences", "Tracker"), renames) == ""
    assert differing_definition(classes("Tracker", "Tracker"), classes("Sequences", "Other"), renames)


def test_renamed_code_differs_if_a_string_literal_equal_to_the_old_name_also_changed() -> None:
    before = code("def ask(at):\n    return fields['at'], at")
    assert differing_definition(before, code("def ask(release):\n    return fields['at'], release"), RELEASE) == ""
    assert differing_definition(before, code("def ask(release):\n    return fields['release'], release"), RELEASE)


@pytest.mark.parametrize("quoted", ["id='at'", "arg='at', \"x\"", "value='id=at'"])
def test_renamed_code_differs_if_a_string_literal_that_resembles_ast_dump_text_changed(quoted: str) -> None:
    before, after = (
        code(f"def ask(): return {quoted!r}"),
        code(f"def ask(): return {quoted.replace('at', 'release')!r}"),
    )
    assert differing_definition(before, before, RELEASE) == ""
    assert differing_definition(before, after, RELEASE) == "module:ask"


def test_code_comparison_reports_a_definition_that_was_removed_or_added() -> None:
    before = code("def ask(at): pass")
    assert differing_definition(before, {}, RELEASE) == "module:ask"
    assert differing_definition({}, before, RELEASE) == "module:ask"


def test_definition_in_a_renamed_module_is_compared_under_the_new_module_name() -> None:
    before = {"rules.beside:tail": "FunctionDef(name='tail')"}
    after = {"rules.neighbours:tail": "FunctionDef(name='tail')"}
    assert differing_definition(before, after, {"beside": "neighbours"}) == ""
