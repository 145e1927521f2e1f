"""Which Python definitions a definition reaches, statically, and their code without its prose.

A definition is a statement at the top of a module that binds a name: a function, a class, an assignment. It reaches the
definitions whose names it uses, in its own module or through an import. Statements that bind no name, such as
``TABLE["key"] = value``, and functions with a decorator of ours, which may register them somewhere, belong to their module:
reaching one of its definitions reaches them as well.

What decides no answer is left out: comments, layout, docstrings, the types of functions, the check of arguments
(``kafka_reference.arguments.checked``), the sentences of behaviour records, and those arguments of ``Rule(…)`` that are
about reports and the gate alone (its title, its labels, its domain), or refuse a question (``endless``).

The check of arguments decides no answer: it can only raise TypeError or ValueError, before the function is called, and
passes accepted arguments on unchanged. It may raise for no question of a rule; a test asks all frozen cases. Nor
does ``accumulator.endless.end_endless``, which ends an append that never returns: a question with one has no answer.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kafka_reference.certificate import dump_code

__all__ = ["Name", "is_check", "reachable_code"]

Name = tuple[str, str]
"""A module and a name at its top; the name ``*`` stands for all of them."""

_ALL = "*"
# Decorators that decide no answer, and the modules they are imported from.
_CHECKS = {"checked": "kafka_reference.arguments", "end_endless": "kafka_reference.accumulator.endless"}
_BEHAVIOUR = "kafka_reference.behaviour"
# Arguments that are prose, by the function they are given to: their positions and their names.
_PROSE: dict[str, tuple[slice, frozenset[str]]] = {
    "holds": (slice(1, None), frozenset({"effect", "ticket"})),
    "varies": (slice(0, 1), frozenset({"effect", "ticket"})),
    "behaviour": (slice(0, 1), frozenset({"java_class"})),
    "Rule": (
        slice(0, 0),
        frozenset({"title", "area", "labels", "required_labels", "source", "links", "path", "explain", "harness",
                   "behaviours", "unobservable", "shows_with", "domain", "endless", "nearest", "plain", "optional_labels",
                   "parts", "optional_parts", "half", "harmless"}),
    ),
}  # fmt: skip


def reachable_code(root: Name, sources: Mapping[str, str]) -> dict[str, str]:
    """Return the code of every definition that ``root`` reaches, by ``module:name``.

    ``sources`` has the text of each module, by dotted name; imports of any other module are not followed. Raises KeyError
    if ``root`` is in no module.
    """
    found: dict[str, dict[int, str]] = defaultdict(dict)
    seen: set[Name] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        module = _module(name[0], sources[name[0]])
        for one in module.definitions_of(name[1]):
            found[f"{module.name}:{','.join(one.names)}"][one.number] = one.code
            for imported, target in one.imports_from_others(module, sources).items():
                found[f"{module.name}:{imported}"][-1] = f"import {'.'.join(target)}"
            waiting += (used for used in one.uses(module, sources) if used not in seen)
    return {name: "\n".join(code for _, code in sorted(codes.items())) for name, codes in found.items()}


@dataclass(frozen=True)
class _Definition:
    """A statement at the top of a module: the names it binds, its code, and the names it uses.

    ``attributes`` are the names used of other names (``bulk.murmur2``: bulk to murmur2), ``local`` the imports within.
    """

    number: int
    names: tuple[str, ...]
    code: str
    bare: frozenset[str]
    attributes: frozenset[tuple[str, str]]
    local: dict[str, Name]

    def uses(self, module: _Module, sources: Mapping[str, str]) -> Iterator[Name]:
        """Yield the definitions used, where they are defined, among ``sources``."""
        for owner, attribute in self.attributes:
            target = self._resolve(owner, module)
            if target is not None:
                inner = f"{target[0]}.{target[1]}" if target[1] != _ALL else target[0]
                yield from _known((inner, attribute) if inner in sources else target, sources)
        for name in self.bare:
            target = self._resolve(name, module)
            if target is not None:
                yield from _known(target, sources)
        yield from _known((module.name, ""), sources)  # the statements that belong to the module

    def imports_from_others(self, module: _Module, sources: Mapping[str, str]) -> dict[str, Name]:
        """Return what the definition uses of modules that are not followed, by the name it has here."""
        names = self.bare | {owner for owner, _ in self.attributes}
        found = {name: target for name in names if (target := self._resolve(name, module)) is not None}
        return {name: target for name, target in found.items() if target[0] not in sources}

    def _resolve(self, name: str, module: _Module) -> Name | None:
        if name in self.local:
            return self.local[name]
        if name in module.definitions:
            return module.name, name
        return module.imports.get(name)


def _known(target: Name, sources: Mapping[str, str]) -> Iterator[Name]:
    """Yield ``target``, or the whole module that it names, if it is among ``sources``."""
    inner = f"{target[0]}.{target[1]}"
    if inner in sources:
        yield inner, _ALL
    elif target[0] in sources:
        yield target


@dataclass
class _Module:
    """A module: its definitions by name, the statements that bind none, and its imports."""

    name: str
    definitions: dict[str, list[_Definition]] = field(default_factory=dict)
    statements: list[_Definition] = field(default_factory=list)
    imports: dict[str, Name] = field(default_factory=dict)

    def definitions_of(self, name: str) -> list[_Definition]:
        """Return the definitions of ``name``: of all names for ``*``, the statements without a name for the empty one."""
        if name == _ALL:
            return [*self.statements, *(one for each in self.definitions.values() for one in each)]
        if not name:
            return self.statements
        if name in self.definitions:
            return self.definitions[name]
        if name in self.imports:  # re-exported from another module
            return [_Definition(-1, (name,), "", frozenset({name}), frozenset(), {})]
        return []


@lru_cache(maxsize=1024)
def _module(name: str, text: str) -> _Module:
    module = _Module(name)
    for number, statement in enumerate(_without_prose(ast.parse(text)).body):
        if _is_for_type_checkers(statement):
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Try | ast.If):
            module.imports.update(_imports_in(_nodes(statement)))
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            definition = _definition(number, statement)
            for bound in definition.names:
                module.definitions.setdefault(bound, []).append(definition)
            if not definition.names or _may_register(statement, module):
                module.statements.append(definition)
    return module


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a tree in the order of ``ast.walk``, in half its time; of the leaves, those that have fields."""
    found = [tree]
    for node in found:  # it grows
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                found.append(value)
    return found


