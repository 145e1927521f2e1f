"""The measurement of coverage can fail: a rule without some of its questions runs less of Kafka's code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.sources import source_of, sources
from kafka_conformance.rules import RULES
from kafka_conformance.verify.coverage import measurement
from kafka_conformance.verify.coverage.measurement import CoverageMeter, open_meter
from kafka_conformance.verify.coverage.mirrored_code import MirroredClass, MirroredCode
from kafka_conformance.verify.coverage.record import CoverageRow, Ratio, shipped
from kafka_conformance.verify.coverage.summary import decreases, summary_of
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

RELEASE = parse_release("4.4.0")


@pytest.fixture(scope="module")
def meter() -> Iterator[CoverageMeter]:
    with open_meter(load()) as opened:
        yield opened


def measured(meter: CoverageMeter, slug: str, without: str = "") -> CoverageRow:
    """The coverage of a rule by its spaces and ten generated questions, but for the questions of the kind ``without``."""
    rule = RULES[slug]
    asked = [
        source_of(rule, source.name, tuple(one for one in source.questions if without not in rule.labels(one)))
        for source in sources(rule, 10, 1)
    ]
    return meter.measure(rule, RELEASE, asked, 1, 10)


def test_java_coverage_drops_without_questions_about_racks(meter: CoverageMeter) -> None:
    whole, less = measured(meter, "builtin-partitioner"), measured(meter, "builtin-partitioner", "racks")
    assert less.kinds < whole.kinds
    assert summary_of(less).branches.run < summary_of(whole).branches.run
    lost = [line for line in decreases(whole, less) if "createPartitionLoadStatsForThisRackIfNeeded" in line]
    assert len(lost) == 1
    assert decreases(less, whole) == []


def test_java_coverage_of_a_rule_excludes_lines_run_by_the_previous_rule(meter: CoverageMeter) -> None:
    before = measured(meter, "partition-for-key")
    assert summary_of(before).lines == Ratio(26, 26)
    after = measured(meter, "builtin-partitioner")
    methods = {method.short_name: method for methods in after.methods.values() for method in methods}
    assert methods["BuiltInPartitioner.partitionForKey"].lines == Ratio(0, 1)
    assert methods["BuiltInPartitioner.nextPartition"].lines == Ratio(25, 25), "no lines of disabled assertions"


def test_measured_java_coverage_of_murmur2_equals_the_shipped_coverage_record(meter: CoverageMeter) -> None:
    recorded = shipped().row("murmur2", "4.4.0")
    assert recorded is not None
    made = measured(meter, "murmur2")
    assert made.methods == recorded.methods
    assert made.jar_sha256 == load().clients("4.4.0")[0].sha256


def test_java_coverage_of_class_missing_in_the_release_raises_oracle_fault(
    meter: CoverageMeter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "mirrored_code", lambda _: MirroredCode((MirroredClass("org.apache.kafka.None"),)))
    with pytest.raises(OracleFault, match=r"release 4\.4\.0 has none of \['org/apache/kafka/None'\]"):
        measured(meter, "murmur2")
