"""Gate every client in ``ci/drivers``, in each of its settings, and write what came of it as a page.

::

    python ci/clients.py                              # all of them; writes kit/docs/clients.md
    python ci/clients.py --only kafkajs --only sarama # these; the page goes to standard output
    python ci/clients.py --check                      # all of them; the page there has to say the same

Each gate is a process of its own, ``kafka-conformance gate NAME:SETTING``, which builds the driver first. What it found
comes from its stream of events, and from nothing else. The exit code is the worst one of the gates; 2 if one told nothing.
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
# The clients, gated

Each client answers through its own code, by a driver of fewer than 60 lines in `ci/drivers`. `default` is what a producer
does that sets nothing, `java` is what the client offers to be compatible with Java's. A driver says *unsupported* where a
client cannot express a question, or refuses it; that is no agreement, and is counted by itself. What a client is known to
do otherwise is in `ci/known-failures`, with its reason; what had not been reported to a project is in `ci/findings`, ready
to be sent. In a cell: agreed of asked, those known to differ, those unsupported.

A division by zero is told by Java's name for it, `ArithmeticException`. Any other exception that is no documented refusal
has *failed*, and fails the gate. A hash is told as the client's function gives it, without a sign if it has none.

Made by `tox -e clients`, which runs `python ci/clients.py` and fails if anything differs that is not known.
"""


@dataclass(frozen=True, slots=True)
class Gated:
    """A client in one setting, how its gate ended, and what it told."""

    name: str
    setting: str
    driver: NamedDriver
    exit_code: int
    seen: Outline

    @property
    def told(self) -> bool:
        """Whether the gate came to an end."""
        return self.seen.ended is not None


def command(name: str, setting: str, events: Path, options: Sequence[str]) -> list[str]:
    """The gate of a client in one setting."""
    known = KNOWN / f"{name}-{setting}.toml"
    held = ["--known-failures", str(known)] if (ROOT / known).is_file() else []
    told = ["--events", str(events), "--failures", str(failures(name, setting)), "--no-github"]
    return [sys.executable, "-m", "kafka_conformance", "gate", f"{name}:{setting}", *held, *told, *options]


def failures(name: str, setting: str) -> Path:
    """Where its failed questions are kept."""
    return FAILURES / f"{name}-{setting}"


def gate(name: str, options: Sequence[str]) -> Iterator[Gated]:
    """Gate a client in each of its settings."""
    driver = read_driver(ROOT / FOLDER / name)
    for setting in driver.settings:
        with tempfile.TemporaryDirectory() as scratch:
            events = Path(scratch, "events.ndjson")
            click.echo(f"== {name}:{setting}", err=True)
            shutil.rmtree(ROOT / failures(name, setting), ignore_errors=True)  # or they would be asked again
            ended = subprocess.run(command(name, setting, events, options), cwd=ROOT, check=False, stdout=sys.stderr)
            yield Gated(name, setting, driver, ended.returncode, read(events))


def read(events: Path) -> Outline:
    """What a gate told; of a stream that breaks off, what there is."""
    try:
        return outline(from_lines(events.read_bytes().splitlines()))
    except (OSError, msgspec.MsgspecError):
        return outline([])


def page(gated: Sequence[Gated]) -> str:
    """The page: the matrix, then each client's deviations."""
    parts = [_ABOUT, _matrix(gated), *(part for one in gated for part in _deviations(one))]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _matrix(gated: Sequence[Gated]) -> str:
    rules = list(dict.fromkeys(row.rule for one in gated for row in one.seen.rows if row.ended))
    lines = [f"| client | version | setting | {' | '.join(rules)} |", "|---|---|---|" + "---|" * len(rules)]
    for one in gated:
        asked = {rule: [row for row in one.seen.rows if row.rule == rule and row.ended] for rule in rules}
        cells = [_cell(rows) if one.told else "could not be judged" for rows in asked.values()]
        said = one.seen.began.target.version if one.seen.began else one.driver.version
        lines.append(f"| {words(one.driver.client)} | {words(said)} | {words(one.setting)} | {' | '.join(cells)} |")
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
    if not found and not broken and one.told:
        return
    yield f"## {words(one.driver.client)}, {words(one.setting)}"
    if not one.told:
        yield f"The gate ended with exit code {one.exit_code}, before it was through."
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
@click.option("--only", multiple=True, metavar="NAME", help="A folder in ci/drivers; may be given several times.")
@click.option("--kafka", metavar="RELEASES", help="Passed on to the gate.")
@click.option("--examples", metavar="N", default="1000", help="Passed on to the gate; 1000.")
@click.option("--seed", metavar="N", default="4", help="Passed on to the gate; 4, so that the page can be held to it.")
@click.option("--check", is_flag=True, help="Write nothing: the page there has to say the same.")
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
        click.echo(f"{PAGE} does not say what the gates say: run python ci/clients.py", err=True)
        sys.exit(1)
    for one in gated:
        click.echo(f"{one.name}:{one.setting}: exit code {one.exit_code}", err=True)
    sys.exit(2 if not all(one.told for one in gated) else max((one.exit_code for one in gated), default=2))


if __name__ == "__main__":
    main()
