"""The search for lines of the reference that no question executes: what it reports, and what explains a line."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import unreached

PARITY = """\
def parity(number):
    if number % 2:
        return "odd"
    return "even"
"""


def reported(folder: Path, text: str, *numbers: int, asks: bool = True) -> list[tuple[int, str]]:
    """Return what is reported of a file whose ``parity`` is asked for these numbers."""
    file = folder / "planted.py"
    file.write_text(text)

    def ask() -> None:
        parity = runpy.run_path(str(file))["parity"] if asks else None
        for number in numbers:
            parity(number)

    measured = unreached.measure(folder, ask)
    return sorted(unreached.complaints(file, measured[file]))


def test_reference_line_that_no_question_executes_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, PARITY, 1, 2) == []
    assert reported(tmp_path, PARITY, 2) == [(3, "is not executed")]
    assert reported(tmp_path, PARITY, 1) == [(4, "is not executed")]


def test_branch_that_no_question_takes_is_reported(tmp_path: Path) -> None:
    text = "def parity(number):\n    if number % 2:\n        number = 0\n    print(number)\n"
    assert reported(tmp_path, text, 1) == [(2, "never goes on with line 4")]
    assert reported(tmp_path, text.replace(":\n        number", ":  # unreached: odd\n        number"), 1) == []
    assert reported(tmp_path, text[: text.index("    print")], 1) == [(2, "never leaves its function")]


@pytest.mark.filterwarnings("ignore:No data was collected")
def test_unimported_reference_file_is_reported_unless_a_comment_explains(tmp_path: Path) -> None:
    assert reported(tmp_path, "x = 1\n" + PARITY, asks=False)[:1] == [(1, "is not executed")]
    assert reported(tmp_path, "# unreached file: fast\nx = 1\n" + PARITY, asks=False) == []
    assert [why for _, why in reported(tmp_path, "# unreached file: fast\n" + PARITY, 2)] == [
        "explains lines of which line 3 is executed: explain the others alone"
    ]


@pytest.mark.parametrize(
    "text",
    [
        PARITY.replace("% 2:", "% 2:  # unreached: asked for even numbers"),
        PARITY.replace("    if", "    # unreached: asked for even numbers\n    if"),
        PARITY.replace('"odd"', '"odd"  # unreached: asked for even numbers'),
        PARITY.replace('return "odd"', 'raise ValueError("asked for even numbers")'),
        PARITY.replace('    return "even"', '    if number < 0:\n        raise TypeError\n    return "even"').replace(
            'return "odd"', 'raise ValueError("asked for even numbers")'
        ),
        PARITY.replace('return "odd"', 'why = "asked for even numbers"\n        raise ValueError(why)'),
    ],
)
def test_unexecuted_line_with_unreached_comment_or_raise_of_a_python_error_is_accepted(
    tmp_path: Path, text: str
) -> None:
    assert reported(tmp_path, text, 2) == []


def test_unexecuted_raise_of_a_kafka_exception_is_reported(tmp_path: Path) -> None:
    text = PARITY.replace('return "odd"', "raise NullPointerException")
    assert reported(tmp_path, text, 2) == [(3, "is not executed")]


def test_unreached_comment_on_an_executed_line_is_reported(tmp_path: Path) -> None:
    executed = "explains why it is not executed, and it is: remove the comment"
    assert reported(tmp_path, PARITY.replace("% 2:", "% 2:  # unreached: why"), 1, 2) == [(2, executed)]
    assert reported(tmp_path, PARITY.replace('"even"', '"even"  # unreached: why'), 1, 2) == [(4, executed)]
    partly = PARITY.replace("(number):", "(number):  # unreached: why")
    assert reported(tmp_path, partly, 2) == [
        (1, "explains lines of which line 2 is executed: explain the others alone"),
    ]
    nothing = PARITY + "# unreached: nothing follows\n"
    assert reported(tmp_path, nothing, 1, 2) == [(5, "explains no statement: write it behind the first line of one")]
