"""Tables of decisions: they say neither more nor less than what they are made of."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.verify.decision_table import DecisionRow, decision_rows

Cell = tuple[int, ...]


@st.composite
def outcomes(draw: st.DrawFn) -> dict[Cell, str]:
    """A few settings of a few values, and what comes of each combination."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    return {cell: draw(st.sampled_from("abc")) for cell in product(*map(range, sizes))}


def allowed(row: DecisionRow) -> set[Cell]:
    return set(product(*row.allowed))


@given(outcomes())
def test_decision_rows_cover_all_combinations_with_correct_outcome(found: dict[Cell, str]) -> None:
    rows = decision_rows(found)
    for row in rows:
        assert {found[cell] for cell in allowed(row)} == {row.outcome}
    assert set().union(*map(allowed, rows)) == set(found)


@given(outcomes())
def test_removal_of_a_decision_row_leaves_combinations_uncovered(found: dict[Cell, str]) -> None:
    rows = decision_rows(found)
    for left_out in rows:
        assert set().union(*(allowed(row) for row in rows if row != left_out)) < set(found)


@given(outcomes())
def test_decision_row_with_one_more_value_has_wrong_outcome(found: dict[Cell, str]) -> None:
    for row in decision_rows(found):
        for axis, values in enumerate(row.allowed):
            for more in {cell[axis] for cell in found} - set(values):
                wider = DecisionRow((*row.allowed[:axis], (*values, more), *row.allowed[axis + 1 :]), row.outcome)
                assert {found[cell] for cell in allowed(wider)} != {row.outcome}


@given(outcomes())
def test_decision_rows_do_not_depend_on_order_of_answers(found: dict[Cell, str]) -> None:
    assert decision_rows(found) == decision_rows(dict(reversed(found.items())))


def test_decision_table_of_constant_outcome_has_one_row() -> None:
    assert decision_rows(dict.fromkeys(product(range(3), range(2)), "off")) == [DecisionRow(((0, 1, 2), (0, 1)), "off")]


def test_decision_table_of_one_deciding_setting_has_a_row_per_outcome() -> None:
    found = {(one, other): "error" if one == 1 else "on" for one, other in product(range(3), range(4))}
    assert decision_rows(found) == [
        DecisionRow(((0, 2), (0, 1, 2, 3)), "on"),
        DecisionRow(((1,), (0, 1, 2, 3)), "error"),
    ]


def test_decision_table_of_disjunction_has_two_overlapping_rows_and_one_for_neither() -> None:
    found = {cell: "off" if 1 in cell else "on" for cell in product(range(2), range(2))}
    assert sorted((row.outcome, row.allowed) for row in decision_rows(found)) == [
        ("off", ((0, 1), (1,))),
        ("off", ((1,), (0, 1))),
        ("on", ((0,), (0,))),
    ]
