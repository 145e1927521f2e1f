"""The checks of a built wheel: it has every file of the packages, and nothing else."""

from __future__ import annotations

import sys

import package
import pytest


def _whole() -> set[str]:
    wanted = package.missing_files(set())
    return {line.removeprefix("missing: ") for line in wanted}


def test_wheel_check_requires_cases_java_sources_pins_and_certificate() -> None:
    assert {
        "kafka_conformance/cases/data/murmur2.ndjson",
        "kafka_conformance/gate/reports/gate_page.html.j2",
        "kafka_conformance/reports/page.css",
        "kafka_conformance/answerers/driver/protocol.schema.json",
        "kafka_jars/releases.toml",
        "kafka_reference/certificate.json",
        "kafka_reference/py.typed",
    } <= _whole()
    assert any(name.startswith("kafka_jars/oracle/") and name.endswith(".java") for name in _whole())


def test_file_missing_from_the_wheel_is_reported() -> None:
    assert package.missing_files(_whole()) == []
    assert package.missing_files(_whole() - {"kafka_reference/certificate.json"}) == [
        "missing: kafka_reference/certificate.json"
    ]


@pytest.mark.parametrize("name", ["tests/test_readme.py", "kit/docs/gate.md", "kafka_jars/__pycache__/pins.pyc"])
def test_page_test_or_compiled_file_in_the_wheel_is_reported_as_foreign(name: str) -> None:
    inside = [*_whole(), "kafka_conformance-0.1.0.dist-info/METADATA"]
    assert package.foreign_files(inside) == []
    assert package.foreign_files([*inside, name]) == [f"foreign: {name}"]


def test_failed_packaging_step_exits_with_step_name_and_output(capsys: pytest.CaptureFixture[str]) -> None:
    package.run("fine", sys.executable, "-c", "")
    assert capsys.readouterr().out == "fine: ok\n"
    with pytest.raises(SystemExit, match="it broke\n\npackage: broken failed"):
        package.run("broken", sys.executable, "-c", "import sys; print('it broke'); sys.exit(3)")
