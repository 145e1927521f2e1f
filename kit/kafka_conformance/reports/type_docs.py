"""Describe the fields of questions and answers: type, limits, default and meaning, from the types and their docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import inspect as types

from kafka_conformance.core.protocol import to_json

__all__ = ["FieldDoc", "StructDoc", "anchor", "struct_docs", "struct_name"]

_INTEGERS = {
    (-(2**15), 2**15 - 1): "int16",
    (-(2**31), 2**31 - 1): "int32",
    (0, 2**31 - 1): "int32 from 0",
    (1, 2**31 - 1): "int32 from 1",
}
_PATTERNS = {
    r"^([0-9a-f]{2})*$": "hex",
    r"^([0-9a-f]{4})*$": "hex, four digits for each UTF-16 unit",
    r"^-?[0-9]{1,19}$": "int64 as a string",
    r"^[0-7]$": "a digit 0 to 7 as a string",
    r"^.+-[0-9]{1,9}$": "topic and partition as a string: `t-0`",
}


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """A field: its name in JSON, its type and default as text, and its meaning; all Markdown."""

    name: str
    type: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class StructDoc:
    """An object of the protocol: its name, the ``op`` if it is a step, its meaning and its fields."""

    name: str
    op: str
    meaning: str
    fields: tuple[FieldDoc, ...]
    is_list: bool
    """Whether it is written as a JSON list, without the names of its fields."""


def struct_docs(root: type[msgspec.Struct]) -> list[StructDoc]:
    """Return the description of a type and of every type in its fields, each once, the root first."""
    found = {root: types.type_info(root)}
    waiting = [found[root]]
    while waiting:
        for inner in _structs_within(waiting.pop(0)):
            if inner.cls not in found:
                found[inner.cls] = inner
                waiting.append(inner)
    return [_struct_doc(info) for info in found.values()]


def struct_name(struct: type) -> str:
    """Return the name of a type as words: ``AskedCluster`` is a cluster."""
    words = re.findall(r"[A-Z][a-z0-9]*", re.sub(r"^Asked|(?<=.)(?:Step|Answer)$", "", struct.__name__))
    return " ".join(words).lower()


def anchor(heading: str) -> str:
    """Return the anchor that Markdown gives a heading."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def _structs_within(info: Any) -> Iterator[Any]:
    for field in info.fields:
        yield from _structs_in(field.type)


def _structs_in(info: Any) -> Iterator[Any]:
    match info:
        case types.StructType():
            yield info
        case types.UnionType(types=several) | types.TupleType(item_types=several):
            for one in several:
                yield from _structs_in(one)
        case types.VarTupleType(item_type=one) | types.ListType(item_type=one) | types.DictType(value_type=one):
            yield from _structs_in(one)


def _struct_doc(info: Any) -> StructDoc:
    meanings = _meanings(info.cls)
    fields = tuple(
        FieldDoc(field.encode_name, _words(field.type), _default(field), _markdown(meanings.get(field.name, "")))
        for field in info.fields
    )
    meaning = _markdown(inspect.cleandoc(info.cls.__doc__ or ""))
    return StructDoc(struct_name(info.cls), str(info.tag or ""), meaning, fields, info.array_like)


def _default(field: Any) -> str:
    if field.required:
        return ""
    if field.default is not msgspec.NODEFAULT:
        return f"`{to_json(field.default).decode()}`"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{to_json(field.default_factory()).decode()}`"
    return "absent"  # msgspec shows a default of UNSET as none


def _words(info: Any) -> str:
    match info:
        case types.IntType(ge=least, le=most):
            return _integer(least, most)
        case types.FloatType(ge=least, le=most):
            return "number" if least is None else f"number from {least:g} to {most:g}"
        case types.StrType(pattern=pattern, max_length=longest):
            words = "string" if pattern is None else _PATTERNS[pattern.replace(r"(?![\s\S])", "")]
            return words if longest is None else f"{words} of at most {longest} characters"
        case types.BoolType():
            return "boolean"
        case types.NoneType():
            return "null"
        case types.LiteralType(values=values):
            return " or ".join(f"`{to_json(value).decode()}`" for value in values)
        case types.StructType(cls=struct):
            return f"[{struct_name(struct)}](#{anchor(f'Object {struct_name(struct)}')})"
    return _compound(info)


def _compound(info: Any) -> str:
    match info:
        case types.UnionType(types=several):
            if any(isinstance(one, types.StructType) and one.tag for one in several):
                return "[step](#steps)"
            # msgspec sorts a union by type; null reads best at its end.
            return " or ".join(_words(one) for one in sorted(several, key=lambda one: isinstance(one, types.NoneType)))
        case types.VarTupleType(item_type=one, min_length=least, max_length=most):
            bounds = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (most is not None)
            inner = f"({_words(one)})" if " or " in _words(one) else _words(one)
            return f"list of {inner}" + (f", {' and '.join(bounds)}" if bounds else "")
        case types.TupleType(item_types=several):
            named = {2: "pair", 3: "triple"}.get(len(several), f"list of {len(several)}")
            return f"{named} ({', '.join(map(_words, several))})"
        case types.DictType(value_type=types.AnyType()):
            return "object"
        case types.DictType(key_type=key, value_type=value):
            return f"object: {_words(key)} → {_words(value)}"
        case types.AnyType():
            return "any JSON"
    raise AssertionError(f"no words for {info}")


def _integer(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return "integer" if least is None else f"integer from {least}"
    return _INTEGERS.get((least, most)) or f"{_number(least)} to {_number(most)}"


def _number(value: int) -> str:
    """Return an integer for people: large powers of two as such."""
    for near in (0, 1):
        power = abs(value) + near
        if power >= 2**16 and power & (power - 1) == 0:
            sign = "-" if value < 0 else ""
            return f"{sign}2^{power.bit_length() - 1}" + ("-1" if near else "")
    return f"{value:,}"


@cache
def _meanings(struct: type) -> dict[str, str]:
    """Return the docstrings of a type's fields, as written below each field."""
    found: dict[str, str] = {}
    for one in struct.__mro__:
        if one.__module__.partition(".")[0] in {"msgspec", "builtins"}:
            continue
        (body,) = (
            node.body
            for node in ast.parse(inspect.getsource(sys.modules[one.__module__])).body
            if isinstance(node, ast.ClassDef) and node.name == one.__name__
        )
        for field, text in pairwise(body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    found.setdefault(name, inspect.cleandoc(words))
    return found


def _markdown(text: str) -> str:
    """Return a docstring as one line of Markdown; the points of a list become lines of a table's cell."""
    joined = re.sub(r"\n+- ", "<br>", text.replace("``", "`"))
    return " ".join(joined.split())
