"""Real producers: their effective settings are those of the page, and they leave no files and no threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules.idempotence_config.question import combination
from kafka_conformance.rules.idempotence_config.rule import RULE
from kafka_conformance.rules.idempotence_config.spaces import five
from kafka_reference.releases import parse_release

PAGE = Path(__file__).parents[2] / "kit" / "docs" / "idempotence.md"


# KAFKA-13598: 3.0.0 says in its own documentation that idempotence is on by default.
@pytest.mark.parametrize(
    ("version", "idempotent", "acks"), [("2.8.2", False, 1), ("3.0.0", False, -1), ("3.0.2", True, -1)]
)
def test_java_producer_defaults_to_idempotence_in_3_0_2_not_3_0_0_and_acks_all_since_3_0_0(
    oracle: Oracle, version: str, idempotent: bool, acks: int
) -> None:
    (outcome,) = JavaAnswerer(oracle).answer(RULE, parse_release(version), [combination()])
    assert isinstance(outcome, Answered)
    assert (outcome.answer["idempotent"], outcome.answer["acks"]) == (idempotent, acks)


@pytest.mark.parametrize("version", ["0.11.0.3", "2.0.1", "2.4.1", "4.4.0"])
def test_600_java_producer_configs_leave_fewer_than_60_open_files_and_20_threads(oracle: Oracle, version: str) -> None:
    """600 producers, each with a thread, a selector of three files, or neither, since it refused."""
    java = JavaAnswerer(oracle)
    java.answer(RULE, parse_release(version), list(five())[:60])
    before = _held()
    java.answer(RULE, parse_release(version), list(five()))
    after = _held()
    assert after["fd"] - before["fd"] < 60
    assert after["task"] - before["task"] < 20


def _held() -> dict[str, int]:
    """The open files and the threads of the JVM that this process has started."""
    (jvm,) = [
        folder
        for folder in Path("/proc").glob("[0-9]*")
        if _parent(folder) == os.getpid() and b"PythonGatewayServer" in (folder / "cmdline").read_bytes()
    ]
    return {kind: len(list((jvm / kind).iterdir())) for kind in ("fd", "task")}


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # it ended meanwhile


def test_idempotence_documentation_page_matches_settings_of_real_java_producers(kit_here: Callable) -> None:
    ran = kit_here("idempotence", "--kafka", "3.0.0,4.4.0", "--check", str(PAGE))
    assert ran.code == 0, ran
    assert "2 of 2 releases match" in ran.out


def test_idempotence_check_command_exits_1_for_a_page_with_a_wrong_default(kit_here: Callable, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.md"
    wrong.write_text(PAGE.read_text().replace("| 3.0.0, 3.1.0 | off;", "| 3.0.0, 3.1.0 | idempotent;"))
    ran = kit_here("idempotence", "--kafka", "3.0.0", "--check", str(wrong))
    assert ran.code == 1, ran
    assert "wrong row for 3.0.0" in ran.out.replace("\n", " ")
