"""Every package of an extra is named with its extra when it is missing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from kafka_conformance.core.extras import how_to_install, missing_extra

ROOT = Path(__file__).parents[3]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", ["broker", "jvm", "plot", "audit", "avro", "bulk", "wire", "cluster"])
def test_missing_package_error_names_the_declaring_extra_or_audit_for_packages_of_an_audit(extra: str) -> None:
    for requirement in DECLARED[extra]:
        package = re.match(r"[\w-]+", requirement)[0].replace("-", "_")  # type: ignore[index]
        package = "kafka" if package == "kafka_python" else package
        if package != "kafka_conformance":
            words = missing_extra(ModuleNotFoundError("no", name=f"{package}.sub"))
            small = package in {"confluent_kafka", "numba", "numpy", "pyarrow"}  # an audit needs no more than these
            named, rest = ("audit", ", or '.[jvm]' for what uses Spark or Java") if small else (extra, "")
            rest = ", or '.[cluster]' for histories on real clusters" if extra == "wire" else rest
            assert words == f"this command needs {package}: {how_to_install(named)}{rest}"


def test_jvm_extra_includes_bulk_extra_whose_packages_have_install_hints() -> None:
    for requirement in DECLARED["bulk"]:
        name = re.match(r"\w+", requirement)[0]  # type: ignore[index]
        assert missing_extra(ModuleNotFoundError("no", name=name)) is not None
    assert "kafka-conformance[bulk]" in DECLARED["jvm"]


@pytest.mark.parametrize("extra", ["broker", "jvm", "cluster", "audit"])
def test_extras_that_start_or_check_brokers_include_the_wire_extra(extra: str) -> None:
    assert "kafka-conformance[wire]" in DECLARED[extra]


def test_missing_module_outside_the_extras_gets_no_install_hint() -> None:
    assert missing_extra(ModuleNotFoundError("no", name="kafka_conformance.core.gone")) is None
    assert missing_extra(ModuleNotFoundError("no")) is None


def test_install_hints_in_errors_and_pages_use_a_checkout_not_pypi() -> None:
    assert how_to_install("audit") == "pip install '.[audit]' in a checkout"
    # A message in code that rules reach cannot change without proving these rules again.
    proven = {ROOT / "reference" / "kafka_reference" / "bulk.py"}
    files = [path for folder in ("kit", "reference", "jars") for path in (ROOT / folder).rglob("*.*")]
    texts = {
        path: path.read_text(encoding="utf-8") for path in files if path.suffix in {".py", ".md"} and path not in proven
    }
    from_an_index = re.compile(r"pip install (-q )?'?kafka-conformance\b")
    assert [path for path, text in texts.items() if from_an_index.search(text)] == []
