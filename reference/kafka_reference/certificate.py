"""What has been proven, against what: the record of the last full ``verify``, which ships with the package.

For each rule and release it has the number of questions that the reference and the real Java classes both answered, by
source; how many answers match; the sha256 of the jar that answered, the JVM, the seed that generates the same questions
again, and a fingerprint of the rule's code. Rows whose fingerprint is that of the installed code are valid (the kit
computes it: ``kafka-conformance certificate`` tells). ``reference_sha256`` is :func:`reference_fingerprint` of the whole
package when the certificate was written.
"""

# unreached file: no rule reads the certificate
from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass, field, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

__all__ = [
    "Certificate",
    "CertificateRow",
    "MutationScore",
    "certificate",
    "dump_code",
    "from_json",
    "reference_fingerprint",
]


@dataclass(frozen=True, slots=True)
class CertificateRow:
    """One rule in one release: questions asked and answers agreed, in all and by source.

    ``fingerprint`` is that of the rule's code, empty in older certificates. ``seed``, ``jvm``, ``kit`` and ``made`` are
    given where they are not the certificate's own: the row was taken over from an earlier one.
    """

    rule: str
    release: str
    asked: int
    agreed: int
    sources: dict[str, int]
    jar_sha256: str
    pinned: bool
    fingerprint: str = ""
    seed: int | None = None
    jvm: str | None = None
    kit: str | None = None
    made: str | None = None


@dataclass(frozen=True, slots=True)
class MutationScore:
    """How many small mistakes in a rule's code, made by a program, the questions of a gate find.

    ``mutants`` counts the mistakes that can change an answer, ``by_cases`` those that frozen cases find, ``by_gate`` those
    that frozen cases or the fresh questions of a gate with default settings find. Not counted are mistakes that are
    ``equivalent`` to the code, and those that are ``unreachable`` by any question: the kit explains each.
    """

    mutants: int
    by_cases: int
    by_gate: int
    equivalent: int
    unreachable: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """One run of ``verify``: when, with which kit and seed, on which JVM, over which code, and its rows.

    ``harness`` says, by rule, which of the logic that answered as Java is the kit's own and not Kafka's. ``scores`` has the
    mutation score of each rule on record. ``unproven`` has, by rule, the pinned releases that have it and no row of it.
    """

    made: str
    kit: str
    seed: int
    jvm: str
    reference_sha256: str
    rows: tuple[CertificateRow, ...]
    harness: dict[str, str] = field(default_factory=dict)
    scores: dict[str, MutationScore] = field(default_factory=dict)
    unproven: dict[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        rules, releases, asked = len(self.rules()), len(self.releases()), sum(row.asked for row in self.rows)
        return f"<Certificate of {self.made}: {rules} rules in {releases} releases, {asked:,} questions>"

    def rules(self) -> list[str]:
        """Return the rules that have a row, in order."""
        return list(dict.fromkeys(row.rule for row in self.rows))

    def releases(self) -> list[str]:
        """Return the releases that have a row, in order."""
        return list(dict.fromkeys(row.release for row in self.rows))


def certificate() -> Certificate:
    """Return the certificate that ships with this package. Raises FileNotFoundError in a checkout without one.

    >>> row = certificate().rows[0]
    >>> row.agreed == row.asked
    True
    """
    return from_json(files("kafka_reference").joinpath("certificate.json").read_text(encoding="utf-8"))


def from_json(text: str) -> Certificate:
    """Parse a certificate as ``verify`` writes it. Raises ValueError, KeyError or TypeError for anything else."""
    document: dict[str, Any] = json.loads(text)
    rows = tuple(CertificateRow(**row) for row in document["rows"])
    scores = {rule: MutationScore(**score) for rule, score in dict(document.get("scores", {})).items()}
    made = Certificate(**{**document, "rows": rows, "scores": scores})
    _check(made, seed=int, rows=tuple, harness=dict, scores=dict, unproven=dict)
    listed: dict[str, Any] = dict(made.unproven)
    for rule, releases in listed.items():
        if not isinstance(releases, list) or not all(isinstance(one, str) for one in releases):
            raise TypeError(f"unproven of {rule} is {releases!r}, not a list of releases")
    for score in scores.values():
        _check(score, **{one.name: int for one in fields(score)})
    for row in made.rows:
        _check(row, asked=int, agreed=int, sources=dict, pinned=bool, seed=int)
    return made


def _check(record: Certificate | MutationScore | CertificateRow, **kinds: type) -> None:
    """Raise TypeError unless the fields are of these kinds, or left out, and all others text."""
    for one in fields(record):
        value, kind = getattr(record, one.name), kinds.get(one.name, str)
        if not isinstance(value, kind) and (value is not None or one.default is not None):
            raise TypeError(f"{one.name} is {value!r}, not {kind.__name__}")


def reference_fingerprint() -> str:
    """Return the sha256 of this package's code as installed: every module's syntax tree, without its prose.

    It does not change with comments, docstrings and layout.
    """
    digest = hashlib.sha256()
    for name, source in sorted(_modules(files("kafka_reference"), "")):
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        digest.update(f"{name}\n{dump_code(tree)}\n".encode())
    return digest.hexdigest()


def _modules(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _modules(entry, f"{prefix}{entry.name}.")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_text(encoding="utf-8")))
    return found


def dump_code(tree: object) -> str:
    """Return a syntax tree as text that is the same in every Python: unlike ``ast.dump``, without empty fields."""
    if isinstance(tree, ast.AST):
        parts = [f"{name}={dump_code(value)}" for name, value in ast.iter_fields(tree) if value not in (None, [])]
        return f"{type(tree).__name__}({', '.join(parts)})"
    if isinstance(tree, list):
        return f"[{', '.join(map(dump_code, tree))}]"
    return repr(tree)
