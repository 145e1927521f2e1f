"""Make again the generated files and records whose inputs have changed, in the order in which they depend on each other.

::

    python ci/regenerate.py                            # what `tox -e regenerate` runs: makes what is void
    python ci/regenerate.py --list                     # what is void, and about how long it takes; runs nothing; a minute
    python ci/regenerate.py --only rule-pages proof    # these steps alone
    python ci/regenerate.py --accept changes           # records the present files of the step as current; makes nothing
    python ci/regenerate.py --check changes            # asks again for what is void, compares, records; makes nothing

``regeneration_steps.py`` has the steps. A step is void if its files are missing, or by one of two checks. An exact one
compares the fingerprints in a record, or the whole page, with what would be made now. Where that takes minutes, a key over
the inputs is compared with the one in ``regenerated.json``, which is committed; the key is written when the step was made.

Each step is checked when its turn comes, since an earlier step may have changed its inputs. Run the same command again to
resume: what was made is current, and the commands of long steps resume too. Exit codes: 0 everything is current;
1 a step failed because Java or a mutant differs, or with ``--list`` something is void; 2 a step could not be made.
"""

from __future__ import annotations

import json
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.files import write_whole
from kafka_conformance.reports.terminal import plural

__all__ = ["Checked", "Failed", "Record", "Step", "check", "in_order", "make", "overview", "read_record"]

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "ci" / "regenerated.json"
# The longest command, every rule in every release, takes two hours on two cores.
LIMIT_S = 8 * 3600.0


@dataclass(frozen=True, slots=True)
class Step:
    """Generated files: how to see whether they are void, and how to make them.

    Exactly one of ``void`` and ``keys`` is given: ``void`` returns the void parts, such as rules, and is exact; ``keys``
    returns the key over the inputs of each part.
    """

    name: str
    outputs: tuple[str, ...]
    """Patterns of files below the root; each has a match once the step was made."""
    commands: tuple[str, ...]
    """Run one after the other. ``{parts}`` are the void parts, joined by commas."""
    seconds: float
    """Processor time of one part, until a run has measured it."""
    void: Callable[[], Collection[str]] | None = None
    keys: Callable[[], Mapping[str, str]] | None = None
    after: tuple[str, ...] = ()
    """The steps whose files this one reads."""
    each: bool = False
    """Whether the commands run for one part at a time, because they do not resume."""
    accepts: tuple[int, ...] = (0,)
    """The exit codes of commands that have made their files."""
    needs: tuple[str, ...] = ()
    """Programs in PATH; ``a|b`` is one of them."""
    checks: tuple[str, ...] = ()
    """Commands that ask again for what stands in the files, and write nothing; ``{parts}`` as above."""


class Made(msgspec.Struct):
    """What is on record of a step: the processor time of a part, and the key of each part at the time it was made."""

    seconds: float | None = None
    keys: dict[str, str] = msgspec.field(default_factory=dict)


Record = dict[str, Made]
"""By name of the step."""


class Checked(msgspec.Struct, frozen=True):
    """The void parts of a step, and the keys of all its parts."""

    void: tuple[str, ...]
    keys: dict[str, str] = msgspec.field(default_factory=dict)


class Failed(Exception):
    """A step that could not be made, and the exit code that says so."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Run:
    """A run: what is on record, and how steps are checked and commands run."""

    record_path: Path
    look: Callable[[Step], Checked]
    """Checks a step before anything was made."""
    look_again: Callable[[Step], Checked]
    """Checks a step whose inputs may have been written by this run."""
    execute: Callable[[Step, str], tuple[int, float]]
    """Returns the exit code of a command and its seconds of processor time."""
    say: Callable[[str], None] = click.echo
    record: Record = field(default_factory=dict)


def read_record(path: Path) -> Record:
    """Read what is on record; nothing if there is no file. Raises KitError."""
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except msgspec.DecodeError as error:
        raise KitError(f"{path} cannot be read: {error}; restore it with git checkout") from error


def write_record(path: Path, record: Record) -> None:
    """Write the record, a key in each line, so that its changes can be read in a history."""
    document = {name: msgspec.to_builtins(record[name]) for name in sorted(record)}
    write_whole(path, (json.dumps(document, indent=1, sort_keys=True) + "\n").encode())


def in_order(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, each after those whose files it reads, and else as given.

    Raises CycleError; KeyError if a step comes after an unknown one.
    """
    by_name = {step.name: step for step in steps}
    places = {name: place for place, name in enumerate(by_name)}
    sorter = TopologicalSorter({step.name: step.after for step in steps})
    sorter.prepare()
    ready: list[str] = []
    found: list[Step] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=places.__getitem__)
        name = ready.pop(0)
        found.append(by_name[name])
        sorter.done(name)
    return found


