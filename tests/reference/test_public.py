"""The public API: everything in it is proven and documented, and needs nothing but Python."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
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
NO_RULES = {"certificate", "parse_release", "since"}
CONSTANTS = {"NEWEST", "UNKNOWN_PARTITION"}
MODULES = [
    "kafka_reference",
    *(module.name for module in pkgutil.walk_packages(kafka_reference.__path__, "kafka_reference.")),
]
FUNCTIONS = {name for name in kafka_reference.__all__ if isinstance(getattr(kafka_reference, name), FunctionType)}


@pytest.fixture(scope="module")
def shipped() -> Certificate:
    if not files("kafka_reference").joinpath("certificate.json").is_file():
        pytest.fail(
            "kafka_reference/certificate.json is missing, so nothing is proven: run `kafka-conformance verify --kafka all"
            " --certificate reference/kafka_reference/certificate.json`"
        )
    return kafka_reference.certificate()


def test_every_public_function_is_mapped_to_a_certificate_rule_or_exempt() -> None:
    unknown = FUNCTIONS - NO_RULES - set(PROVEN_BY)
    assert not unknown, f"{unknown}: say in PROVEN_BY which rule proves it"


@pytest.mark.parametrize("name", sorted(PROVEN_BY))
def test_public_rule_matches_java_fully_or_is_listed_unproven_in_every_pinned_release(
    name: str, shipped: Certificate
) -> None:
    rows = {row.release: row for row in shipped.rows if row.rule == PROVEN_BY[name]}
    assert rows, f"{name} is public and the certificate has no row for {PROVEN_BY[name]}"
    assert set(load().releases) <= {*rows, *shipped.unproven.get(PROVEN_BY[name], ())}
    assert all(row.agreed == row.asked > 1000 and row.pinned for row in rows.values())


def test_shipped_certificate_has_the_fingerprint_of_the_current_reference(shipped: Certificate) -> None:
    assert shipped.reference_sha256 == reference_fingerprint(), (
        "the reference changed: run verify --kafka all --changed --certificate reference/kafka_reference/certificate.json"
    )


def test_shipped_certificate_has_the_sha256_of_the_pinned_jars(shipped: Certificate) -> None:
    pins = load()
    pinned = {version: {jars[0].sha256} for version, jars in pins.releases.items()}
    for version, jars in pins.brokers.items():
        pinned[version].add(jars[0].sha256)
    named: dict[str, set[str]] = {}
    for row in shipped.rows:
        named.setdefault(row.release, set()).add(row.jar_sha256)
    assert len(named) >= 80
    assert named == {version: shas for version, shas in pinned.items() if version in named}


@pytest.mark.parametrize("name", sorted(set(kafka_reference.__all__) - CONSTANTS))
def test_every_public_name_has_a_docstring_with_parameters_and_raises(name: str) -> None:
    """A sentence first; then, for a function, every parameter by name and everything it raises."""
    public = getattr(kafka_reference, name)
    first, _, rest = (inspect.getdoc(public) or "").partition("\n")
    assert first.endswith((".", ":")), f"{name}: the first line of the docstring is a complete sentence"
    assert len(first.split()) >= 4, f"{name}: {first!r} does not tell what it is"
    if isinstance(public, FunctionType):
        text = first + rest
        unnamed = [parameter for parameter in inspect.signature(public).parameters if f"``{parameter}" not in text]
        assert not unnamed, f"{name}: the docstring does not explain {unnamed}"
        assert "raise " not in inspect.getsource(public) or "Raises" in text, f"{name}: the docstring names no error"


def test_newest_release_is_4_4_0_and_unknown_partition_is_minus_1() -> None:
    assert {name: getattr(kafka_reference, name) for name in CONSTANTS} == {
        "NEWEST": kafka_reference.parse_release("4.4.0"), "UNKNOWN_PARTITION": -1,
    }  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_of_every_module_pass(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_docstring_examples_exist_in_the_main_modules() -> None:
    """On the front page, for releases, and for each function that places a record."""
    finder = doctest.DocTestFinder()
    with_examples = {
        name for name in MODULES if any(test.examples for test in finder.find(import_module(name), globs={}))
    }
    assert with_examples >= {
        "kafka_reference",
        "kafka_reference.releases",
        "kafka_reference.partitioning.keyed",
        "kafka_reference.partitioning.murmur2_fast",
        "kafka_reference.partitioning.producer",
    }


def test_importing_the_reference_needs_only_the_standard_library() -> None:
    """Without site-packages there is nothing else to import."""
    source = Path(kafka_reference.__file__).parents[1]
    script = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import kafka_reference as k; print(k.murmur2(b'foobar'))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "-790332482\n"


def test_packages_ship_py_typed_for_type_checkers() -> None:
    for package in ("kafka_reference", "kafka_conformance", "kafka_jars"):
        assert files(package).joinpath("py.typed").is_file()
