"""The badge, held to the fields that shields.io documents for its endpoint."""

from __future__ import annotations

import json

import jsonschema
import pytest
import streams

from kafka_conformance.core.events import Ended, Event
from kafka_conformance.gate.reports.badge import write

SCHEMA = {
    "type": "object",
    "required": ["schemaVersion", "label", "message"],
    "additionalProperties": False,
    "properties": {
        "schemaVersion": {"const": 1},
        "label": {"type": "string"},
        "message": {"type": "string", "minLength": 1},
        "color": {"enum": ["brightgreen", "green", "yellowgreen", "yellow", "orange", "red", "blue", "lightgrey"]},
        "labelColor": {"type": "string"},
        "isError": {"type": "boolean"},
        "namedLogo": {"type": "string"},
        "logoSvg": {"type": "string"},
        "logoColor": {"type": "string"},
        "logoSize": {"type": "string"},
        "style": {"enum": ["flat", "flat-square", "plastic", "for-the-badge", "social"]},
    },
}


@pytest.mark.parametrize("name", streams.ALL)
def test_badge_satisfies_the_schema_of_shields_io(name: str) -> None:
    badge = json.loads(write(streams.ALL[name]))
    jsonschema.validate(badge, SCHEMA)
    assert len(badge["label"]) < 100
    assert len(badge["message"]) < 100


@pytest.mark.parametrize(
    ("name", "message", "color"),
    [
        ("conforming", "conforms", "brightgreen"),
        ("everything", "832 differ", "red"),
        ("known", "conforms, 4 known to differ", "yellow"),
        ("stale", "known failures are invalid", "red"),
        ("crashed", "not judged", "lightgrey"),
        ("empty", "not judged", "lightgrey"),
        ("cut", "not judged", "lightgrey"),
    ],
)
def test_badge_message_and_color_reflect_the_gate_verdict(name: str, message: str, color: str) -> None:
    badge = json.loads(write(streams.ALL[name]))
    assert (badge["message"], badge["color"]) == (message, color)
    assert badge.get("isError", False) == (message == "not judged")


def one_release() -> list[Event]:
    return [streams.began().__class__("0", streams.target(), ("4.4.0",), (), 0, 0), Ended(0, "", 1, 1, 0, 0, 0, 0, 0.1)]


@pytest.mark.parametrize(
    ("events", "label"),
    [(one_release(), "Kafka 4.4.0"), (streams.conforming(), "Kafka 3.2.3 to 4.4.0"), ([], "Kafka")],
)
def test_badge_label_names_the_range_of_tested_kafka_releases(events: list[Event], label: str) -> None:
    assert json.loads(write(events))["label"] == label
