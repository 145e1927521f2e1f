"""``drift`` with the real Java: what is known to have changed, moved and stayed is found, and a release nobody published."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.commands import drift
from kafka_conformance.cli.main import app
from kafka_jars.errors import JarNotPublished
from kafka_jars.pins import Pins, load

PAGE = (Path(__file__).parents[2] / "kit" / "docs" / "drift.md").read_text(encoding="utf-8")
FEW = ("--examples", "30", "--seed", "7")


def without_counts(output: str) -> list[str]:
    """The lines without examples and without the counts that another version of Hypothesis changes."""
    lines = [line for line in output.splitlines() if line and not line.startswith("  ")]
    counts = re.compile(r"[\d,]+(?= (?:of [\d,]+ )?(?:questions?|kinds?)\b)|(?<=of )[\d,]+(?= questions)")
    return [counts.sub("N", line) for line in lines]


def test_drift_from_4_3_1_to_4_4_0_reports_rack_aware_partitioning_as_changed(kit: Callable[..., Any]) -> None:
    """4.4.0 is treated as unknown. That it made the choice of partitions depend on racks is in the behaviour records."""
    command, _, shown = PAGE.partition("$ kafka-conformance ")[2].partition("\n```")[0].partition("\n")
    ran = kit(*command.split())
    assert ran.code == 1, ran.err
    assert set(without_counts(ran.out)) == set(without_counts(shown))
    assert ran.out.endswith("4.4.0 after 4.3.1: 2 rules: 1 same, 1 changed; seed 7\n")
    (differ, asked) = re.findall(r"changed, ([\d,]+) of ([\d,]+) questions", ran.out)[0]
    assert 0 < int(differ.replace(",", "")) < int(asked.replace(",", ""))
    examples = re.findall(r"^  question  (.+)\n  java 4\.3\.1  (.+)\n  java 4\.4\.0  (.+)$", ran.out, re.MULTILINE)
    assert examples
    assert all('"rack_aware":true' in question and before != after for question, before, after in examples)


def test_drift_of_published_release_without_pinned_jars_compares_with_the_predecessor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """4.4.0 is found as published, fetched and asked without a pin, after the newest release that is known."""

    def without_4_4_0() -> Pins:
        tables = {name: dict(getattr(pins, name)) for name in ("releases", "brokers", "codecs")}
        for table in tables.values():
            table.pop("4.4.0")
        return replace(pins, **tables)

    pins = load()
    monkeypatch.setattr(drift, "load", without_4_4_0)
    ran = CliRunner().invoke(app, ["drift", "--published", "--rules", "murmur2,isr", *FEW], standalone_mode=False)
    assert ran.exception is None, ran.exception
    assert ran.return_value == 0, ran.stdout
    assert re.search(r"^org.apache.kafka:kafka-clients:4\.3\.1 sha256 \w{16} \(as pinned\)$", ran.stdout, re.MULTILINE)
    assert re.search(r"^org.apache.kafka:kafka-clients:4\.4\.0 sha256 \w{16} \(not pinned\)$", ran.stdout, re.MULTILINE)
    assert "murmur2: same as 4.3.1, " in ran.stdout
    assert "isr: same as 4.3.1, " in ran.stdout
    assert ran.stdout.endswith("4.4.0 after 4.3.1: 2 rules: 2 same; seed 7\n")


def test_drift_to_4_0_0_names_the_removed_default_partitioner_class(kit_here: Callable[..., Any]) -> None:
    """3.9 has the last DefaultPartitioner; the kit is asked as if it did not know that."""
    ran = kit_here("drift", "4.0.0", "--after", "3.9.2", "--rules", "default-partitioner,murmur2", *FEW)
    assert ran.code == 1
    moved = [line for line in ran.out.splitlines() if ": moved, " in line]
    assert moved == PAGE.partition("--rules default-partitioner`:\n\n```\n")[2].partition("\n```")[0].splitlines()
    assert "internals.DefaultPartitioner cannot be resolved" in moved[0]
    assert "murmur2: same as 3.9.2" in ran.out


def test_drift_of_release_missing_in_the_repository_raises_jar_not_published(kit_here: Callable[..., Any]) -> None:
    with pytest.raises(JarNotPublished, match=r"^org.apache.kafka:kafka-clients:9\.9\.9 is in no repository"):
        kit_here("drift", "9.9.9", "--rules", "murmur2", *FEW)
