"""Which Java source files a rule's class is made of."""

from pathlib import Path

import pytest

from kafka_conformance.oracle.java_sources import java_sources
from kafka_conformance.rules import java_classes
from kafka_jars import ORACLE_SOURCES
from kafka_reference.releases import parse_release


def names(files: list[Path]) -> list[str]:
    return [f"{file.parent.name}/{file.stem}" for file in files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sources = {
        "one/First": "import kafkaoracle.two.Imported;\nclass First extends Beside { /* Mentioned */ } // Mentioned",
        "one/Beside": "class Beside { First first; }",
        "one/Mentioned": "class Mentioned {}",
        "two/Imported": "class Imported { kafkaoracle.three.Named named; }",
        "two/Other": "class Other {}",
        "three/Named": "class Named {}",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.java").write_text(source)
    return tmp_path


def test_java_sources_of_a_class_include_used_classes_but_none_named_only_in_comments(folder: Path) -> None:
    assert names(java_sources(["kafkaoracle.one.First"], folder)) == [
        "one/Beside", "one/First", "three/Named", "two/Imported",
    ]  # fmt: skip


def test_java_sources_of_several_classes_have_no_duplicates(folder: Path) -> None:
    found = java_sources(["kafkaoracle.two.Other", "kafkaoracle.three.Named", "kafkaoracle.three.Named"], folder)
    assert names(found) == ["three/Named", "two/Other"]


def test_every_java_oracle_source_file_except_the_murmur2_clock_is_used_by_some_rule() -> None:
    everything = {file for file in (ORACLE_SOURCES / "release").glob("**/*.java") if file.stem != "Murmur2Clock"}
    classes = {
        name
        for version in ("0.10.0.1", "0.10.2.2", "2.8.2", "4.4.0")
        for name in java_classes(parse_release(version)).values()
    }
    assert set(java_sources(classes)) == everything


def test_java_sources_omit_rules_missing_in_the_release() -> None:
    found = names(java_sources(java_classes(parse_release("0.10.0.1")).values()))
    assert "record_sizes/RecordSizesByMemoryRecords" in found
    assert not {"record_sizes/RecordSizesRule", "builtin_partitioner/BuiltInPartitionerRule"} & set(found)
