"""A rule in a few sentences: ``summary.toml`` in the rule's package, with which the page of the rule begins.

::

    rule = "`absolute(number) = -number` below 0, and 0 for -2^31."   # the rule itself, as Markdown
    differs = "A partition below 0 where Java has partition 0."        # what a user notices of a difference
    functions = ["kafka_reference.java.absolute:absolute"]             # the reference: modules with their public names

    [[java]]                                                           # where Kafka's sources have it
    tag = "3.8.0"
    path = "clients/src/main/java/org/apache/kafka/common/utils/Utils.java"
    declaration = "public static int abs("                             # a part of one line of this file
    line = 186                                                         # its number: python ci/java_lines.py CHECKOUT
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import PurePosixPath
from tomllib import loads
from typing import Any

import msgspec

from kafka_conformance.core.decoding import UNREADABLE_TOML
from kafka_conformance.core.errors import KitError

__all__ = ["FILE", "JavaMethod", "RuleSummary", "function_named", "rule_summary"]

FILE = "summary.toml"
_SOURCES = "https://github.com/apache/kafka/blob"


class JavaMethod(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A method or an object in Kafka's sources: a part of the line that declares it, and the number of that line."""

    tag: str
    path: str
    declaration: str
    line: int

    @property
    def name(self) -> str:
        """``Utils.murmur2``; of a Scala object, its name alone."""
        method = re.search(r"(\w+)\(", self.declaration)
        return f"{PurePosixPath(self.path).stem}.{method[1]}" if method else self.declaration.split()[-1]

    @property
    def address(self) -> str:
        """The line on GitHub."""
        return f"{_SOURCES}/{self.tag}/{self.path}#L{self.line}"


class RuleSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rule and what a user notices of a difference, both as Markdown, and where Python and Java have the rule."""

    rule: str
    differs: str
    functions: tuple[str, ...]
    java: tuple[JavaMethod, ...]


@cache
def rule_summary(slug: str) -> RuleSummary:
    """Return the summary of a rule. Raises KitError if its package has none, or one that cannot be read."""
    file = files("kafka_conformance.rules").joinpath(slug.replace("-", "_"), FILE)
    try:
        return msgspec.convert(loads(file.read_text(encoding="utf-8")), RuleSummary)
    except FileNotFoundError as error:
        raise KitError(f"{slug} has no {FILE}: write one as in kafka_conformance.rules.summaries") from error
    except UNREADABLE_TOML as error:
        raise KitError(f"{file} cannot be read: {error}") from error


def function_named(name: str) -> Any:
    """Return the function, class or method ``module:name``. Raises ImportError, AttributeError."""
    module, _, path = name.partition(":")
    found = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found
