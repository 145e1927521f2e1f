"""Every tuned constant of the attribution has its reason beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafka_conformance.audit as audit

FOLDER = Path(audit.__file__).parent
MODULES = [*sorted((FOLDER / "attribution").glob("*.py")), FOLDER / "initial_sample.py"]


def unexplained(source: str) -> Iterator[str]:
    """Yield the constants with a numeric value and no text with a number behind them: a reason says what a number does."""
    body = ast.parse(source).body
    for one, behind in zip(body, [*body[1:], None], strict=True):
        if isinstance(one, ast.Assign) and _is_numeric(one.value):
            reason = ast.get_docstring(ast.Module([behind], [])) if behind else None
            if not any(letter.isdigit() for letter in reason or ""):
                yield ast.unparse(one)


def _is_numeric(value: ast.expr) -> bool:
    """Whether a value is a number, an expression or a logarithm of numbers, or a tuple with one."""
    if isinstance(value, ast.Tuple):
        return any(map(_is_numeric, value.elts))
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "log"
    if isinstance(value, ast.BinOp):
        return _is_numeric(value.left) and _is_numeric(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_numeric(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in {int, float}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_numeric_constants_of_the_attribution_source_have_a_docstring_with_a_number(module: Path) -> None:
    assert list(unexplained(module.read_text())) == []


def test_source_check_lists_numeric_constants_without_a_number_in_the_docstring() -> None:
    source = (
        'A = 3\nB = log(1e9)\n"""Enough."""\nC, D = 5, 1 << 4\nE = -1.5\n"""At 2, one in 7."""\nF = name\nG = "3"\n'
    )
    assert list(unexplained(source)) == ["A = 3", "B = log(1000000000.0)", "C, D = (5, 1 << 4)"]
