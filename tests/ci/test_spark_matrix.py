"""The table of Spark versions: a row says what ran, and the page has one for each version that is tested."""

from __future__ import annotations

import re
import tomllib

import pytest
import spark_matrix
from junitparser import JUnitXml
from spark_matrix import CHECKS, MARKS, PAGE, ROOT, SPARKS, cell, requirements, results, table_row, with_row

from kafka_jars.pins import load


def test_spark_results_count_passed_skipped_and_failed_tests_of_junit_xml() -> None:
    sweep, joined = "classname='tests.pipeline.test_sweep'", "classname='tests.pipeline.test_join'"
    report = JUnitXml.fromstring(
        f"<testsuites><testsuite><testcase {sweep} name='a'/><testcase {sweep} name='b'><skipped/></testcase>"
        f"<testcase {sweep} name='c'><failure/></testcase><testcase {sweep} name='d'><error/></testcase>"
        f"<testcase {joined} name='a'/></testsuite></testsuites>".encode()
    )
    assert results(report) == {"sweep": {"passed": 1, "skipped": 1, "failed": 2}, "join": {"passed": 1}}


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        ({"passed": 3}, "3 passed"),
        ({"passed": 3, "skipped": 1}, "3 passed, 1 skipped"),
        ({"skipped": 1}, "not run"),
        ({}, "not run"),
        ({"passed": 3, "failed": 1}, "**1 failed**, 3 passed"),
        ({"failed": 1, "skipped": 2}, "**1 failed**"),
    ],
)
def test_spark_table_cell_shows_not_run_if_no_test_passed_or_failed(counts: dict[str, int], shown: str) -> None:
    assert cell(counts) == shown


def test_spark_table_row_of_a_patch_version_replaces_the_row_of_that_minor() -> None:
    page = f"before\n{MARKS[0]}{MARKS[1]}\nafter\n"
    for version in ("4.1.3", "3.5.9", "4.1.4"):
        page = with_row(page, table_row(version, "Python", {"sweep": {"passed": 1}}))
    assert re.findall(r"^\| (\d\S*) \|", page, re.MULTILINE) == ["3.5.9", "4.1.4"]
    assert page.startswith(f"before\n{MARKS[0]}| Spark | the function alone |")
    assert page.endswith(f"{MARKS[1]}\nafter\n")
    assert page.count("| 1 passed | ") == 2


def test_spark_table_row_keeps_earlier_results_of_other_checks_only_for_the_same_patch_version() -> None:
    page = with_row(f"{MARKS[0]}{MARKS[1]}", table_row("4.1.4", "Python", {"sweep": {"passed": 1}}))
    page = with_row(page, table_row("4.1.4", "Java", {"join": {"passed": 2}}))
    assert re.findall(r"^\| 4.*\|$", page, re.MULTILINE) == [
        table_row("4.1.4", "Java", {"sweep": {"passed": 1}, "join": {"passed": 2}})
    ]
    page = with_row(page, table_row("4.1.5", "Java", {"join": {"passed": 3}}))
    assert table_row("4.1.5", "Java", {"join": {"passed": 3}}) in page


def test_tests_named_in_spark_matrix_checks_exist() -> None:
    for test in (test for tests in CHECKS.values() for test in tests):
        name, _, function = test.partition("::")
        assert f"def {function}" in (ROOT / name).read_text(encoding="utf-8")


def test_spark_matrix_venv_requires_the_tested_pyspark_version() -> None:
    needed = requirements("3.5.9")
    assert [one for one in needed if one.startswith("pyspark")] == ["pyspark[connect]==3.5.9"]
    assert not [one for one in needed if one.startswith("kafka-conformance")]
    assert {"pyarrow<22", "msgspec>=0.19", "numba>=0.60"} <= set(needed)


def test_spark_versions_with_pinned_connector_equal_the_tested_versions() -> None:
    assert {version.rpartition(".")[0] for version in SPARKS} == set(load().connectors)


def test_spark_page_lists_every_tested_version_and_pin_allows_only_passing_versions() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page.partition(MARKS[0])[2].partition(MARKS[1])[0]
    shown = re.findall(r"^\| (\d\S*) \|", table, re.MULTILINE)
    assert shown == list(SPARKS)
    jvm = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"][
        "jvm"
    ]
    (pin,) = [one for one in jvm if one.startswith("pyspark")]
    lowest, highest = re.fullmatch(r"pyspark>=([\d.]+),<([\d.]+)", pin).groups()  # type: ignore[union-attr]
    allowed = [version for version in SPARKS if number(lowest) <= number(version) < number(highest)]
    assert allowed
    rows = [line for line in table.splitlines() if "|" in line and line.split("|")[1].strip() in allowed]
    assert len(rows) == len(allowed)
    assert not [row for row in rows if "failed" in row or "not run" in row or "skipped" in row]


def number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_spark_matrix_of_unknown_version_exits_with_2() -> None:
    from click.testing import CliRunner

    assert CliRunner().invoke(spark_matrix.main, ["9.9.9"]).exit_code == 2
