"""The command line itself: exit codes, one line for whatever goes wrong, and how a run ends when told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import click
import pytest
from processes import accept_interrupts

from kafka_conformance.cli import main as cli
from kafka_conformance.core.errors import KitError
from kafka_jars import pins

ASKS = json.dumps({"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "666f6f"}}) + "\n"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    """A command, run here in an empty folder. No JVM may be started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java-may-be-needed"))

    def run(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["kafka-conformance", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, *capsys.readouterr())

    return run


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("verify --kafka 4.x", "'4.x' is not a Kafka release: name one exactly, like 4.4.0 or 0.10.0.1"),
        ("verify --kafka 4.4.0,newer", "'newer' is not a Kafka release"),
        ("verify --kafka ,", "no release named"),
        ("verify --rules murmur2,murmur3", "unknown rule 'murmur3': did you mean murmur2?"),
        ("verify --answerer nobody", "unknown answerer 'nobody': expected reference or mutant:NAME"),
        ("verify --answerer mutant:zero-bit", "unknown mutant 'zero-bit': did you mean one-bit"),
        ("verify --examples -1", "Invalid value for '--examples': -1 is not in the range"),
        ("verify --examples many", "Invalid value for '--examples': 'many' is not a valid integer"),
        ("verify --exhaustive 4", "Invalid value for '--exhaustive': 4 is not in the range"),
        ("verify --seed -1", "Invalid value for '--seed': -1 is not in the range"),
        ("verify --sede 7", "No such option"),
        ("gat", "No such command 'gat': did you mean gate"),
        ("zzz", "No such command 'zzz': expected one of answer, audit, "),
        ("verify 4.4.0", "unexpected extra argument"),
        ("explain", "Missing argument 'FILE'"),
        ("explain nothing.json", "nothing.json cannot be read (No such file or directory)"),
        ("diff 4.4.0 4.x", "'4.x' is not a Kafka release"),
        ("diff 4.4.0 4.3.1 --rules murmur3", "unknown rule 'murmur3'"),
        ("selftest --rules murmur3", "unknown rule 'murmur3'"),
        ("answer --as nobody", "unknown answerer 'nobody': expected reference, java, mutant:NAME, or target:"),
        ("answer --as mutant:zero-bit", "unknown mutant 'zero-bit'"),
        ("replay nowhere", "no failure 'nowhere': expected a file, or the id of one in .kafka-conformance/failures"),
        ("replay", "Missing argument 'FILE-OR-ID'"),
        ("certificate nowhere.json", "there is no certificate at nowhere.json: run verify first"),
        ("jars resolve --kafka 4.x", "'4.x' is not a Kafka release"),
        ("jars pin 4.x", "'4.x' is not a Kafka release"),
        ("jars pin", "Missing argument 'RELEASE...'"),
        ("verfy", "No such command 'verfy'"),
    ],
)
def test_bad_command_line_argument_exits_2_with_one_line(run: Callable[..., Ran], words: str, line: str) -> None:
    ran = run(*words.split())
    assert ran.code == 2
    assert ran.out == ""
    (said,) = ran.err.splitlines()
    assert said.startswith("kafka-conformance: ")
    assert line in said


@pytest.mark.parametrize("words", ["verify", "selftest", "diff 4.4.0 4.3.1", "answer --as java"])
def test_java_home_of_a_nonexistent_folder_exits_2_without_traceback(
    run: Callable[..., Ran], tmp_path: Path, words: str
) -> None:
    pytest.importorskip("pyspark")
    ran = run(*words.split())
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith(
        f"kafka-conformance: JAVA_HOME is {tmp_path}/no-java-may-be-needed, which"
    )
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[releases", "TOMLDecodeError"),
        ("", "KeyError('releases')"),
        ('[beside]\n"a:b:c" = "0"\n[compiler]\n[releases]', '"a:b:c" = "0" is not coordinates and a sha256'),
    ],
)
@pytest.mark.parametrize("words", ["verify", "jars list", "diff 4.4.0 4.3.1"])
def test_malformed_jar_pin_file_exits_2_and_names_the_file(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, content: str, why: str
) -> None:
    broken = tmp_path / "releases.toml"
    broken.write_text(content, encoding="utf-8")
    monkeypatch.setattr(pins.load, "__defaults__", (broken,))
    ran = run(*words.split())
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith(f"kafka-conformance: {broken}")
    assert why in ran.err


