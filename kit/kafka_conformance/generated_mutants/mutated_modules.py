"""Put a mutation in place: the module is executed again with it, and so is every module that depends on it.

This happens in a separate process, forked from one that has everything loaded, which it does not change. Python's import
system finds the changed code; so tables, decorators, caches and subclasses that are made on import contain the mistake, as
if it were in the file.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from kafka_conformance.core.rule import Rule

__all__ = ["dependents_of", "plant", "rule_anew"]


_ANSWERER = "kafka_conformance.answerers.reference"  # imports the classes of the reference's errors


class _Changed(MetaPathFinder, Loader):
    """Finds one module, whose code is given."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(self, fullname: str, *_: Sequence[str] | ModuleType | None) -> ModuleSpec | None:
        """Return the spec of the module; None for any other."""
        return ModuleSpec(fullname, self) if fullname == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the changed code."""
        exec(self._code, module.__dict__)  # noqa: S102  the reference's own code


def plant(module: str, code: CodeType, dependents: Collection[str]) -> None:
    """Execute ``module`` with this code, and have its dependents imported again when they are needed next."""
    for name in (module, *dependents, _ANSWERER):
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        vars(sys.modules.get(package, ModuleType(package))).pop(
            last, None
        )  # else ``from package import last`` finds the old one
    sys.meta_path.insert(0, _Changed(module, code))
    import_module(module)


def rule_anew(rule: Rule) -> Rule:
    """Return a rule as its module defines it now."""
    found: Rule = import_module(f"kafka_conformance.rules.{rule.slug.replace('-', '_')}.rule").RULE
    return found


def dependents_of(module: str, sources: Mapping[str, str]) -> frozenset[str]:
    """Return the modules among ``sources`` that import a module, or import one that does, and so on."""
    importers: dict[str, set[str]] = {}
    for name, text in sources.items():
        for imported in _imported(text):
            importers.setdefault(imported, set()).add(name)
    found: set[str] = set()
    waiting = [module]
    while waiting:
        for name in importers.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found - {module})


def _imported(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names
