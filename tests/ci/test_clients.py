"""The page of the clients, from synthetic streams of events."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kafka_conformance.answerers.named_driver import NamedDriver
from kafka_conformance.core.events import Began, Differed, Ended, Event, Known, RuleBegan, RuleEnded, Target, to_line

ROOT = Path(__file__).parents[2]
RULE, AT = "partition-for-key", "4.4.0"
DRIVER = NamedDriver(("./driver",), client="a|client", version="1.0")


@pytest.fixture(scope="module")
def clients() -> ModuleType:
    spec = importlib.util.spec_from_file_location("clients_of_ci", ROOT / "ci" / "clients.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def events_of(known: Known | None, *, ended: bool = True) -> list[Event]:
    count = {"known": 1, "differed": 0} if known else {"known": 0, "differed": 1}
    events: list[Event] = [
        Began("1", Target("c", "2.0|`", "go", "./driver"), (AT,), (RULE,), 0, 1),
        RuleBegan(RULE, AT, "exact", 3),
        Differed(
            RULE,
            AT,
            "id",
            "frozen",
            "another `partition`",
            1,
            {"key": "80"},
            {"partition": 1},
            {"partition": 2},
            "J",
            "",
            known=known,
        ),
        RuleEnded(
            RULE,
            AT,
            "exact",
            "known" if known else "differs",
            3,
            2,
            **count,
            failed=0,
            unsupported=4,
            frozen=3,
            fresh=0,
            earlier=0,
            seconds=1,
        ),
        Ended(0 if known else 1, "", 3, 2, **count, failed=0, unsupported=4, seconds=1),
    ]
    return events if ended else events[:-1]


def page(clients: ModuleType, tmp_path: Path, events: list[Event], exit_code: int) -> str:
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"\n".join(map(to_line, events)))
    return str(clients.page([clients.Gated("c", "java", DRIVER, exit_code, clients.read(path))]))


def test_a_deviation_that_is_known(clients: ModuleType, tmp_path: Path) -> None:
    text = page(clients, tmp_path, events_of(Known("it is CRC32", "ci/findings/one.md", "2027-06-30")), 0)
    assert "| a&#124;client | 2.0&#124;&#96; | java | **known**: 2 of 3; 1 known; 4 unsupported |" in text
    assert "Known until 2027-06-30: it is CRC32 ([" in text
    assert "](../../ci/findings/one.md))" in text
    assert '\nquestion  {"key": "80"}\nJava      {"partition": 1}\nclient    {"partition": 2}\n' in text


def test_a_deviation_that_is_not_known(clients: ModuleType, tmp_path: Path) -> None:
    text = page(clients, tmp_path, events_of(None), 1)
    assert "| **differs**: 2 of 3; 1 differed; 4 unsupported |" in text
    assert "Known until" not in text


@pytest.mark.parametrize("events", [events_of(None, ended=False), []])
def test_an_interrupted_gate_has_no_verdict(clients: ModuleType, tmp_path: Path, events: list[Event]) -> None:
    text = page(clients, tmp_path, events, 2)
    assert "The gate ended with exit code 2 before it finished." in text
    assert "2 of 3" not in text


def test_the_command(clients: ModuleType) -> None:
    words = clients.command("some-client", "java", Path("e"), ["--kafka", "all"])
    assert words[1:5] == ["-m", "kafka_conformance", "gate", "some-client:java"]
    assert words[5:9] == ["--events", "e", "--failures", ".kafka-conformance/clients/some-client-java"]
    assert words[-2:] == ["--kafka", "all"]
    known = clients.command("kafkajs", "java", Path("e"), [])
    assert known[5:7] == ["--known-failures", "ci/known-failures/kafkajs-java.toml"]
