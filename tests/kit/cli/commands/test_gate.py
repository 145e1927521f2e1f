"""``gate`` from the command line: who is judged, what is written, and one line for whatever keeps it from judging."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.events import Ended, from_lines

DRIVER = Path(__file__).parents[4] / "kit" / "docs" / "examples" / "driver.py"
QUICK = ["gate", "--rules", "murmur2,partition-for-key", "--examples", "20", "--seed", "1"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "taken").write_text("")


def _run(*args: str) -> Result:
    return CliRunner().invoke(app, [*QUICK, *args], standalone_mode=False)


def _wrong(tmp_path: Path) -> list[str]:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(DRIVER.read_text().replace("0x7FFFFFFF", "0xFFFFFFFF"))
    assert wrong.read_text() != DRIVER.read_text()
    return ["--", sys.executable, str(wrong)]


def test_tutorial_driver_passes_the_gate_with_exit_code_0() -> None:
    done = _run("--", sys.executable, str(DRIVER))
    assert done.return_value == 0, done.output
    assert "conforms" in done.output


@pytest.mark.parametrize(
    ("targets", "command"),
    [("driver.py", "python3 driver.py"), ("python3 driver.py", "python3 driver.py"), ("env true", "env true")],
)
def test_gate_target_command_without_double_dash_is_refused_with_correction(targets: str, command: str) -> None:
    with pytest.raises(
        BadInput, match=f"^{targets} is a command: write -- before it: kafka-conformance gate -- {command}$"
    ):
        CliRunner().invoke(app, ["gate", *targets.split()], catch_exceptions=False)


def test_gate_driver_that_dies_before_hello_exits_2_and_prints_stderr_once() -> None:
    program = (sys.executable, "-m", "kafka_conformance", "gate", "--", sys.executable, "no-such-file.py")
    ran = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 2
    assert ran.stderr.count("no-such-file.py") == 1
    assert "the driver ended with exit code 2 before its hello: keep reading" in ran.stderr


def test_gate_of_wrong_driver_exits_1_with_diagnosis_reports_and_working_replay(tmp_path: Path) -> None:
    done = _run("--events", "e.ndjson", "--junit", "j.xml", "--markdown", "m.md", "--html", "p.html", "--badge", "b.json",
                *_wrong(tmp_path))  # fmt: skip
    assert done.return_value == 1, done.output
    assert "`unsigned`" in done.output
    assert all((tmp_path / name).stat().st_size for name in ("j.xml", "m.md", "p.html", "b.json"))
    *_, last = from_lines((tmp_path / "e.ndjson").read_bytes().splitlines())
    assert isinstance(last, Ended)
    assert last.exit_code == 1
    (failure,) = (tmp_path / ".kafka-conformance" / "failures").iterdir()
    (command,) = {line.partition("kafka-conformance ")[2] for line in done.output.splitlines() if "  replay " in line}
    assert failure.name in command
    again = CliRunner().invoke(app, shlex.split(command), standalone_mode=False)
    assert again.return_value == 1
    assert "the answers differ" in again.output


def test_gate_writes_known_failures_accepts_those_and_reports_stale_entries(tmp_path: Path) -> None:
    wrong = _wrong(tmp_path)
    assert _run("--known-failures", "known.toml", "--write-known-failures", *wrong).return_value == 0
    assert 'diagnosis = "unsigned"' in (tmp_path / "known.toml").read_text()
    assert _run("--known-failures", "known.toml", *wrong).return_value == 0
    updated = _run("--known-failures", "known.toml", "--", sys.executable, str(DRIVER))
    assert updated.return_value == 1
    assert "stale" in updated.output
    again = _run("--known-failures", "known.toml", "--write-known-failures", "--", sys.executable, str(DRIVER))
    assert again.return_value == 0
    assert "[[known]]" not in (tmp_path / "known.toml").read_text()


def test_gate_with_kafka_eras_names_the_era_in_every_report(tmp_path: Path) -> None:
    done = _run("--kafka", "eras", "--events", "e.ndjson", "--junit", "j.xml", "--markdown", "m.md", "--html", "p.html",
                "--badge", "b.json", *_wrong(tmp_path))  # fmt: skip
    assert done.return_value == 1, done.output
    assert "partition-for-key  era 0.10." in done.output
    assert "questions in era 0.10." in (tmp_path / "m.md").read_text()
    assert "partition-for-key in era 0.10." in (tmp_path / "p.html").read_text()
    assert 'name="era" value="0.10.' in (tmp_path / "j.xml").read_text()
    assert ", eras" in (tmp_path / "b.json").read_text()
    again = CliRunner().invoke(app, ["report", "e.ndjson"], standalone_mode=False)
    assert "in era 0.10." in again.output


def test_gate_with_equal_seeds_reports_identical_failing_questions(tmp_path: Path) -> None:
    streams = []
    for name in ("one", "two"):
        _run("--events", name, "--failures", f"failures-{name}", *_wrong(tmp_path))
        lines = [msgspec.json.decode(line) for line in (tmp_path / name).read_bytes().splitlines()]
        streams.append([line["question"] for line in lines if line["event"] == "differed"])
    assert streams[0] == streams[1]
    assert streams[0]


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ([], "no target"),
        (["python:x:y", "--", "cat"], "give one of them"),
        (["python:no_such_module:answerer"], "no_such_module"),
        (["--", "/no/such/command"], "could not be asked"),
        (["no-such-driver"], "unknown driver"),
        (["clients"], "unknown target clients: did you mean 'gate client'?"),
        (["brokr"], "unknown target brokr: did you mean 'gate broker'?"),
        (["--write-known-failures", "--", "cat"], "needs --known-failures"),
        (["--known-failures", "missing.toml", "--", "cat"], "cannot be read"),
        (["--kafka", "0.1", "--", "cat"], "0.1"),
        (["--rules", "murmur3", "--", "cat"], "unknown rule 'murmur3'"),
        (["--kafka", "2.8.2", "--rules", "builtin-partitioner", "--", "cat"], "none of these rules exists"),
        (["--html", ".", "--", "cat"], "is a folder"),
    ],
)
def test_gate_with_bad_target_rule_release_or_file_fails_in_one_line(args: list[str], what: str) -> None:
    done = _run(*args)
    assert isinstance(done.exception, BadInput | KitError), done.output
    assert what in str(done.exception)
    assert "\n" not in str(done.exception)


def test_gate_refuses_python_target_whose_grades_attribute_names_a_rule_without_that_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lenient.py").write_text("def answerer(*_): ...\nanswerer.grades = {'murmur2': 'admissible'}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = _run("python:lenient:answerer")
    assert isinstance(done.exception, BadInput)
    assert "remove murmur2 from its grades" in str(done.exception)


def test_unwritable_gate_reports_are_warnings_and_keep_the_exit_code(tmp_path: Path) -> None:
    reports = ["--events", "/dev/full", "--html", "taken/page.html", "--junit", "/dev/full", "--failures", "taken"]
    right = _run(*reports, "--", sys.executable, str(DRIVER))
    assert right.return_value == 0, right.output
    first, *others = right.stderr.splitlines()
    assert first.startswith("kafka-conformance: warning: taken/page.html cannot be written: ")
    assert others == 2 * ["kafka-conformance: warning: /dev/full cannot be written: No space left on device"]
    wrong = _run(*reports, *_wrong(tmp_path))
    assert wrong.return_value == 1
    assert "failed questions are not saved: " in wrong.stderr


@pytest.mark.parametrize(
    ("closed", "answer", "code"),
    [
        ("stdout", "murmur2(bytes.fromhex(question['key']))", 0),
        ("both", "7", 1),
        pytest.param("both", "murmur2(bytes.fromhex(question['key']))", 0, marks=pytest.mark.exhaustive),
        pytest.param("stdout", "7", 1, marks=pytest.mark.exhaustive),
    ],
)
def test_closed_standard_output_keeps_the_exit_code_of_the_gate(
    tmp_path: Path, answer: str, code: int, closed: str
) -> None:
    (tmp_path / "mine.py").write_text(
        "from kafka_reference import murmur2\n\n\n"
        "def answerer(rule, release, question):\n"
        "    if question['key'] is None:\n        return {'raises': 'NullPointerException'}\n"
        f"    return {{'hash': {answer}}}\n"
    )
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kafka_conformance", *QUICK, "--rules", "murmur2", "python:mine:answerer"]
    errors = write if closed == "both" else subprocess.PIPE
    done = subprocess.run(command, stdout=write, stderr=errors, text=True, check=False, cwd=tmp_path)
    os.close(write)
    assert done.returncode == code
    if closed == "stdout":
        warning = "kafka-conformance: warning: standard output was closed before everything was printed; "
        assert done.stderr == f"{warning}the exit code is still the verdict\n"


def test_os_error_raised_inside_the_gate_is_not_reported_as_unwritable_file(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ["--", sys.executable, str(DRIVER)]

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("kafka_conformance.cli.commands.gate.gate", broken)
    assert type(_run("--events", "e.ndjson", *driver).exception) is OSError


def test_gate_of_two_implementations_prints_a_column_for_each(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from kafka_reference import partition_for_key\n"
        "def right(rule, release, q): return {'partition': partition_for_key(bytes.fromhex(q['key']), q['partitions'])}\n"
        "def zero(rule, release, q): return {'partition': 0}\n"
        "right.rules = zero.rules = ['partition-for-key']\n"
    )
    named = ["python:mine:right", "python:mine:zero"]
    done = _run("--events", "e.ndjson", "--html", "p.html", *named)
    assert done.return_value == 1, (done.output, done.exception)
    first, second = done.output.splitlines()[:2]
    assert first.split() == ["rule", "mine:right", "mine:zero"]
    assert second.split()[:2] == ["partition-for-key", "agrees"]
    assert "differs" in second
    again = CliRunner().invoke(app, ["report", "e.ndjson"], standalone_mode=False)
    assert again.return_value == 1
    assert again.output == done.output
    assert (tmp_path / "p.html").read_text().count("<section id=") == 2


def test_junit_report_of_several_gate_targets_is_refused() -> None:
    done = _run("--junit", "j.xml", "a", "b")
    assert isinstance(done.exception, BadInput)
    assert "belong to one implementation" in str(done.exception)


def test_gate_run_option_restricts_questions_and_report_states_the_selection() -> None:
    done = _run("--run", "murmur2/0 bytes", "--", sys.executable, str(DRIVER))
    assert done.return_value == 0, done.output
    assert "partition-for-key" not in done.output
    assert "(only run murmur2/0 bytes)" in done.output


def test_gate_run_option_that_matches_no_question_exits_with_2() -> None:
    done = _run("--run", "murmur2/no such kind", "--", sys.executable, str(DRIVER))
    assert done.return_value == 2, done.output


def test_known_flaky_option_accepts_nondeterministic_answers_but_not_wrong_answers(tmp_path: Path) -> None:
    flaky = tmp_path / "flaky.py"
    right = DRIVER.read_text()
    flaky.write_text("import random\n" + right.replace("& 0x7FFFFFFF", "& 0x7FFFFFFF | random.getrandbits(12)"))
    assert flaky.read_text().count("random.getrandbits") == right.count("& 0x7FFFFFFF") > 0
    rule = ["--rules", "partition-for-key"]
    drawn = _run(*rule, "--", sys.executable, str(flaky))
    assert (drawn.return_value, "not-deterministic" in drawn.output) == (1, True), drawn.output
    accepted = _run(*rule, "--known-flaky", "--", sys.executable, str(flaky))
    assert accepted.return_value == 0, accepted.output
    assert _run(*rule, "--known-flaky", *_wrong(tmp_path)).return_value == 1


def test_gate_events_option_with_dash_for_standard_output_is_refused(tmp_path: Path) -> None:
    done = _run("--events", "-", "--", sys.executable, str(DRIVER))
    assert isinstance(done.exception, BadInput)
    assert "--events - would write a file named -" in str(done.exception)
    assert not (tmp_path / "-").exists()