def _definition(number: int, statement: ast.stmt) -> _Definition:
    bare: set[str] = set()
    attributes: set[tuple[str, str]] = set()
    owners = set()
    nodes = _nodes(statement)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.add((node.value.id, node.attr))
            owners.add(id(node.value))
        elif isinstance(node, ast.Name) and id(node) not in owners:
            bare.add(node.id)
    return _Definition(
        number,
        _bound(statement),
        dump_code(statement),
        frozenset(bare),
        frozenset(attributes),
        _imports_in(nodes),
    )


def _bound(statement: ast.stmt) -> tuple[str, ...]:
    """Return the names that a statement binds; none if it does anything else."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            names = [one for each in targets for one in (each.elts if isinstance(each, ast.Tuple) else [each])]
        case ast.AnnAssign(target=target):
            names = [target]
        case _:
            return ()
    bound = tuple(one.id for one in names if isinstance(one, ast.Name))
    return bound if len(bound) == len(names) else ()


def _may_register(statement: ast.stmt, module: _Module) -> bool:
    """Whether a decorator of ours, which may keep what it is given, decorates the function or class."""
    if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return False
    names = {node.id for one in statement.decorator_list for node in _nodes(one) if isinstance(node, ast.Name)}
    ours = {name for name, (where, _) in module.imports.items() if where.startswith("kafka_") and where != _BEHAVIOUR}
    return not names.isdisjoint(ours | set(module.definitions))


def _imports_in(nodes: Iterable[ast.AST]) -> dict[str, Name]:
    found: dict[str, Name] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: (alias.name, _ALL) for alias in node.names}
    return found


def _is_for_type_checkers(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.If) and isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING"
    )


def _without_prose(tree: ast.Module) -> ast.Module:
    checks = _imported_checks(tree)
    for node in _nodes(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [one for one in body if not _is_text(one)])
        if checks and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.decorator_list = [one for one in node.decorator_list if not is_check(one, checks)]
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PROSE:
            positions, names = _PROSE[node.func.id]
            del node.args[positions]
            node.keywords = [one for one in node.keywords if one.arg not in names]
    return tree


def _imported_checks(tree: ast.Module) -> frozenset[str]:
    """Return the decorators that decide no answer which a module imports under their own names."""
    return frozenset(
        one.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for one in statement.names
        if one.asname is None and _CHECKS.get(one.name) == statement.module
    )


def is_check(decorator: ast.expr, checks: frozenset[str] = frozenset(_CHECKS)) -> bool:
    """Return whether a decorator is one of ``checks``: it decides no answer, in a module that imports it."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Name) and function.id in checks


def _is_text(statement: ast.AST) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
