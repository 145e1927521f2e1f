"""What generated mutants change."""

from __future__ import annotations

import pytest

from kafka_conformance.generated_mutants.mutations import Module
from kafka_reference.releases import parse_release

RELEASES = [parse_release(text) for text in ("2.0.1", "2.1.0", "2.1.1", "2.2.0", "2.2.2", "2.3.0")]


def texts(code: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mutation in Module("m", code, RELEASES).mutations:
        found.setdefault(mutation.operator, []).append(mutation.text)
    return found


@pytest.mark.parametrize(
    ("code", "operator", "expected"),
    [
        ("X = a < b <= c", "comparison", ["a < b <= c → a <= b <= c", "a < b <= c → a < b < c"]),
        ("X = a is b", "comparison", ["a is b → a is not b"]),
        ("X = a not in b", "comparison", ["a not in b → a in b"]),
        ("X = a << b", "arithmetic", ["a << b → a >> b"]),
        ("X = a // b", "arithmetic", ["a // b → a * b"]),
        ("def f():\n    x += y", "arithmetic", ["x += y → x -= y"]),
        ("X = a and b", "boolean", ["a and b → a or b"]),
        ("X = f(not a)", "boolean", ["f(not a) → f(a)"]),
        ("X = True", "boolean", ["True → False"]),
        ("X = 5", "constant", ["5 → 6", "5 → 4"]),
        ("X = 'text'", "constant", []),
        ("def f():\n    'text'\n    g()\n    continue_()", "statement", ["g() → pass", "continue_() → pass"]),
        ("def f():\n    return a", "return", ["return a → return None"]),
        ("def f():\n    return None", "return", []),
        ("X = (a, b, c)", "row", ["(a, b, c) → (b, c)", "(a, b, c) → (a, c)", "(a, b, c) → (a, b)"]),
        ("X = {a: 1, b: 2}", "row", ["{a: 1, b: 2} → {b: 2}", "{a: 1, b: 2} → {a: 1}"]),
        ("def f():\n    return {a: 1, b: 2}", "row", []),
        ("A, B = 1, 2", "row", ["(1, 2) → (2,)", "(1, 2) → (1,)"]),
        (
            "X = since('2.1.0', until='2.2.x')",
            "release",
            [
                "since('2.1.0', until='2.2.x') → since('2.0.1', until='2.2.x')",
                "since('2.1.0', until='2.2.x') → since('2.1.1', until='2.2.x')",
                "since('2.1.0', until='2.2.x') → since('2.1.0', until='2.3.0')",
                "since('2.1.0', until='2.2.x') → since('2.1.0', until='2.2.0')",
            ],
        ),
        ("X = since('2.3.0')", "release", ["since('2.3.0') → since('2.2.2')"]),
    ],
)
def test_mutation_operator_yields_expected_mutants_of_a_statement(
    code: str, operator: str, expected: list[str]
) -> None:
    assert texts(code).get(operator, []) == expected


def test_annotations_decorators_docstrings_and_asserts_are_not_mutated() -> None:
    code = """
__all__ = ["a", "b"]
T: TypeAlias = tuple[1, 2]

@dataclass(frozen=True, slots=True)
class C:
    pass

@lru_cache(maxsize=7)
def f(x: Literal[1, 2]) -> Literal[3, 4]:
    '''Text.'''
    assert x > 8
    raise ValueError(9 + 1)
"""
    assert texts(code) == {"statement": ["raise ValueError(9 + 1) → pass"]}


def test_mutation_of_a_release_span_names_the_one_release_with_changed_behaviour() -> None:
    module = Module("m", "X = since('2.1.0', until='2.2.x')", RELEASES)
    assert [str(one.moved) for one in module.mutations] == ["2.0.1", "2.1.0", "2.3.0", "2.2.2"]
