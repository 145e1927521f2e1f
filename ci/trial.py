"""Gate the clients in ``ci/trial.toml`` with several seeds: are their true deviations found, and how are they diagnosed?

::

    python ci/trial.py                             # seeds 1 to 10; writes kit/docs/trial.md
    python ci/trial.py --seeds 2 --only kafka-rust # the page goes to standard output

The exit code is 1 if a deviation was not found, or a diagnosis was false, with any seed; 2 if a gate did not finish.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import click
import msgspec
from client_gates import PARALLEL, ROOT, Gated, gate_all, read_driver

from kafka_conformance.answerers.named_driver import FOLDER
from kafka_conformance.gate.reports.markdown import code, words

TRIALS = Path(__file__).with_name("trial.toml")
PAGE = ROOT / "kit" / "docs" / "trial.md"

_ABOUT = """\
# How well the gate finds and names deviations

Clients whose deviations are known from their source are gated with {seeds} different seeds. *Found* counts the seeds with
which exactly the deviating rules differ; *diagnosed* lists the known mistakes that the gate reported, with the number of
seeds if not with all; *false* counts the diagnoses that contradict the source.

`python ci/trial.py` writes this page; `ci/trial.toml` says where each deviation is in the client's source.
"""


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A client in one setting and its true deviation: see ``trial.toml``."""

    target: str
    deviation: str
    source: str
    differs: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one gate found: the rules that differ, and the known mistakes that it reported."""

    rules: frozenset[str]
    names: frozenset[str]


def read_trials(path: Path = TRIALS) -> list[Trial]:
    """Return the trials of a file. Raises msgspec.ValidationError."""
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8"))["trial"], list[Trial])


def outcome(one: Gated) -> Outcome:
    """Return what a gate found."""
    ended = [row.ended for row in one.seen.rows if row.ended]
    reported = [found.diagnosis for row in one.seen.rows for found in row.differed]
    diagnoses = [*(one for one in reported if one), *(one for end in ended for one in end.diagnoses)]
    return Outcome(
        frozenset(end.rule for end in ended if end.differed + end.known + end.failed),
        frozenset(one.mutant.removeprefix("key:") for one in diagnoses),
    )


def false_names(trial: Trial, found: Outcome) -> list[str]:
    """Return the diagnoses that contradict the client's source."""
    return sorted(name for name in found.names if not any(fnmatchcase(name, true) for true in trial.names))


def page(trials: Sequence[Trial], outcomes: dict[str, list[Outcome]], seeds: int) -> str:
    """Return the page: a row for each trial."""
    heads = ("client", "version", "setting", "true deviation", "found", "diagnosed", "false")
    lines = [_ABOUT.format(seeds=seeds), f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_row(trial, outcomes[trial.target], seeds))} |" for trial in trials]
    false = sum(len(false_names(trial, one)) for trial in trials for one in outcomes[trial.target])
    return "\n".join([*lines, "", f"False diagnoses: {false:,}, in {len(outcomes) * seeds:,} gates.", ""])


def _row(trial: Trial, outcomes: Sequence[Outcome], seeds: int) -> list[str]:
    name, _, setting = trial.target.partition(":")
    driver = read_driver(ROOT / FOLDER / name)
    found = sum(one.rules == frozenset(trial.differs) for one in outcomes)
    reported = Counter(name for one in outcomes for name in one.names)
    diagnosed = ", ".join(
        f"{code(name)}{'' if times == seeds else f' {times}'}" for name, times in sorted(reported.items())
    )
    false = sum(len(false_names(trial, one)) for one in outcomes)
    silent = "no known mistake" if trial.differs else "conforms"
    return [
        *(words(driver.client), words(driver.version), words(setting), words(trial.deviation)),
        *(f"{found} of {seeds}", diagnosed or silent, str(false)),
    ]


def failures(trials: Sequence[Trial], outcomes: dict[str, list[Outcome]]) -> list[str]:
    """Return a line for each deviation that was not found correctly, and for each false diagnosis."""
    lines = []
    for trial in trials:
        for seed, one in enumerate(outcomes[trial.target], 1):
            if one.rules != frozenset(trial.differs):
                lines.append(f"{trial.target}, seed {seed}: {sorted(one.rules)} differ, not {sorted(trial.differs)}")
            lines += [f"{trial.target}, seed {seed}: {name} is false" for name in false_names(trial, one)]
    return lines


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="A client, or CLIENT:SETTING; may be given several times.")
@click.option("--seeds", type=click.IntRange(1), default=10, show_default=True, help="Seeds of each client: 1 to N.")
@click.option("--examples", default=200, show_default=True, help="Generated questions per rule, for the gate.")
@click.option("--parallel", type=click.IntRange(1), default=PARALLEL, show_default=True, help="Gates at a time.")
def main(only: Sequence[str], seeds: int, examples: int, parallel: int) -> None:
    """Gate each trial with each seed, and write the page."""
    trials = [one for one in read_trials() if not only or {one.target, one.target.partition(":")[0]} & set(only)]
    outcomes: dict[str, list[Outcome]] = {one.target: [] for one in trials}
    for seed in range(1, seeds + 1):
        options = ["--seed", str(seed), "--examples", str(examples)]
        for gated in gate_all(list(outcomes), options, parallel=parallel, built=seed > 1):
            if not gated.finished:
                click.echo(f"{gated.name}:{gated.setting} did not finish: {gated.why}", err=True)
                sys.exit(2)
            outcomes[f"{gated.name}:{gated.setting}"].append(outcome(gated))
        if not only:  # after each seed: a long run may be interrupted
            PAGE.write_text(page(trials, outcomes, seed), encoding="utf-8")
    if only:
        click.echo(page(trials, outcomes, seeds))
    lines = failures(trials, outcomes)
    for line in lines:
        click.echo(line, err=True)
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
