"""Run the tests of Spark with other versions of it, and write what was run, with which result, into ``kit/docs/spark.md``.

::

    python ci/spark_matrix.py                        # every version of the table, each in a separate venv; 30 minutes
    python ci/spark_matrix.py 4.1.4 --write          # one of them; its row of the page is written
    python ci/spark_matrix.py 4.1.4 --venvs FOLDER   # makes its venvs there, or takes those that are there; keeps them

A version has a venv with PySpark and what the kit needs, and since 4.0 another with ``pyspark-client`` for Spark Connect.
The exit code is 1 if a test failed. A test that was skipped is counted, and a check of which no test ran is "not run".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from junitparser import Error, Failure, JUnitXml, Skipped

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "kit" / "docs" / "spark.md"
MARKS = "<!-- matrix: made by python ci/spark_matrix.py -->\n", "<!-- /matrix -->"

_CONNECT, _NOT_RUN = "Spark Connect", "not run"

SPARKS: Mapping[str, Sequence[str]] = {"3.5.9": ["pyarrow<22"], "4.0.5": [], "4.1.4": []}
"""The versions, and what each needs besides: Spark 3.5 asks for a NumPy before 2, which newer pyarrow refuses."""

CHECKS: Mapping[str, Sequence[str]] = {
    "the function alone": ["tests/kit/spark/test_functions.py"],
    "column, SQL": ["tests/pipeline/test_spark_columns.py"],
    _CONNECT: ["tests/pipeline/test_spark_connect.py"],
    "sweep": ["tests/pipeline/test_sweep.py::test_sweeps_of_the_reference_against_real_java_report_no_difference"],
    "audit of an export": ["tests/pipeline/test_exports.py"],
    "audit of a topic": [
        "tests/pipeline/test_audit.py::test_audit_of_java_librdkafka_mix_attributes_five_sixths_none_wrongly_and_counts_split_keys",
    ],
    "join": [
        "tests/pipeline/test_join.py::test_join_counts_on_spark_equal_counting_every_pair_of_records",
    ],
    "repair": [
        "tests/pipeline/test_repair.py::test_repair_of_a_compacted_topic_keeps_keys_headers_and_topic_settings",
    ],
}
"""What a version is tested with, by column of the table."""

_CONNECT_JAR = """
from kafka_conformance.oracle.fetching import fetched
from kafka_jars.pins import Jar
from kafka_jars.store import default_store
print(fetched([Jar("org.apache.spark:spark-connect_2.12:3.5.7")], default_store())[0].path)
"""
_FACTS = """
import platform, numpy, pandas, pyarrow
from kafka_conformance.oracle.java_home import find_java
print(f"Python {platform.python_version()}, Java {find_java().major}", f"NumPy {numpy.__version__}",
      f"pandas {pandas.__version__}", f"pyarrow {pyarrow.__version__}", sep=", ")
"""


@click.command()
@click.argument("versions", nargs=-1, type=click.Choice(list(SPARKS)))
@click.option("--write", is_flag=True, help=f"Write the rows into {PAGE.relative_to(ROOT)} (default: print them).")
@click.option("--venvs", type=click.Path(path_type=Path), help="Keep the venvs in this folder (default: delete them).")
@click.option(
    "--only", type=click.Choice(list(CHECKS)), multiple=True, help="Run this check; repeatable (default: all)."
)
def main(versions: Sequence[str], *, write: bool, venvs: Path | None, only: Sequence[str]) -> None:
    """Run the checks with these VERSIONS of PySpark, every one by default."""
    page, failed = PAGE.read_text(encoding="utf-8"), False
    for version in versions or SPARKS:
        with folder(venvs) as room:
            counts, facts = run(version, room, only or list(CHECKS))
        failed |= any(each["failed"] for each in counts.values())
        row = table_row(version, facts, counts)
        print(row, flush=True)
        page = with_row(page, row)
        if write:
            PAGE.write_text(page, encoding="utf-8")
    sys.exit(int(failed))


def run(version: str, room: Path, checks: Sequence[str]) -> tuple[dict[str, Counter[str]], str]:
    """Return the results of a version by check, and the versions of what it was run with."""
    python = made_venv(room / version, requirements(version))
    env = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(str(ROOT / one) for one in ("reference", "kit", "jars"))}
    alone: list[str] = []
    if version.startswith("3."):
        # Up to 3.5 PySpark has no server of Connect, and it listens on every interface: in a separate network namespace.
        env["CONNECT_JAR"] = output(python, "-c", _CONNECT_JAR, env=env)
        alone = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
    else:
        client = ["pyspark-client==" + re.sub(r"\.\d+$", ".*", version), "pandas>=2,<3"]
        env["CONNECT_CLIENT"] = made_venv(room / f"client-{version}", client)
    counts: dict[str, Counter[str]] = {}
    for names, before in ((set(checks) - {_CONNECT}, []), (set(checks) & {_CONNECT}, alone)):
        if names:
            counts |= tested(python, [check for check in CHECKS if check in names], env, before)
    return counts, output(python, "-c", _FACTS, env=env)


def requirements(version: str) -> list[str]:
    """Return what the kit needs for its Spark jobs and their tests, with this PySpark instead of the pinned one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    every = [*project["dependencies"], *extras["jvm"], *extras["bulk"], *extras["audit"]]
    needed = [one for one in every if not one.startswith(("pyspark", "kafka-conformance"))]
    tests = ["kafka-python", "pytest", "pytest-timeout"]
    return [*dict.fromkeys(needed), *tests, f"pyspark[connect]=={version}", *SPARKS[version]]


