"""Print how varied the integers are that a gate asks, by field of each rule: a field of few values hides mistakes.

::

    python ci/question_integers.py                  # every rule, the poor fields alone
    python ci/question_integers.py --all murmur2    # each integer field of a rule

A field is *poor* if it is asked often and has few values, few last digits, or values of few magnitudes (numbers of bits): a
client that turns milliseconds into floating seconds and back is right for 0, 1, 3 and 5, and wrong for one timestamp in a
hundred. A field of few values is not always a fault: leader epochs, partitions and node ids need few.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.diagnosis.candidates import pinned
from kafka_conformance.gate.questions import gate_sources
from kafka_conformance.gate.runner import newest_with
from kafka_conformance.rules import RULES

__all__ = ["Field", "fields_of", "integers"]

EXAMPLES, SEED = 200, 1
_OFTEN = 40
"""Fields that are asked less often are not judged: few values are to be expected."""
_VALUES, _DIGITS, _MAGNITUDES = 16, 8, 6


@dataclass
class Field:
    """The integers of a field, with the number of times each was asked."""

    values: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def count(self) -> int:
        """How many integers were asked."""
        return sum(self.values.values())

    @property
    def digits(self) -> int:
        """How many different last digits they have."""
        return len({abs(value) % 10 for value in self.values})

    @property
    def magnitudes(self) -> int:
        """How many different numbers of bits they have."""
        return len({value.bit_length() for value in self.values})

    @property
    def top(self) -> float:
        """The share of the three most frequent values."""
        return sum(sorted(self.values.values())[-3:]) / self.count

    @property
    def is_poor(self) -> bool:
        """Whether few values, last digits or magnitudes were asked, though the field was asked often."""
        few = len(self.values) < _VALUES or self.digits < _DIGITS or self.magnitudes < _MAGNITUDES
        return self.count >= _OFTEN and (few or self.top > 0.9)


def integers(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield each integer of a question with the path of its field; lists are passed over, a step is named by its ``op``."""
    if isinstance(value, dict):
        inside = f"{path}.{value['op']}" if "op" in value else path
        for name, part in value.items():
            yield from integers(part, f"{inside}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from integers(part, path)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, str) and value.lstrip("-").isdecimal() and 15 < len(value) <= 20:
        yield path, int(value)


def fields_of(rule: Rule) -> dict[str, Field]:
    """Return the integer fields of a rule, with the values that a default gate asks in its newest release."""
    found: dict[str, Field] = defaultdict(Field)
    for source, _ in gate_sources(rule, newest_with(rule, pinned()), "exact", EXAMPLES, SEED, Path("/nonexistent"), ""):
        for question in source.questions:
            for path, value in integers(msgspec.to_builtins(question)):
                found[path].values[value] += 1
    return dict(sorted(found.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each field."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rules", nargs="*", default=list(RULES), help="rules (default: all)")
    parser.add_argument("--all", action="store_true", help="show every integer field, not only the poor ones")
    options = parser.parse_args(arguments)
    print(f"{'rule':26} {'field':44} {'asked':>7} {'values':>7} {'digits':>6} {'bits':>5} {'top 3':>6}  most frequent")
    for slug in options.rules:
        for path, one in fields_of(RULES[slug]).items():
            if options.all or one.is_poor:
                often = sorted(one.values, key=lambda value: -one.values[value])[:6]
                print(f"{slug:26} {path:44} {one.count:7,} {len(one.values):7,} {one.digits:6} {one.magnitudes:5} "
                      f"{one.top:6.0%}  {', '.join(map(str, often))}")  # fmt: skip


if __name__ == "__main__":
    main()
