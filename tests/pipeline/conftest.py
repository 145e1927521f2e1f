"""What the tests of the pipeline share: one Spark, Java's own producer. (``kafka_broker`` is of the kit's plugin.)"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from topics import JavaWriter

from kafka_conformance.spark.session import Spark, open_spark


def pytest_configure(config: pytest.Config) -> None:
    """PySpark leaves sockets to the garbage collector, which says so in whichever test it comes to."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.socket:ResourceWarning")
    unraised = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
    config.addinivalue_line("filterwarnings", unraised)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them ask for a JVM."""
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.jvm)


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    """A session with the connector, for a file's tests: a process has one at a time, and some files want another kind."""
    with open_spark("local[2]", connector=True) as opened:
        yield opened


@pytest.fixture
def name() -> str:
    """The name of a new topic."""
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def java() -> Iterator[JavaWriter]:
    """Java's own producer, in one JVM for all tests; ``with_settings`` makes others of it."""
    with JavaWriter() as writer:
        yield writer
