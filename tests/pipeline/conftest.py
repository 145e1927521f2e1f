"""Real brokers, real topics, real Spark: everything here asks for a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from topics import JavaWriter


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.jvm)


@pytest.fixture(scope="session")
def java() -> Iterator[JavaWriter]:
    """Java's own producer, in one JVM for all tests; ``with_settings`` makes others of it."""
    with JavaWriter() as writer:
        yield writer
