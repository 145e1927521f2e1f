"""Summarise the outcomes of all combinations of some settings in a decision table with few rows.

A row allows some values of each setting and has one outcome, which every combination it allows has. Rows may overlap, and
together they allow every combination. The rows are found in three steps: values of a setting that never make a difference
are merged; of all blocks of combinations with a single outcome, those that no other block contains are kept; from these the
block that covers most of what is not covered yet is taken until everything is covered, and superfluous ones are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

__all__ = ["DecisionRow", "decision_rows"]

_Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """The allowed values of each setting, as indices in their order, and the outcome."""

    allowed: tuple[tuple[int, ...], ...]
    outcome: str


def decision_rows(outcomes: Mapping[_Cell, str]) -> list[DecisionRow]:
    """Return the rows for ``outcomes``, which has every combination, by the indices of its values."""
    classes = [_equivalent_values(outcomes, axis) for axis in range(len(next(iter(outcomes))))]
    merged = {
        cell: outcomes[tuple(classes[axis][index][0] for axis, index in enumerate(cell))]
        for cell in product(*(range(len(each)) for each in classes))
    }
    chosen = _without_superfluous(_covering(merged, _largest(_blocks(merged, [len(each) for each in classes]))))

    def spelled(block: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(sorted(chain.from_iterable(classes[axis][index] for index in allowed)))
            for axis, allowed in enumerate(block)
        )

    return [DecisionRow(spelled(block), merged[tuple(allowed[0] for allowed in block)]) for block in chosen]


def _equivalent_values(outcomes: Mapping[_Cell, str], axis: int) -> list[list[int]]:
    """Group the indices of this axis: those that make no difference share a group."""
    seen: dict[int, dict[_Cell, str]] = {}
    for cell, outcome in outcomes.items():
        seen.setdefault(cell[axis], {})[cell[:axis] + cell[axis + 1 :]] = outcome
    groups: list[list[int]] = []
    for index in sorted(seen):
        group = next((group for group in groups if seen[group[0]] == seen[index]), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    return groups


_Block = tuple[tuple[int, ...], ...]


def _blocks(merged: Mapping[_Cell, str], sizes: Sequence[int]) -> Iterator[_Block]:
    """Yield every block of combinations with a single outcome."""
    subsets = [[some for count in range(1, size + 1) for some in combinations(range(size), count)] for size in sizes]
    for block in product(*subsets):
        cells = product(*block)
        first = merged[next(cells)]
        if all(merged[cell] == first for cell in cells):
            yield block


def _largest(blocks: Iterator[_Block]) -> list[_Block]:
    kept: list[_Block] = []
    for block in sorted(blocks, key=_size, reverse=True):
        if not any(_contains(other, block) for other in kept):
            kept.append(block)
    return kept


def _contains(outer: _Block, inner: _Block) -> bool:
    return all(set(some) <= set(more) for some, more in zip(inner, outer, strict=True))


def _size(block: _Block) -> int:
    size = 1
    for allowed in block:
        size *= len(allowed)
    return size


def _covering(merged: Mapping[_Cell, str], blocks: Sequence[_Block]) -> list[_Block]:
    left = set(merged)
    cells = {block: set(product(*block)) for block in blocks}
    chosen = []
    while left:
        block = max(blocks, key=lambda each: len(cells[each] & left))  # the first of equals: deterministic
        chosen.append(block)
        left -= cells[block]
    return chosen


def _without_superfluous(chosen: Sequence[_Block]) -> list[_Block]:
    kept = list(chosen)
    for block in reversed(chosen):
        others = set(chain.from_iterable(product(*other) for other in kept if other != block))
        if set(product(*block)) <= others:
            kept.remove(block)
    return kept
