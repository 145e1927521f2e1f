"""Every package of an extra is named with its extra when it is missing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from kafka_conformance.core.extras import missing_extra

ROOT = Path(__file__).parents[3]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", ["broker", "jvm", "plot", "audit", "bulk"])
def test_packages_of_an_extra(extra: str) -> None:
    for requirement in DECLARED[extra]:
        package = re.match(r"[\w-]+", requirement)[0].replace("-", "_")  # type: ignore[index]
        if package != "kafka_conformance":
            words = missing_extra(ModuleNotFoundError("no", name=f"{package}.sub"))
            small = package in {"confluent_kafka", "numba", "numpy", "pyarrow"}  # an audit needs no more than these
            named, rest = ("audit", ", or [jvm] for what uses Spark or Java") if small else (extra, "")
            assert words == f"this command needs {package}: pip install 'kafka-conformance[{named}]'{rest}"


def test_the_jvm_extra_includes_bulk() -> None:
    for requirement in DECLARED["bulk"]:
        name = re.match(r"\w+", requirement)[0]  # type: ignore[index]
        assert missing_extra(ModuleNotFoundError("no", name=name)) is not None
    assert "kafka-conformance[bulk]" in DECLARED["jvm"]


def test_another_module_is_a_defect() -> None:
    assert missing_extra(ModuleNotFoundError("no", name="kafka_conformance.core.gone")) is None
    assert missing_extra(ModuleNotFoundError("no")) is None
