"""The protocol as a JSON Schema: what a line may be, either way, made from the types that read and write these lines.

It ships as ``protocol.schema.json``, so that a driver in any language can be held to it. ``FromKit`` is a line on a driver's
standard input, with the question's shape for each rule; ``FromDriver`` one on its standard output. What no schema says:
which id is answered, and conditions between fields of one question, which the kit holds its questions to.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import msgspec

from kafka_conformance.answerers.driver.lines import (
    LARGEST,
    AnswerLine,
    DriverHelloLine,
    FailedLine,
    KitHelloLine,
    UnsupportedLine,
)
from kafka_conformance.core.json_schema import REFERENCE, schema_parts
from kafka_conformance.core.protocol import PROTOCOL
from kafka_conformance.rules import RULES

__all__ = ["protocol_schema", "shipped", "text"]

FILE = "protocol.schema.json"
_LINES = (KitHelloLine, DriverHelloLine, AnswerLine, UnsupportedLine, FailedLine)


def protocol_schema() -> dict[str, Any]:
    """The schema, from the types."""
    questions = list(dict.fromkeys(rule.question for rule in RULES.values()))
    references, named = schema_parts([*_LINES, *questions])
    kit_hello, driver_hello, *outcomes = references[: len(_LINES)]
    asked = dict(zip(questions, references[len(_LINES) :], strict=True))
    # msgspec says of an answer that it is an object; the bound on its numbers is ours.
    named[AnswerLine.__name__]["properties"]["answer"]["additionalProperties"] = _to("Value")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kafka-conformance protocol {PROTOCOL}",
        "description": "One line of the protocol, a driver's input (FromKit) or its output (FromDriver).",
        "anyOf": [_to("FromKit"), _to("FromDriver")],
        "$defs": {
            "FromKit": {"anyOf": [kit_hello, _to("Ask")]},
            "FromDriver": {"anyOf": [driver_hello, *outcomes]},
            "Ask": {"anyOf": [_ask(slug, asked[rule.question]) for slug, rule in RULES.items()]},
            "Value": _value(),
            **{name: named[name] for name in sorted(named)},
        },
    }


def text() -> str:
    """The schema as the file that ships has it."""
    laid_out = msgspec.json.format(msgspec.json.encode(protocol_schema()), indent=1)
    return laid_out.decode() + "\n"


def shipped() -> str:
    """The file that ships."""
    return (resources.files("kafka_conformance.answerers.driver") / FILE).read_text(encoding="utf-8")


def _ask(slug: str, question: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "rule": {"const": slug},
            "release": {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+){2,3}$"},
            "question": question,
        },
        "required": ["id", "rule", "release", "question"],
        "additionalProperties": False,
    }


def _value() -> dict[str, Any]:
    """Any JSON, with its numbers within ±2^53."""
    return {
        "anyOf": [
            {"type": ["null", "boolean", "string"]},
            {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
            {"type": "array", "items": _to("Value")},
            {"type": "object", "additionalProperties": _to("Value")},
        ]
    }


def _to(name: str) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(name=name)}
