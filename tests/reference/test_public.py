"""The public face: what is in it is proven, explained, and needs nothing but Python."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import FunctionType

import pytest

import kafka_reference
from kafka_jars.pins import load
from kafka_reference.certificate import Certificate, reference_fingerprint

# Each public function that is a rule of Kafka, and the rule whose row in the certificate covers it.
PROVEN_BY = {
    "murmur2": "murmur2",
    "to_positive": "partition-for-key",
    "partition_for_key": "partition-for-key",
    "choose_partition": "producer-partition",
}
NO_RULES = {"certificate", "release", "since"}
FUNCTIONS = {name for name in kafka_reference.__all__ if isinstance(getattr(kafka_reference, name), FunctionType)}


@pytest.fixture(scope="module")
def shipped() -> Certificate:
    if not files("kafka_reference").joinpath("certificate.json").is_file():
        pytest.fail(
            "kafka_reference/certificate.json is missing, so nothing is proven: run `kafka-conformance verify --kafka all"
            " --certificate reference/kafka_reference/certificate.json`"
        )
    return kafka_reference.certificate()


def test_every_public_function_is_a_rule_or_known_to_be_none() -> None:
    unknown = FUNCTIONS - NO_RULES - set(PROVEN_BY)
    assert not unknown, f"{unknown}: say in PROVEN_BY which rule proves it"


@pytest.mark.parametrize("name", sorted(PROVEN_BY))
def test_every_public_rule_is_proven_in_every_pinned_release(name: str, shipped: Certificate) -> None:
    rows = {row.release: row for row in shipped.rows if row.rule == PROVEN_BY[name]}
    assert rows, f"{name} is public and the certificate has no row for {PROVEN_BY[name]}"
    assert set(load().releases) <= set(rows)
    assert all(row.agreed == row.asked > 1000 and row.pinned for row in rows.values())


def test_the_certificate_proves_this_very_code(shipped: Certificate) -> None:
    assert shipped.reference_sha256 == reference_fingerprint(), "the reference changed: run verify --kafka all again"


def test_the_certificate_names_the_jars_that_are_pinned(shipped: Certificate) -> None:
    pinned = {version: jars[0].sha256 for version, jars in load().releases.items()}
    assert {row.release: row.jar_sha256 for row in shipped.rows if row.release in pinned} == pinned


@pytest.mark.parametrize("name", kafka_reference.__all__)
def test_everything_public_is_there_and_explained(name: str) -> None:
    public = getattr(kafka_reference, name)
    assert isinstance(public, (int, kafka_reference.Release)) or len(public.__doc__) > 20


# Java places "home" over three partitions at 1 (see test_keyed).
def test_the_examples_in_the_docstring_are_true() -> None:
    done = doctest.testmod(kafka_reference)
    assert (done.attempted, done.failed) == (2, 0)


def test_nothing_but_the_standard_library_is_needed() -> None:
    """Without site-packages there is nothing else to import."""
    source = Path(kafka_reference.__file__).parents[1]
    script = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import kafka_reference as k; print(k.murmur2(b'foobar'))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "-790332482\n"


def test_type_checkers_are_told() -> None:
    for package in ("kafka_reference", "kafka_conformance", "kafka_jars"):
        assert files(package).joinpath("py.typed").is_file()
