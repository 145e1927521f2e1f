"""Methods as people name them, from the names and descriptors in Java's class files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafka_conformance.verify.coverage.record import Method, Ratio

__all__ = ["fold_lambdas", "parameter_types"]

_LAMBDA = re.compile(r"lambda\$(.+)\$\d+")
_TYPE = re.compile(r"(\[*)(?:L([^;]+);|([BCDFIJSZ]))")
_PRIMITIVE = {
    "B": "byte",
    "C": "char",
    "D": "double",
    "F": "float",
    "I": "int",
    "J": "long",
    "S": "short",
    "Z": "boolean",
}


def fold_lambdas(classes: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Method]:
    """Return the methods of a class and its nested classes, by ``CoverageReader``'s counts, in the order of their lines.

    The code of a lambda belongs to the method around it: to the first of the overloads whose lines come before it.
    """
    found = []
    for name, methods in classes.items():
        simple = name.rpartition("/")[2]
        own = [method for method in methods if not _LAMBDA.fullmatch(method["name"])]
        parts: list[list[Mapping[str, Any]]] = [[method] for method in own]
        for method in methods:
            if around := _LAMBDA.fullmatch(method["name"]):
                parts[_around(around.group(1), method, own)].append(method)
        found += [(min(part[0]["lines"], default=0), _method(simple, part)) for part in parts if part[0]["lines"]]
    return [method for _, method in sorted(found, key=lambda one: one[0])]


def parameter_types(descriptor: str) -> Iterator[str]:
    """Yield the simple names of the types in a descriptor such as ``(ILjava/lang/String;)V``."""
    for arrays, reference, primitive in _TYPE.findall(descriptor[1 : descriptor.index(")")]):
        name = _PRIMITIVE[primitive] if primitive else re.split(r"[/$]", reference)[-1]
        yield name + "[]" * len(arrays)


def _around(name: str, code: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the method that a lambda is in; javac names it ``new`` in constructors and ``static`` outside."""
    name = {"new": "<init>", "static": "<clinit>"}.get(name, name)
    first = min(code["lines"], default=0)

    def cost(place: int) -> tuple[bool, bool, int]:
        start = min(own[place]["lines"], default=0)
        return own[place]["name"] != name, start > first, abs(first - start)

    return min(range(len(own)), key=cost)


def _method(class_name: str, parts: Sequence[Mapping[str, Any]]) -> Method:
    lines = {line for part in parts for line in part["lines"]}
    missed = lines - {line for part in parts for line in part["lines"] if line not in part["missed"]}
    branches: dict[int, Ratio] = {}
    for part in parts:
        for line, run, total in part["branches"]:
            branches[line] = branches.get(line, Ratio(0, 0)) + Ratio(run, total)
    partly = [(line, each.run, each.total) for line, each in sorted(branches.items()) if each.run < each.total]
    return Method(
        f"{class_name}.{_name(class_name, parts[0])}", Ratio(len(lines) - len(missed), len(lines)),
        sum(branches.values(), Ratio(0, 0)), tuple(sorted(missed)), tuple(partly),
    )  # fmt: skip


def _name(class_name: str, method: Mapping[str, Any]) -> str:
    if method["name"] == "<clinit>":
        return "static"
    name = class_name.rpartition("$")[2] if method["name"] == "<init>" else method["name"]
    return f"{name}({', '.join(parameter_types(method['descriptor']))})"
