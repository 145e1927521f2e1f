"""Which of Kafka's code a rule mirrors: ``coverage.toml`` in the rule's package.

::

    harness = "the network"                                 # what of the answers is the kit's and not Kafka's, in few words

    [[mirrors]]
    class = "org.apache.kafka.common.utils.Utils"           # with the classes nested in it
    methods = ["murmur2"]                                   # default: all

    [[elsewhere]]                                            # methods of these classes that are not the rule's
    why = "memory in chunks"
    rule = "record-accumulator"                             # the rule that runs them, if there is one
    run = true                                              # without such a rule: the harness runs them (default: not run)
    methods = ["BufferPool.allocate*", "BufferPool.close()"]  # shell patterns of Class.method, or with parameters

A class may have several names, of which a release has one. A rule without the file is not measured.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from tomllib import loads

import msgspec

from kafka_conformance.core.decoding import UNREADABLE_TOML
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES

__all__ = ["Elsewhere", "MirroredClass", "MirroredCode", "mirrored_code", "mirroring_rules"]

_FILE = "coverage.toml"


class MirroredClass(msgspec.Struct, frozen=True, rename={"names": "class"}, forbid_unknown_fields=True):
    """A class of Kafka's by its ``names``, and the names of its methods that the rule mirrors; none for all."""

    names: str | tuple[str, ...]
    methods: tuple[str, ...] = ()

    @property
    def binary_names(self) -> tuple[str, ...]:
        """Its names with slashes, as in a jar."""
        names = (self.names,) if isinstance(self.names, str) else self.names
        return tuple(name.replace(".", "/") for name in names)


class Elsewhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Methods that are not the rule's: ``why``, and patterns of their names.

    ``rule`` is another rule that runs them, or ""; ``run`` is whether the harness runs them, if there is no such rule.
    """

    why: str
    methods: tuple[str, ...]
    rule: str = ""
    run: bool = False


class MirroredCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a rule mirrors, what of the same classes it does not, and what of Java's answers is the kit's."""

    mirrors: tuple[MirroredClass, ...]
    elsewhere: tuple[Elsewhere, ...] = ()
    harness: str = "nothing"


@cache
def mirrored_code(slug: str) -> MirroredCode | None:
    """Return what a rule mirrors; None if its package does not say. Raises KitError for a file that cannot be read."""
    file = files("kafka_conformance.rules").joinpath(slug.replace("-", "_"), _FILE)
    if not file.is_file():
        return None
    try:
        return msgspec.convert(loads(file.read_text(encoding="utf-8")), MirroredCode)
    except UNREADABLE_TOML as error:
        raise KitError(f"{file} cannot be read: {error}") from error


def mirroring_rules() -> list[Rule]:
    """Return the rules that say which of Kafka's code they mirror."""
    return [rule for slug, rule in RULES.items() if mirrored_code(slug) is not None]