@pytest.mark.parametrize("words", ["--help", "verify --help", "-h", "--version"])
def test_help_and_version_options_exit_with_0(run: Callable[..., Ran], words: str) -> None:
    ran = run(*words.split())
    assert (ran.code, ran.err) == (0, "")
    assert "kafka-conformance" in ran.out


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KitError("in one line"), "kafka-conformance: in one line"),
        (KeyboardInterrupt(), "kafka-conformance: interrupted: nothing was judged to the end"),
        (KeyboardInterrupt("run it again"), "kafka-conformance: interrupted: run it again"),
        (AssertionError("never"), "AssertionError: never"),
        (OverflowError("too large"), "OverflowError: too large"),
    ],
)
def test_exception_or_interrupt_in_a_command_exits_2_with_one_line(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    def broken(**_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_load", lambda name: click.Command(name, callback=broken))
    ran = run("certificate")
    assert ran.code == 2
    (line,) = ran.err.strip().splitlines()  # click moves to a new line after ^C
    assert said in line


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["nothing"]])
def test_help_version_and_unknown_command_import_neither_numpy_nor_rule_or_command_modules(words: list[str]) -> None:
    heavy = ["kafka_reference", "kafka_conformance.cli.commands.verify", "kafka_conformance.core.protocol",
             "kafka_conformance.rules", "hypothesis", "msgspec", "numpy", "rich"]  # fmt: skip
    script = (
        "import atexit, sys; from kafka_conformance.cli.main import main;"
        f"atexit.register(lambda: print('imported:', [one for one in {heavy} if one in sys.modules])); main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.stdout.splitlines()[-1] == "imported: []"


def test_help_lists_every_command_with_the_first_line_of_the_help_text(run: Callable[..., Ran]) -> None:
    shown = " ".join(run("--help").out.split())
    for name in cli.app.list_commands(None):
        command = cli.app.get_command(None, name)
        assert f"{name} {' '.join(command.help.partition(chr(10))[0].split())}" in shown


def test_help_lists_each_command_once_in_sections_ordered_by_user_purpose(run: Callable[..., Ran]) -> None:
    sections = run("--help").out.strip().split("\n\n")[4:]
    listed = [line[2:].split("  ")[0] for one in sections for line in one.splitlines()[1:] if line[2:3] != " "]
    assert sorted(listed) == sorted(cli.app.list_commands(click.Context(cli.app)))
    assert listed.index("gate") < listed.index("changes") < listed.index("audit") < listed.index("verify")
    assert sections[-1].startswith("Maintain the kit:")
    assert {name for section in cli._SECTIONS.values() for name in section} <= set(listed), "each is a command"


def test_every_command_line_option_has_a_help_text_distinct_within_the_command() -> None:
    for name in cli.app.list_commands(None):
        command = cli.app.get_command(None, name)
        for each in getattr(command, "commands", {name: command}).values():
            assert each.help, name
            texts = [one.help for one in each.params if isinstance(one, click.Option)]
            assert all(texts), name
            assert len(set(texts)) == len(texts), name
            assert not [text for text in texts if "ikewise" in text], name


def started(*words: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "kafka_conformance", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=folder,
        preexec_fn=accept_interrupts,
    )  # fmt: skip


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_sigint_or_sigterm_ends_a_run_with_exit_code_2_and_one_line(tmp_path: Path, asked: signal.Signals) -> None:
    with started("answer", folder=tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ASKS)
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"id": "1", "answer": {"hash": 597841616}}
        process.send_signal(asked)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert err.lstrip() == "kafka-conformance: interrupted: nothing was judged to the end\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_console_encoding_without_a_character_prints_the_unicode_escape(encoding: str, tmp_path: Path) -> None:
    question = {"rule": "murmur2", "question": {"key": "e29780"}}
    ran = subprocess.run(
        [sys.executable, "-m", "kafka_conformance", "explain", "-"], input=json.dumps(question), text=True, timeout=60,
        capture_output=True, cwd=tmp_path, check=False, env=os.environ | {"PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "\\u25c0" in ran.stdout


def test_missing_numpy_is_reported_with_the_pip_install_command(
    run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(cli, "_load", broken)
    line = "this command needs numpy: pip install '.[audit]' in a checkout, or '.[jvm]' for what uses Spark or Java"
    assert run("sweep") == Ran(2, "", f"kafka-conformance: {line}\n")


def test_answer_piped_to_head_exits_2_without_an_error_message(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(ASKS * 2000, encoding="utf-8")
    command = (
        f"{sys.executable} -m kafka_conformance answer < lines 2> said | head -n 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
    )
    ran = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert (tmp_path / "said").read_text(encoding="utf-8") == ""
    assert ran.stdout == "2\n"


def every_command(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from every_command(inner)


def test_no_command_option_is_hidden_or_has_two_long_names_except_on_off_pairs() -> None:
    commands = list(every_command(cli.app))
    assert len(commands) > 25
    for command in commands:
        for option in command.params:
            long = [name for name in (*option.opts, *option.secondary_opts) if name.startswith("--")]
            assert not getattr(option, "hidden", False), f"{command.name} {long}"
            assert len(long) <= 1 + bool(option.secondary_opts), f"{command.name}: {long} are names of one option"


def test_command_whose_loading_was_interrupted_has_all_options_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    cli._load.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(cli, "checked", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cli._load("rules")
    assert {"--write", "--check", "--json"} <= {name for one in cli._load("rules").params for name in one.opts}
