"""The drivers in ci/drivers: what they say of themselves, how long they are, and that they name no registry's address."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.answerers.named_driver import read_driver
from kafka_conformance.gate import known_failures
from kafka_conformance.rules import RULES

ROOT = Path(__file__).parents[2]
DRIVERS = sorted(path.parent for path in (ROOT / "ci" / "drivers").glob("*/driver.toml"))
BUILT = {"node_modules", ".venv", "lib", "target", "driver", "Cargo.lock", "__pycache__"}
FILES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "ci").rglob("*")
    if path.is_file() and not BUILT & set(path.relative_to(ROOT).parts)
)
CODE = (".py", ".mjs", ".cjs", ".go", ".rs")
REGISTRIES = re.compile(
    r"registry\.npmjs|pypi\.org|pythonhosted|proxy\.golang|crates\.io[-/]index|index\.crates|sum\.golang"
)


def test_ci_drivers_folder_has_exactly_the_listed_clients() -> None:
    assert {driver.name for driver in DRIVERS} == {
        *(
            "kafka-python",
            "kafka-python-2.3",
            "kafka-python-2.2",
            "kafka-python-2.0",
            "kafka-python-1.4",
            "aiokafka",
            "aiokafka-0.12",
            "aiokafka-0.11",
            "aiokafka-0.10",
            "pykafka",
        ),
        *("confluent-kafka", "confluent-kafka-1.9", "confluent-kafka-go", "krafka", "kafka-rust"),
        *("franz-go", "sarama", "sarama-1.45", "sarama-1.20", "kafka-go", "kafka-go-0.4.38"),
        *("kafkajs", "kafkajs-1.16", "kafkajs-1.11", "platformatic-kafka", "kafka-node", "no-kafka"),
    }


@pytest.mark.parametrize("folder", DRIVERS, ids=lambda folder: folder.name)
def test_client_driver_has_default_setting_metadata_version_pin_and_options_named_for_other_arguments(
    folder: Path,
) -> None:
    driver = read_driver(folder)
    assert "default" in driver.settings
    assert not driver.settings["default"].chosen_by
    alike = [tuple(setting.args) for name, setting in driver.settings.items() if not setting.chosen_by]
    assert len(set(alike)) == 1  # a setting that differs from the default says what a user of the client sets
    assert all((driver.client, driver.language, driver.registry, driver.version, driver.build))
    pins = [
        path
        for name in ("requirements.txt", "go.mod", "package.json", "Cargo.toml")
        if (path := folder / name).exists()
    ]
    assert len(pins) == 1
    assert re.search(rf"[=v \"]{re.escape(driver.version)}\b", pins[0].read_text())


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("ci/drivers/") and name.endswith(CODE)])
def test_driver_source_has_fewer_than_60_lines(name: str) -> None:
    assert len((ROOT / name).read_text().splitlines()) < 60


@pytest.mark.parametrize("name", FILES)
def test_ci_files_contain_no_package_registry_address(name: str) -> None:
    assert not REGISTRIES.search((ROOT / name).read_text())


@pytest.mark.parametrize("path", sorted((ROOT / "ci" / "known-failures").glob("*.toml")), ids=lambda path: path.stem)
def test_known_failures_file_names_an_existing_driver_setting_rules_and_issue_files(path: Path) -> None:
    settings = {f"{folder.name}-{setting}" for folder in DRIVERS for setting in read_driver(folder).settings}
    assert path.stem in settings
    entries = msgspec.convert(tomllib.loads(path.read_text())["known"], list[known_failures.Entry])
    assert all(entry.rule in RULES for entry in entries)
    assert all((ROOT / entry.issue).is_file() for entry in entries if entry.issue.startswith("ci/"))
