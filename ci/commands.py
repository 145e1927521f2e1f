"""Run one small instance of every command, each alone, with an empty cache, in an install that has just what it needs.

::

    python ci/commands.py                 # what `tox -e commands` runs; five minutes on two cores
    python ci/commands.py sweep audit     # these alone

The instances below have what each command needs. The column *needs* of kit/docs/commands.md has to name the same
installs, `light` for the one without extras: it fails if the page names another one, or if a command of the command
line is missing here or there. Instances that need nothing, or `[audit]`, run in venvs made for them; those that need
`[jvm]`, with or without a further extra, in the install of this Python. A cache holds nothing but a link to the jars:
nothing that an earlier command has compiled helps. Each command runs in a separate folder, and those that need no
Java find none.

Prints the seconds of each command; exits with 1 if one of them does not end as it should.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import msgspec

from kafka_conformance.cli.main import app
from kafka_jars.store import default_store
from kafka_reference.partitioning.keyed import partition_for_key

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "kit" / "docs" / "commands.md"
EXAMPLES = ROOT / "kit" / "docs" / "examples"
LIMIT_S = 900
NEWEST, BEFORE = "4.4.0", "4.3.1"
QUESTION = {"id": "1", "rule": "murmur2", "release": NEWEST, "question": {"key": "666f6f"}}
LOST = {
    "replicas": [1, 2, 3], "min.insync.replicas": 1, "unclean.leader.election.enable": False,
    "events": [{"produce": "all"}, {"settle": True}],
}  # fmt: skip


@dataclass(frozen=True)
class Instance:
    """One small run of a command: its words, what it needs, its exit code, and a part of its output.

    ``before`` are the words of a command that makes its input, with a separate cache; it is interrupted after the text
    ``until``.
    """

    words: str
    needs: str
    output: str
    code: int = 0
    before: str = ""
    until: str = ""
    stdin: str = ""

    @property
    def has_java(self) -> bool:
        """Whether it runs in an install with Java."""
        return self.needs.startswith("[jvm")


LIGHT, AUDIT, WIRE, JVM, PLOT, CLUSTER = "light", "[audit]", "[wire]", "[jvm]", "[jvm,plot]", "[jvm,cluster]"
INSTALL = re.compile(r"\blight\b|\[[a-z,]+\]")
WRONG_TARGET = "gate --rules murmur2 --seed 1 --examples 20 --events events.jsonl -- {kit} answer --as mutant:one-bit"
INSTANCES = (
    Instance("answer", LIGHT, '"hash":597841616', stdin=msgspec.json.encode(QUESTION).decode()),
    Instance("answer --as java", JVM, '"hash":597841616', stdin=msgspec.json.encode(QUESTION).decode()),
    Instance("audit orders.jsonl --format json --partitions 3", AUDIT, "murmur2"),
    Instance("audit orders.jsonl --format json --partitions 3 --engine spark", JVM, "murmur2"),
    Instance("behaviour producer-partition --kafka 2.8.2 4.4.0", LIGHT, "KAFKA-10888"),
    Instance("broker fetch --kafka 4.4.0", JVM, ""),
    Instance("broker pin 4.4.0", JVM, "4.4.0"),
    Instance("broker run --kafka 4.4.0 --engine jars", JVM, "127.0.0.1:", until="Ctrl-C ends it"),
    Instance("certificate --shipped", LIGHT, "murmur2"),
    Instance("changes 2.8.2 3.9.2 --role producer", LIGHT, "The default of acks"),
    Instance("cluster check --kafka 4.4.0 --seed 1 --clusters 1 --group 0", CLUSTER, ""),
    Instance("cluster play script.json --kafka 4.4.0", CLUSTER, ""),
    Instance("coverage --rules murmur2 --examples 20 --seed 1", JVM, "murmur2"),
    Instance("coverage --shipped", LIGHT, "murmur2"),
    Instance("delivery --lose-response 2", LIGHT, ""),
    Instance("delivery --lose-response 2 --answerer java", JVM, ""),
    Instance("diff 4.3.1 4.4.0 --rules murmur2 --examples 20 --seed 1", JVM, "murmur2"),
    Instance("drift 4.4.0 --after 4.3.1 --rules murmur2 --examples 20 --seed 1", JVM, "murmur2"),
    Instance("explain {examples}/lingering.json", LIGHT, ""),
    Instance("explain {examples}/lingering.json --answerer java", JVM, ""),
    Instance("findings --kafka 3.6.2 --role producer", LIGHT, "Kafka 3.6.2, producer"),
    Instance("freeze --check --rules murmur2 --kafka 4.4.0", JVM, "murmur2"),
    Instance("gate --rules murmur2 --seed 1 --examples 20 -- {python} {examples}/driver.py", LIGHT, "murmur2"),
    Instance("gate broker 127.0.0.1:1", WIRE, "no connection to 127.0.0.1:1", 2),
    Instance("gate client --to 127.0.0.1:1 -- {python} -c pass", WIRE, "no connection to 127.0.0.1:1", 2),
    Instance("idempotence --kafka 3.2.0 acks=1 retries=0", LIGHT, "not idempotent"),
    Instance("idempotence --kafka 4.4.0", JVM, "4.4.0"),
    Instance("jars list", LIGHT, NEWEST),
    Instance("jars pin 4.4.0", JVM, "4.4.0 was pinned already"),
    Instance("group play {examples}/group.txt --event join:c3", LIGHT, "rebalance"),
    Instance("jars published", JVM, "published releases are pinned", code=-1),
    Instance("jars resolve --kafka 4.4.0", JVM, NEWEST),
    Instance("join orders.jsonl orders.jsonl --partitions 3", AUDIT, "orders.jsonl"),
    Instance("join orders.jsonl orders.jsonl --partitions 3 --engine spark", JVM, "orders.jsonl"),
    Instance("log find {examples}/log/orders-0 5", LIGHT, "5"),
    Instance("log find {examples}/log --time 2023-11-14T22:13", LIGHT, "orders-0"),
    Instance("log inspect {examples}/log --records", LIGHT, "orders-0"),
    Instance("place order-1 --partitions 25 --seen 1", AUDIT, "murmur2"),
    Instance("record --to 127.0.0.1:1 --trace a.trace -- {python} -c pass", WIRE, "no frame was recorded", 2),
    Instance("repair orders orders-2 --bootstrap-server 127.0.0.1:1", JVM, "no broker accepts connections", 2),
    Instance("replay failure.json --expected reference --actual mutant:one-bit", LIGHT, "murmur2", 1, WRONG_TARGET),
    Instance("replay failure.json --expected java --actual mutant:one-bit", JVM, "murmur2", 1, WRONG_TARGET),
    Instance("report events.jsonl", LIGHT, "murmur2", 1, WRONG_TARGET),
    Instance("cases --write cases --rules murmur2", LIGHT, "wrote 4 files"),
    Instance("rules", LIGHT, "murmur2"),
    Instance("sample murmur2", LIGHT, "murmur2"),
    Instance("schema", LIGHT, "$schema"),
    Instance("selftest --rules murmur2 --examples 20 --seed 1", JVM, "murmur2"),
    Instance("skew --kafka 3.3.2 --records 10000", PLOT, "3.3.2"),
    Instance("sweep --rules murmur2,isr --every 1 --keys 100 --scripts 20 --seed 1", JVM, "no difference"),
    Instance("trace {examples}/kafkajs.trace", WIRE, "sequence-reused: 6 times", 1),
    Instance("verify --kafka 4.4.0 --rules murmur2,isr --examples 20 --seed 1", JVM, "murmur2"),
)
"""At least one of each command. ``code`` -1: 0 or 1, as the world is."""


def main(chosen: Sequence[str]) -> None:
    """Run all instances, or those whose words begin with one of these; exits with 1 if one fails or a command is missing."""
    begun = time.monotonic()
    wrong = faults(commands_of_page(PAGE.read_text(encoding="utf-8")), all_commands(), INSTANCES)
    if wrong:
        sys.exit("\n".join(wrong))
    instances = [each for each in INSTANCES if not chosen or each.words.startswith(tuple(chosen))]
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-commands-") as name:
        installs = Installs(Path(name))
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            failures = [
                failure for failure in pool.map(lambda each: tried(each, installs), longest_first(instances)) if failure
            ]
    print(
        f"{len(instances) - len(failures)} of {len(instances)} as they should, in {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    sys.exit("\n".join(failures) or 0)


def longest_first(instances: Sequence[Instance]) -> list[Instance]:
    """Return the instances that start a JVM first."""
    return sorted(instances, key=lambda each: not each.has_java)


@cache
def all_commands() -> frozenset[str]:
    """Return the name of every command, ``log inspect`` of one below a group."""
    context = click.Context(app)
    commands = {name: app.get_command(context, name) for name in app.list_commands(context)}
    groups = {name: command.commands for name, command in commands.items() if isinstance(command, click.Group)}
    return frozenset(commands.keys() - groups) | {f"{name} {below}" for name in groups for below in groups[name]}


def commands_of_page(text: str) -> dict[str, str]:
    """Return what each command of the table needs, by its name: the words in small letters that its code begins with."""
    rows = re.findall(r"^\| (`.+?) \| (.*?) ?\| .* \|$", text, re.MULTILINE)
    return {
        re.match(r"[a-z ]+", code)[0].strip().removesuffix(" all"): needs  # type: ignore[index]
        for codes, needs in rows
        for code in re.findall(r"`([^`]+)`", codes)
    }


def command_of(instance: Instance) -> str:
    """Return the name of an instance's command: the longest that its words begin with."""
    first, second, *_ = [*instance.words.split(), ""]
    return two if (two := f"{first} {second}") in all_commands() else first


