"""``explain``: from a file to a timeline, and one clear line for whatever is wrong with it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_conformance.cli.commands import explain
from kafka_conformance.cli.commands.explain import run
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.protocol import question_id
from kafka_conformance.rules import RULES

DOCS = Path(__file__).parents[4] / "kit" / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.json"))
MURMUR2 = {"rule": "murmur2", "question": {"key": "666f6f"}}
SCRIPT = json.loads((DOCS / "examples" / "why-a-deque.json").read_text(encoding="utf-8"))

Shown = Callable[..., list[str]]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """Writes documents into a file, a line each, and explains it; the lines printed."""
    monkeypatch.chdir(tmp_path)

    def shown(*documents: Any, file: str = "it.json", **options: Any) -> list[str]:
        if documents:
            lines = (one if isinstance(one, str) else json.dumps(one) for one in documents)
            Path(file).write_text("\n".join(lines), encoding="utf-8")
        assert (
            run(**{"file": file, "kafka": "", "answerer_name": "reference", "svg": None, "as_json": False, **options})
            == 0
        )
        return [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]

    return shown


def test_explain_of_question_without_steps_prints_question_and_answer(shown: Shown) -> None:
    name = question_id("murmur2", "4.4.0", RULES["murmur2"].question("666f6f"))  # type: ignore[call-arg]
    assert shown(MURMUR2) == [
        f"murmur2, question {name}, by reference 4.4.0",
        "the hash of a key",
        'asked     key   "foo" (666f6f)',
        "answered  hash  597841616",
    ]


@pytest.mark.parametrize("named", ["kafka", "release"])
def test_explain_uses_release_of_the_file_unless_kafka_option_is_given(shown: Shown, named: str) -> None:
    assert shown({**MURMUR2, named: "2.8.2"})[0].endswith("by reference 2.8.2")
    assert shown({**MURMUR2, named: "2.8.2"}, kafka="3.3.2")[0].endswith("by reference 3.3.2")
    assert shown({**MURMUR2, named: "2.8.2"}, kafka="newest")[0].endswith("by reference 4.4.0")


def test_explain_accepts_a_saved_failure_by_file_path_or_id(shown: Shown, tmp_path: Path) -> None:
    said = {"by": "java", "release": "3.9.2", "answer": {"hash": 597841616}}
    failure = {**MURMUR2, "id": "90043993ceb72c63", "expected": said, "actual": said, "found": {"seed": 7}}
    folder = tmp_path / ".kafka-conformance" / "failures"
    folder.mkdir(parents=True)
    (folder / "90043993ceb72c63.json").write_text(json.dumps(failure, indent=2), encoding="utf-8")
    by_id = shown(file="90043993ceb72c63")
    assert by_id == shown(file=str(folder / "90043993ceb72c63.json"))
    assert by_id[0].endswith("by reference 3.9.2")


def test_explain_reads_every_line_of_a_file_as_one_question(shown: Shown) -> None:
    lines = shown(
        MURMUR2,
        "",
        {"id": "1", "release": "2.8.2", "rule": "partition-for-key", "question": {"key": "", "partitions": 3}},
    )
    assert [line.split(",")[0] for line in lines if "question" in line] == ["murmur2", "partition-for-key"]


@pytest.mark.parametrize("as_json", [False, True])
def test_explain_prints_a_question_before_the_next_is_answered(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    printed = []

    def timeline(*words: Any) -> Any:
        printed.append(len(capsys.readouterr().out))
        return made(*words)

    made = explain._timeline
    monkeypatch.setattr(explain, "_timeline", timeline)
    shown(*[MURMUR2] * 4, as_json=as_json)
    assert printed[0] == 0
    assert min(printed[1:]) > 0


def test_explain_reads_a_question_from_standard_input(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(MURMUR2).encode())))
    assert shown(file="-")[-1] == "answered  hash  597841616"


def test_explanation_marks_answers_that_differ_from_the_reference(shown: Shown) -> None:
    assert shown(MURMUR2, answerer_name="mutant:one-bit")[-2:] == [
        "answered               hash  1738490055",
        "the reference answers  hash  597841616",
    ]
    lines = shown(SCRIPT, answerer_name="mutant:retry-at-the-back", kafka="4.4.0")
    marked = [line.split()[0] for line in lines if line.endswith("◀")]
    assert marked[:3] == ["7", "8", "9"]  # what comes back is seen in the queue, then by ready and drain
    assert "mutant:retry-at-the-back differs from the reference" in lines[-1]
    assert not any("◀" in line for line in shown(SCRIPT) if "← the delay" not in line)


def test_explanation_of_differing_step_never_shows_reference_text_equal_to_the_actual_text(shown: Shown) -> None:
    lines = shown(SCRIPT, answerer_name="mutant:retry-at-the-back", kafka="4.4.0")
    assert any(line.endswith("◀") for line in lines)
    for line, following in pairwise(lines):
        if line.endswith("◀"):
            said = line.removesuffix(" ◀").split("  ")[-1].strip()
            assert following.strip() != f"the reference: {said}"


def test_explain_json_has_answers_and_timeline_rows_with_reasons(shown: Shown) -> None:
    first, second = (json.loads(line) for line in shown(MURMUR2, SCRIPT, as_json=True))
    assert first["answered"] == [["hash", "597841616"]]
    ready = second["rows"][8]["explained"]
    assert ready["time_ms"] == 0
    assert ready["answer"] == "no node ready; look again in 100 ms"
    assert ready["reasons"][1] == "t-0 #0: retried once, waited 0 < 100 ms of back-off → backs off"
    assert [box["name"] for box in ready["lanes"][0]["queue"]] == ["#0 ×1", "#1 ×1", "#3 ×1"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("width", [80, 120])
def test_example_scenarios_are_explained_within_the_terminal_width_and_drawn_as_svg(
    example: Path, width: int, shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from kafka_conformance.cli.commands import explain

    monkeypatch.setattr(explain, "console", lambda: Console(width=width, highlight=False))
    lines = shown(file=str(example), svg=tmp_path / "it.svg")
    document = json.loads(example.read_text(encoding="utf-8"))
    assert lines[1] == document["description"]
    heads = next(number for number, line in enumerate(lines) if "answer, why" in line)
    assert max(map(len, lines[heads:])) <= width
    assert not any("\x1b" in line for line in lines)
    assert (tmp_path / "it.svg").read_bytes().startswith(b"<?xml")


def test_accumulator_examples_end_with_all_buffer_memory_free(shown: Shown) -> None:
    for example in EXAMPLES:
        (reported,) = map(json.loads, shown(file=str(example), as_json=True))
        last = dict(reported["rows"][-1]["explained"]["state"])
        assert reported["rule"] != "record-accumulator" or last["memory"] == "2,000 of 2,000 B free"


def test_explain_page_equals_printed_explanations_and_svg_figures(shown: Shown, tmp_path: Path) -> None:
    page = (DOCS / "explain.md").read_text(encoding="utf-8")
    for name in ("why-a-deque", "sticky-switch"):
        lines = shown(file=str(DOCS / "examples" / f"{name}.json"), svg=tmp_path / "it.svg")
        block = page.split(f"explain kit/docs/examples/{name}.json\n", 1)[1].split("```", 1)[0]
        assert [line for line in block.splitlines() if line.strip()] == lines
        assert (DOCS / "examples" / f"{name}.svg").read_bytes() == (tmp_path / "it.svg").read_bytes()
    for example in EXAMPLES:
        assert f"(examples/{example.name})" in page


@pytest.mark.parametrize(
    ("documents", "options", "why"),
    [
        (["{"], {}, "it.json is not JSON"),
        (["\x80"], {}, "it.json is not JSON"),
        (["[" * 5000], {}, "it.json is not JSON"),
        (["  "], {}, "it.json is empty"),
        (["[1]"], {}, "it.json is not a question: expected a JSON object with rule and question"),
        ([{"rule": "murmur2"}], {}, "it.json is not a question: Object missing required field `question`"),
        ([{**MURMUR2, "relase": "4.4.0"}], {}, "it.json is not a question: Object contains unknown field `relase`"),
        ([MURMUR2, "[1"], {}, "it.json, line 2 is not a question"),
        ([MURMUR2, {**MURMUR2, "rule": "murmur3"}], {}, "it.json, line 2: unknown rule 'murmur3'"),
        ([{"rule": "murmur2", "question": {"kay": ""}}], {}, "it.json: the question is not one of rule murmur2"),
        ([{**MURMUR2, "kafka": "4.x"}], {}, "'4.x' is not a Kafka release"),
        ([MURMUR2], {"kafka": "new"}, "'new' is not a Kafka release"),
        ([MURMUR2], {"answerer_name": "nobody"}, "unknown answerer 'nobody'"),
        ([MURMUR2], {"answerer_name": "mutant:zero-bit"}, "unknown mutant 'zero-bit'"),
        (
            [SCRIPT],
            {"answerer_name": "mutant:one-bit"},
            "mutant:one-bit is a mutant of murmur2, and this is a question of record-",
        ),
        ([{**MURMUR2, "rule": "uniform-sticky-partitioner"}], {}, "the question is not one of rule uniform-sticky"),
        (
            [{**SCRIPT, "kafka": "0.8.2.2"}],
            {"allow_unproven": True},
            "reference has no answer: record-accumulator is not a rule of release 0.8.2.2",
        ),
        ([MURMUR2, MURMUR2], {"svg": Path("it.svg")}, "it.json holds 2 questions, and a figure shows one"),
        ([MURMUR2], {"svg": Path("it.svg")}, "no timeline to draw"),
        ([MURMUR2], {"svg": Path("it.png")}, "give a name that ends in .svg"),
        ([], {"file": "nothing.json"}, "nothing.json cannot be read"),
    ],
)
def test_explain_with_malformed_question_or_bad_option_is_refused(
    shown: Shown, documents: list[Any], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(KitError) as error:
        shown(*documents, **options)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_explain_of_question_without_random_draws_is_refused(shown: Shown) -> None:
    steps = [{"op": "append", "partition": None, "key": None, "value": "00", "timestamp": 0}]
    question = {**SCRIPT["question"], "draws": [], "steps": steps}
    with pytest.raises(BadInput, match=r"reference has no answer: .*draws"):
        shown({"rule": "record-accumulator", "kafka": "4.4.0", "question": question})


def test_explain_labels_the_answer_for_each_record_with_a_step_number(shown: Shown) -> None:
    lines = shown(file=str(DOCS / "findings" / "an-empty-batch-that-is-full.json"))
    assert any(line.split()[:3] == ["answered", "step", "0"] and "estimate" in line for line in lines)


def test_explain_of_finding_file_with_kafka_option_prints_one_explanation_for_that_release(shown: Shown) -> None:
    lines = shown(file=str(DOCS / "findings" / "an-empty-batch-that-is-full.json"), kafka="2.8.2")
    assert [line for line in lines if line.startswith("record-sizes, question ")] == [lines[0]]
    assert lines[0].endswith("by reference 2.8.2")
