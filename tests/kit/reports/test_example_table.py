"""Examples in Markdown: fields, answers side by side, what differs in bold, what follows left out."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.protocol import Question
from kafka_conformance.reports.example_table import code, example_table
from kafka_conformance.rules import RULES

ASKED = '{"batch_size": 1, "cluster": {"nodes": [], "partitions": []}, "draws": [], "steps": [%s]}'


def question(rule: str, text: str) -> Question:
    return msgspec.json.decode(text, type=RULES[rule].question)


def test_example_table_without_steps_has_a_row_per_release_group() -> None:
    asked = question("partition-for-key", '{"key": "6162", "partitions": 3}')
    shown = example_table(asked, [("up to 1", {"partition": 1}), ("since 2", {"raises": "A", "message": "a|b"})])
    assert shown == (
        '- key: `"ab" (6162)`\n- partitions: `3`\n\n| releases | answer |\n|---|---|\n'
        "| up to 1 | `partition 1` |\n| since 2 | <code>raises A: a&#124;b</code> |"
    )


def test_example_table_shows_steps_up_to_last_difference_side_by_side() -> None:
    asked = question(
        "builtin-partitioner",
        ASKED % '{"op": "peek"}, {"op": "peek"}, {"op": "peek"}',
    )
    alike, first, second = {"partition": 0}, {"partition": 1}, {"partition": 2}
    shown = example_table(asked, [("a", {"steps": [alike, first, alike]}), ("b", {"steps": [alike, second, alike]})])
    assert "| 1. `peek` | `partition 0` | (the same) |" in shown
    assert "| 2. `peek` | **`partition 1`** | **`partition 2`** |" in shown
    assert "3." not in shown
    assert shown.endswith("The answers to the last step match.")


def test_example_table_shows_only_differing_fields_of_long_answers() -> None:
    long = "x" * 200
    shown = example_table(
        question("builtin-partitioner", ASKED % '{"op": "peek"}'),
        [("a", {"steps": [{"same": long, "other": 1}]}), ("b", {"steps": [{"same": long, "other": 2}]})],
    )
    assert "**`other 1`** | **`other 2`**" in shown
    assert long not in shown


def test_example_table_shows_only_differing_elements_of_long_lists() -> None:
    asked = question("record-batch", '{"decode": ""}')
    alike = {"size": 70, "header": {"text": "x" * 300}, "records": [None, {"offset": 1, "key": "6b"}]}
    first = {"batches": [{**alike, "skipped": [[1, 2]]}, alike], "valid_bytes": 140}
    second = {"batches": [{**alike, "skipped": [{"raises": "A"}]}], "valid_bytes": 140}
    assert example_table(asked, [("a", first), ("b", second)]).split("\n\n")[1].splitlines() == [
        "| part of the answer | a | b |",
        "|---|---|---|",
        "| batches 0 skipped 0 | **`[1, 2]`** | **`raises A`** |",
        "| batches 1 | **`size 70`** | **`–`** |",
        f"| batches 1 header | **{code('text ' + 'x' * 300)}** | **`–`** |",
        "| batches 1 records 0 | **`null`** | **`–`** |",
        '| batches 1 records 1 | **`offset 1, key "k" (6b)`** | **`–`** |',
    ]
    (whole,) = (row for row in example_table(asked, [("a", first)]).splitlines() if row.startswith("| in all"))
    assert whole == "| in all | `valid_bytes 140` |"


def test_markdown_code_is_escaped_shortened_and_one_line() -> None:
    assert code("a\nb") == "`a b`"
    assert code("`*|") == "<code>&#96;&#42;&#124;</code>"
    assert len(code("x" * 1000)) < 250


def test_example_table_to_first_difference_shows_5_steps_before_and_leaves_out_later_steps() -> None:
    asked = question("builtin-partitioner", ASKED % ", ".join(['{"op": "peek"}'] * 20))
    sides = [
        ("a", {"steps": [{"partition": 0}] * 20}),
        ("b", {"steps": [{"partition": 0}] * 15 + [{"partition": 1}] * 5}),
    ]
    shown = example_table(asked, sides, to_first=True)
    assert "The answers to steps 1 to 10 match." in shown
    assert [line.split(".")[0] for line in shown.splitlines() if line.startswith("| 1")] == [
        f"| {n}" for n in range(11, 17)
    ]
    assert shown.endswith("Later steps are left out.")
    assert "| 1. `peek`" in example_table(asked, sides)
