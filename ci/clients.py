"""Gate every client in ``ci/drivers`` in each of its settings, and write the results as a page.

::

    python ci/clients.py                              # all of them; writes kit/docs/clients.md
    python ci/clients.py --only kafkajs --only sarama # these; the page goes to standard output
    python ci/clients.py --check                      # all of them; the existing page must be equal

Each gate is a separate process, ``kafka-conformance gate NAME:SETTING``, which builds the driver first. Its results are read
from its stream of events alone. The exit code is the highest one of the gates; 2 if a gate did not finish.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from kafka_conformance.answerers.named_driver import FOLDER, NamedDriver, read_driver
from kafka_conformance.core.events import from_lines
from kafka_conformance.gate.reports.markdown import block, code, diagnosis, link, words
from kafka_conformance.gate.reports.outline import Outline, Row, as_json, findings, outline, protocol_errors

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path("ci", "known-failures")
FAILURES = Path(".kafka-conformance", "clients")
PAGE = Path("kit", "docs", "clients.md")

_ABOUT = """\
# Clients compared with Java

Each client answers through its own code, called by a driver of fewer than 60 lines in `ci/drivers`. `default` is a producer
without settings, `java` the client's settings for compatibility with Java. A driver answers *unsupported* if the client
cannot express a question or rejects it; such answers are counted separately and never as agreement. Known failures of a
client are in `ci/known-failures`, each with its reason; reports not yet sent to a project are in `ci/findings`. A cell
shows answers that match of questions asked, then known failures, then unsupported questions.

A division by zero is reported under Java's name, `ArithmeticException`. Any other exception that is not a documented
rejection has *failed*, and fails the gate. A hash is reported as the client's function returns it, signed or unsigned.

Written by `tox -e clients`, which runs `python ci/clients.py` and fails if anything differs that is not a known failure.
"""


@dataclass(frozen=True, slots=True)
class Gated:
    """A client in one setting, with the exit code and the events of its gate."""

    name: str
    setting: str
    driver: NamedDriver
    exit_code: int
    seen: Outline

    @property
    def finished(self) -> bool:
        """Whether the gate has finished."""
        return self.seen.ended is not None


def command(name: str, setting: str, events: Path, options: Sequence[str]) -> list[str]:
    """Return the command line of a gate."""
    known = KNOWN / f"{name}-{setting}.toml"
    known_options = ["--known-failures", str(known)] if (ROOT / known).is_file() else []
    outputs = ["--events", str(events), "--failures", str(failures(name, setting)), "--no-github"]
    return [sys.executable, "-m", "kafka_conformance", "gate", f"{name}:{setting}", *known_options, *outputs, *options]


def failures(name: str, setting: str) -> Path:
    """Return the folder of a client's failed questions."""
    return FAILURES / f"{name}-{setting}"


def gate(name: str, options: Sequence[str]) -> Iterator[Gated]:
    """Gate a client in each of its settings."""
    driver = read_driver(ROOT / FOLDER / name)
    for setting in driver.settings:
        with tempfile.TemporaryDirectory() as scratch:
            events = Path(scratch, "events.ndjson")
            click.echo(f"== {name}:{setting}", err=True)
            shutil.rmtree(ROOT / failures(name, setting), ignore_errors=True)  # otherwise they would be asked again
            ended = subprocess.run(command(name, setting, events, options), cwd=ROOT, check=False, stdout=sys.stderr)
            yield Gated(name, setting, driver, ended.returncode, read(events))


def read(events: Path) -> Outline:
    """Return the outline of a gate's events; an interrupted stream gives the events up to its end."""
    try:
        return outline(from_lines(events.read_bytes().splitlines()))
    except (OSError, msgspec.MsgspecError):
        return outline([])


