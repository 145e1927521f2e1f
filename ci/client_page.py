"""The pages of the clients: one that compares them in plain words, and one for each client with counts and differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from client_results import Deviation, GateResult, RuleCount

from kafka_conformance.answerers.named_driver import NamedDriver, Setting
from kafka_conformance.gate.reports.markdown import block, code, link, words
from kafka_conformance.gate.reports.outline import UNEXPLAINED, as_json

__all__ = ["INDEX", "pages", "slug_of"]

INDEX = "clients.md"
KEYED, SEQUENCES = "partition-for-key", "sequence-increment"
WITHOUT_KEY = {
    "round-robin-partitioner": "RoundRobinPartitioner",
    "default-partitioner": "DefaultPartitioner",
    "builtin-partitioner": "BuiltInPartitioner",
    "sticky-distribution": "producer",
}
NOT_JUDGED = "could not be judged"

_WRITTEN = (
    "<!-- Written by `python ci/clients.py` from `ci/client-results.ndjson`: `--pages` writes it without a gate. -->"
)

_ABOUT = """\
# Clients compared with Java

Does a client put a record with a key into the partition that Java's producer takes? Where it does not, two writers of a
topic put one key into two partitions: joins miss it, compaction keeps it twice, and its order is lost. Click a client for
its settings, its counts, and an example of each difference.
"""

_COLUMNS = """\
- *Same partition as Java by default?* "No" means that keyed records without further settings go elsewhere.
- *Setting for Java's partitions*: what a user sets. "None" means that the client has no such setting.
- *Records without a key*: where they go without settings, as the client's source says. Since 2.4.0 Java's producer keeps to
  one partition for a batch.
- *Sequence numbers*: whether those of an idempotent producer go on as Java's do, also after 2,147,483,647.
"""

_DETAILS = """\
## How the clients are gated

Each client answers through its own code, called by a driver of fewer than 60 lines in `ci/drivers`. The reason of each known
failure is in `ci/known-failures`, reports not yet sent to a project are in `ci/findings`.

node-rdkafka and `@confluentinc/kafka-javascript` are not gated: both are librdkafka, and their npm packages hold no binary
to install.

`tox -e clients` gates all of them, writes these pages, and fails if anything differs that is not a known failure.
"""

_COUNTS = """\
A cell shows the answers that match of the questions asked. Most questions are edge cases, chosen to find mistakes: their
share is not that of everyday keys. *Known* are differences with a reason in `ci/known-failures`; *unsupported* are questions
that the client cannot express or rejects, which never count as a match. A division by zero is reported under Java's name,
`ArithmeticException`; any other exception that is not a documented rejection has *failed*.
"""


def pages(results: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> dict[str, str]:
    """Return the pages by their path below ``kit/docs``; ``drivers`` are the clients' drivers by folder."""
    by_client: dict[str, list[GateResult]] = {}
    for one in results:
        by_client.setdefault(drivers[one.name].client, []).append(one)
    found = {INDEX: _index(by_client.values(), drivers)}
    return found | {f"clients/{slug_of(name)}.md": _client(ones, drivers) for name, ones in by_client.items()}


def slug_of(client: str) -> str:
    """Return the name of a client's page: ``segmentio/kafka-go`` has ``segmentio-kafka-go``."""
    return re.sub(r"[^a-z0-9]+", "-", client.lower()).strip("-")


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def _versions(results: Sequence[GateResult]) -> list[list[GateResult]]:
    """Return the results of each version of a client, the newest first; each version has a separate folder."""
    found = [[one for one in results if one.name == name] for name in dict.fromkeys(one.name for one in results)]
    return sorted(
        found, key=lambda version: [int(number) for number in re.findall(r"\d+", version[0].version)], reverse=True
    )


def _index(clients: Sequence[Sequence[GateResult]], drivers: Mapping[str, NamedDriver]) -> str:
    heads = (
        "client",
        "version",
        "same partition as Java by default?",
        "setting for Java's partitions",
        "records without a key",
        "sequence numbers as Java's?",
    )
    rows = [_answer(version, drivers[version[0].name]) for client in clients for version in _versions(client)]
    return f"{_WRITTEN}\n{_joined([_ABOUT, _table(heads, rows), _COLUMNS, _DETAILS])}"


def _default(settings: Sequence[GateResult]) -> GateResult:
    return next((one for one in settings if "default" in one.settings), settings[0])


def _answer(settings: Sequence[GateResult], driver: NamedDriver) -> list[str]:
    first = _default(settings)
    row = [f"[{words(driver.client)}](clients/{slug_of(driver.client)}.md)", words(first.version)]
    if first.unfinished:
        return [*row, NOT_JUDGED, "", "", ""]
    return [
        *row,
        _verdict(first.count(KEYED)) or "not asked",
        _chosen(settings, driver),
        _without_key(first, driver),
        _sequences(first) or words(driver.sequences or "not asked"),
    ]


def _setting(one: GateResult, driver: NamedDriver) -> Setting:
    return driver.settings[one.settings[0]]


