"""Write the pages of the findings: ``kit/docs/findings.md`` and a page for each area in ``kit/docs/findings``.

::

    python ci/finding_pages.py            # writes the pages; a second

``kafka_conformance/findings/AREA.toml`` says what a finding is, how bad it is, and who is affected.
``kit/docs/findings/NAME.json`` is its case: the
smallest question that shows it, with the answers of all releases. ``shown_in`` names one release of each answer that shows
the finding; the releases that give these answers are computed. ``releases`` are those with the behaviour by Kafka's source;
a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.cli.commands.findings import short_list
from kafka_conformance.core.protocol import Question
from kafka_conformance.findings import Area, Finding, read_areas
from kafka_conformance.gate.reports.release_ranges import since_until
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.change_pages import linked_tickets
from kafka_conformance.reports.example_table import example_table
from kafka_conformance.reports.type_docs import anchor
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

DOCS = Path(__file__).parents[1] / "kit" / "docs"
FOLDER = DOCS / "findings"
MEANINGS = {
    "critical": "records with a key go to other partitions than those of Java's producer of another release",
    "high": "records or producers are refused; records are lost, duplicated, reordered or unreadable",
    "medium": "records without a key are spread unevenly; batches have other sizes or times; memory or files leak",
    "low": "only an error is another one, or no client can bring it about",
}

SHOWN = parse_release("3.6.2")
INDEX = """\
# Findings

The findings that hold in a release, a line for each with `--short`; else also the effect, and whether you are affected:

```
$ kafka-conformance findings --kafka 3.6.2 --role producer --short | head -2
```

```text
{first_lines}
```

Unexpected behaviour of Kafka's own Java classes. The reference reproduces it, by exact release. Of {count} findings, {cases}
have a *case*: the smallest question that shows it, with the answer of every release. The tests compare each case with Java
and with the reference. `kafka-conformance explain kit/docs/findings/NAME.json` shows a case step by step, once for each
group of releases with the same answer. [The pages of the rules](rules/README.md) explain the fields of questions and
answers.

"Since 2.1.0" includes 2.1.0; "up to 2.1.x" includes every release of 2.1.

| area | findings |
|---|---|
{areas}
"""


class Answers(msgspec.Struct, frozen=True):
    """Releases with one answer."""

    kafka: tuple[str, ...]
    answer: dict[str, Any]


class Case(msgspec.Struct, frozen=True):
    """The smallest question that shows a finding, and every answer to it."""

    rule: str
    question: dict[str, Any]
    answers: tuple[Answers, ...]

    @property
    def typed(self) -> Question:
        """The question, as its rule takes it."""
        return msgspec.convert(self.question, type=RULES[self.rule].question)

    @property
    def releases(self) -> list[str]:
        """Every release that answered, in order."""
        return sorted((version for group in self.answers for version in group.kafka), key=parse_release)

    def groups(self, shown_in: Sequence[str]) -> list[Answers]:
        """Return the answers that these releases give."""
        return [group for group in self.answers if set(shown_in) & set(group.kafka)]


def read_case(name: str, folder: Path = FOLDER) -> Case | None:
    """Return the case of a finding; None if it has none."""
    path = folder / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=Case) if path.exists() else None


def seen_in(case: Case, finding: Finding) -> list[str]:
    """Return the releases whose answer to the case shows the finding, in order."""
    return sorted((version for group in case.groups(finding.shown_in) for version in group.kafka), key=parse_release)


def index(areas: Sequence[Area]) -> str:
    """Return the page of all findings: those of each severity, with who is affected."""
    every = [(area, finding) for area in areas for finding in area.findings.values()]
    cases = sum(read_case(name) is not None for area in areas for name in area.findings)
    rows = "\n".join(f"| [{area.title}](findings/{area.name}.md) | {len(area.findings)} |" for area in areas)
    first = "\n".join(short_list(SHOWN, "producer")[:2])
    parts = [INDEX.format(count=len(every), cases=cases, areas=rows, first_lines=first)]
    for severity in sorted(RANKS, key=RANKS.__getitem__):
        found = [(area, finding) for area, finding in every if finding.severity == severity]
        if found:
            lines = [
                f"| [{finding.title}](findings/{area.name}.md#{anchor(finding.title)}) | {finding.releases} "
                f"| {finding.affected} |"
                for area, finding in found
            ]
            head = f"## {severity.capitalize()}\n\n{MEANINGS[severity].capitalize()}.\n\n"
            parts.append(f"{head}| finding | releases | am I affected? |\n|---|---|---|\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def page(area: Area) -> str:
    """Return the page of an area: a section for each finding."""
    head = f"# {area.title}\n\n{area.about} [All findings by severity](../findings.md).\n"
    return "\n".join([head, *("\n\n".join(section(name, finding)) + "\n" for name, finding in area.findings.items())])


def section(name: str, finding: Finding) -> Iterator[str]:
    """Yield the paragraphs of a finding."""
    case = read_case(name)
    rule = finding.rule or (case.rule if case else "")
    facts = [
        ("severity", f"**{finding.severity}**: {MEANINGS[finding.severity]}"),
        ("releases", finding.releases),
        ("seen in", _seen(case, finding)),
        ("rule", f"[`{rule}`](../rules/{rule}.md)"),
        ("ticket", linked_tickets(", ".join(finding.tickets))),
    ]
    yield f"## {finding.title}"
    first, *rows = [f"| {what} | {text} |" for what, text in facts if text]
    yield "\n".join([first, "|---|---|", *rows])
    yield finding.effect
    yield f"**Am I affected?** {finding.affected}"
    if case is not None:
        yield f"[The case]({name}.json), step by step: `kafka-conformance explain kit/docs/findings/{name}.json`"
        yield example_table(
            case.typed, [(f"in {since_until(g.kafka, case.releases)}", g.answer) for g in shown(case, finding)]
        )


def shown(case: Case, finding: Finding) -> list[Answers]:
    """Return the answers to show: the finding's newest, and the nearest one without it; all, if none is the finding's."""
    found = case.groups(finding.shown_in)
    if not found:
        return list(case.answers)
    newest = max(found, key=lambda group: parse_release(group.kafka[-1]))
    others = [group for group in case.answers if group not in found]
    after = [group for group in others if parse_release(group.kafka[-1]) > parse_release(newest.kafka[-1])]
    before = max(others, key=lambda group: parse_release(group.kafka[-1]), default=None)
    return [newest, after[0]] if after else [before, newest] if before else [newest]


def _seen(case: Case | None, finding: Finding) -> str:
    if case is None or not finding.shown_in:
        return ""
    seen, asked = seen_in(case, finding), case.releases
    if len(seen) == len(asked):
        return f"all {len(asked)} releases that have the rule and were asked"
    return f"{since_until(seen, asked).partition(' (')[0]}: {len(seen)} of {len(asked)} releases asked"


def main() -> None:
    """Write all pages."""
    areas = read_areas()
    (DOCS / "findings.md").write_text(index(areas), encoding="utf-8")
    for area in areas:
        (FOLDER / f"{area.name}.md").write_text(page(area), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