def page(gated: Sequence[Gated]) -> str:
    """Return the page: the matrix, then each client's deviations."""
    parts = [_ABOUT, _matrix(gated), *(part for one in gated for part in _deviations(one))]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _matrix(gated: Sequence[Gated]) -> str:
    rules = list(dict.fromkeys(row.rule for one in gated for row in one.seen.rows if row.ended))
    lines = [f"| client | version | setting | {' | '.join(rules)} |", "|---|---|---|" + "---|" * len(rules)]
    for one in gated:
        asked = {rule: [row for row in one.seen.rows if row.rule == rule and row.ended] for rule in rules}
        cells = [_cell(rows) if one.finished else "could not be judged" for rows in asked.values()]
        version = one.seen.began.target.version if one.seen.began else one.driver.version
        lines.append(f"| {words(one.driver.client)} | {words(version)} | {words(one.setting)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(rows: Sequence[Row]) -> str:
    ends = [row.ended for row in rows if row.ended]
    if not sum(end.asked + end.unsupported for end in ends):
        return "–"
    verdicts = ", ".join(dict.fromkeys(end.verdict for end in ends))
    asked, agreed = sum(end.asked for end in ends), sum(end.agreed for end in ends)
    others = {name: sum(getattr(end, name) for end in ends) for name in ("known", "differed", "failed", "unsupported")}
    counts = [f"{agreed:,} of {asked:,}", *(f"{count:,} {name}" for name, count in others.items() if count)]
    return f"**{verdicts}**: {'; '.join(counts)}"


def _deviations(one: Gated) -> Iterator[str]:
    found, broken = findings(one.seen.rows), protocol_errors(one.seen.rows)
    if not found and not broken and one.finished:
        return
    yield f"## {words(one.driver.client)}, {words(one.setting)}"
    if not one.finished:
        yield f"The gate ended with exit code {one.exit_code} before it finished."
    for finding in found:
        first, known = finding.first, finding.first.known
        lines = [
            f"**{words(first.rule)}**: {code(first.kind, 200)}, {finding.times:,} times, in {words(finding.where)}"
        ]
        if known is not None:
            issue = "" if not known.issue else f" ({_issue(known.issue)})"
            lines[0] += f". Known until {words(known.expires)}: {words(known.reason)}{issue}"
        if first.diagnosis is not None:
            lines.append(f"\n{diagnosis(first.diagnosis)}")
        asked = f"question  {as_json(first.question)}"
        yield "\n".join(
            [*lines, "", block([asked, f"Java      {as_json(first.expected)}", f"client    {as_json(first.actual)}"])]
        )
    for error in broken:
        yield f"**{words(error.first.rule)}** in {words(error.where)}: {code(error.first.what)}"


def _issue(issue: str) -> str:
    return f"[{words(Path(issue).name)}](../../{issue})" if issue.startswith("ci/") else link(issue)


@click.command()
@click.option(
    "--only", multiple=True, metavar="NAME", help="A folder in ci/drivers; may be given several times (default: all)."
)
@click.option("--kafka", metavar="RELEASES", help="Releases to gate (default: the gate's).")
@click.option(
    "--examples", metavar="N", default="1000", help="Generated questions per rule, for the gate (default: 1000)."
)
@click.option("--seed", metavar="N", default="4", help="Seed of the gate (default: 4, the seed of the page).")
@click.option("--check", is_flag=True, help="Compare with the existing page, and write nothing.")
def main(only: Sequence[str], kafka: str | None, examples: str, seed: str, check: bool) -> None:
    """Gate the clients, and write the page."""
    names = only or sorted(path.parent.name for path in (ROOT / FOLDER).glob("*/driver.toml"))
    asked = {"--kafka": kafka, "--examples": examples, "--seed": seed}
    options = [word for name, value in asked.items() if value for word in (name, value)]
    gated = [one for name in names for one in gate(name, options)]
    text = page(gated)
    if only:
        click.echo(text)
    elif not check:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
    elif (ROOT / PAGE).read_text(encoding="utf-8") != text:
        click.echo(f"{PAGE} differs from the results of the gates: run python ci/clients.py", err=True)
        sys.exit(1)
    for one in gated:
        click.echo(f"{one.name}:{one.setting}: exit code {one.exit_code}", err=True)
    sys.exit(2 if not all(one.finished for one in gated) else max((one.exit_code for one in gated), default=2))


if __name__ == "__main__":
    main()
