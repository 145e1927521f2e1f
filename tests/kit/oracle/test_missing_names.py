"""What a failure of the oracle names as missing, in the words of the compiler, of the JVM and of the bridge."""

from __future__ import annotations

import pytest

from kafka_conformance.oracle.missing_names import Absence, absences

BUILT_IN = "org.apache.kafka.clients.producer.internals.BuiltInPartitioner"
REFLECTED = "the oracle failed: java.lang.reflect.InvocationTargetException"
ABSTRACT = "AbstractMethodError: Receiver class a.B does not define or inherit an implementation of the resolved method"


@pytest.mark.parametrize(
    ("failure", "what"),
    [
        (f"the oracle failed: java.lang.ClassNotFoundException: {BUILT_IN}", f"class {BUILT_IN}"),
        (f"release 4.5.0 has no class {BUILT_IN}", f"class {BUILT_IN}"),
        (f"{REFLECTED}; caused by java.lang.NoClassDefFoundError: {BUILT_IN.replace('.', '/')}", f"class {BUILT_IN}"),
        ("Failed(what='java.lang.ClassNotFoundException: kafka.log.Log')", "class kafka.log.Log"),
        (f"java.lang.NoSuchMethodException: {BUILT_IN}.nextPartition with 2 parameters",
         f"method {BUILT_IN}.nextPartition with 2 parameters"),
        (f"java.lang.NoSuchMethodException: {BUILT_IN}.<init>(int, java.lang.String)",
         f"constructor {BUILT_IN}(int, java.lang.String)"),
        (f"java.lang.NoSuchMethodException: {BUILT_IN}.peek()", f"method {BUILT_IN}.peek()"),
        (f"NoSuchMethodError: 'int {BUILT_IN}.peek(org.apache.kafka.common.Cluster)'; the release's jars do not fit",
         f"method {BUILT_IN}.peek(org.apache.kafka.common.Cluster)"),
        (f"NoSuchMethodError: 'void {BUILT_IN}.<init>(int)'", f"constructor {BUILT_IN}(int)"),
        (f"{ABSTRACT} 'abstract int {BUILT_IN}.peek(int)' of interface org.apache.kafka.clients.Peeks.",
         f"method {BUILT_IN}.peek(int) of interface org.apache.kafka.clients.Peeks"),
        (f"java.lang.NoSuchFieldException: {BUILT_IN}.stickyBatchSize", f"field {BUILT_IN}.stickyBatchSize"),
        ("java.lang.NoSuchFieldException: stickyBatchSize", "field stickyBatchSize"),
    ],
)  # fmt: skip
def test_linkage_error_names_the_missing_kafka_class_method_or_field(failure: str, what: str) -> None:
    assert absences(failure) == [Absence(f"{what} was not found")]


def test_compiler_output_names_missing_members_with_file_and_line() -> None:
    failure = (
        "cannot compile the oracle's Java for Kafka 4.5.0: /a b/accumulator/AccumulatorAccess.java:42: The method"
        " ready(Cluster, long) is undefined for the type RecordAccumulator; /a b/sender/Requests.java:7: The import"
        " org.apache.kafka.common.Node cannot be resolved; /x/Y.java:1: The constructor Node(int) is undefined"
        " (and 12 more errors): correct these lines, or name what this release lacks by reflection"
    )
    assert absences(failure) == [
        Absence("AccumulatorAccess.java:42: The method ready(Cluster, long) is undefined for the type RecordAccumulator"),
        Absence("Requests.java:7: The import org.apache.kafka.common.Node cannot be resolved"),
        Absence("Y.java:1: The constructor Node(int) is undefined"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "failure",
    [
        "the oracle failed: java.lang.NoClassDefFoundError: com/fasterxml/jackson/databind/JsonNode",
        (
            "cannot compile the oracle's Java for Kafka 4.5.0: /x/Y.java:1: The type com.fasterxml.jackson.databind.JsonNode"
            " cannot be resolved. It is indirectly referenced from required .class files: correct these lines, or so"
        ),
    ],
)
def test_missing_class_of_another_library_is_not_attributed_to_kafka(failure: str) -> None:
    assert absences(failure) == [Absence("class com.fasterxml.jackson.databind.JsonNode was not found", kafkas=False)]


@pytest.mark.parametrize(
    "failure",
    [
        'Cannot invoke "Object.toString()" because "<local1>" is null',
        "java.lang.NoClassDefFoundError: Could not initialize class org.apache.kafka.common.utils.Utils",
        "cannot compile the oracle's Java for Kafka 4.4.0: /x/Y.java:1: Syntax error on token: correct these lines, or so",
        "ArrayIndexOutOfBoundsException: 3",
        "",
    ],
)
def test_failure_without_missing_member_gives_no_absences(failure: str) -> None:
    assert absences(failure) == []


def test_repeated_missing_class_is_listed_once() -> None:
    assert absences(f"has no class {BUILT_IN}; has no class {BUILT_IN}") == [Absence(f"class {BUILT_IN} was not found")]
