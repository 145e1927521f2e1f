"""What the tests with real clusters share: all of them ask for a JVM."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the seed of ``--broker-starts``, also where workers run the tests."""
    if (count := config.getoption("broker_starts")) is not None:
        seed = config.getoption("broker_starts_seed")
        terminalreporter.write_line(f"--broker-starts {count} --broker-starts-seed {seed} repeats this run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and no others. Each start of ``--broker-starts`` has a minute."""
    here = f"{Path(__file__).parent}{os.sep}"
    count = config.getoption("broker_starts")
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.jvm)
            if count is not None and item.path.name == "test_broker_starts.py":
                item.add_marker(pytest.mark.timeout(60 * count + 900))
