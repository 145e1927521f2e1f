"""Names of methods, and the lambdas that belong to them."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.verify.coverage.method_names import fold_lambdas, parameter_types
from kafka_conformance.verify.coverage.record import Method, Ratio


def code(name: str, lines: list[int], missed: list[int] = [], branches: list[list[int]] = []) -> dict[str, Any]:  # noqa: B006
    return {"name": name, "descriptor": "(I)V", "lines": lines, "missed": missed, "branches": branches}


@pytest.mark.parametrize(
    ("descriptor", "types"),
    [
        ("()V", []),
        ("(ILjava/lang/String;J)V", ["int", "String", "long"]),
        ("([B[[Lorg/x/Outer$Inner;Z)[I", ["byte[]", "Inner[][]", "boolean"]),
    ],
)
def test_method_descriptor_decodes_to_simple_parameter_types(descriptor: str, types: list[str]) -> None:
    assert list(parameter_types(descriptor)) == types


def test_coverage_names_constructors_and_nested_classes_as_in_source() -> None:
    found = fold_lambdas({
        "org/x/Outer": [code("<clinit>", [3]), code("<init>", [5]), code("none", [])],
        "org/x/Outer$Inner": [code("<init>", [9]), code("get", [1])],
    })  # fmt: skip
    assert [method.name for method in found] == [
        "Outer$Inner.get(int)", "Outer.static", "Outer.Outer(int)", "Outer$Inner.Inner(int)",
    ]  # fmt: skip


def test_coverage_counts_lambda_with_the_surrounding_method() -> None:
    found = fold_lambdas({
        "X": [
            code("get", [1, 2]),
            code("get", [10, 11, 12], [12], [[11, 1, 2]]),
            code("lambda$get$0", [11, 13], [13], [[11, 2, 2], [13, 0, 2]]),
        ]
    })  # fmt: skip
    assert found == [
        Method("X.get(int)", Ratio(2, 2), Ratio(0, 0)),
        Method("X.get(int)", Ratio(2, 4), Ratio(3, 6), (12, 13), ((11, 3, 4), (13, 0, 2))),
    ]


def test_coverage_counts_lambda_with_the_overload_before_the_lambda_line() -> None:
    found = fold_lambdas({"X": [code("get", [1, 2]), code("get", [12, 13]), code("lambda$get$0", [11])]})
    assert [method.lines.total for method in found] == [3, 2]


def test_coverage_line_run_only_in_lambda_counts_as_run() -> None:
    (method,) = fold_lambdas({"X": [code("get", [1], [1]), code("lambda$get$0", [1])]})
    assert method.lines == Ratio(1, 1)
