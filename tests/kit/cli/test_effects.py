"""Every option of every command changes the result of some invocation, and is refused in each mode where it would not.

``RUN`` has, for each option of the commands that need no extra, an invocation and the words that change its result.
``TESTED`` names, for the other commands, the tests whose files name every option. An option that neither knows fails.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from log_partitions import Log, data, healthy

from kafka_conformance.cli.effects import NO_EFFECT
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.verify.certificate import last_certificate

TESTS = Path(__file__).parents[2]
T = "python:effect_targets:wrong"
CHANGES = "gate python:effect_targets:changes --rules sequence-decrement --examples 1 --seed 1"
HANGS = "gate python:effect_targets:hangs --rules sequence-decrement --examples 1 --seed 1 --timeout 0.2"
TRACE = Path(__file__).parents[3] / "kit/docs/examples/kafkajs.trace"
GATE = f"gate {T} --rules sequence-decrement --examples 3 --seed 1"
DELIVERY = "delivery --acks all --replicas 3 --records 4"
LATER = "--stop-follower 2=1"
ASKED = '{"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "666f6f"}}\n'

RUN: dict[str, dict[str, tuple[str, str]]] = {
    "answer": {"--as": ("answer", "--as mutant:one-bit")},
    "behaviour": {
        "--kafka": ("behaviour all --kafka 2.8.2 4.4.0", "--kafka 3.1.2"),
        "--table": ("behaviour all", "--table page.md"),
        "--check": ("behaviour all --table page.md", "--check page.md"),
        "--allow-unproven": ("behaviour murmur2 --kafka 9.9.9", "--allow-unproven"),
        "--json": ("behaviour murmur2", "--json"),
    },
    "cases": {
        "--write": ("cases --rules murmur2", "--write made"),
        "--rules": ("cases --write made", "--rules murmur2"),
        "--every-era": ("cases --write made --rules round-robin-assignor", "--every-era"),
    },
    "certificate": {
        "--write": ("certificate --shipped", "--write made.json"),
        "--shipped": ("certificate", "--shipped"),
        "--verbose": ("certificate --shipped", "-v"),
        "--markdown": ("certificate --shipped", "--markdown"),
    },
    "changes": {
        "--role": ("changes 3.9.0 3.9.2", "--role consumer"),
        "--short": ("changes 2.8.2 3.9.2", "--short"),
        "--json": ("changes 3.9.0 3.9.2", "--json"),
    },
    "findings": {
        "--kafka": ("findings", "--kafka 3.6.2"),
        "--role": ("findings", "--role consumer"),
        "--short": ("findings", "--short"),
        "--json": ("findings", "--json"),
    },
    "delivery": {
        "--acks": (DELIVERY, "--acks 0"),
        "--retries": (f"{DELIVERY} --lose-response 2", "--retries 0"),
        "--in-flight": (DELIVERY, "--in-flight 1"),
        "--idempotence": (DELIVERY, "--idempotence false"),
        "--replicas": (DELIVERY, "--replicas 2"),
        "--min-insync-replicas": (f"{DELIVERY} {LATER} --stop-follower 2=2 --shrink-isr 3", "--min-insync-replicas 2"),
        "--unclean-leader-election": (f"{DELIVERY} {LATER} --stop-follower 2=2 --shrink-isr 3 --crash-before 4",
                                      "--unclean-leader-election"),
        "--records": (DELIVERY, "--records 2"),
        **{option: (f"{DELIVERY} --explain", f"{option} 2") for option in (
            "--lose-request", "--lose-response", "--crash-before", "--crash-unreplicated", "--crash-replicated",
            "--restart-producer", "--refuse", "--refuse-after-append",
        )},
        "--stop-follower": (DELIVERY, LATER),
        "--resume-follower": (f"{DELIVERY} {LATER} --shrink-isr 3", "--resume-follower 4=1"),
        "--shrink-isr": (f"{DELIVERY} {LATER}", "--shrink-isr 3"),
        "--shrink-isr-after-append": (f"{DELIVERY} {LATER}", "--shrink-isr-after-append 2"),
        "--kafka": (DELIVERY, "--kafka 2.8.2"),
        "--allow-unproven": (f"{DELIVERY} --kafka 9.9.9", "--allow-unproven"),
        "--answerer": (DELIVERY, "--answerer mutant:errors-are-success"),
        "--explain": (DELIVERY, "--explain"),
        "--json": (DELIVERY, "--json"),
    },
    "explain": {
        "--kafka": ("explain question.json", "--kafka 2.8.2"),
        "--answerer": ("explain question.json", "--answerer mutant:one-bit"),
        "--allow-unproven": ("explain question.json --kafka 9.9.9", "--allow-unproven"),
        "--svg": ("explain question.json", "--svg made.svg"),
        "--json": ("explain question.json", "--json"),
    },
    "gate": {
        "--kafka": (GATE, "--kafka 2.8.2"),
        "--allow-unproven": (f"{GATE} --kafka 9.9.9", "--allow-unproven"),
        "--rules": (GATE, "--rules sequence-increment"),
        "--run": (GATE, "--run sequence-decrement/wraps"),
        "--skip": (GATE, "--skip sequence-decrement/wraps"),
        "--examples": (GATE, "--examples 9"),
        "--seed": (GATE, "--seed 2"),
        "--timeout": (HANGS, "--timeout 1"),
        "--known-failures": (GATE, "--known-failures known.toml"),
        "--write-known-failures": (f"{GATE} --known-failures new.toml", "--write-known-failures"),
        "--known-flaky": (CHANGES, "--known-flaky"),
        "--failures": (GATE, "--failures elsewhere"),
        "--out-of-domain": (f"{GATE} --rules sequence-increment",
                            "--out-of-domain"),
        "--events": (GATE, "--events events.ndjson"),
        "--junit": (GATE, "--junit made.xml"),
        "--markdown": (GATE, "--markdown made.md"),
        "--html": (GATE, "--html made.html"),
        "--badge": (GATE, "--badge made.json"),
        "--github": (GATE, "--github"),
    },
    "place": {
        "--partitions": ("place key --partitions 25", "--partitions 24"),
        "--seen": ("place key --partitions 25", "--seen 3"),
        "--key-encoding": ("place abcd --partitions 25", "--key-encoding hex"),
        "--json": ("place key --partitions 25", "--json"),
    },
    "group play": {
        "--event": ("group play group.json", "--event leave:a"),
        "--assignor": ("group play group.json", "--assignor range-assignor"),
        "--kafka": ("group play group.json", "--kafka 3.3.2"),
        "--json": ("group play group.json", "--json"),
    },
    "log find": {
        "--partition": ("log find both 0", "--partition orders-0"),
        "--json": ("log find data/orders-0 0", "--json"),
        "--time": ("log find data", "--time 2023-11-14"),
        "--scan": ("log find data --time 2023-11-14T23", "--scan"),
    },
    "log inspect": {
        "--records": ("log inspect data", "--records"),
        "--cleanup-policy": ("log inspect holes", "--cleanup-policy compact"),
        "--segments": ("log inspect data", "--segments"),
        "--strict": ("log inspect holes", "--strict"),
        "--html": ("log inspect data", "--html made.html"),
        "--kafka": ("log inspect zookeeper", "--kafka 3.9.2"),
        "--json": ("log inspect data", "--json"),
    },
    "replay": {
        "--expected": ("replay failure.json", "--expected mutant:one-bit"),
        "--actual": ("replay failure.json", "--actual reference"),
    },
    "report": {
        "--since": ("report events.ndjson", "--since events.ndjson"),
        "--junit": ("report events.ndjson", "--junit made.xml"),
        "--markdown": ("report events.ndjson", "--markdown made.md"),
        "--html": ("report events.ndjson", "--html made.html"),
        "--badge": ("report events.ndjson", "--badge made.json"),
        "--github": ("report events.ndjson", "--github"),
        "--terminal": ("report events.ndjson --markdown made.md", "--terminal"),
    },
    "rules": {
        "--write": ("rules", "--write made"),
        "--check": ("rules --write made", "--check made"),
        "--json": ("rules", "--json"),
    },
    "sample": {
        "--kafka": ("sample default-partitioner --seed 1", "--kafka 2.8.2"),
        "--count": ("sample murmur2 --seed 1", "--count 2"),
        "--kind": ("sample murmur2 --seed 1 --count 20", "--kind nothing-like-it"),
        "--seed": ("sample murmur2 --seed 1 --count 40", "--seed 2"),
        "--json": ("sample murmur2 --seed 1", "--json"),
        "--answers": ("sample murmur2 --seed 1 --json", "--answers"),
        "--allow-unproven": ("sample murmur2 --seed 1 --kafka 9.9.9", "--allow-unproven"),
    },
    "schema": {"--write": ("schema", "--write made.json")},
    "trace": {
        "--frames": (f"trace {TRACE}", "--frames"),
        "--html": (f"trace {TRACE}", "--html made.html"),
        "--api": (f"trace {TRACE} --frames", "--api Produce"),
        "--connection": (f"trace {TRACE} --frames", "--connection 2"),
        "--json": (f"trace {TRACE}", "--json"),
    },
}  # fmt: skip
"""For each option an invocation, and the words that change its result."""

TESTED: dict[str, tuple[str, ...]] = {
    "audit": ("kit/cli", "kit/audit", "pipeline"),
    "broker fetch": ("kit/cli/commands/test_broker.py", "pipeline"),
    "broker run": ("kit/cli/commands/test_broker.py", "pipeline"),
    "cluster check": ("kit/cli/commands/test_cluster.py", "cluster"),
    "cluster play": ("kit/cli/commands/test_cluster.py", "cluster"),
    "coverage": ("kit/cli/commands/test_coverage.py", "conformance"),
    "diff": ("kit/cli/commands/test_diff.py",),
    "drift": ("kit/cli/commands/test_drift.py", "conformance"),
    "gate broker": ("kit/cli/commands/test_gate_broker.py",),
    "gate client": ("kit/cli/commands/test_gate_client.py", "cluster"),
    "freeze": ("kit/cli/commands/test_freeze.py", "conformance"),
    "idempotence": ("kit/cli/commands/test_idempotence.py",),
    "join": ("kit/cli", "kit/audit", "pipeline"),
    "jars resolve": ("kit/cli/commands/test_jars.py",),
    "repair": ("kit/cli", "kit/audit", "pipeline"),
    "record": ("kit/cli/commands/test_record.py", "kit/wire/recording"),
    "selftest": ("kit/cli", "conformance"),
    "skew": ("kit/cli/commands/test_skew.py",),
    "sweep": ("kit/cli/commands/test_sweep.py", "pipeline", "conformance"),
    "verify": ("kit/cli", "conformance"),
}
"""For commands that need Java, Spark, a broker or numbers in columns: the tests that give every option."""


def commands() -> Iterator[tuple[str, click.Command]]:
    def under(name: str, command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield name, command
            return
        for each in command.list_commands(context):
            if (found := command.get_command(context, each)) is not None:
                yield from under(f"{name} {each}".strip(), found, context)

    return under("", app, click.Context(app))


def options_of(command: click.Command) -> set[str]:
    return {max(one.opts, key=len) for one in command.params if isinstance(one, click.Option) and not one.hidden}


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_invocation_per_option_or_a_list_of_test_files(name: str) -> None:
    known = set(RUN[name]) if name in RUN else options_of(COMMANDS[name]) if name in TESTED else set()
    assert options_of(COMMANDS[name]) == known


@pytest.mark.parametrize("name", TESTED)
def test_every_option_of_commands_without_example_invocations_occurs_in_listed_test_files(name: str) -> None:
    places = [TESTS / place for place in TESTED[name]]
    found = [path for place in places for path in ([place] if place.is_file() else place.rglob("*.py"))]
    text = "\n".join(path.read_text("utf-8") for path in found if path.name != Path(__file__).name)
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            names = [*parameter.opts, f"{parameter.name}="]
            assert any(each in text for each in names), parameter.opts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def prepared(folder: Path) -> None:
    """What the invocations read."""
    sys.modules.pop("effect_targets", None)
    (folder / "effect_targets.py").write_text(
        "import time\nasked = []\n"
        "def wrong(*_): return {'hash': 7, 'sequence': 7}\n"
        "def hangs(*_): time.sleep(2)\n"
        "def changes(*given):\n    asked.append(given)\n    return {'sequence': asked.count(given)}\n",
        "utf-8",
    )
    (folder / "question.json").write_text('{"rule": "murmur2", "question": {"key": "666f6f"}}', "utf-8")
    known = 'rule = "sequence-decrement"\npattern = "*"\nreason = "known"\nexpires = 9999-01-01\n'
    (folder / "known.toml").write_text(f"[[known]]\n{known}", "utf-8")
    sides = [
        {"by": by, "release": "4.4.0", "answer": {"hash": hashed}}
        for by, hashed in (("reference", 597841616), ("mutant:one-bit", 1))
    ]
    failure = {"id": "x", "rule": "murmur2", "question": {"key": "666f6f"}, "found": {}}
    failure |= dict(zip(("expected", "actual"), sides, strict=True))
    (folder / "failure.json").write_text(json.dumps(failure), "utf-8")
    (folder / "group.json").write_text('{"topics": {"t": 3}, "members": [{"id": "a"}, {"id": "b"}]}', "utf-8")
    healthy(folder / "data" / "orders-0")
    healthy(folder / "zookeeper" / "orders-0")
    (folder / "zookeeper" / "meta.properties").write_text("version=0\nbroker.id=1\n")
    healthy(folder / "both" / "orders-0")
    healthy(folder / "both" / "orders-1")
    log = Log(folder / "holes" / "orders-0")
    log.append(data(2))
    log.offset += 5
    log.append(data(2))
    log.write()


def result(folder: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Everything that a command leaves: exit code, error, output, files; without times."""
    folder.mkdir()
    prepared(folder)
    monkeypatch.chdir(folder)
    last_certificate().parent.mkdir(parents=True, exist_ok=True)
    last_certificate().write_text("no certificate", "utf-8")
    if "report" in words:
        CliRunner().invoke(app, [*GATE.split(), "--events", "events.ndjson"], standalone_mode=False)
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    done = CliRunner().invoke(app, words.split(), input=ASKED, standalone_mode=False)
    if done.exception is not None and not isinstance(done.exception, KitError | BadInput | click.ClickException):
        raise done.exception
    files = {path.relative_to(folder) for path in folder.rglob("*") if "__pycache__" not in str(path)} - before
    shown = re.sub(r"\b\d+\.\d+ s\b|\d+\.\d\b", "", done.output)
    error = re.sub(r"[0-9a-f]{16}\.json", "", str(done.exception))  # the name of a working directory
    return done.return_value, error, shown, sorted(map(str, files))


