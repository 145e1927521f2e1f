"""The page on the gate: its pytest example is green for a correct partitioner, and red for a wrong one."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from kafka_conformance.rules import RULES

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "gate.md").read_text(encoding="utf-8")
_PLUGIN = () if entry_points(group="pytest11", name="kafka-conformance") else ("-p", "kafka_conformance.pytest_plugin")


@pytest.mark.parametrize(
    ("mask", "outcome"),
    [
        ("0x7FFFFFFF", {"passed": 1}),
        pytest.param("0xFFFFFFFF", {"failed": 1}, marks=pytest.mark.exhaustive),
    ],
)
def test_pytest_example_of_the_gate_page_passes_correct_and_fails_unsigned_partitioner(
    pytester: pytest.Pytester, mask: str, outcome: dict[str, int]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    library = "from kafka_reference import murmur2\n\ndef partition(key, count):\n"
    pytester.makepyfile(mylibrary=f"{library}    return (murmur2(key) & {mask}) % count\n", test_partitions=example)
    done = pytester.runpytest_subprocess(*_PLUGIN, "--kafka-seed", "7", "--kafka-examples", "20")
    done.assert_outcomes(**outcome)


def test_gate_page_states_the_number_of_rules() -> None:
    assert f"(the kit has {len(RULES)})" in " ".join(PAGE.split())