def made_venv(path: Path, packages: Sequence[str]) -> str:
    """Make a venv with these packages, unless it is there; return its Python."""
    python = str(path / "bin" / "python")
    if not path.exists():
        venv.create(path, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def tested(
    python: str, checks: Sequence[str], env: Mapping[str, str], before: Sequence[str]
) -> dict[str, Counter[str]]:
    """Run the tests of checks; return how many passed, failed, and were skipped. Tests that could not be run failed."""
    tests = [test for check in checks for test in CHECKS[check]]
    with tempfile.TemporaryDirectory() as room:
        report = Path(room) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-W", "ignore", "-m", "jvm or not jvm", "-p", "no:cacheprovider"]
        command += ["-p", "kafka_conformance.pytest_plugin"]  # the kit is on the path, not installed
        ran = subprocess.run([*before, *command, f"--junitxml={report}", *tests], cwd=ROOT, env=env, stdout=sys.stderr,
                             check=False)  # fmt: skip
        counts = results(JUnitXml.fromfile(str(report))) if report.exists() else {}
    if ran.returncode and not any(each["failed"] for each in counts.values()):
        return {check: Counter(failed=1) for check in checks}
    return {check: counts.get(check, Counter()) for check in checks}


def results(report: JUnitXml) -> dict[str, Counter[str]]:
    """Count the tests of a report by check and result."""
    checks = {test.partition(".py")[0].replace("/", "."): check for check, tests in CHECKS.items() for test in tests}
    counts: dict[str, Counter[str]] = {}
    for case in (case for suite in report for case in suite):
        kinds = {type(result) for result in case.result}
        result = "failed" if kinds & {Failure, Error} else "skipped" if Skipped in kinds else "passed"
        counts.setdefault(checks[case.classname or case.name], Counter())[result] += 1
    return counts


def cell(counts: Mapping[str, int]) -> str:
    """Return the result of a check as the table has it."""
    if counts.get("failed"):
        return f"**{counts['failed']} failed**" + (f", {counts['passed']} passed" if counts.get("passed") else "")
    if not counts.get("passed"):
        return _NOT_RUN
    return f"{counts['passed']} passed" + (f", {counts['skipped']} skipped" if counts.get("skipped") else "")


def table_row(version: str, facts: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return the row of a version: its results by check, and with what it was run."""
    cells = [cell(counts.get(check, {})) for check in CHECKS]
    return f"| {version} | {' | '.join(cells)} | {facts} |"


def with_row(page: str, row: str) -> str:
    """Return the page with the row of a version: in place of the one of the same minor version, or added in order.

    What was not run now keeps the result that the same version has there.
    """
    before, begin, rest = page.partition(MARKS[0])
    table, end, after = rest.partition(MARKS[1])
    if not (begin and end):
        raise SystemExit(f"{PAGE} has no lines {MARKS[0].strip()} and {MARKS[1]}")
    rows = {minor_of(line): line for line in table.splitlines()[2:] if line}
    old, new = rows.get(minor_of(row), row).split(" | "), row.split(" | ")
    rows[minor_of(row)] = (
        row
        if old[0] != new[0]
        else " | ".join(was if now == _NOT_RUN else now for was, now in zip(old, new, strict=True))
    )
    head = f"| Spark | {' | '.join(CHECKS)} | with |\n|{'---|' * (len(CHECKS) + 2)}\n"
    return before + begin + head + "".join(f"{rows[minor]}\n" for minor in sorted(rows)) + end + after


def minor_of(row: str) -> str:
    """Return the minor version of a row."""
    return row.split("|")[1].strip().rpartition(".")[0]


def output(*command: str, env: Mapping[str, str]) -> str:
    """Return the last line that a command prints."""
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)}\n{ran.stderr}")
    return ran.stdout.strip().splitlines()[-1]


@contextmanager
def folder(path: Path | None) -> Iterator[Path]:
    """Give this folder, or a new one that is deleted."""
    if path is None:
        with tempfile.TemporaryDirectory(prefix="spark-matrix-") as name:
            yield Path(name)
    else:
        path.mkdir(parents=True, exist_ok=True)
        yield path.resolve()


if __name__ == "__main__":
    main()