def check(step: Step, record: Record, root: Path) -> Checked:
    """Return what of a step is void; all of it, if files are missing."""
    missing = any(next(root.glob(pattern), None) is None for pattern in step.outputs)
    if step.void is not None:
        return Checked(tuple(step.void()) or (("missing",) if missing else ()))
    keys = dict(step.keys()) if step.keys is not None else {}
    known = record.get(step.name, Made()).keys
    return Checked(tuple(part for part, key in keys.items() if missing or known.get(part) != key), keys)


def overview(steps: Sequence[Step], run: Run) -> int:
    """Print which steps are void, and how long they take; 1 if one is."""
    found = {step.name: run.look(step) for step in steps}
    void = {name for name, checked in found.items() if checked.void}
    total = 0.0
    for step in steps:
        checked, follows = found[step.name], [name for name in step.after if name in void]
        if checked.void:
            took = estimate(step, checked, run.record)
            total += took
            run.say(f"void     {step.name}: {_shown(checked.void)}; {duration(took)}")
        elif follows:
            void.add(step.name)
            run.say(f"perhaps  {step.name}: is checked again after {', '.join(follows)}")
        else:
            run.say(f"current  {step.name}")
    count = sum(bool(checked.void) for checked in found.values())
    run.say(f"{count} of {len(steps)} steps void; about {duration(total)} of processor time")
    return 1 if count else 0


def make(steps: Sequence[Step], run: Run) -> int:
    """Make what is void, in this order; 2 if a program that a void step needs is missing. Raises Failed at a failure."""
    first = {step.name: run.look(step) for step in steps}
    left = {step.name: estimate(step, first[step.name], run.record) for step in steps if first[step.name].void}
    made: set[str] = set()
    unmade: list[str] = []
    for number, step in enumerate(steps, 1):
        checked = run.look_again(step) if made.intersection(step.after) else first[step.name]
        left.pop(step.name, None)
        if not checked.void:
            continue
        head = f"[{number}/{len(steps)}] {step.name}"
        if missing := _missing(step):
            unmade.append(step.name)
            run.say(f"{head}: left out, needs {missing}: install it, and run again")
            continue
        rest = f"left after it: {plural(len(left), 'step')}, about {duration(sum(left.values()))}"
        run.say(f"{head}: {_shown(checked.void)}; about {duration(estimate(step, checked, run.record))}; {rest}")
        _make(step, checked, run)
        made.add(step.name)
    run.say(f"not made: {', '.join(unmade)}" if unmade else f"{len(made)} made, all {len(steps)} steps are current")
    return 2 if unmade else 0


def compare(steps: Sequence[Step], run: Run, parts: Collection[str] = ()) -> int:
    """Ask again for the void parts, or for those among ``parts``; nothing is made. Raises Failed at a difference."""
    for step in steps:
        checked = run.look(step)
        meant = _meant(step, checked, parts)
        asked = [part for part in checked.void if part in meant]
        run.say(f"{step.name}: {len(asked)} of {plural(len(meant), 'part')} changed since compared; the others hold")
        for command in step.checks if asked else ():
            words = command.format(parts=",".join(asked))
            code, _ = run.execute(step, words)
            if code:
                raise Failed(f"{step.name}: {words} ended with exit code {code}", 1 if code == 1 else 2)
        _keep(step, {part: checked.keys[part] for part in asked}, run)
    return 0


def _meant(step: Step, checked: Checked, parts: Collection[str]) -> Collection[str]:
    """Return all parts of a step, or these. Raises Failed if it has no such part."""
    if unknown := sorted(set(parts).difference(checked.keys)):
        raise Failed(f"unknown part {unknown[0]!r}: {step.name} has {', '.join(checked.keys)}", 2)
    return parts or checked.keys.keys()


def _keep(step: Step, keys: Mapping[str, str], run: Run) -> None:
    run.record.setdefault(step.name, Made()).keys.update(keys)
    write_record(run.record_path, run.record)


def _make(step: Step, checked: Checked, run: Run) -> None:
    """Make one step, and record each part that is done."""
    made = run.record.setdefault(step.name, Made())
    for parts in ([part] for part in checked.void) if step.each else (list(checked.void),):
        spent = 0.0
        for command in step.commands:
            words = command.format(parts=",".join(parts))
            code, seconds = run.execute(step, words)
            spent += seconds
            if code not in step.accepts:
                again = "run the same command again to resume"
                raise Failed(f"{step.name}: {words} ended with exit code {code}; {again}", 1 if code == 1 else 2)
        made.seconds = round(spent / len(parts), 1)
        # The keys are those of before the command: an input that was changed meanwhile voids the step.
        _keep(step, {part: checked.keys[part] for part in parts if part in checked.keys}, run)
    if step.void is not None and (still := run.look_again(step).void):
        raise Failed(f"{step.name}: was made, and is still void: {_shown(still)}; see what its commands printed", 2)
    made.keys = {part: key for part, key in made.keys.items() if part in checked.keys}
    write_record(run.record_path, run.record)


