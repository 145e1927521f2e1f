"""Give each test the plan of its exploration, and time for a long run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fuzzing import FuzzPlan, last_file

HERE = Path(__file__).parent
LAST = Path(".kafka-conformance") / "fuzz"


def pytest_report_header(config: pytest.Config) -> str:
    """Print the seed of a long run."""
    return _seed(config)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print it at the end as well: ``-q`` leaves out the header."""
    if line := _seed(config):
        terminalreporter.write_line(line)


def _seed(config: pytest.Config) -> str:
    if config.getoption("fuzz_seconds") is None:
        return ""
    number = config.getoption("fuzz_seed")
    return f"fuzz: --fuzz-seed {number} repeats this run; a process that ends leaves its input in {LAST}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give a long run the time that it needs: an input that breaks a promise is shrunk after it."""
    if (seconds := config.getoption("fuzz_seconds")) is not None:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.timeout(2 * seconds + 900))


@pytest.fixture
def plan(request: pytest.FixtureRequest) -> FuzzPlan:
    """How long to explore."""
    seconds = request.config.getoption("fuzz_seconds")
    if seconds is None:
        return FuzzPlan()
    return FuzzPlan(seconds, request.config.getoption("fuzz_seed"), last_file(LAST, request.node.name))
