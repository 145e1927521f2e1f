"""The pages of the clients: one that compares them in plain words, and one for each client with counts and differences."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from client_results import Deviation, GateResult, RuleCount

from kafka_conformance.answerers.named_driver import NamedDriver, Setting
from kafka_conformance.cases.failures import Failure, Side
from kafka_conformance.core.protocol import question_id
from kafka_conformance.gate.reports.markdown import block, code, link, words
from kafka_conformance.gate.reports.outline import UNEXPLAINED, as_json
from kafka_conformance.reports.terminal import plural
from kafka_conformance.rules import RULES

__all__ = [
    "INDEX",
    "KEYED",
    "SEQUENCES",
    "WRITTEN",
    "asked_rules",
    "differs_in",
    "history",
    "pages",
    "setting_of",
    "slug_of",
    "version_order",
    "versions_of",
    "without_key",
]

INDEX = "clients.md"
KEYED, SEQUENCES = "partition-for-key", "sequence-increment"
WITHOUT_KEY = {
    "round-robin-partitioner": "RoundRobinPartitioner",
    "default-partitioner": "DefaultPartitioner",
    "builtin-partitioner": "BuiltInPartitioner",
    "sticky-distribution": "producer",
}
NOT_JUDGED = "could not be judged"

WRITTEN = "<!-- Written by `python ci/matrix.py` from `ci/client-results.ndjson` and `ci/adapter-results.ndjson`. -->"

_ABOUT = """\
# Clients compared with Java

Does a client put a record with a key into the partition that Java's producer takes? Where it does not, two writers of a
topic put one key into two partitions: joins miss it, compaction keeps it twice, and its order is lost. Click a client for
its settings, its counts, and an example of each difference. [The matrix](matrix.md) has all rules, and
[these questions](questions.md) are answered from it.
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

Each client answers through its own code, called by a driver in `ci/drivers`, in files of fewer than 60 lines. The reason of
each known failure is in `ci/known-failures`, reports not yet sent to a project are in `ci/findings`.

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
    """Return the pages, and the files of their cases, by their path below ``kit/docs``.

    ``drivers`` are the clients' drivers by folder.
    """
    by_client: dict[str, list[GateResult]] = {}
    for one in results:
        by_client.setdefault(drivers[one.name].client, []).append(one)
    found = {INDEX: _index(by_client.values(), drivers)}
    for ones in by_client.values():
        found |= _client(ones, drivers)
    return found


def slug_of(client: str) -> str:
    """Return the name of a client's page: ``segmentio/kafka-go`` has ``segmentio-kafka-go``."""
    return re.sub(r"[^a-z0-9]+", "-", client.lower()).strip("-")


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def versions_of(results: Sequence[GateResult]) -> list[list[GateResult]]:
    """Return the results of each version of a client, the newest first; each version has a separate folder."""
    found = [[one for one in results if one.name == name] for name in dict.fromkeys(one.name for one in results)]
    return sorted(found, key=lambda version: version_order(version[0].version), reverse=True)


def version_order(version: str) -> list[int]:
    """Return what orders the versions of a client or broker, the oldest first."""
    return [int(number) for number in re.findall(r"\d+", version)]


def _index(clients: Sequence[Sequence[GateResult]], drivers: Mapping[str, NamedDriver]) -> str:
    heads = (
        "client",
        "version",
        "same partition as Java by default?",
        "setting for Java's partitions",
        "records without a key",
        "sequence numbers as Java's?",
    )
    rows = [_answer(version, drivers[version[0].name]) for client in clients for version in versions_of(client)]
    return f"{WRITTEN}\n{_joined([_ABOUT, _table(heads, rows), _COLUMNS, _DETAILS])}"


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
        without_key(first, driver),
        _sequences(first) or words(driver.sequences or "not asked"),
    ]


def setting_of(one: GateResult, driver: NamedDriver) -> Setting:
    """Return the setting of a gate, as the client's driver describes it."""
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
    name = code(setting_of(best, driver).chosen_by or best.settings[0])
    differs = NOT_JUDGED if best.unfinished else {"yes": "", "no": "still differs"}.get(_verdict(best.count(KEYED)), "")
    return f"{name}, {differs}" if differs else name


