from __future__ import annotations

import socket
import sys
import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pyspark
import pytest

from kafka_conformance.spark import session as spark_session
from kafka_conformance.spark.session import Spark

PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


class Conf:
    """Spark's settings, as a session has them: what was never set is None."""

    def __init__(self) -> None:
        self.held = {PER_BATCH: "65536"}

    def get(self, name: str, default: str | None) -> str | None:
        return self.held.get(name, default)

    def set(self, name: str, value: str) -> None:
        if value == "no":
            raise ValueError(f"{name} cannot be {value}")
        self.held[name] = value

    def unset(self, name: str) -> None:
        self.held.pop(name, None)


class Session:
    def __init__(self) -> None:
        self.conf, self.lost = Conf(), False

    @property
    def _jvm(self) -> Any:
        if self.lost:
            raise ConnectionError
        return MagicMock()


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def spark(session: Session) -> Spark:
    return Spark(session, "local[2]", "")  # type: ignore[arg-type]


def test_spark_settings_apply_within_the_with_block_and_are_restored_even_after_an_exception(
    spark: Spark, session: Session
) -> None:
    held = session.conf.held
    with spark.conf({PER_BATCH: "7", "new": "x"}):
        assert held == {PER_BATCH: "7", "new": "x"}
        with spark.batches_of(1):
            assert held == {PER_BATCH: "1", "new": "x"}
        assert held == {PER_BATCH: "7", "new": "x"}
    assert held == {PER_BATCH: "65536"}
    with pytest.raises(KeyError, match="8"), spark.batches_of(8):
        raise KeyError(held[PER_BATCH])
    assert held == {PER_BATCH: "65536"}


def test_spark_settings_are_restored_if_spark_refuses_a_value(spark: Spark, session: Session) -> None:
    with pytest.raises(ValueError, match="cannot be no"), spark.conf({PER_BATCH: "7", "bad": "no"}):
        pass
    assert session.conf.held == {PER_BATCH: "65536"}


def test_spark_settings_are_not_restored_once_the_jvm_has_ended(spark: Spark, session: Session) -> None:
    with spark.batches_of(8):
        session.lost = True
    assert session.conf.held == {PER_BATCH: "8"}


@pytest.mark.parametrize(
    ("master", "here"),
    [("local", True), ("local[*]", True), ("local[2]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)],
)
def test_only_local_master_runs_executors_inside_the_driver(master: str, here: bool) -> None:
    assert spark_session._on_one_machine(master) == here


@pytest.mark.parametrize(
    ("master", "python"),
    [("local[2]", sys.executable), ("spark://127.0.0.1:7077", "./workers/bin/python")],
)
def test_configured_pyspark_python_is_used_on_a_cluster_but_not_locally(master: str, python: str) -> None:
    assert spark_session._python(master, {"spark.pyspark.python": "./workers/bin/python"}) == python
    assert spark_session._python(master, {}) == sys.executable


def test_spark_context_whose_jvm_has_ended_prints_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    """As after a Ctrl-C: its server for accumulators loses its connection."""
    from pyspark.accumulators import _start_update_server

    unix_socket = () if pyspark.__version__ < "4.1" else (False,)
    server: Any = _start_update_server("token", *unix_socket)
    ended = threading.Event()
    server.shutdown_request = lambda request: (request.close(), ended.set())
    spark_session._silence(SimpleNamespace(_accumulatorServer=server))  # type: ignore[arg-type]
    with socket.create_connection(server.server_address) as jvm:
        jvm.sendall(b"token")
    assert ended.wait(20)
    server.shutdown()
    assert capfd.readouterr() == ("", "")