def faults(page: dict[str, str], commands: frozenset[str], instances: Sequence[Instance]) -> list[str]:
    """Return what is missing or differs between the page, the command line and the instances."""
    tried_in = {name: {each.needs for each in instances if command_of(each) == name} for name in commands}
    wrong = [f"{name} is not a command, but {PAGE.name} has it" for name in page.keys() - commands]
    wrong += [f"{name} is not in the table of {PAGE.name}" for name in commands - page.keys()]
    wrong += [f"{name} has no instance in {Path(__file__).name}" for name in commands if not tried_in[name]]
    for name in sorted(commands & page.keys()):
        installs = set(INSTALL.findall(page[name]))
        if tried_in[name] and installs != tried_in[name]:
            runs = " and ".join(sorted(tried_in[name]))
            wrong.append(f"{name} needs {page[name] or 'nothing'} by {PAGE.name}, but its instances run in {runs}")
    brokers = brokers_of(commands)
    for name in sorted(commands & page.keys()):
        if ("a broker" in page[name]) != (name in brokers):
            option = "an option" if name in brokers else "no option"
            wrong.append(f"{name} has {option} for a broker, but needs {page[name] or 'nothing'} by {PAGE.name}")
    return wrong


def brokers_of(commands: Iterable[str]) -> set[str]:
    """Return the commands that connect to a broker of the user."""
    context = click.Context(app)
    found = set()
    for name in commands:
        group, _, below = name.partition(" ")
        command = app.get_command(context, name) or app.get_command(context, group)
        if isinstance(command, click.Group):
            command = command.commands.get(below)
        given = [each for param in command.params for each in (*param.opts, param.metavar)] if command else []
        if {"--bootstrap-server", "HOST:PORT"} & set(given):
            found.add(name)
    return found


