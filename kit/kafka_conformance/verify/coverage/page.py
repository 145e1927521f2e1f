"""The page on coverage, in Markdown, made from the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_conformance.core.spans import runs
from kafka_conformance.rules import RULES
from kafka_conformance.verify.coverage.mirrored_code import Elsewhere
from kafka_conformance.verify.coverage.record import Method, Ratio, Record
from kafka_conformance.verify.coverage.summary import MethodSummary, newest_summaries, summary_of
from kafka_reference.releases import parse_release

__all__ = ["coverage_page"]

_HEAD = """\
<!-- Written by `kafka-conformance coverage --shipped --write kit/docs/coverage.md`: measure again to change it. -->
# Coverage: how much of Kafka's code the proof runs

A number of questions does not tell how much they prove: most are about four small functions. This page shows, for
each rule, how many lines and branches of Kafka's own classes run while they answer its questions. JaCoCo measures it in the
JVM that answers.

- **It is an upper bound of what is proven.** Code that never runs is not proven. Code that runs is proven as far as an
  answer shows its effect.
- **Branches run** and **lines run** are those of the methods that the rule mirrors. Methods of the same classes that belong
  to something else are listed with the reason, and are in **branches of all methods**.
- **Not Kafka's** is what the kit has in place of Kafka's code. It is not measured, since no class of Kafka's runs there.
- Assertions are disabled, as in production, and are not counted. Statements that only log at a level which is not enabled
  are counted, and do not run.
"""
_AGAIN = """\

## Measure it

```sh
kafka-conformance coverage --shipped
kafka-conformance coverage --rules murmur2,partition-for-key
```

The first command prints the record that ships, without Java. The second measures rules in the newest release that has them;
`--kafka` names others. `-v` prints what has not run. `--check` exits with 1 if a method runs less of its code than recorded,
or if a reason below is no longer true. `--record FILE` writes what is measured into a record.

JaCoCo counts two branches for each condition, and does not tell which of them ran. Line numbers are those of the release's
source.
"""
_OLDER_RELEASES = """\
Branches run, of the rule's own methods. Which methods are not the rule's is noted for its newest release: an older one
counts some more. Up to 3.4.x the broker's classes are written in Scala, whose compiler adds methods that nothing calls.
"""
_SOURCE = "https://github.com/apache/kafka/blob"
# Where Kafka keeps the Java classes of a package; the others are the clients'.
_MODULES = {
    "org/apache/kafka/storage/": "storage",
    "org/apache/kafka/server/": "server",
    "org/apache/kafka/coordinator/group/": "group-coordinator",
}


def coverage_page(record: Record) -> str:
    """Return the whole page."""
    newest = newest_summaries(record)
    lines = [_HEAD, *_table(list(newest.values())), _AGAIN, *_releases(record)]
    for summary in newest.values():
        lines += _section(summary)
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(summaries: Sequence[MethodSummary]) -> Iterator[str]:
    heads = (
        "rule",
        "branches run",
        "lines run",
        "branches of all methods",
        "kinds",
        "spaces",
        "questions",
        "not Kafka's",
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for each in summaries:
        row = each.row
        asked = f"{sum(row.spaces.values()):,} of spaces, {row.generated:,} generated"
        slug = f"[`{row.rule}`](#{row.rule})"
        yield (
            f"| {slug} | {each.branches} | {each.lines} | {each.all_branches} | {row.kinds} | {len(row.spaces)} | {asked} "
            f"| {each.harness} |"
        )


def _releases(record: Record) -> Iterator[str]:
    releases = sorted({row.release for row in record.rows}, key=parse_release)
    rules = list(dict.fromkeys(row.rule for row in record.rows))
    if len(record.rows) == len(rules):
        return
    yield "## By release\n"
    yield _OLDER_RELEASES
    yield f"| rule | {' | '.join(releases)} |"
    yield f"|---{'|---:' * len(releases)}|"
    for rule in rules:
        found = [record.row(rule, release) for release in releases]
        yield f"| `{rule}` | {' | '.join(summary_of(row).branches.percent if row else '' for row in found)} |"


def _section(summary: MethodSummary) -> Iterator[str]:
    row = summary.row
    yield f"\n## {row.rule}\n"
    if row.rule in RULES and RULES[row.rule].harness:
        yield f"Not Kafka's: {RULES[row.rule].harness}\n"
    yield f"Kafka {row.release}, {row.asked:,} questions with seed {row.seed}.\n"
    yield "| class | methods run | branches run | lines run |"
    yield "|---|---:|---:|---:|"
    for name, methods in summary.own.items():
        run = Ratio(sum(bool(method.lines.run) for method in methods), len(methods))
        branches = sum((method.branches for method in methods), Ratio(0, 0))
        lines = sum((method.lines for method in methods), Ratio(0, 0))
        yield f"| [`{name.rpartition('/')[2]}`]({_link(name, row.release)}) | {run} | {branches} | {lines} |"
    if summary.elsewhere:
        yield "\nNot this rule's:\n"
        yield from (_reason(each, methods) for each, methods in summary.elsewhere)
    if summary.never_run:
        yield "\nNever run:\n"
        yield from (f"- `{method.name}`" for method in summary.never_run)
    if summary.partly_run:
        yield "\nRun in part:\n"
        yield from (f"- `{method.name}`: {_missing(method)}" for method in summary.partly_run)


def _reason(each: Elsewhere, methods: Sequence[Method]) -> str:
    rule = f", run by [`{each.rule}`](#{each.rule})" if each.rule else ""
    return f"- {each.why}{rule}: {', '.join(f'`{method.name}`' for method in methods)}"


def _missing(method: Method) -> str:
    """Return the lines that never ran, and the branches that did not in the other lines."""
    parts = []
    if method.missed:
        parts.append(f"not line{'s' if len(method.missed) > 1 else ''} {_spans(method.missed)}")
    others = [f"{run} of {total} in line {line}" for line, run, total in method.partly if line not in method.missed]
    if others:
        parts.append(f"branches: {', '.join(others)}")
    return "; ".join(parts)


def _spans(lines: Sequence[int]) -> str:
    found = runs(set(lines), range(lines[0], lines[-1] + 1))
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)


def _link(name: str, release: str) -> str:
    if name.startswith("kafka/"):
        return f"{_SOURCE}/{release}/core/src/main/scala/{name}.scala"
    module = next((module for prefix, module in _MODULES.items() if name.startswith(prefix)), "clients")
    return f"{_SOURCE}/{release}/{module}/src/main/java/{name}.java"
