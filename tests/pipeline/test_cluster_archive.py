"""The page on clusters, standalone: its commands run as shown, and bring the package to workers that do not have it.

Only addresses and the topic are others: a master on this machine, and an export instead of a topic, which needs no broker.
The workers' environment has no path to this checkout, and their Python no package: they get it from the job, or not at all.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from spark_daemons import environment, spark_program, standalone

from kafka_reference import partition_for_key

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "kit" / "docs" / "spark-cluster.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Make the archive")[2].partition("## Spark Connect")[0]
ARCHIVE, _, COMMAND, SUBMIT, PLACES, PY_FILES = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
(JOB,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
TOPIC = "orders --bootstrap-server broker:9092"
WHERE = """
import sys
from pyspark.sql import SparkSession

def where(_):
    import kafka_conformance
    yield kafka_conformance.__file__, sys.executable

print("where:", *SparkSession.builder.getOrCreate().sparkContext.parallelize([0], 1).mapPartitions(where).first())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run: with an archive made as the page says, an export, and the programs they call."""
    made = tmp_path_factory.mktemp("cluster")
    (made / "bin").mkdir()
    programs = {
        "python3": [sys.executable],
        "pip": [sys.executable, "-m", "pip"],
        "spark-submit": [spark_program("spark-submit")],
        "kafka-conformance": [sys.executable, "-m", "kafka_conformance"],
    }
    for name, command in programs.items():
        (made / "bin" / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
        (made / "bin" / name).chmod(0o700)
    (made / "places.py").write_text(JOB, encoding="utf-8")
    (made / "where.py").write_text(WHERE, encoding="utf-8")
    export(made / "orders.parquet")
    shell(ARCHIVE.replace("/path/to/kafka-conformance", str(ROOT)).replace("pip install", "pip install -q"), made)
    shell("workers/bin/pip uninstall -q -y kafka-conformance", made)
    return made


def export(path: Path) -> None:
    """Records of Java's producer in 12 partitions."""
    import pyarrow as pa
    from pyarrow import parquet

    keys = [f"customer-{number}".encode() for number in range(3_000)]
    partitions = [partition_for_key(key, 12) for key in keys]
    table = {
        "partition": pa.array(partitions, pa.int32()),
        "offset": pa.array(range(len(keys)), pa.int64()),
        "key": keys,
    }
    parquet.write_table(pa.table(table), path)


@pytest.fixture(scope="module")
def master(folder: Path) -> Iterator[str]:
    """A cluster whose environment does not lead to this checkout."""
    env = {name: value for name, value in environment().items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    with standalone(folder, env) as url:
        yield url


def shell(commands: str, folder: Path, **more: str) -> str:
    """What the commands print; they run in this folder, with Spark's Python left to their own settings."""
    env = {name: value for name, value in environment().items() if name != "PYSPARK_PYTHON"}
    env |= {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **more}
    ran = subprocess.run(
        ["bash", "-ec", commands], cwd=folder, env=env, capture_output=True, text=True, timeout=500, check=False
    )
    assert ran.returncode == 0, f"{commands}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout


def here(commands: str, master: str, folder: str) -> str:
    """A block of the page, with the addresses of this test."""
    assert commands.count("spark://host:7077") == 1
    topic = "orders.parquet --format parquet --partitions 12 --json"
    shown = commands.replace("spark://host:7077", master).replace(TOPIC, topic)
    return shown.replace("hdfs:///audits/orders", folder)


@pytest.mark.parametrize("block", [COMMAND, SUBMIT], ids=["--master", "spark-submit"])
def test_audit_on_spark_workers_imports_the_package_from_the_archive(
    master: str, folder: Path, tmp_path: Path, block: str
) -> None:
    document = json.loads(shell(here(block, master, str(tmp_path / "run")), folder))
    assert (document["records"], document["offending"]) == (3_000, 0)


def test_user_spark_job_imports_the_package_from_the_archive(master: str, folder: Path) -> None:
    shown = shell(here(PLACES, master, ""), folder)
    assert re.search(r"^\|\s+9\|$", shown, re.MULTILINE)
    package, python = places(shell(here(PLACES, master, "").replace("places.py", "where.py"), folder))
    assert "/work/app-" in package
    assert "/workers/lib/" in package
    assert "/work/app-" in python


def test_user_spark_job_imports_the_package_from_py_files(master: str, folder: Path) -> None:
    own = {"PYSPARK_PYTHON": str(folder / "workers/bin/python"), "PYSPARK_DRIVER_PYTHON": str(folder / "bin/python3")}
    assert re.search(r"^\|\s+9\|$", shell(here(PY_FILES, master, ""), folder, **own), re.MULTILINE)
    package, _ = places(shell(here(PY_FILES, master, "").replace("places.py", "where.py"), folder, **own))
    assert "/kafka_conformance.zip/" in package


def test_audit_on_spark_workers_without_the_package_exits_2_with_one_line_error(master: str, folder: Path) -> None:
    bare = here(COMMAND, master, str(folder / "bare")).replace("--setting spark.archives=workers.tar.gz#workers", "")
    bare = bare.replace("./workers/bin/python", str(folder / "workers/bin/python"))
    said = shell(f"if {bare.strip()} 2>&1; then exit 9; else test $? = 2; fi", folder)
    assert "Traceback" not in said
    assert re.search(
        r"^kafka-conformance: the executors' Python has no kafka-conformance: No module named 'kafka_conformance' and the"
        r" driver's \S+: send it with the job, as kit/docs/spark-cluster.md shows, or install the same kafka-conformance on"
        r" every worker$", said, re.MULTILINE,
    ), said  # fmt: skip


def places(printed: str) -> tuple[str, str]:
    """Where an executor has the package from, and its Python."""
    (line,) = re.findall(r"^where: (.*)$", printed, re.MULTILINE)
    package, python = line.split()
    return package, python