def _chosen(settings: Sequence[GateResult], driver: NamedDriver) -> str:
    """Return what a user sets for Java's partitions of keyed records."""
    first = _default(settings)
    if _verdict(first.count(KEYED)) == "yes":
        return "not needed"
    others = [one for one in settings if one is not first]
    best = next((one for one in others if _verdict(one.count(KEYED)) == "yes"), None)
    best = best or next((one for one in others if "java" in one.settings), None)
    if best is None:
        return "none"
    name = code(_setting(best, driver).chosen_by or best.settings[0])
    differs = NOT_JUDGED if best.unfinished else {"yes": "", "no": "still differs"}.get(_verdict(best.count(KEYED)), "")
    return f"{name}, {differs}" if differs else name


def _without_key(one: GateResult, driver: NamedDriver) -> str:
    verdicts = {java: _verdict(one.count(rule)) for rule, java in WITHOUT_KEY.items()}
    phrases = {
        "yes": "as Java's {}",
        "no": "not as Java's {}",
        "not judged": "too few answers to compare with Java's {}",
    }
    judged = [phrases[verdict].format(java) for java, verdict in verdicts.items() if verdict]
    return "; ".join(filter(None, [words(_setting(one, driver).without_key), *judged])) or "not asked"


def _sequences(one: GateResult) -> str:
    """Return whether sequence numbers go on as Java's; nothing if they were not asked."""
    verdict = _verdict(one.count(SEQUENCES))
    kinds = [each.kind for each in one.deviations if each.rule == SEQUENCES]
    wraps = kinds and all(kind.startswith("wraps: ") for kind in kinds)
    return f"{verdict}: wrong after 2,147,483,647" if verdict == "no" and wraps else verdict


def _verdict(count: RuleCount | None) -> str:
    """Return yes, no or not judged; nothing if no question was asked."""
    if count is None or not count.asked:
        return ""
    return "no" if count.agreed != count.asked else "yes" if count.judged else "not judged"


def _client(results: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    name = drivers[results[0].name].client
    versions = _versions(results)
    results = [one for version in versions for one in version]
    summary = "\n".join(_summary(version, drivers[version[0].name]) for version in versions)
    rules = list(dict.fromkeys(count.rule for one in results for count in one.rules))
    links = ", ".join(f"[{rule}](../rules/{rule}.md)" for rule in rules)
    rows = [
        [
            words(one.version),
            words(", ".join(one.settings)),
            *(NOT_JUDGED if one.unfinished else _cell(one.count(rule)) for rule in rules),
        ]
        for one in results
    ]
    parts = [
        f"# {words(name)}\n\n{summary}",
        f"## Every setting and rule\n\n{_COUNTS}",
        _table(("version", "setting", *rules), rows),
        *([f"What each rule asks: {links}."] if rules else []),
        *(part for one in results for part in _deviations(one)),
    ]
    return f"{_WRITTEN}\n{_joined(parts)}"


def _summary(settings: Sequence[GateResult], driver: NamedDriver) -> str:
    """Return a line on a version: where its keyed records go."""
    first = _default(settings)
    line = f"- {words(first.version)}: "
    if first.unfinished:
        return line + f"{NOT_JUDGED}."
    verdict, chosen = _verdict(first.count(KEYED)), _chosen(settings, driver)
    keyed = {
        "yes": "keyed records go to Java's partitions by default",
        "no": "keyed records go to other partitions than Java's by default",
        "not judged": "keyed records: too few questions were answered",
    }.get(verdict, "keyed records were not asked")
    if verdict == "no":
        keyed += (
            "; none of its own settings changes that" if chosen == "none" else f"; for Java's partitions set {chosen}"
        )
    return f"{line}{keyed}. Records without a key: {_without_key(first, driver)}."


def _cell(count: RuleCount | None) -> str:
    if count is None:
        return "–"
    others = {name: getattr(count, name) for name in ("known", "differed", "failed", "unsupported")}
    counts = [
        f"{count.agreed:,} of {count.asked:,}",
        *(f"{number:,} {name}" for name, number in others.items() if number),
    ]
    return "; ".join(counts if count.judged else [*counts, "not judged"])


def _deviations(one: GateResult) -> Iterator[str]:
    if not one.deviations and not one.unanswered and not one.unfinished:
        return
    yield f"## {words(one.version)}, {words(', '.join(one.settings))}"
    if one.unfinished:
        exit_code, why = one.unfinished
        yield f"The gate ended with exit code {exit_code} before it finished: {code(why)}"
    yield from map(_deviation, one.deviations)
    for error in one.unanswered:
        yield f"{words(error.rule)} in {words(error.where)}: {code(error.what)}"


def _deviation(one: Deviation) -> str:
    impact = f"{one.impact.capitalize()}. " if one.impact else ""
    lines = [f"{impact}{words(one.rule)}: {code(one.kind, 200)}, {one.times:,} times, in {words(one.where)}"]
    if one.expires:
        issue = "" if not one.issue else f" ({_issue(one.issue)})"
        lines[0] += f". Known until {words(one.expires)}: {words(one.reason)}{issue}"
    if one.effect:
        lines.append(f"\nWhat this means for users: {words(one.effect)}")
    if one.diagnosis:
        lines.append(f"\n{one.diagnosis}")
    elif one.unexplained:
        lines.append(f"\nDiagnosis: {UNEXPLAINED}.")
    sides = [("question", one.question), ("Java    ", one.expected), ("client  ", one.actual)]
    return "\n".join([*lines, "", block([f"{name}  {as_json(value)}" for name, value in sides])])


def _issue(issue: str) -> str:
    return f"[{words(Path(issue).name)}](../../../{issue})" if issue.startswith("ci/") else link(issue)
