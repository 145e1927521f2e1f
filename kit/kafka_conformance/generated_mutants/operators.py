"""What a generated mutant changes: one comparison, operator, number, statement, returned value or row of a table.

============== ===================================================================================
comparison     ``<`` and ``<=``, ``>`` and ``>=``, ``==`` and ``!=``, ``is`` and ``is not``, ``in`` and ``not in``
arithmetic     ``+`` and ``-``, ``*`` and ``//``, ``%`` and ``*``, shifts, ``&`` and ``|``, ``^`` to ``|``
boolean        ``and`` and ``or``, ``not x`` to ``x``, True and False
constant       a number one larger, and one smaller
statement      a call, an assignment or a jump is dropped
return         None is returned in place of a value (of True or False, the other one is)
row            an element of a table at the top of a module or class is missing
release        an end of a span of releases is moved by one release, in either direction
============== ===================================================================================

A mutation changes attributes of nodes in place, so that one parsed module serves all of its mutants.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

__all__ = ["Change", "changes_of"]

Change: TypeAlias = tuple[ast.AST, dict[str, Any]]
"""A node, and new values of some of its attributes."""
Operator: TypeAlias = Callable[[ast.AST], Iterator[Change]]
"""A node to the changes of it."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.Pow: ast.Mult,
}  # fmt: skip
_BLOCKS = ("body", "orelse", "finalbody")
_DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Raise, ast.Delete)


def _comparison(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            changed = _COMPARISONS[type(operator)]()
            yield node, {"ops": [*node.ops[:place], changed, *node.ops[place + 1 :]]}


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield node, {"op": _ARITHMETIC[type(node.op)]()}


def _boolean(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        yield node, {"op": ast.Or() if isinstance(node.op, ast.And) else ast.And()}
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, {"value": not node.value}
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
            yield node, {name: value.operand}
        elif isinstance(value, list):
            for place, each in enumerate(value):
                if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not):
                    yield node, {name: [*value[:place], each.operand, *value[place + 1 :]]}


def _constant(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number: float = node.value  # type: ignore[assignment]
        yield node, {"value": number + 1}
        yield node, {"value": number - 1}


def _statement(node: ast.AST) -> Iterator[Change]:
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            for place, each in enumerate(block):
                if isinstance(each, _DROPPED) and not _is_text(each):
                    yield node, {name: [*block[:place], ast.copy_location(ast.Pass(), each), *block[place + 1 :]]}


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _return(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None and not _is_constant(node.value):
        yield node, {"value": ast.copy_location(ast.Constant(None), node.value)}


def _is_constant(node: ast.expr) -> bool:
    """Return whether a value is None, or True or False, which another operator changes."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _row(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1 and not _is_target(node):
        for place in range(len(node.elts)):
            yield node, {"elts": _without(node.elts, place)}
    if isinstance(node, ast.Dict) and len(node.keys) > 1:
        for place in range(len(node.keys)):
            yield node, {"keys": _without(node.keys, place), "values": _without(node.values, place)}


def _is_target(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _without(elements: list[Any], place: int) -> list[Any]:
    return elements[:place] + elements[place + 1 :]


_OPERATORS: dict[str, Operator] = {
    "comparison": _comparison,
    "arithmetic": _arithmetic,
    "boolean": _boolean,
    "constant": _constant,
    "statement": _statement,
    "return": _return,
    "row": _row,
}


def changes_of(node: ast.AST, *, in_function: bool) -> Iterator[tuple[str, Change]]:
    """Yield the changes of a node, each with the name of its operator. Tables within functions are left whole."""
    for name, operator in _OPERATORS.items():
        if name == "row" and in_function:
            continue
        for change in operator(node):
            yield name, change
