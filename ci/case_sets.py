"""Keep the sets of frozen cases: open another one, withdraw a case, or list them.

::

    python ci/case_sets.py open "Kafka 4.5, set 2"         # with all cases that are in the checkout now
    python ci/case_sets.py withdraw 67c51a5c515bd582 "Java's answer depends on the locale"
    python ci/case_sets.py list                            # the sets; fails if the files are not theirs
    python ci/case_sets.py table                           # writes the tables in kit/docs/cases.md; the others do too

``open`` reads the cases of the set before from git: from HEAD, or from the commit that ``--since`` names. Cases never
leave a set, and no set is ever changed.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from kafka_conformance.cases.sets import CaseSet, CaseSets, Withdrawn, cases_by_rule, fingerprint_of, parse_sets
from kafka_conformance.cases.store import Case, read
from kafka_conformance.core.errors import BadInput
from kafka_conformance.gate.reports.markdown import words
from kafka_conformance.reports.page_block import write_block

__all__ = [
    "COMMAND",
    "PAGE",
    "add_set",
    "cases_in",
    "faults",
    "first_set",
    "main",
    "sets_table",
    "sets_text",
    "withdraw",
]

ROOT = Path(__file__).resolve().parents[1]
DATA = Path("kit", "kafka_conformance", "cases", "data")
FILE = Path("kit", "kafka_conformance", "cases", "sets.json")
PAGE = ROOT / "kit" / "docs" / "cases.md"
COMMAND = "python ci/case_sets.py table"

Cases = Mapping[str, Iterable[Case]]


def cases_in(folder: Path) -> dict[str, tuple[Case, ...]]:
    """Return the frozen cases in a folder by rule."""
    return cases_by_rule(read(path) for path in sorted(folder.glob("*.ndjson")))


def first_set(name: str, cases: Cases, opened: str) -> CaseSets:
    """Return the file with its first set."""
    sha256, rules = fingerprint_of(cases)
    return CaseSets((CaseSet(name, opened, sha256, rules),))


def add_set(sets: CaseSets, name: str, before: Cases, now: Cases, opened: str) -> CaseSets:
    """Return the sets with another one, of the cases ``now``. Raises click.ClickException.

    ``before`` are the cases of the newest set.
    """
    if name in {one.name for one in sets.sets}:
        raise click.ClickException(f"there is a set {name!r} already: a set is never changed, give another name")
    if fingerprint_of(before)[0] != sets.newest.sha256:
        raise click.ClickException(f"these are not the cases of {sets.newest.name}: name their commit with --since")
    old = {case.id for some in before.values() for case in some}
    new = {case.id for some in now.values() for case in some}
    if old - new:
        raise click.ClickException(
            f"{len(old - new)} cases are gone, such as {min(old - new)}: withdraw them, and keep them"
        )
    if fingerprint_of({rule: [case for case in some if case.id in old] for rule, some in now.items()})[0] != (
        sets.newest.sha256
    ):
        raise click.ClickException(
            f"answers of {sets.newest.name} have changed: withdraw such cases, and keep their answers"
        )
    if old == new:
        raise click.ClickException(f"no case is new since {sets.newest.name}: there is nothing to open")
    sha256, rules = fingerprint_of(now)
    added = tuple(sorted(new - old))
    return msgspec.structs.replace(sets, sets=(*sets.sets, CaseSet(name, opened, sha256, rules, added)))


def withdraw(sets: CaseSets, case_id: str, reason: str, cases: Cases, since: str) -> CaseSets:
    """Return the sets with a case withdrawn. Raises click.ClickException if there is no such case."""
    rule = next((rule for rule, some in cases.items() if any(case.id == case_id for case in some)), "")
    if not rule:
        raise click.ClickException(f"no frozen case is named {case_id!r}: a report names it, as `question id`")
    if any(one.id == case_id for one in sets.withdrawn):
        raise click.ClickException(f"case {case_id} is withdrawn already")
    found = (*sets.withdrawn, Withdrawn(case_id, rule, since, reason))
    return msgspec.structs.replace(sets, withdrawn=tuple(sorted(found, key=lambda one: (one.rule, one.id))))


def faults(sets: CaseSets, cases: Cases) -> list[str]:
    """Return what is wrong between the sets and the cases: one line each; none if each set is as it was opened."""
    found = []
    for one in sets.sets:
        members = {rule: sets.members(one.name, some) for rule, some in cases.items()}
        sha256, rules = fingerprint_of({rule: some for rule, some in members.items() if some})
        if sha256 != one.sha256:
            found.append(
                f"{one.name} has sha256 {one.sha256[:12]} and {one.cases:,} cases; the files give {sha256[:12]} and"
                f" {sum(rules.values()):,}: open another set for new cases, and restore changed ones"
            )
        elif rules != one.rules:
            found.append(f"{one.name} has other numbers of cases by rule than the files")
    names = {case.id for some in cases.values() for case in some}
    found += [f"withdrawn case {one.id} is not in the files" for one in sets.withdrawn if one.id not in names]
    return found


def sets_text(sets: CaseSets) -> str:
    """Return the text of the file."""
    return msgspec.json.format(msgspec.json.encode(sets), indent=1).decode() + "\n"


def sets_table(sets: CaseSets) -> str:
    """Return the sets and the withdrawn cases as Markdown."""
    lines = ["| set | since | cases | rules | sha256 |", "|---|---|---:|---:|---|"]
    lines += [
        f"| {words(one.name)} | {one.opened} | {one.cases:,} | {len(one.rules)} | `{one.sha256}` |"
        for one in reversed(sets.sets)
    ]
    if not sets.withdrawn:
        return "\n".join([*lines, "", "No case is withdrawn.", ""])
    lines += ["", "| withdrawn case | rule | since | why |", "|---|---|---|---|"]
    lines += [f"| `{one.id}` | {words(one.rule)} | {one.since} | {words(one.reason)} |" for one in sets.withdrawn]
    return "\n".join([*lines, ""])


def _cases_at(revision: str) -> dict[str, tuple[Case, ...]]:
    """Return the cases of a commit."""
    listed = _git("ls-tree", "--name-only", revision, f"{DATA.as_posix()}/").decode().splitlines()
    with tempfile.TemporaryDirectory(prefix="case-sets-") as name:
        for path in listed:
            Path(name, Path(path).name).write_bytes(_git("show", f"{revision}:{path}"))
        return cases_in(Path(name))


def _git(*words: str) -> bytes:
    ran = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True)
    if ran.returncode:
        raise click.ClickException(f"git {words[0]} failed: {ran.stderr.decode(errors='replace').strip()}")
    return ran.stdout


def _read() -> CaseSets:
    return _parsed((ROOT / FILE).read_bytes())


def _parsed(content: bytes) -> CaseSets:
    try:
        return parse_sets(content, str(FILE))
    except BadInput as error:
        raise click.ClickException(str(error)) from error


def _write(sets: CaseSets) -> None:
    text = sets_text(sets)
    _parsed(text.encode())  # a name or a reason that readers refuse is not written
    (ROOT / FILE).write_text(text, encoding="utf-8")
    write_block(PAGE, COMMAND, sets_table(sets))
    click.echo(f"wrote {FILE} and {PAGE.name}: {sets.label}")


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@click.group(help=__doc__)
def main() -> None:
    """Keep the sets."""


@main.command("open")
@click.argument("name")
@click.option("--since", default="HEAD", show_default=True, metavar="COMMIT", help="A commit with the set before.")
def open_(name: str, since: str) -> None:
    """Open a set with the cases in the checkout."""
    now = cases_in(ROOT / DATA)
    if not (ROOT / FILE).exists():
        _write(first_set(name, now, _today()))
        return
    _write(add_set(_read(), name, _cases_at(since), now, _today()))


@main.command("withdraw")
@click.argument("case_id", metavar="CASE")
@click.argument("reason")
def withdraw_(case_id: str, reason: str) -> None:
    """Withdraw a case."""
    _write(withdraw(_read(), case_id, reason, cases_in(ROOT / DATA), _today()))


@main.command("table")
def table() -> None:
    """Write the tables of the page."""
    write_block(PAGE, COMMAND, sets_table(_read()))


@main.command("list")
def list_() -> None:
    """List the sets; exit code 1 if the files are not those of the newest."""
    sets = _read()
    for line in sets.lines():
        click.echo(line)
    if wrong := faults(sets, cases_in(ROOT / DATA)):
        raise click.ClickException("; ".join(wrong))


if __name__ == "__main__":
    main()