class Installs:
    """The installs: made at first use, but for that of this Python."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._lock = folder, threading.Lock()
        self._made = {JVM: Path(sys.executable).parent}

    def scripts(self, needs: str) -> Path:
        """Return the folder of the programs of an install."""
        with self._lock:
            if needs.startswith("[jvm"):
                return self._made[JVM]
            if needs not in self._made:
                begun, where = time.monotonic(), self.folder / f"venv{len(self._made)}"
                venv.create(where, with_pip=True)
                extra = "" if needs == LIGHT else needs
                command = [where / "bin" / "python", "-m", "pip", "install", "-q", f"{ROOT}{extra}"]
                subprocess.run(command, check=True, timeout=900, env=environment({}))
                print(f"{time.monotonic() - begun:5.0f} s  pip install kafka-conformance{extra}", flush=True)
                self._made[needs] = where / "bin"
            return self._made[needs]


def environment(more: dict[str, str]) -> dict[str, str]:
    """Return this process's environment without the checkout on Python's path, and with ``more``."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")} | more


def tried(instance: Instance, installs: Installs) -> str:
    """Run an instance; return why it failed, or "". Prints its seconds."""
    scripts = installs.scripts(instance.needs)
    folder = Path(tempfile.mkdtemp(dir=installs.folder))
    write_inputs(folder)
    values = {"kit": scripts / "kafka-conformance", "python": scripts / "python", "examples": EXAMPLES}
    if instance.before:
        run(instance.before.format(**values).split(), scripts, folder, instance)
        for failure in (folder / ".kafka-conformance" / "failures").glob("*.json"):
            shutil.copy(failure, folder / "failure.json")
    begun = time.monotonic()
    code, output = run(instance.words.format(**values).split(), scripts, folder, instance)
    print(f"{time.monotonic() - begun:5.0f} s  {instance.needs:13} {instance.words}", flush=True)
    if code == instance.code or (instance.code < 0 and code in (0, 1)):
        return (
            ""
            if instance.output in output
            else f"{instance.words}: {instance.output!r} is not in its output:\n{output}"
        )
    return f"{instance.words} ended with {code}, expected {instance.code}:\n{output}"


