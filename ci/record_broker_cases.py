"""Record what Kafka's own brokers answer to the cases of `gate broker`: python ci/record_broker_cases.py [RELEASE...].

Each release's broker runs from pinned jars, and the cases are run twice: an answer that is not the same both times is no
expectation, and ends the recording. Answers are kept once for all releases that gave them; those of releases that are not
recorded stay, but for cases whose requests have changed. Without releases, all of ``RELEASES`` are recorded. Then the table
in kit/docs/gate-broker.md is written; ``--table`` writes it alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from broker_cases import SEED, all_cases

from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.reports.page_block import write_block
from kafka_conformance.wire.broker_gate.case import FILE, BrokerCase, Frozen, Provenance, Recorded, frozen, write
from kafka_conformance.wire.broker_gate.runner import PREFIX, BrokerTarget, CaseVerdict, differences
from kafka_conformance.wire.client import parse_address
from kafka_jars.brokers import broker_coordinates, load_brokers
from kafka_reference.releases import parse_release

PAGE = Path(__file__).parents[1] / "kit" / "docs" / "gate-broker.md"
TABLE = "python ci/record_broker_cases.py --table"
RELEASES = (
    "2.4.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.6.2", "3.7.2", "3.9.2", "4.0.2",
    "4.2.2", "4.3.1", "4.4.0",
)  # fmt: skip


def main() -> int:
    """Record, and write the file that ships after each release."""
    if sys.argv[1:] != ["--table"]:
        for release in sys.argv[1:] or RELEASES:
            answers = recorded(release, all_cases())
            write(merged(frozen() if FILE.exists() else None, release, broker_sha256(release), answers))
            frozen.cache_clear()
    write_table()
    return 0


def broker_sha256(release: str) -> str:
    """Return the pinned sha256 of the jar of a release's broker."""
    name = broker_coordinates(release)
    return next(each.sha256 or "" for each in load_brokers().jars(release) if each.coordinates == name)


def merged(shipped: Frozen | None, release: str, sha256: str, answers: Mapping[str, list[Any]]) -> Frozen:
    """Return all cases with the answers of a release, and with those of others to requests that have not changed."""
    known = {case.id: case for case in shipped.cases} if shipped else {}
    jars = {**(shipped.provenance.jars if shipped else {}), release: sha256}
    order = sorted(jars, key=parse_release)
    cases = []
    for case in all_cases():
        old = known.get(case.id)
        unchanged = old is not None and msgspec.structs.replace(old, expected=[]) == case
        groups = {each.releases: each.answers for each in old.expected} if old and unchanged else {}
        found = {one: given for releases, given in groups.items() for one in releases if one in order}
        if case.id in answers:
            found[release] = answers[case.id]
        else:
            found.pop(release, None)
        cases.append(with_answers(case, {one: found[one] for one in order if one in found}))
    return Frozen(Provenance({one: jars[one] for one in order}, SEED), tuple(cases))


def with_answers(case: BrokerCase, answers: Mapping[str, list[Any]]) -> BrokerCase:
    """Return a case with the answers of these releases, each kept once."""
    groups: list[tuple[list[str], list[Any]]] = []
    for release, own in answers.items():
        same = next((releases for releases, known in groups if known == own), None)
        if same is None:
            groups.append(([release], own))
        else:
            same.append(release)
    return msgspec.structs.replace(case, expected=[Recorded(tuple(releases), known) for releases, known in groups])


def void_releases() -> list[str]:
    """Return the releases whose answers are not recorded as they would be: all of them if a request has changed."""
    jars = frozen().provenance.jars
    if [msgspec.structs.replace(case, expected=[]) for case in frozen().cases] != all_cases():
        return list(RELEASES)
    return [release for release in RELEASES if jars.get(release) != broker_sha256(release)]


def write_table() -> None:
    """Write the table of the page."""
    write_block(PAGE, TABLE, table(frozen()))


def table(shipped: Frozen) -> str:
    """Return how many cases each group has, and of how many each release has answers."""
    releases = list(shipped.provenance.jars)
    counts: dict[str, Counter[str]] = {}
    for case in shipped.cases:
        count = counts.setdefault(case.id.partition("/")[0], Counter())
        count.update(["cases", *(release for each in case.expected for release in each.releases)])
    counts["all"] = sum(counts.values(), Counter())
    lines = [f"| group | cases | {' | '.join(releases)} |", f"|---|{'---|' * (len(releases) + 1)}"]
    lines += [
        f"| {name} | {' | '.join(f'{count[each]:,}' for each in ('cases', *releases))} |"
        for name, count in counts.items()
    ]
    return "\n".join(lines) + "\n"


def recorded(release: str, asked: Sequence[BrokerCase]) -> dict[str, list[Any]]:
    """Return the answers of a release by case; those that it has no API for are left out."""
    runs = []
    with running_broker(release, engine="jars") as broker:
        for number in range(2):
            target = BrokerTarget(*parse_address(broker.bootstrap), 20.0, f"{PREFIX}record-{number}")
            with target.prepared([each for each in asked if target.applies(each)]):
                outcomes = [target.run(each) for each in asked]
            target.close()
            wrong = [f"{each.case.id}: {each.verdict.value}, {each.why}" for each in outcomes if each.is_failure]
            if wrong:
                raise SystemExit(f"{release} does not answer: {'; '.join(wrong)}")
            runs.append({each.case.id: each.answers for each in outcomes if each.verdict is CaseVerdict.AGREES})
    first, second = runs
    unstable = [(name, found) for name in first if (found := list(differences(first[name], second[name])))]
    if unstable:
        raise SystemExit(f"{release} answers differently the second time: {unstable}")
    print(f"{release}: {len(first)} of {len(asked)} cases", flush=True)
    return first


if __name__ == "__main__":
    raise SystemExit(main())
