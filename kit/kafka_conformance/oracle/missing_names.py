"""Find in the text of an oracle's failure which class, constructor, method or field was not found.

The oracle compiles its Java against a release's jars, and looks some members up by reflection while it answers. A release
that moved one of them is reported by Eclipse's compiler, by a ``ReflectiveOperationException`` or by a ``LinkageError``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Absence", "absences"]


@dataclass(frozen=True, slots=True)
class Absence:
    """Something that was not found: a sentence with its full name, and whether it belongs to Kafka."""

    what: str
    kafkas: bool = True

    def __str__(self) -> str:
        return self.what


_KAFKA = re.compile(r"(?:org\.apache\.kafka|kafka)\.")
_CLASS = re.compile(r"(?:ClassNotFoundException: |NoClassDefFoundError: (?!Could not)|has no class )([\w$./]+\w)")
_MEMBERS = (
    # Java's own exceptions, then those of reflection/Members.java.
    ("constructor", re.compile(r"NoSuchMethodException: ([\w$.]+)\.<init>(\([^)]*\))")),
    ("constructor", re.compile(r"NoSuchMethodError: '?(?:void )?([\w$.]+)\.<init>(\([^)]*\))")),
    ("method", re.compile(r"NoSuchMethodException: ([\w$.]+)(\([^)]*\))")),
    ("method", re.compile(r"NoSuchMethodException: ([\w$.]+)( with \d+ parameters)")),
    ("method", re.compile(r"NoSuchMethodError: '?(?:[\w$.\[\]]+ )*([\w$.]+)(\([^)]*\))")),
    ("method", re.compile(r"AbstractMethodError: .*? method '(?:[\w$.\[\]]+ )*([\w$.]+)(\([^)]*\)' of [\w ]+ [\w$.]+\w)")),
    ("field", re.compile(r"NoSuchFieldException: ([\w$.]+)()")),
    ("field", re.compile(r"NoSuchFieldError: ((?:Class [\w$.]+ does not have member field ')?[\w$. ]+)()")),
)  # fmt: skip
# A compiled class needs another one that is in no jar: then the signature is unchanged, and its type is elsewhere.
_INDIRECT = re.compile(r"The type ([\w$.]+) cannot be resolved\. It is indirectly referenced")
_COMPILER = re.compile(
    r"cannot compile the oracle's Java for [^:]+: (.+?)(?: \(and \d+ more errors\))?: correct these lines"
)
_LINE = re.compile(r"(?:^|; )(?:[^;]*?/)?(\w+\.java:\d+: .+?)(?=; [^;]*?\w+\.java:\d+: |$)")
_NAMES_A_MEMBER = re.compile(
    r"cannot be resolved|is undefined|is not applicable for the arguments|is not visible|must implement the inherited"
    r"|must override or implement|is ambiguous|Type mismatch|cannot instantiate|Unhandled exception|incompatible",
    re.IGNORECASE,
)


def absences(failure: str) -> list[Absence]:
    """Return what ``failure``, the text of an oracle's failure, reports as not found, each once."""
    return list(dict.fromkeys((*_compiled(failure), *_looked_up(failure))))


def _compiled(failure: str) -> Iterator[Absence]:
    """Yield what the compiler did not find: its own line, which names the class or the signature."""
    found = _COMPILER.search(failure)
    for line in _LINE.findall(found[1]) if found else ():
        if indirect := _INDIRECT.search(line):
            yield _class(indirect[1])
        elif _NAMES_A_MEMBER.search(line):
            yield Absence(line)


def _looked_up(failure: str) -> Iterator[Absence]:
    for name in _CLASS.findall(failure):
        yield _class(name.replace("/", "."))
    for kind, pattern in _MEMBERS:
        for owner, arguments in pattern.findall(failure):
            yield Absence(f"{kind} {owner}{arguments} was not found".replace("' of", " of"), kafkas=_is_kafkas(owner))


def _class(name: str) -> Absence:
    return Absence(f"class {name} was not found", kafkas=_is_kafkas(name))


def _is_kafkas(name: str) -> bool:
    """Return whether a name is of Kafka's; one without a package is the bridge's own look-up in a class of Kafka's."""
    return "." not in name or _KAFKA.match(name) is not None or name.startswith("Class ")