CASES = {f"{name} {option}": (option, *words) for name, options in RUN.items() for option, words in options.items()}
PLAIN: dict[str, Any] = {}


@pytest.mark.parametrize(("option", "words", "more"), CASES.values(), ids=CASES)
def test_every_command_line_option_with_an_example_invocation_changes_the_result(
    option: str, words: str, more: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert option in more or "-v" in more
    changed = result(folder / "changed", f"{words} {more}", monkeypatch)
    if words not in PLAIN:
        PLAIN[words] = result(folder / "plain", words, monkeypatch)
        assert PLAIN[words] == result(folder / "again", words, monkeypatch), "else a difference proves nothing"
    assert changed != PLAIN[words]


REFUSED = {
    f"{name} {mode.where} {option}": (name, mode, option)
    for name, modes in NO_EFFECT.items()
    for mode in modes
    for option in mode.without
}


@pytest.mark.parametrize(("name", "mode", "option"), REFUSED.values(), ids=REFUSED)
def test_command_line_option_without_effect_in_a_mode_is_refused(
    name: str, mode: Any, option: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    prepared(folder)
    (parameter,) = (one for one in COMMANDS[name].params if option in one.opts)
    assert isinstance(parameter, click.Option)
    values = {"--format": "json", "--chunk": "5000", "--seed": "1", "--from": "offset:1", "--to": "offset:1"}
    given = [option] if parameter.is_flag else [option, values.get(option, _value(parameter))]
    done = CliRunner().invoke(app, [*name.split(), *mode.example, *given], standalone_mode=False)
    assert isinstance(done.exception, BadInput), done
    assert str(done.exception) == f"{option} has no effect {mode.where}: leave it out"


def _value(parameter: click.Option) -> str:
    if isinstance(parameter.type, click.Choice):
        return str(next(one for one in parameter.type.choices if one))
    if isinstance(parameter.type, click.types.IntRange | click.types.FloatRange):
        return "1"
    return "murmur2" if parameter.opts[-1] == "--expect" else "x"