def write_inputs(folder: Path) -> None:
    """Write what the instances read: a script of a history, and an export of a topic that Java's producer wrote."""
    (folder / "script.json").write_bytes(msgspec.json.encode(LOST))
    ends = [0, 0, 0]
    with (folder / "orders.jsonl").open("wb") as file:
        for number in range(500):
            partition = partition_for_key(key := f"customer-{number}".encode(), 3)
            row = {"partition": partition, "offset": ends[partition], "key": key.decode()}
            file.write(msgspec.json.encode(row) + b"\n")
            ends[partition] += 1


def run(words: Sequence[str], scripts: Path, folder: Path, instance: Instance) -> tuple[int, str]:
    """Run a command with an empty cache; return its exit code, and both its outputs."""
    cache = Path(tempfile.mkdtemp(dir=folder.parent))
    jars = default_store().folder / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    (cache / "jars").symlink_to(jars.resolve())
    others = [os.environ["PATH"]] if instance.has_java else []
    env = environment({"KAFKA_CONFORMANCE_CACHE": str(cache), "PATH": os.pathsep.join([str(scripts), *others])})
    if not instance.has_java:
        env.pop("JAVA_HOME", None)
    process = subprocess.Popen(
        [scripts / "kafka-conformance", *words], cwd=folder, env=env, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    timer = threading.Timer(LIMIT_S, process.kill)
    timer.start()
    try:
        return ended(process, instance)
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[str], instance: Instance) -> tuple[int, str]:
    """Wait until a command has ended, interrupted or not; return its exit code and output."""
    seen = ""
    if instance.until:
        for line in process.stdout or ():
            seen += line
            if instance.until in line:
                process.send_signal(signal.SIGINT)
                break
    output, _ = process.communicate(instance.stdin or None)
    return process.returncode, seen + output


if __name__ == "__main__":
    main(sys.argv[1:])
