"""The fingerprint of a rule, and of its mutants: it changes when they have to be proven again, and only then.

It covers three things: the reference's code that the rule reaches, the code that makes its questions, and the Java sources
that its oracle class reaches. It does not cover prose (comments, docstrings, layout, the texts of behaviour records), the
rule's labels, timeline and mutants, and the machinery that finds rules, asks and compares, which ``selftest`` proves.

The fingerprint of a rule's mutants covers the rule's and the code that its mutants reach. Their slugs, releases,
descriptions and references are part of that code, comments and docstrings are not.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.verify.reachable_code import reachable_code
from kafka_reference.certificate import reference_fingerprint

__all__ = [
    "Sources", "answering_rules", "fingerprint", "fingerprinted_sources", "installed_reference", "installed_sources",
    "mutants_fingerprint", "mutants_sources", "read_sources",
]  # fmt: skip

_KIT = (
    "kafka_conformance.rules",
    "kafka_conformance.core.sources",
    "kafka_conformance.core.protocol",
    "kafka_conformance.core.mutant",
)
_REGISTRY = "kafka_conformance.rules"
"""Where mutants find their rule, whose code their fingerprint covers."""
_QUESTIONS = [("kafka_conformance.core.sources", "sources"), ("kafka_conformance.core.sources", "key_columns")]
_PACKAGE = re.compile(r"^package (?:\w+\.)*(\w+);", re.MULTILINE)
_COMMENT_OR_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]", re.DOTALL)


@dataclass(frozen=True)
class Sources:
    """The code that fingerprints are made of."""

    python: Mapping[str, str]
    """Python modules by dotted name."""
    java: Mapping[str, str]
    """Java classes of the oracle by simple name; by package and name, ``sender.Requests``, where packages share a name."""


@cache
def installed_sources() -> Sources:
    """Return the code that is installed."""
    oracle = files("kafka_jars").joinpath("oracle", "release")
    return read_sources(files("kafka_reference"), files("kafka_conformance"), oracle)


@cache
def installed_reference() -> str:
    """Return the fingerprint of the whole reference as it is installed."""
    return reference_fingerprint()


def read_sources(reference: Traversable, kit: Traversable, oracle: Traversable) -> Sources:
    """Return the code in the folders of the packages ``kafka_reference`` and ``kafka_conformance`` and of the Java half."""
    python = {**dict(_modules(reference, "kafka_reference")), **dict(_modules(kit, "kafka_conformance"))}
    java = _by_name(_java_classes(oracle))
    covered = ("kafka_reference", *_KIT)
    followed = {name: text for name, text in python.items() if name.startswith(covered) and name != _REGISTRY}
    return Sources(followed, java)


def fingerprint(rule: Rule, sources: Sources | None = None) -> str:
    """Return the sha256 of all code that decides the questions and answers of ``rule``, as hexadecimal digits.

    ``sources`` is the code to look at, by default the one that is installed.
    """
    return _digest(fingerprinted_sources(rule, sources or installed_sources()))


def mutants_fingerprint(rule: Rule, sources: Sources | None = None) -> str:
    """Return the sha256 of all code that decides how the mutants of ``rule`` and the rule itself answer.

    ``sources`` is the code to look at, by default the one that is installed.
    """
    return _digest(mutants_sources(rule, sources or installed_sources()))


def mutants_sources(rule: Rule, sources: Sources) -> dict[str, str]:
    """Return the code that the fingerprint of the rule's mutants covers, without prose, by where it is."""
    found = fingerprinted_sources(rule, sources)
    for module in _mutant_modules(rule, sources):
        found |= reachable_code((module, "MUTANTS"), sources.python)
    return found


def fingerprinted_sources(rule: Rule, sources: Sources) -> dict[str, str]:
    """Return the code that the fingerprint of ``rule`` covers, without prose, by where it is."""
    found = reachable_code((f"{_package_of(rule)}.rule", "RULE"), sources.python)
    for question in _QUESTIONS:
        found |= reachable_code(question, sources.python)
    classes = {name for part in _answering(rule, found) for _, name in part.java}
    return found | _reachable_java({name.rpartition(".")[2] for name in classes}, sources.java)


def answering_rules(rule: Rule) -> list[Rule]:
    """Return the rules whose Java classes answer ``rule``: itself, or for a rule by parts those that its code names."""
    if rule.by_parts is None:
        return [rule]
    return _answering(rule, fingerprinted_sources(rule, installed_sources()))


def _digest(code: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name, text in sorted(code.items()):
        digest.update(f"{name}\n{text}\n".encode())
    return digest.hexdigest()


def _package_of(rule: Rule) -> str:
    return f"kafka_conformance.rules.{rule.slug.replace('-', '_')}"


def _mutant_modules(rule: Rule, sources: Sources) -> list[str]:
    """Return the modules that :mod:`kafka_conformance.rules.mutants` discovers for a rule."""
    package = _package_of(rule)
    return [name for name in sources.python if name.rpartition(".")[0] == package and name.endswith("mutants")]


def _answering(rule: Rule, code: Mapping[str, str]) -> list[Rule]:
    if rule.by_parts is None:
        return [rule]
    text = "\n".join(code.values())
    return [part for slug, part in RULES.items() if repr(slug) in text]


def _by_name(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return Java classes as :class:`Sources` names them."""
    classes = list(texts)
    count = Counter(name for name, _ in classes)
    return {name if count[name] == 1 else f"{_package(text)}.{name}": text for name, text in classes}


def _package(text: str) -> str:
    """Return the last part of the package of a Java source."""
    found = _PACKAGE.search(text)
    return found[1] if found else ""


def _reachable_java(roots: set[str], java: Mapping[str, str]) -> dict[str, str]:
    """Return the tokens of each Java class whose name is mentioned, from ``roots`` on."""
    simple = {key.rpartition(".")[2] for key in java}
    found: dict[str, str] = {}
    waiting = sorted(roots)
    while waiting:
        key = waiting.pop()
        name = key.rpartition(".")[2]
        if f"{name}.java" not in found:
            found[f"{name}.java"], words = _java_code(java[key])
            waiting += [each for word in sorted(words & simple) if (each := _resolved(word, java[key], java))]
    return found


def _resolved(name: str, text: str, java: Mapping[str, str]) -> str:
    """Return the key of the class that ``text`` means by ``name``, or nothing if it means none of ours.

    As in Java, an imported class takes precedence over one of the same package.
    """
    if name in java:
        return name
    own = f"{_package(text)}.{name}"
    imported = [key for key in java if key.endswith(f".{name}") and f".{key};" in text]
    return imported[0] if imported else own if own in java else ""


@cache
def _java_code(text: str) -> tuple[str, frozenset[str]]:
    """Return Java source without comments and layout, and the words in it."""
    code = " ".join(token for token in _COMMENT_OR_TOKEN.findall(text) if not token.startswith(("//", "/*")))
    return code, frozenset(re.findall(r"\w+", code))


def _modules(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _modules(entry, f"{prefix}.{entry.name}")
        elif entry.name == "__init__.py":
            yield prefix, entry.read_text(encoding="utf-8")
        elif entry.name.endswith(".py"):
            yield f"{prefix}.{entry.name.removesuffix('.py')}", entry.read_text(encoding="utf-8")


def _java_classes(folder: Traversable) -> Iterator[tuple[str, str]]:
    """Yield the simple name and the text of each class."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _java_classes(entry)
        elif entry.name.endswith(".java"):
            yield entry.name.removesuffix(".java"), entry.read_text(encoding="utf-8")
