"""The steps that make generated files again: their order, what voids them, resuming; no generated file lacks a step."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from graphlib import CycleError
from pathlib import Path
from typing import Any

import pytest
import regenerate
from click.testing import CliRunner
from regenerate import Checked, Failed, Run, Step, check, compare, in_order, make, overview, read_record
from regeneration_steps import STEPS, file_key, imported_files, rule_keys

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import KitError
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_reference.proven import proven_releases
from kafka_reference.releases import NEWEST

ROOT = Path(__file__).parents[2]
LISTED = (
    subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    if (ROOT / ".git").exists()
    else []
)
needs_git = pytest.mark.skipif(not LISTED, reason="no git repository")


class Tree:
    """A folder in which ``copy IN OUT`` makes a file from another, by steps with a key over the other file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ran, self.said = folder, list[str](), list[str]()
        self.fails: dict[str, int] = {}
        self.breaks: Callable[[], None] = lambda: None

    def step(self, name: str, source: str, target: str, **others: Any) -> Step:
        def keys() -> Mapping[str, str]:
            return {"all": file_key(source, root=self.folder)}

        return Step(name, (target,), (f"copy {source} {target}",), 10, keys=keys, **others)

    def execute(self, step: Step, words: str) -> tuple[int, float]:
        self.ran.append(step.name)
        self.breaks()
        if step.name in self.fails:
            return self.fails[step.name], 1.0
        program, source, target = words.split()
        assert program == "copy"
        shutil.copy(self.folder / source, self.folder / target)
        return 0, 120.0

    @property
    def run(self) -> Run:
        """A run of a new process."""
        record = read_record(self.folder / "record.json")

        def look(step: Step) -> Checked:
            return check(step, record, self.folder)

        return Run(self.folder / "record.json", look, look, self.execute, self.said.append, record)

    def make(self, *steps: Step) -> list[str]:
        """The names of the steps that a new process runs."""
        self.ran.clear()
        assert make(in_order(steps), self.run) == 0
        return list(self.ran)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "a").write_text("first")
    (tmp_path / "x").write_text("other")
    return Tree(tmp_path)


def chain(tree: Tree) -> list[Step]:
    """Three steps, of which two depend on each other, and are given in the wrong order."""
    return [
        tree.step("second", "b", "c", after=("first",)),
        tree.step("first", "a", "b"),
        tree.step("apart", "x", "y"),
    ]


def test_regeneration_steps_run_after_the_steps_whose_files_are_inputs(tree: Tree) -> None:
    assert [step.name for step in in_order(chain(tree))] == ["first", "second", "apart"]


def test_regeneration_steps_with_cyclic_dependency_raise_cycle_error(tree: Tree) -> None:
    with pytest.raises(CycleError):
        in_order([tree.step("one", "a", "b", after=("two",)), tree.step("two", "b", "a", after=("one",))])


def test_regeneration_step_with_unknown_dependency_raises_key_error(tree: Tree) -> None:
    with pytest.raises(KeyError, match="nowhere"):
        in_order([tree.step("one", "a", "b", after=("nowhere",))])


