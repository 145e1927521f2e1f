"""What has been proven, against what: the record of the last full ``verify``, which ships with the package.

For each rule and release: how many questions were put to both the reference and the real Java classes, from which
sources, and how many answers agreed; the sha256 of the jar that answered, the JVM it ran on, and the seed that makes the
same questions again. ``reference_sha256`` names the code that was proven: :func:`reference_fingerprint` gives it for the
code that is installed, and a test holds the two together, so a certificate can not outlive a change of the rules.
"""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

__all__ = ["Certificate", "Row", "certificate", "reference_fingerprint"]


@dataclass(frozen=True, slots=True)
class Row:
    """One rule in one release: questions asked and answers agreed, in all and by source."""

    rule: str
    release: str
    asked: int
    agreed: int
    sources: dict[str, int]
    jar_sha256: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """One run of ``verify``: when, with which kit and seed, on which JVM, over which code, and its rows."""

    made: str
    kit: str
    seed: int
    jvm: str
    reference_sha256: str
    rows: tuple[Row, ...]

    def rules(self) -> list[str]:
        """The rules that have a row, in order."""
        return list(dict.fromkeys(row.rule for row in self.rows))

    def releases(self) -> list[str]:
        """The releases that have a row, in order."""
        return list(dict.fromkeys(row.release for row in self.rows))


def certificate() -> Certificate:
    """The certificate that ships with this package. Raises FileNotFoundError in a checkout that was never proven."""
    return from_json(files("kafka_reference").joinpath("certificate.json").read_text(encoding="utf-8"))


def from_json(text: str) -> Certificate:
    """A certificate as ``verify`` writes it. Raises ValueError, KeyError or TypeError for anything else."""
    document: dict[str, Any] = json.loads(text)
    made = Certificate(**{**document, "rows": tuple(Row(**row) for row in document["rows"])})
    _check(made, seed=int)
    for row in made.rows:
        _check(row, asked=int, agreed=int, sources=dict, pinned=bool)
    return made


def _check(record: Certificate | Row, **kinds: type) -> None:
    """Raise TypeError unless the fields are of these kinds, and all others text."""
    for field in fields(record):
        value, kind = getattr(record, field.name), kinds.get(field.name, str)
        if field.name != "rows" and not isinstance(value, kind):
            raise TypeError(f"{field.name} is {value!r}, not {kind.__name__}")


def reference_fingerprint() -> str:
    """The sha256 of this package's code as it stands: every module's syntax tree, without its prose.

    Comments, docstrings and layout may change without a new proof; nothing else may.
    """
    digest = hashlib.sha256()
    for name, source in sorted(_modules(files("kafka_reference"), "")):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        digest.update(f"{name}\n{_dump(tree)}\n".encode())
    return digest.hexdigest()


def _modules(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _modules(entry, f"{prefix}{entry.name}.")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_text(encoding="utf-8")))
    return found


def _dump(tree: object) -> str:
    """Like ``ast.dump``, without the fields that one Python has and another has not: those that are empty."""
    if isinstance(tree, ast.AST):
        fields = [f"{name}={_dump(value)}" for name, value in ast.iter_fields(tree) if value not in (None, [])]
        return f"{type(tree).__name__}({', '.join(fields)})"
    if isinstance(tree, list):
        return f"[{', '.join(map(_dump, tree))}]"
    return repr(tree)