def without_key(one: GateResult, driver: NamedDriver) -> str:
    """Return where records without a key go, and how that compares with Java."""
    verdicts = {java: _verdict(one.count(rule)) for rule, java in WITHOUT_KEY.items()}
    phrases = {
        "yes": "as Java's {}",
        "no": "not as Java's {}",
        "not judged": "too few answers to compare with Java's {}",
    }
    judged = [phrases[verdict].format(java) for java, verdict in verdicts.items() if verdict]
    return "; ".join(filter(None, [words(setting_of(one, driver).without_key), *judged])) or "not asked"


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


def _client(results: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> dict[str, str]:
    """Return the page of a client, and the file of each case on it, which ``replay`` takes."""
    name = drivers[results[0].name].client
    versions = versions_of(results)
    results = [one for version in versions for one in version]
    summary = "\n".join(_summary(version, drivers[version[0].name]) for version in versions)
    rules = asked_rules(results)
    links = ", ".join(f"[{rule}](../rules/{rule}.md)" for rule in rules)
    rows = [
        [
            words(one.version),
            words(", ".join(one.settings)),
            *(NOT_JUDGED if one.unfinished else _cell(one.count(rule)) for rule in rules),
        ]
        for one in results
    ]
    found = list(_differences(results))
    files = _case_files(found, f"clients/{slug_of(name)}")
    parts = [
        f"# {words(name)}\n\n{summary}",
        f"## Every setting and rule\n\n{_COUNTS}",
        _table(("version", "setting", *rules), rows),
        *([f"What each rule asks: {links}."] if rules else []),
        *(part for one in results for part in _unanswered(one)),
        *(part for rule in rules for part in _rule(rule, found, results, list(files))),
    ]
    return {f"clients/{slug_of(name)}.md": f"{WRITTEN}\n{_joined(parts)}", **files}


def asked_rules(results: Sequence[GateResult]) -> list[str]:
    """Return the rules that any of these gates asked, in their order."""
    return list(dict.fromkeys(count.rule for one in results for count in one.rules))


def differs_in(rule: str) -> str:
    """Return the heading on a client's page of what differs in a rule."""
    return f"Differences in {rule}"


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
    return f"{line}{keyed}. Records without a key: {without_key(first, driver)}."


def _cell(count: RuleCount | None) -> str:
    if count is None:
        return "–"
    others = {name: getattr(count, name) for name in ("known", "differed", "failed", "unsupported")}
    counts = [
        f"{count.agreed:,} of {count.asked:,}",
        *(f"{number:,} {name}" for name, number in others.items() if number),
    ]
    return "; ".join(counts if count.judged else [*counts, "not judged"])


def _unanswered(one: GateResult) -> Iterator[str]:
    if not one.unanswered and not one.unfinished:
        return
    yield f"## {words(one.version)}, {words(', '.join(one.settings))}"
    if one.unfinished:
        exit_code, why = one.unfinished
        yield f"The gate ended with exit code {exit_code} before it finished: {code(why)}"
    for error in one.unanswered:
        yield f"{words(error.rule)} in {words(error.where)}: {code(error.what)}"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A difference with one example, and all gates of the client that have both, the newest version first."""

    first: Deviation
    gates: tuple[GateResult, ...]


def _differences(results: Sequence[GateResult]) -> Iterator[_Difference]:
    groups: dict[tuple[str, ...], list[tuple[Deviation, GateResult]]] = {}
    for gate in results:
        for one in gate.deviations:
            example = (as_json(each) for each in (one.question, one.expected, one.actual))
            groups.setdefault((one.rule, one.kind, one.reason, *example), []).append((one, gate))
    for group in groups.values():
        yield _Difference(group[0][0], tuple(gate for _, gate in group))


def _case_files(found: Sequence[_Difference], folder: str) -> dict[str, str]:
    """Return the file of each difference, as ``replay`` takes it, by its path below ``kit/docs``."""
    files: dict[str, str] = {}
    for one in found:
        first, gate = one.first, one.gates[0]
        question = msgspec.convert(first.question, type=RULES[first.rule].question)
        count = gate.count(first.rule)
        release = count.release if count else first.where
        name = question_id(first.rule, release, question)
        path = next(path for number in itertools.count(1) if (path := f"{folder}/{name}-{number}.json") not in files)
        failure = Failure(
            name,
            first.rule,
            msgspec.Raw(msgspec.json.encode(question)),
            Side("reference", release, first.expected),
            Side(_target_of(gate), release, first.actual),
            {"version": gate.version, "setting": gate.settings[0], "kind": first.kind},
        )
        files[path] = msgspec.json.format(msgspec.json.encode(failure, order="sorted"), indent=2).decode() + "\n"
    return files


def _target_of(gate: GateResult) -> str:
    return f"target:{gate.name}:{gate.settings[0]}"


def _rule(
    rule: str, found: Sequence[_Difference], results: Sequence[GateResult], files: Sequence[str]
) -> Iterator[str]:
    """Yield the section of a rule in which the client differs."""
    own = [(one, path) for one, path in zip(found, files, strict=True) if one.first.rule == rule]
    if not own:
        return
    yield f"## {differs_in(rule)}"
    for one, path in own:
        yield f"### {code(one.first.kind, 200)}"
        yield _difference(one, results, path)


def _difference(one: _Difference, results: Sequence[GateResult], path: str) -> str:
    first = one.first
    seen: dict[str, list[str]] = {}
    for gate in one.gates:
        seen.setdefault(gate.version, []).extend(gate.settings)
    versions = "; ".join(f"{version} ({', '.join(settings)})" for version, settings in seen.items())
    impact = f"{first.impact.capitalize()}. " if first.impact else ""
    lines = [f"{impact}{plural(first.times, 'time')}, in Kafka {words(first.where)}"]
    if first.expires:
        issue = "" if not first.issue else f" ({_issue(first.issue)})"
        lines[0] += f". Known until {words(first.expires)}: {words(first.reason)}{issue}"
    lines += [
        "",
        f"- Seen in: {words(versions)}.",
        f"- Versions: {words(history(first.rule, first.kind, one.gates, results))}.",
    ]
    if first.effect:
        lines.append(f"- What this means for users: {words(first.effect)}")
    if first.diagnosis:
        lines.append(f"- Diagnosis: {first.diagnosis}")
    elif first.unexplained:
        lines.append(f"- Diagnosis: {UNEXPLAINED}.")
    replay = shlex.join(["kafka-conformance", "replay", f"kit/docs/{path}", "--actual", _target_of(one.gates[0])])
    lines.append(f"- Ask again, from a checkout: {code(replay)}")
    sides = [("question", first.question), ("Java    ", first.expected), ("client  ", first.actual)]
    return "\n".join([*lines, "", block([f"{name}  {as_json(value)}" for name, value in sides])])


def history(rule: str, kind: str, gates: Sequence[GateResult], results: Sequence[GateResult]) -> str:
    """Return in which of a client's gated versions a kind of difference is, for each setting of ``gates``.

    ``results`` are all gates of the client, the newest version first.
    """
    spans: dict[str, list[str]] = {}
    for setting in dict.fromkeys(setting for gate in gates for setting in gate.settings):
        asked = [one for one in reversed(results) if setting in one.settings and one.count(rule)]
        seen = [any((each.rule, each.kind) == (rule, kind) for each in one.deviations) for one in asked]
        spans.setdefault(_span([one.version for one in asked], seen), []).append(setting)
    if len(spans) == 1:
        return next(iter(spans))
    return "; ".join(f"{', '.join(settings)}: {span}" for span, settings in spans.items())


def _span(versions: Sequence[str], seen: Sequence[bool]) -> str:
    """Return in words which of these versions, the oldest first, have a difference. At least one has."""
    if len(versions) == 1:
        return f"{versions[0]}, the only one gated in this setting"
    if all(seen):
        return f"all {len(versions)} gated, {versions[0]} to {versions[-1]}"
    first, last = seen.index(True), len(seen) - 1 - seen[::-1].index(True)
    if not all(seen[first : last + 1]):
        return "in " + ", ".join(version for version, here in zip(versions, seen, strict=True) if here)
    parts = [f"not in {versions[first - 1]}"] if first else []
    parts += [f"gone in {versions[last + 1]}"] if last + 1 < len(versions) else []
    where = versions[first] if first == last else f"{versions[first]} to {versions[last]}"
    return f"{where}; {'; '.join(parts)}"


def _issue(issue: str) -> str:
    return f"[{words(Path(issue).name)}](../../../{issue})" if issue.startswith("ci/") else link(issue)
