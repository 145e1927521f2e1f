"""What the tests with real clusters share: all of them ask for a JVM."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and no others. Each start of ``--broker-starts`` has a minute."""
    here = Path(__file__).parent
    count = config.getoption("broker_starts")
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.jvm)
            if count is not None and item.path.name == "test_broker_starts.py":
                item.add_marker(pytest.mark.timeout(60 * count + 900))
