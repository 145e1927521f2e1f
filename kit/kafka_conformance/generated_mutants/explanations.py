"""Why a mutant may survive: it is equivalent to the reference, or no question reaches the code that it changes.

The reasons are in the folder ``explained`` next to this file, by package of the reference. Two kinds need none there: code
under a comment ``# unreached:``, which gives the reason, and blocks that refuse an argument, which end by raising an error
that is not an answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec

from kafka_conformance.generated_mutants.mutations import Mutation
from kafka_conformance.verify.fingerprint import installed_sources

__all__ = ["Explanation", "Kind", "explain", "explanations", "unused"]

Kind: TypeAlias = Literal["equivalent", "unreachable"]
_NUMBER = re.compile(r" #\d+")
_COMMENT = re.compile(r"# unreached( file)?: (\S.*)")
_REFUSALS = {
    "DrawsExhausted", "InvalidScenario", "NeverReturns", "NotImplementedError", "NotInThisRelease", "QuestionError",
    "TypeError", "UndeterminedHistory", "UnprovenRelease", "UnreachableCombination", "ValueError",
}  # fmt: skip


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why some mutants survive."""

    mutants: tuple[str, ...]
    """Their keys, or the beginnings of them. A whole key covers no mutant of the same text with a number, as ``#2``."""
    kind: Kind
    """Whether they answer like the reference, or are not asked."""
    reason: str
    """A reason that a reader can check."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    survivor: tuple[Explanation, ...] = ()


@cache
def explanations() -> tuple[Explanation, ...]:
    """Return the explanations that ship with the package."""
    found = sorted((one.name, one.read_bytes()) for one in files(__package__).joinpath("explained").iterdir())
    return tuple(one for _, data in found for one in msgspec.toml.decode(data, type=_File).survivor)


def explain(mutation: Mutation) -> Explanation | None:
    """Return why a mutant may survive; None if nothing says so."""
    for one in explanations():
        if any(_covers(text, mutation.key) for text in one.mutants):
            return one
    reason = _unreached(mutation.module).get(mutation.line)
    return None if reason is None else Explanation((mutation.key,), "unreachable", reason)


def unused(survivors: Sequence[str]) -> list[str]:
    """Return what explains none of these survivors."""
    every = [text for one in explanations() for text in one.mutants]
    return [text for text in every if not any(_covers(text, key) for key in survivors)]


def _covers(text: str, key: str) -> bool:
    return key.startswith(text) and _NUMBER.fullmatch(key, len(text)) is None


@cache
def _unreached(module: str) -> dict[int, str]:
    """Return the reason of each line that no question executes."""
    text = installed_sources().python[module]
    found: dict[int, str] = {}
    remarks = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _COMMENT.search(line):
            if match[1]:
                return dict.fromkeys(range(1, text.count("\n") + 2), match[2])
            remarks[number + (line.lstrip().startswith("#"))] = match[2]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            begin = getattr(node, "lineno", 0) or _first_line(node)
            reason = remarks.get(begin) or _refusal(node)
            if reason:
                found |= dict.fromkeys(range(begin, (getattr(node, "end_lineno", None) or begin) + 1), reason)
    return found


def _first_line(node: ast.AST) -> int:
    return next((one.lineno for one in ast.walk(node) if hasattr(one, "lineno")), 0)


def _refusal(node: ast.AST) -> str:
    """Return the reason of an ``if`` that does nothing but refuse an argument, or of the refusal itself."""
    statements = [node] if isinstance(node, ast.Raise) else node.body if isinstance(node, ast.If) else []
    if statements and isinstance(last := statements[-1], ast.Raise) and not set(_names(last.exc)).isdisjoint(_REFUSALS):
        return "refuses an argument or a question: there is no answer to compare"
    return ""


def _names(node: ast.AST | None) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name)) if node is not None else iter(())