def test_regeneration_of_an_unchanged_tree_runs_no_step(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")  # an input of the second step; check reads it before the first has run
    assert tree.make(*chain(tree)) == ["first", "second", "apart"]
    assert tree.make(*chain(tree)) == []
    assert overview(in_order(chain(tree)), tree.run) == 0
    assert tree.said[-1].startswith("0 of 3 steps void")


def test_changed_input_file_reruns_the_step_and_dependent_steps(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")
    tree.make(*chain(tree))
    (tree.folder / "a").write_text("second")
    assert overview(in_order(chain(tree)), tree.run) == 1
    assert [line.split()[:2] for line in tree.said[-4:-1]] == [
        ["void", "first:"], ["perhaps", "second:"], ["current", "apart"],
    ]  # fmt: skip
    assert tree.make(*chain(tree)) == ["first", "second"]
    assert (tree.folder / "c").read_text() == "second"


def test_dependent_step_is_skipped_if_regenerated_input_is_unchanged(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")
    tree.make(*chain(tree))
    record = tree.folder / "record.json"
    record.write_text(record.read_text().replace(file_key("a", root=tree.folder), "another key"))
    assert tree.make(*chain(tree)) == ["first"]


def test_missing_output_file_reruns_the_regeneration_step(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")
    tree.make(*chain(tree))
    (tree.folder / "y").unlink()
    assert tree.make(*chain(tree)) == ["apart"]


def test_failed_regeneration_step_stops_the_run_and_the_next_run_resumes(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")
    tree.fails = {"second": 1}
    with pytest.raises(Failed, match=r"^second: copy b c ended with exit code 1; run the same command again") as failed:
        make(in_order(chain(tree)), tree.run)
    assert failed.value.code == 1
    assert tree.ran == ["first", "second"]
    tree.fails = {}
    assert tree.make(*chain(tree)) == ["second", "apart"]


@pytest.mark.parametrize("code", [2, -9, 127])
def test_regeneration_fails_with_code_2_if_a_command_is_killed_or_exits_above_1(tree: Tree, code: int) -> None:
    tree.fails = {"apart": code}
    with pytest.raises(Failed) as failed:
        make([tree.step("apart", "x", "y")], tree.run)
    assert failed.value.code == 2


def test_regeneration_step_interrupted_by_ctrl_c_keeps_finished_parts_and_resumes_with_the_rest(tree: Tree) -> None:
    def keys() -> Mapping[str, str]:
        return {"one": "1", "two": "2", "three": "3"}

    step = Step("parts", ("x",), ("copy x {parts}",), 10, keys=keys, each=True)

    def ended() -> None:
        if len(tree.ran) == 2:
            raise KeyboardInterrupt

    tree.breaks = ended
    with pytest.raises(KeyboardInterrupt):
        make([step], tree.run)
    tree.breaks = lambda: None
    assert tree.run.look(step).void == ("two", "three")
    assert tree.make(step) == ["parts", "parts"]
    assert tree.run.look(step).void == ()


def test_input_changed_while_a_regeneration_step_runs_makes_the_step_outdated(tree: Tree) -> None:
    tree.breaks = lambda: (tree.folder / "x").write_text("meanwhile") and None
    assert tree.make(tree.step("apart", "x", "y")) == ["apart"]
    assert tree.run.look(tree.step("apart", "x", "y")).void == ("all",)


def compared(tree: Tree, *parts: str, code: int = 0) -> list[str]:
    """The parts that a new process asks again, of a step with three; ``code`` ends the command that asks."""
    asked = []

    def execute(_: Step, words: str) -> tuple[int, float]:
        asked.extend(words.removeprefix("ask ").split(","))
        return code, 1.0

    def keys() -> Mapping[str, str]:
        return {name: file_key(name, root=tree.folder) for name in ("a", "b", "x")}

    step = Step("answers", (), (), 10, keys=keys, checks=("ask {parts}",))
    compare([step], replace(tree.run, execute=execute), parts)
    return asked


def test_regeneration_check_compares_only_outdated_parts_and_repeats_parts_that_differed(tree: Tree) -> None:
    (tree.folder / "b").write_text("second")
    assert compared(tree, "a") == ["a"]
    assert compared(tree) == ["b", "x"]
    assert compared(tree) == []
    (tree.folder / "x").write_text("changed")
    with pytest.raises(Failed, match="answers: ask x ended with exit code 1") as failed:
        compared(tree, code=1)
    assert failed.value.code == 1
    assert compared(tree) == ["x"], "a difference is not on record as compared"
    assert compared(tree) == []


def test_regeneration_raises_failed_if_a_step_is_still_outdated_after_running(tree: Tree) -> None:
    step = Step("exact", ("x",), ("copy x y",), 10, void=lambda: ["rule"])
    with pytest.raises(Failed, match="exact: was made, and is still void: rule"):
        make([step], tree.run)


def test_regeneration_skips_a_step_whose_program_is_missing_runs_other_steps_and_returns_2(tree: Tree) -> None:
    steps = [tree.step("tools", "a", "b", needs=("no-such-program|nor-this",)), tree.step("apart", "x", "y")]
    assert make(steps, tree.run) == 2
    assert tree.ran == ["apart"]
    assert "tools: left out, needs no-such-program|nor-this" in tree.said[0]


def test_regeneration_time_estimate_is_the_duration_of_the_last_run(tree: Tree) -> None:
    step = tree.step("apart", "x", "y")
    overview([step], tree.run)
    assert tree.said[0] == "void     apart: all; 10 s"
    tree.make(step)
    (tree.folder / "x").write_text("more")
    overview([step], tree.run)
    assert tree.said[-2] == "void     apart: all; 2 min"


def test_regeneration_progress_line_shows_remaining_steps_and_time(tree: Tree) -> None:
    (tree.folder / "b").write_text("old")
    tree.make(*chain(tree))
    assert tree.said[0] == "[1/3] first: all; about 10 s; left after it: 2 steps, about 20 s"


def test_malformed_regeneration_record_raises_kit_error_with_git_checkout_hint(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text("{")
    with pytest.raises(KitError, match=r"record\.json cannot be read: .*; restore it with git checkout"):
        read_record(tmp_path / "record.json")


def test_input_digest_ignores_comments_and_layout_of_python_files(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    before = file_key("*.py", root=tmp_path)
    path.write_text("# why\nx = (\n    1\n)\n")
    assert file_key("*.py", root=tmp_path) == before
    path.write_text("x = 2\n")
    assert file_key("*.py", root=tmp_path) != before


def test_inputs_of_a_script_are_all_files_imported_directly_indirectly_or_within_functions(tmp_path: Path) -> None:
    files = {
        "ci/page.py": "import os\nimport shared_one\nfrom product import part\n",
        "tests/shared/shared_one.py": "def late():\n    import product.late\n",
        "kit/product/__init__.py": "", "kit/product/part.py": "", "kit/product/late.py": "", "kit/product/other.py": "",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert imported_files("ci/page.py", root=tmp_path) == sorted(files.keys() - {"kit/product/other.py"})


def test_input_digest_of_pattern_without_files_raises_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file is like \*\.py"):
        file_key("*.py", root=tmp_path)


def test_changed_code_of_a_rule_changes_only_the_digest_of_that_rule() -> None:
    sources = installed_sources()
    rules = ("murmur2", "record-sizes")
    before = rule_keys(rules=rules)
    module = "kafka_reference.partitioning.murmur2"
    changed = sources.python[module].replace("0x9747B28C", "0x9747B28D").replace("0x9747b28c", "0x9747b28d")
    assert changed != sources.python[module]
    assert any(name.startswith(module) for name in fingerprinted_sources(RULES["murmur2"], sources))
    after = rule_keys(rules=rules, sources=replace(sources, python={**sources.python, module: changed}))
    assert {slug for slug in rules if after[slug] != before[slug]} == {"murmur2"}


# The true steps.
def outputs() -> set[str]:
    return {str(path.relative_to(ROOT)) for step in STEPS for name in step.outputs for path in ROOT.glob(name)}


@needs_git
def test_handwritten_text_has_no_rule_or_release_count_and_no_range_to_newest_release() -> None:
    """The newest release is not the end of a span, and counts of rules and releases come from what ships."""
    count = f"{len(RULES)}|{len(proven_releases())}"
    stale = re.compile(rf"\b(?:{count}) (?:proven )?(?:rules|releases)\b|\bto\s+{re.escape(str(NEWEST))}(?!\.?\d)")
    made, found = outputs(), list[str]()
    for name in LISTED:
        text = (ROOT / name).read_text(encoding="utf-8") if name.endswith((".md", ".py")) else ""
        if name.endswith(".md") and (name not in made or ": made by" in text):
            prose = re.sub(r"<!-- (\w+): made by.*?<!-- /\1 -->|```.*?```", "", text, flags=re.DOTALL)
        elif name.startswith(("reference/", "kit/kafka_conformance/", "jars/")):
            nodes = ast.walk(ast.parse(text)) if name.endswith(".py") else ()
            prose = "\n".join(
                node.value.value for node in nodes
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            )  # fmt: skip
        else:
            continue
        found += [f"{name}: {one}" for one in stale.findall(prose)]
    assert stale.search(f"Mirrors ``Utils.murmur2``, 0.10.0.1 to {NEWEST}.")
    assert found == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_regeneration_step_has_existing_outputs_and_valid_input_digests(step: Step) -> None:
    assert (step.void is None) != (step.keys is None)
    for pattern in step.outputs:
        assert any(ROOT.glob(pattern)), pattern
    if step.keys is not None:
        keys = step.keys()
        assert keys
        assert all(re.fullmatch("[0-9a-f]{16}", key) for key in keys.values())


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_commands_of_regeneration_steps_are_parsed_without_error(step: Step) -> None:
    for command in (*step.commands, *step.checks):
        program, *words = shlex.split(command.format(parts="murmur2"))
        if program == "python":
            assert words[0] == "-m" or (ROOT / words[0]).is_file()
        else:
            assert program == "kafka-conformance"
            app.get_command(None, words[0]).make_context(words[0], words[1:])  # type: ignore[union-attr]


def test_regeneration_step_names_are_unique_and_dependencies_run_first() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
    places = {step.name: place for place, step in enumerate(in_order(STEPS))}
    assert all(places[name] < places[step.name] for step in STEPS for name in step.after)


@needs_git
def test_every_generated_page_has_a_regeneration_step() -> None:
    pages = [name for name in LISTED if name.endswith(".md")]
    marked = {
        name
        for name in pages
        if re.search(r"^<!-- (\w+: made by|Written by `)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(marked) > 30
    assert marked - outputs() == set()


@needs_git
def test_every_record_and_frozen_case_file_has_a_regeneration_step() -> None:
    records = {name for name in LISTED if re.search(r"(/record|/certificate|\.schema)\.json$|/data/.*\.ndjson$", name)}
    assert len(records) > 30
    assert records - outputs() == set()


def test_every_page_checked_by_tox_has_a_regeneration_step() -> None:
    compared = set(re.findall(r"--check (kit/\S+)", (ROOT / "tox.ini").read_text(encoding="utf-8")))
    assert len(compared) >= 2
    assert compared - outputs() == set()


def test_every_ci_script_that_writes_a_page_is_run_by_a_regeneration_step() -> None:
    writes = {
        path.name
        for path in (ROOT / "ci").glob("*.py")
        if re.search(r'"kit" / "docs"', text := path.read_text(encoding="utf-8"))
        and re.search(r"write_text|write_block|photograph", text)
    }
    run = {word.removeprefix("ci/") for step in STEPS for command in step.commands for word in shlex.split(command)}
    assert len(writes) >= 8
    assert writes - run == set()


def test_regeneration_record_has_digests_only_for_steps_with_inputs() -> None:
    keyed = {step.name for step in STEPS if step.keys is not None}
    recorded = {name for name, made in read_record(regenerate.RECORD).items() if made.keys}
    assert recorded
    assert recorded <= keyed


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--only", "nothing"], "unknown step 'nothing': expected one of extended-cases"),
        (["--only"], "give names of steps with --only, --accept or --check, and only then"),
        (["proof"], "give names of steps with --only, --accept or --check, and only then"),
        (["--check", "--only", "changes"], "give names of steps with --only, --accept or --check, and only then"),
        (["--only", "changes", "--parts", "isr"], "--parts goes with --accept or --check alone"),
        (["--check", "proof"], "proof: no command compares it"),
        (["--check", "changes", "--parts", "murmur3"], "unknown part 'murmur3': changes has builtin-partitioner,"),
        (["--accept", "proof"], "proof: is compared with what would be made, so it cannot be accepted"),
    ],
)
def test_regenerate_command_with_unknown_step_or_misplaced_options_exits_with_2(words: list[str], why: str) -> None:
    done = CliRunner().invoke(regenerate.main, words)
    assert done.exit_code == 2
    assert why in done.output
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "the handler of the run is removed at its end"


def test_edited_findings_page_is_regenerated_and_then_current(tmp_path: Path) -> None:
    """In a copy of the tree, by its own program."""
    for name in ("ci", "kit", "reference", "jars", "README.md"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)  # and the compiled modules: compiling takes seconds
        else:
            shutil.copy(source, tmp_path / name)
    page = tmp_path / "kit" / "docs" / "findings.md"
    made = page.read_text(encoding="utf-8")
    page.write_text(made + "more\n", encoding="utf-8")

    def ran(*words: str) -> tuple[int, str]:
        path = os.pathsep.join(str(tmp_path / name) for name in ("reference", "kit", "jars"))
        done = subprocess.run(
            [sys.executable, str(tmp_path / "ci" / "regenerate.py"), *words], cwd=tmp_path, capture_output=True, text=True,
            timeout=120, check=False, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        return done.returncode, done.stdout

    code, printed = ran("--only", "findings", "schema")
    assert (code, page.read_text(encoding="utf-8")) == (0, made), printed
    assert printed.splitlines() == [
        "[1/2] findings: findings.md; about 2 s; left after it: 0 steps, about 0 s", "1 made, all 2 steps are current",
    ]  # fmt: skip
    assert ran("--list", "--only", "findings", "schema")[0] == 0
