"""Changes between two files of results: which they are, the Atom feed, and drafts of issues."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import matrix_changes
import msgspec
from click.testing import CliRunner
from matrix_results import FORMAT, Cell, Results, results_json

ATOM = "{http://www.w3.org/2005/Atom}"
SAME = Cell("client", "a <b>", "1.0", ("default",), "murmur2", "agrees")
WORSE = Cell("client", "a <b>", "1.0", ("default",), "partition-for-key", "differs", "4.4.0", asked=5, agreed=4,
             page="clients/a-b.md#differences", case_set="Kafka 4.4, set 1")  # fmt: skip
BROKER = Cell("broker", "k", "2", (), "fetch", "differs", page="brokers/k-2.md#x")


def results(*cells: Cell) -> Results:
    return Results(FORMAT, cells)


def fixed(cell: Cell) -> Cell:
    return msgspec.structs.replace(cell, state="agrees")


def test_matrix_changes_are_cells_with_another_state_or_in_only_one_of_two_result_files() -> None:
    found = matrix_changes.changes(results(SAME, fixed(WORSE), BROKER), results(SAME, WORSE))
    assert [change.title for change in found] == [
        "a <b> 1.0 (default), partition-for-key: agrees, now differs",
        "k 2, fetch: differs, now not run",
    ]
    assert [change.is_worse for change in found] == [True, False]
    assert matrix_changes.changes(results(SAME, WORSE), results(SAME, WORSE)) == []


def test_atom_feed_of_matrix_changes_is_valid_xml_with_one_entry_per_change() -> None:
    found = matrix_changes.changes(results(fixed(WORSE)), results(WORSE, BROKER))
    root = ET.fromstring(matrix_changes.feed(found, "2026-11-29T00:00:00+00:00"))  # noqa: S314  made above
    entries = root.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == [change.title for change in found]
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == 2
    assert all(root.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))


def test_matrix_changes_command_exits_1_on_changes_and_drafts_an_issue_per_new_difference(tmp_path: Path) -> None:
    old, new, drafts = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "drafts"
    old.write_text(results_json(results(SAME, fixed(WORSE), BROKER)))
    new.write_text(results_json(results(SAME, WORSE, fixed(BROKER))))
    words = ["--feed", str(tmp_path / "feed.xml"), "--issues", str(drafts)]
    ran = CliRunner().invoke(matrix_changes.main, [str(old), str(new), *words])
    assert ran.exit_code == 1, ran.output
    (draft,) = drafts.iterdir()
    text = draft.read_text()
    assert text.startswith("# partition-for-key differs from Kafka 4.4.0: a <b> 1.0\n")
    assert "Now 4 of 5 answers match, asked Kafka 4.4, set 1." in text
    assert (tmp_path / "feed.xml").read_text().count("<entry>") == 2
    back = CliRunner().invoke(matrix_changes.main, [str(new), str(old)])
    assert back.exit_code == 1
    assert CliRunner().invoke(matrix_changes.main, [str(new), str(new)]).exit_code == 0


def test_nightly_workflow_runs_only_scripts_and_options_that_exist() -> None:
    root = Path(__file__).parents[2]
    text = (root / "ci" / "workflows" / "matrix.yml").read_text(encoding="utf-8")
    scripts = set(re.findall(r"ci/\w+\.py", text))
    assert scripts == {"ci/clients.py", "ci/adapter_gates.py", "ci/broker_gates.py", "ci/matrix_changes.py"}
    assert all((root / script).is_file() for script in scripts)
    options = {option for param in matrix_changes.main.params for option in param.opts}
    assert set(re.findall(r"results\.json (--\w+) \S+ (--\w+)", text)[0]) <= options
