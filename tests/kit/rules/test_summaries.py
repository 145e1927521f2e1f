"""The summaries of the rules: functions that exist and are proven, lines of Kafka's sources, and files that are damaged."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.rules import RULES, summaries
from kafka_conformance.rules.summaries import JavaMethod, function_named, rule_summary
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_conformance.verify.reachable_code import reachable_code
from kafka_jars.pins import load
from kafka_reference import murmur2, partition_for_key
from kafka_reference.accumulator.sizes import batch_overhead
from kafka_reference.errors import ConfigException
from kafka_reference.idempotence import producer_outcome
from kafka_reference.idempotence.sequences import decrement, increment
from kafka_reference.log_files import OffsetIndex, TimeIndex
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.releases import parse_release

# Functions that refuse questions and then call the one that the rule asks.
AROUND = {"kafka_reference.delivery:simulate": "kafka_reference.delivery.simulation:run_scenario"}
ROOTS = ("clients/", "core/", "group-coordinator/", "metadata/", "storage/")


@pytest.mark.parametrize("slug", RULES)
def test_summary_functions_are_public_and_fingerprinted_by_the_rule(slug: str) -> None:
    proven = fingerprinted_sources(RULES[slug], installed_sources())
    for name in rule_summary(slug).functions:
        module, _, path = name.partition(":")
        root = path.partition(".")[0]
        assert module.startswith("kafka_reference")
        assert root in import_module(module).__all__
        assert callable(function_named(name))
        home = function_named(f"{module}:{root}").__module__
        reached = {f"{home}:{root}"} if name not in AROUND else reachable_code((home, root), installed_sources().python)
        assert AROUND.get(name, f"{home}:{root}") in proven.keys() & set(reached), (
            f"the rule does not reach {home}:{root}"
        )


@pytest.mark.parametrize("slug", RULES)
def test_java_method_of_summary_links_to_line_in_release_with_the_rule(slug: str) -> None:
    rule = RULES[slug]
    assert rule_summary(slug).java
    for method in rule_summary(slug).java:
        assert method.tag in load().releases
        assert parse_release(method.tag) in rule.releases
        assert method.path.startswith(ROOTS)
        assert method.path.endswith((".java", ".scala"))
        assert method.line > 1
        assert re.fullmatch(
            r"https://github\.com/apache/kafka/blob/[\d.]+/[\w/.-]+\.(java|scala)#L[1-9]\d*", method.address
        )
        assert re.fullmatch(r"[A-Z]\w+(\.[a-z]\w+)?", method.name)


@pytest.mark.parametrize("slug", RULES)
def test_summary_prose_ends_with_period_within_length_limits(slug: str) -> None:
    one = rule_summary(slug)
    assert all(text.strip().endswith(".") for text in (one.rule, one.differs))
    assert len(" ".join(one.rule.split())) <= 450
    assert len(" ".join(one.differs.split())) <= 220


def formula(slug: str, **values: object) -> object:
    """Return the value of the formula with which a summary begins."""
    found = re.match(r"\s*`\w[^=`]* = ([^`]+)`", rule_summary(slug).rule)
    assert found is not None
    return eval(found[1].replace("mod", "%").replace("^", "**"), dict(values))  # noqa: S307  a text of ours


def test_partition_formula_in_summary_equals_the_reference() -> None:
    for number, partitions in product(range(200), (1, 2, 3, 7, 64)):
        key = f"key-{number}".encode()
        partition = formula("partition-for-key", murmur2=murmur2, key=key, partitions=partitions)
        assert partition == partition_for_key(key, partitions)


@pytest.mark.parametrize(("slug", "function"), [("sequence-increment", increment), ("sequence-decrement", decrement)])
def test_sequence_formula_in_summary_equals_the_reference(slug: str, function: Callable[[int, int], int]) -> None:
    numbers = (0, 1, 2, 999, 2**30, 2**31 - 2, 2**31 - 1)
    for sequence, by in product(numbers, numbers):
        assert formula(slug, sequence=sequence, by=by) == function(sequence, by)


def test_constants_in_summary_prose_equal_the_reference() -> None:
    assert f"multiplier `{M:#x}`, seed `{SEED:#x}`" in rule_summary("murmur2").rule
    for slug in ("record-sizes", "record-batch"):
        assert f"a header of {batch_overhead(2, False)} bytes" in rule_summary(slug).rule
    for slug, kind, size in (("offset-index", OffsetIndex, 8), ("time-index", TimeIndex, 12)):
        assert kind.entry_bytes == size
        assert f"An entry has {size} bytes" in rule_summary(slug).rule


def test_idempotence_default_equals_summary_and_6_in_flight_throw_only_since_4_0() -> None:
    assert "Since 3.0.1, except 3.1.0, a producer is idempotent unless" in rule_summary("idempotence-config").rule
    for release in map(parse_release, load().releases):
        expected = release >= parse_release("3.0.1") and str(release) != "3.1.0"
        assert producer_outcome({}, release).idempotent == expected
        too_many = {"max.in.flight.requests.per.connection": "6"}
        if release >= parse_release("4.0.0"):
            with pytest.raises(ConfigException):
                producer_outcome(too_many, release)
        else:
            assert not producer_outcome(too_many, release).idempotent


def test_java_method_or_scala_object_has_name_and_github_address() -> None:
    method = JavaMethod("3.8.0", "clients/src/Utils.java", "public static int murmur2(", 490)
    assert (method.name, method.address) == (
        "Utils.murmur2", "https://github.com/apache/kafka/blob/3.8.0/clients/src/Utils.java#L490"
    )  # fmt: skip
    assert JavaMethod("3.8.0", "core/src/M.scala", "object Algorithms", 3).name == "Algorithms"


def test_rule_without_summary_toml_raises_error_with_slug() -> None:
    with pytest.raises(KitError, match=r"^no-such-rule has no summary\.toml: write one"):
        rule_summary("no-such-rule")


@pytest.mark.parametrize("data", [b"rule = ", b"rule = 1", b"\xff", b'rule = "a"\nother = 1'])
def test_malformed_summary_toml_raises_kit_error(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "summary.toml").write_bytes(data)
    monkeypatch.setattr(summaries, "files", lambda _: tmp_path)
    with pytest.raises(KitError, match=r"summary\.toml cannot be read"):
        rule_summary.__wrapped__("x")


def test_lookup_of_missing_summary_function_raises_attribute_error() -> None:
    assert function_named("sys:exit") is sys.exit
    with pytest.raises(AttributeError):
        function_named("sys:no_such_function")
