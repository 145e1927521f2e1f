"""Names of answerers on the command line and in saved failures, and how each is opened."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.answerers.target import open_target
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.oracle.session import open_oracle
from kafka_conformance.rules.mutants import mutant_named

__all__ = [
    "JAVA",
    "REFERENCE",
    "TARGET",
    "mutant_of",
    "open_answerer",
    "open_saved_answerer",
    "reference_or_mutant",
    "target_name",
]

REFERENCE: Final = "reference"
JAVA: Final = "java"
TARGET: Final = "target:"
"""Prefix of a gate's target: followed by a name as ``gate`` takes it, or by ``-- `` and a command."""
_MUTANT: Final = "mutant:"


def open_answerer(name: str, stack: ExitStack) -> Answerer:
    """Open ``reference``, ``java``, ``mutant:NAME`` or ``target:…``; it closes with ``stack``. Raises BadInput."""
    if name == JAVA:
        return JavaAnswerer(stack.enter_context(open_oracle()))
    if name.startswith(TARGET):
        return stack.enter_context(open_target(*_target(name.removeprefix(TARGET))))
    return reference_or_mutant(name, f"{REFERENCE}, {JAVA}, {_MUTANT}NAME, or {TARGET} and a target of gate")


def open_saved_answerer(name: str, option: str, stack: ExitStack) -> Answerer:
    """Open the answerer that a file names: ``reference``, ``java`` or ``mutant:NAME``. Raises BadInput for any other.

    A target is a program, and files are passed on: only ``option`` of the user's command line can name one.
    """
    if name.startswith(TARGET):
        raise BadInput(
            f"a file cannot choose the program that runs: to ask this target, add {option} {shlex.quote(name)}"
        )
    return open_answerer(name, stack)


def reference_or_mutant(name: str, names: str = f"{REFERENCE} or {_MUTANT}NAME") -> ReferenceAnswerer:
    """Return the reference or a mutant. Raises BadInput, which lists ``names`` as those expected."""
    if name.startswith(_MUTANT):
        return mutant_answerer(name.removeprefix(_MUTANT))
    if name != REFERENCE:
        raise BadInput(f"unknown answerer {name!r}: expected {names}")
    return ReferenceAnswerer()


def mutant_of(name: str) -> Mutant | None:
    """Return the mutant that an answerer's name means, None for any other answerer. Raises BadInput."""
    return mutant_named(name.removeprefix(_MUTANT)) if name.startswith(_MUTANT) else None


def target_name(target: str, command: Sequence[str]) -> str:
    """Return the name under which ``replay`` opens a gate's target again."""
    return f"{TARGET}{target or f'-- {shlex.join(command)}'}"


def _target(text: str) -> tuple[str, list[str]]:
    if not text.startswith("-- "):
        return text, []
    try:
        return "", shlex.split(text.removeprefix("-- "))
    except ValueError as error:
        raise BadInput(f"{text!r} is not a command: {error}") from error
