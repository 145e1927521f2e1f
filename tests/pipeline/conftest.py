"""What the tests of the pipeline share: one Spark, one broker (``kafka_broker``, of the kit's plugin)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_conformance.pipeline.spark_session import Spark, open_spark


def pytest_configure(config: pytest.Config) -> None:
    """PySpark leaves sockets to the garbage collector, which says so in whichever test it comes to."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.socket:ResourceWarning")
    config.addinivalue_line(
        "filterwarnings", "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
    )


@pytest.fixture(scope="session")
def spark() -> Iterator[Spark]:
    """A session with the connector, for all tests."""
    with open_spark("local[2]", connector=True) as opened:
        yield opened
