"""Mutations of a module: their names, and the code with one of them."""

from __future__ import annotations

from typing import Any

from kafka_conformance.generated_mutants.mutations import Module, Mutation

CODE = """
class Counter:
    limit = 3

    def add(self, number):
        def inner():
            return number + 1
        if number > 1 and number > 1:
            return inner()
        return 0
"""


def module() -> Module:
    return Module("m", CODE, [])


def executed(one: Module, mutation: Mutation) -> Any:
    space: dict[str, Any] = {}
    exec(one.compile(mutation), space)  # noqa: S102
    return space["Counter"]


def named(one: Module, key: str) -> Mutation:
    return next(mutation for mutation in one.mutations if mutation.key == key)


def test_generated_mutations_with_equal_text_have_numbered_unique_keys() -> None:
    keys = [mutation.key for mutation in module().mutations]
    assert len(set(keys)) == len(keys)
    assert "m:Counter.add: number > 1 → number >= 1" in keys
    assert "m:Counter.add: number > 1 → number >= 1 #2" in keys


def test_place_of_a_mutation_is_the_outermost_method_or_the_class_outside_of_methods() -> None:
    found = named(module(), "m:Counter.add: number + 1 → number - 1")
    assert (found.definition, found.place, found.in_function, found.line) == ("Counter", "Counter.add", True, 7)
    limit = named(module(), "m:Counter: 3 → 4")
    assert (limit.place, limit.in_function) == ("Counter", False)


def test_compiling_a_module_with_one_mutation_leaves_later_compilations_unmutated() -> None:
    one = module()
    wrong = executed(one, named(one, "m:Counter.add: number + 1 → number - 1"))
    assert wrong().add(5) == 4
    larger = executed(one, named(one, "m:Counter: 3 → 4"))
    assert (larger.limit, larger().add(5)) == (4, 6)


def test_arguments_of_the_checked_decorator_are_not_mutated() -> None:
    checked = """
from kafka_reference.arguments import Narrowed, checked

@checked(size=Narrowed(int, 77 + 88))
class Box:
    size: int = 5

@checked
def fill(size: int = 6) -> int:
    return size * 2
"""
    found = [mutation.text for mutation in Module("m", checked, []).mutations]
    assert {"5 → 6", "size * 2 → size // 2"} <= set(found)
    assert not [text for text in found if "77" in text or "88" in text]