def estimate(step: Step, checked: Checked, record: Record) -> float:
    """Return the seconds of processor time to make what is void: as measured, or the step's own guess."""
    measured = record.get(step.name, Made()).seconds
    return len(checked.void) * (step.seconds if measured is None else measured)


def duration(seconds: float) -> str:
    """``40 s``, ``25 min`` or ``3.5 h``."""
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )


def _shown(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
    return ", ".join(parts[:4]) + more


def _missing(step: Step) -> str:
    return ", ".join(need for need in step.needs if not any(map(shutil.which, need.split("|"))))


def execute(_: Step, words: str) -> tuple[int, float]:
    """Run a command in the checkout; return its exit code and its seconds: of processor time, at least of the clock.

    Java's processor time counts only if the process that started it waits for its end.
    """
    program, *rest = shlex.split(words)
    python = [sys.executable, "-m", "kafka_conformance"] if program == "kafka-conformance" else [sys.executable]
    before, began = _children_seconds(), time.monotonic()
    try:
        code = subprocess.run([*python, *rest], cwd=ROOT, timeout=LIMIT_S, check=False).returncode
    except subprocess.TimeoutExpired:
        raise Failed(
            f"{words} has not ended after {duration(LIMIT_S)}; run the same command again to resume", 2
        ) from None
    return code, max(_children_seconds() - before, time.monotonic() - began)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def look_afresh(step: Step) -> Checked:
    """Check a step in a separate process: this one has read records that are written meanwhile."""
    command = [sys.executable, __file__, "--look", step.name]
    done = subprocess.run(command, cwd=ROOT, timeout=900, check=False, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it printed no reason"])[-1]
        raise Failed(f"{step.name}: could not be checked: {why}", 2)
    return msgspec.json.decode(done.stdout, type=Checked)


@click.command()
@click.option("--list", "listed", is_flag=True, help="Print what is void, and about how long it takes; run nothing.")
@click.option("--only", is_flag=True, help="Make the steps NAME alone.")
@click.option("--accept", is_flag=True, help="Record the present files of the steps NAME as current; make nothing.")
@click.option("--check", "compared", is_flag=True, help="Ask again for what is void of the steps NAME; make nothing.")
@click.option(
    "--parts", default="", metavar="PARTS", help="With --check or --accept: these parts alone, joined by commas."
)
@click.option("--look", hidden=True, metavar="NAME", help="Print the void parts of a step as JSON.")
@click.argument("names", nargs=-1, metavar="[NAME...]")
def main(
    *, listed: bool, only: bool, accept: bool, compared: bool, parts: str, look: str | None, names: Sequence[str]
) -> None:
    """Make again the generated files and records whose inputs have changed."""
    from regeneration_steps import STEPS

    if bool(names) != (only or accept or compared) or only + accept + compared > 1:
        raise click.UsageError("give names of steps with --only, --accept or --check, and only then")
    if parts and not (accept or compared):
        raise click.UsageError("--parts goes with --accept or --check alone")
    steps = in_order(STEPS)
    if unknown := sorted({*names, *([look] if look else [])} - {step.name for step in steps}):
        raise click.UsageError(f"unknown step {unknown[0]!r}: expected one of {', '.join(step.name for step in steps)}")
    chosen = [step for step in steps if not names or step.name in names]
    record = read_record(RECORD)

    def here(step: Step) -> Checked:
        return check(step, record, ROOT)

    run = Run(RECORD, here, here if listed or compared else look_afresh, execute, record=record)
    wanted = [part for part in parts.split(",") if part]
    try:
        if look is not None:
            click.echo(msgspec.json.encode(here(next(step for step in steps if step.name == look))))
        elif accept:
            _accept(chosen, run, wanted)
        elif listed:
            sys.exit(overview(chosen, run))
        else:
            before = signal.signal(signal.SIGTERM, _end)
            try:
                code = compare(_comparable(chosen), run, wanted) if compared else make(chosen, run)
            finally:
                signal.signal(signal.SIGTERM, before)
            sys.exit(code)
    except (Failed, KitError) as failure:
        click.echo(f"regenerate: {failure}", err=True)
        sys.exit(failure.code if isinstance(failure, Failed) else 2)


def _comparable(chosen: Sequence[Step]) -> Sequence[Step]:
    if lacking := [step.name for step in chosen if not step.checks]:
        raise Failed(f"{lacking[0]}: no command compares it; see --list", 2)
    return chosen


def _accept(chosen: Sequence[Step], run: Run, parts: Collection[str]) -> None:
    if exact := [step.name for step in chosen if step.keys is None]:
        raise Failed(f"{exact[0]}: is compared with what would be made, so it cannot be accepted; make it", 2)
    for step in chosen:
        checked = run.look(step)
        _keep(step, {part: checked.keys[part] for part in _meant(step, checked, parts)}, run)


def _end(number: int, _: Any) -> None:
    """End by an exception, so that the running command is ended too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
