"""The page that answers the questions people ask of the matrix: pairs of clients, KIP-794, error 45, a broker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from client_page import KEYED, SEQUENCES, setting_of, slug_of, version_order, versions_of, without_key
from client_results import GateResult
from matrix_page import REMARK, linked_state, one_state
from matrix_results import Cell, Results, of_subject
from wire_page import PREFIX

from kafka_conformance.answerers.named_driver import NamedDriver
from kafka_conformance.gate.reports.markdown import code, words
from kafka_reference.idempotence.batch_actions import Answer, BatchAction, SideEffect, Situation, decide

__all__ = ["NEEDS", "PAGE", "Placement", "placement_of", "question_page"]

PAGE = "questions.md"
FETCH = "consumer-fetch"
JAVA = "Java's hash, murmur2"
_BUILT_IN = "builtin-partitioner"
_REFUSED = tuple(f"{PREFIX}refused/{name}" for name in ("out-of-order", "out-of-order-two-partitions"))
_DRAWS = "not-deterministic"
_IGNORES_KEYS = "always-the-same"
_CAUSE = re.compile(r"^[a-z-]+: (`[^`]+`(?:, `[^`]+`)*): (.*)$")
_NEXT_CAUSE = re.compile(r"; (?=[a-z-]+: `)")
_MUTANT = re.compile(r"wrong answers equal `([^`]+)`: (.*?)(?=; so do| \(see|$)")

NEEDS: Mapping[str, Sequence[str]] = {
    "producer": ("api-versions", "produce", "record-batch"),
    "idempotent producer": ("producer-state",),
    "transactions": ("transactions", "markers"),
    "consumer": ("fetch", "list-offsets"),
    "consumer group": ("groups",),
    "admin": ("topics",),
}
"""What a client is used for, and the groups of cases that ask it."""

_PAIRS = """\
## Do two clients put a key in the same partition?

The newest version of each client, without settings: = every key in the same partition, ≠ some or all keys in another one,
? unknown. (= leaves out the key `""` where the next table says that it is drawn.)
"""
_PLACEMENTS = """\
### With settings, and in older versions

All clients of one line of this table put every key that was asked into the same
partition, and two of different lines do not. A placement that is *unknown* is compared with Java's alone.
"""

_KIP_794 = """\
## Which client follows KIP-794?

KIP-794 (since 3.3.0) is how Java's producer places records without a key: it keeps to one partition for `batch.size` bytes,
and prefers partitions whose brokers are fast. {verdict} *Records without a key* is what the client's source says.
"""

_ERROR_45 = """\
## What does a client do on error 45?

45 is `OUT_OF_ORDER_SEQUENCE_NUMBER`: the broker got a batch of an idempotent producer whose sequence does not follow the
last one. Java's idempotent producer does this with a batch of its current id and epoch, while `retries` and
`delivery.timeout.ms` last:
"""
_ERROR_45_CLIENTS = """\
What clients did on the wire when a broker answered 45 once: to the first of several batches in flight, and while batches of
two partitions were in flight. Ask your own client: `kafka-conformance gate client --run refused/out-of-order -- ./adapter`.
"""
_ERROR_45_CAUSES = """\
The next table shows which clients cause it. After 2,147,483,647 the next sequence is 0; a client that sends any other
number gets error 45 for every later batch of that partition:
"""

_FETCH = """\
## What does a client deliver of a fetch response?

Java's consumer delivers the records from the fetch offset on, without markers and, with read_committed, without aborted
transactions; it reads on after compacted batches. Each row is one way in which a client differs, by
[consumer-fetch](rules/consumer-fetch.md): the number of answers that differ in this way, and why. Most questions are edge
cases, damaged batches among them.
"""

_BROKER = """\
## May I put a client in front of this broker?

Look at what the client is used for. Where a broker differs in something high or critical, records may be lost or written
twice: the second table leads to the cases. Elections, restarts and clusters of several brokers are not covered.
"""
_SAME, _PARTLY, _HARMFUL, _LACKING = (
    "as Kafka's broker",
    "in part, or differs: low, medium",
    "differs: high, critical",
    "not applicable: it lacks an API or a version that the cases need",
)
_LIKENESS = (_SAME, _PARTLY, _HARMFUL, _LACKING)
_BROKER_CASES = """Which cases differ, with links to what the broker answers instead:
"""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a client puts records with a key.

    ``name`` is what places them, as Markdown. ``by`` is ``hash`` for a hash that is known, ``no key`` where the key does not
    decide, else ``unknown``.
    """

    name: str
    by: Literal["hash", "no key", "unknown"]
    draws_empty_keys: bool = False


def placement_of(gate: GateResult) -> Placement | None:
    """Return what places a client's keyed records; None if it was not asked."""
    count = gate.count(KEYED)
    if count is None or gate.unfinished or not count.asked:
        return None
    if count.agreed == count.asked:
        return Placement(JAVA, "hash") if count.judged else Placement("too few answers", "unknown")
    kinds: dict[str, int] = {}
    names: dict[str, str] = {}
    for one in gate.deviations:
        if one.rule == KEYED:
            found = _MUTANT.search(one.diagnosis)
            mutant = found[1] if found else ""
            names[mutant] = found[2] if found else ""
            kinds[mutant] = kinds.get(mutant, 0) + one.times
    draws = kinds.pop(_DRAWS, 0)
    if not kinds or draws > sum(kinds.values()):
        return Placement("draws, or takes turns: the key does not decide", "no key")
    if _IGNORES_KEYS in kinds:
        return Placement("the key is ignored", "no key")
    if len(kinds) > 1 or "" in kinds:
        return Placement("no known hash explains it", "unknown")
    return Placement(names[next(iter(kinds))], "hash", draws_empty_keys=draws > 0)


def question_page(results: Results, clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    """Return the page."""
    ordered = sorted(clients, key=lambda one: drivers[one.name].client.lower())
    parts = [
        "# Questions",
        _in_short(results, ordered, drivers),
        "All answers come from the results in [the matrix](matrix.md).",
        _PAIRS,
        _pairs(ordered, drivers),
        _PLACEMENTS,
        _placements(ordered, drivers),
        _BROKER,
        _uses(results),
        _BROKER_CASES,
        _brokers(results),
        _KIP_794.format(verdict=_verdict(results, ordered, drivers)),
        _without_keys(results, ordered, drivers),
        _ERROR_45,
        _java_on_error_45(),
        _ERROR_45_CLIENTS,
        _refused(results),
        _ERROR_45_CAUSES,
        _sequences(results),
        _FETCH,
        _fetches(ordered, drivers),
    ]
    return f"{REMARK}\n" + "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _in_short(results: Results, clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    """Return each question with its answer in a sentence."""
    counts = {words(client): gate.count(FETCH) for client, gate in _newest(clients, drivers)}
    fetching = {client: count for client, count in counts.items() if count is not None}
    as_consumer = [client for client, count in fetching.items() if count.agreed == count.asked]
    answers = {
        _PAIRS: _pairs_in_short(clients, drivers),
        _BROKER: _brokers_in_short(results),
        _KIP_794: _verdict(results, clients, drivers),
        _ERROR_45: _error_45_in_short(results),
        _FETCH: f"**As Java in every case, damaged batches included:** {_listed(as_consumer)}. Asked: {_listed(fetching)}.",
    }
    return "\n".join(
        f"- [{_title(asked)}]({_anchor(asked)}) {answer}".replace(" \n", "\n") for asked, answer in answers.items()
    )


def _pairs_in_short(clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    """Return which clients share a hash by default; the others share theirs with no other client."""
    by_client = _placement_by_client(clients, drivers)
    by_hash: dict[str, list[str]] = {}
    for client, placed in by_client.items():
        if placed is not None and placed.by == "hash":
            by_hash.setdefault(placed.name, []).append(words(client))
    unknown = any(_mark(*pair) == "?" for pair in combinations(by_client.values(), 2))
    shared = [
        f"\n    - **{by.rpartition(': ')[2]}**: {_listed(names)}" for by, names in by_hash.items() if len(names) > 1
    ]
    return (
        f"By default only clients of one line agree; [settings]({_anchor(_PLACEMENTS)}) change it:{''.join(shared)}"
        f"\n    - no other pair{', or unknown' * unknown}"
    )


def _brokers_in_short(results: Results) -> str:
    """Return which brokers answer as Kafka's own for every use, and why the others do not."""
    as_kafka, unlike = [], []
    for name, uses in _likeness_of_brokers(results).items():
        if set(uses[_SAME]) == set(NEEDS):
            as_kafka.append(words(name))
        else:
            fit = (*uses[_SAME], *uses[_PARTLY])
            reasons = [f"high or critical differences for {_uses_or_all(uses[_HARMFUL])}"] * bool(uses[_HARMFUL])
            reasons += [
                f"{_uses_or_all(uses[_LACKING])}: not applicable, since it lacks API versions that the cases need"
            ] * bool(uses[_LACKING])
            unlike.append(f"**{words(name)}**: {f'for {_listed(fit)}' if fit else 'no'}: {'; '.join(reasons)}")
    lines = [
        f"**{_listed(as_kafka)}**: yes, as tested on a single broker, without restarts or elections",
        *unlike,
        "another broker: test it with `kafka-conformance gate broker HOST:PORT`",
    ]
    return "".join(f"\n    - {line}" for line in lines)


def _uses_or_all(uses: Sequence[str]) -> str:
    return "every use" if set(uses) == set(NEEDS) else _listed(uses)


def _error_45_in_short(results: Results) -> str:
    """Return what each client does, by client and version."""
    agree, without, causes = [], [], {}  # type: ignore[var-annotated]
    for cell in _cells_about(results, _REFUSED[0]):
        name = f"{words(cell.name)} {words(cell.version)}"
        if cell.state == "agrees":
            agree.append(name)
        elif cell.state == "not applicable":
            without.append(name)
        else:
            causes.setdefault((cell.name, _outcome_first(cell.why, with_source=False)), []).append(words(cell.version))
    lines = [f"**{words(name)}**: {why} ({', '.join(versions)})" for (name, why), versions in causes.items()]
    lines += [f"as Java, which takes a new epoch and sends again: {_listed(agree)}"]
    lines += [f"no idempotent producer: {_listed(without)}"] * bool(without)
    return "If the first batch in flight gets it:" + "".join(f"\n    - {line}" for line in lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _title(section: str) -> str:
    return section.splitlines()[0].lstrip("# ")


def _anchor(section: str) -> str:
    return "#" + re.sub(r"[^\w -]", "", _title(section).lower()).replace(" ", "-")


def _cells_about(results: Results, about: str) -> Iterator[Cell]:
    return (cell for cell in of_subject(results.cells, "client") if cell.about == about)


def _fetches(clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    lines = ["| client | version | answers as Java's | differ | what the client does |", "|---|---|---|---|---|"]
    for client, gate in _newest(clients, drivers):
        if (count := gate.count(FETCH)) is None:
            continue
        times: dict[str, int] = {}
        for one in gate.deviations:
            if one.rule == FETCH:
                link = f" ([report](../../{one.issue}))" if one.issue.startswith("ci/") else ""
                reason = one.reason.replace("|", "\\|") or "unknown: see the client's page"
                times[reason + link] = times.get(reason + link, 0) + one.times
        page = f"[{words(client)}](clients/{slug_of(client)}.md#differences-in-{FETCH})"
        cells = [page, words(gate.version), f"{count.agreed:,} of {count.asked:,}"]
        for what, number in sorted(times.items(), key=lambda item: -item[1]):
            lines.append(f"| {' | '.join(cells)} | {number:,} | {what} |")
            cells = ["", "", ""]
        if not times:
            lines.append(f"| {' | '.join(cells)} | | |")
    return "\n".join(lines)


def _placements(clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    groups: dict[Placement, dict[tuple[str, str], list[str]]] = {}
    for gate in sorted(clients, key=lambda one: (drivers[one.name].client.lower(), version_order(one.version))):
        placement = placement_of(gate)
        if placement is not None:
            chosen = setting_of(gate, drivers[gate.name]).chosen_by if "default" not in gate.settings else ""
            how = f"with {code(chosen)}" if chosen else "by default"
            how += ", an empty key is drawn" if placement.draws_empty_keys else ""
            group = groups.setdefault(Placement(placement.name, placement.by), {})
            group.setdefault((words(drivers[gate.name].client), how), []).append(gate.version.partition(" ")[0])
    lines = ["| the partition of a key | clients |", "|---|---|"]
    for placed, names in sorted(groups.items(), key=lambda item: (item[0].name != JAVA, item[0].by, item[0].name)):
        shown = "; ".join(f"{client} {', '.join(versions)} {how}" for (client, how), versions in names.items())
        lines.append(f"| {'*unknown:* ' if placed.by == 'unknown' else ''}{placed.name} | {shown} |")
    return "\n".join(lines)


def _newest(clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> Iterator[tuple[str, GateResult]]:
    """Yield each client with the gate of its newest version in its default setting."""
    for client in dict.fromkeys(drivers[one.name].client for one in clients):
        own = [one for one in clients if drivers[one.name].client == client]
        yield client, next(one for one in versions_of(own)[0] if "default" in one.settings)


def _placement_by_client(
    clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]
) -> dict[str, Placement | None]:
    """Return what places keyed records in Java's client, and by default in the newest version of each other client."""
    by_client: dict[str, Placement | None] = {"Java": Placement(JAVA, "hash")}
    return by_client | {client: placement_of(gate) for client, gate in _newest(clients, drivers)}


def _pairs(clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    newest = _placement_by_client(clients, drivers)
    names = list(newest)
    lines = [f"| | {' | '.join(map(words, names))} |", "|---|" + ":-:|" * len(names)]
    for one in names:
        marks = ["" if one == other else _mark(newest[one], newest[other]) for other in names]
        lines.append(f"| [{words(one)}](clients/{slug_of(one)}.md) | {' | '.join(marks)} |")
    return "\n".join(lines)


def _mark(one: Placement | None, other: Placement | None) -> str:
    """Return whether two clients put every key into the same partition: ``=``, ``≠``, or ``?``."""
    if one is None or other is None or {one.by, other.by} == {"no key", "unknown"}:
        return "?"
    if "unknown" in (one.by, other.by):
        return "≠" if JAVA in (one.name, other.name) else "?"
    return "=" if one.by == "hash" and one.name == other.name else "≠"


def _verdict(results: Results, clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    """Return which clients answer as ``BuiltInPartitioner``, and how those differ that were asked."""
    cells = [cell for cell in of_subject(results.cells, "client") if cell.about == _BUILT_IN]
    agreeing = sorted({cell.name for cell in cells if cell.state == "agrees"})
    if agreeing:
        return f"**As Java's `BuiltInPartitioner`:** {', '.join(map(words, agreeing))}."
    asked = sorted({cell.name for cell in cells if cell.state not in ("not run", "not applicable")})
    found = f" Asked, and differs: {_listed(map(words, asked))}." if asked else ""
    ways = dict.fromkeys(
        f" {words(driver.client)} with {code(setting_of(gate, driver).chosen_by.partition('(')[0])} differs:"
        f" {one.reason[:1].lower()}{one.reason[1:]}"
        for gate, driver in ((gate, drivers[gate.name]) for gate in clients)
        for one in gate.deviations
        if one.rule == _BUILT_IN and one.reason
    )
    others = {
        words(one): without_key(gate, drivers[gate.name]) for one, gate in _newest(clients, drivers) if one not in asked
    }
    sticky = [client for client, text in others.items() if text.startswith("sticky")]
    return (
        f"**Java's own producer, since 3.3.0; no other, as far as asked.**{''.join(ways) or found}"
        f" By their source, not tested: {_listed(sticky)} are sticky in another way,"
        f" the other {len(others) - len(sticky)} not at all."
    )


def _without_keys(results: Results, clients: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> str:
    cells = {(cell.name, cell.version): [] for cell in of_subject(results.cells, "client")}  # type: ignore[var-annotated]
    for cell in of_subject(results.cells, "client"):
        if cell.about == _BUILT_IN:
            cells[cell.name, cell.version].append(cell)
    lines = ["| client | version | records without a key, by default | as `BuiltInPartitioner`? |", "|---|---|---|---|"]
    for client, gate in _newest(clients, drivers):
        text = without_key(gate, drivers[gate.name])
        state = one_state(cells[client, gate.version])
        lines.append(f"| [{words(client)}](clients/{slug_of(client)}.md) | {words(gate.version)} | {text} | {state} |")
    return "\n".join(lines)


def _java_on_error_45() -> str:
    """Return what Java's producer does, by the decision table of the reference, which is proven against Java."""
    behind = "another batch of the partition comes before this one"
    first = "this is the partition's first batch in flight"
    lines = ["| situation | since 2.5.0 | 1.0.0 to 2.4.x |", "|---|---|---|"]
    lines += [
        f"| {name} | {_action(is_behind=is_behind, bumps_epoch=True)} | {_action(is_behind=is_behind, bumps_epoch=False)} |"
        for name, is_behind in ((behind, True), (first, False))
    ]
    spent = _action(is_behind=False, bumps_epoch=True, may_retry=False)
    return "\n".join([*lines, f"| no retry is left | {spent} | {spent} |"])


_ACTIONS = {
    (BatchAction.RETRIED, SideEffect.NOTHING): "the batch is sent again",
    (
        BatchAction.RETRIED,
        SideEffect.BUMP,
    ): "the producer takes a new epoch, numbers its batches from 0, and sends them again",
    (BatchAction.FAILED, SideEffect.NOTHING): "the batch fails: `send` reports `OutOfOrderSequenceException`",
}


def _action(*, is_behind: bool, bumps_epoch: bool, may_retry: bool = True) -> str:
    situation = Situation(
        may_retry=may_retry, can_split=False, duplicate_completes=True, is_own=True, is_stale=False, is_behind=is_behind,
        waits_for_resolution=False, bumps_epoch=bumps_epoch, is_undecided=False, log_is_lost=False,
    )  # fmt: skip
    return _ACTIONS[decide(Answer.OUT_OF_ORDER, situation)]


def _refused(results: Results) -> str:
    """Return what each client did on the wire when a broker answered 45."""
    cells = {(cell.name, cell.version, cell.about): cell for cell in of_subject(results.cells, "client")}
    rows: dict[tuple[str, str], list[str]] = {}
    for name, version in dict.fromkeys((name, version) for name, version, about in cells if about == _REFUSED[0]):
        first, second = (cells[name, version, about] for about in _REFUSED)
        why = _outcome_first(first.why).replace("|", "\\|")
        rows.setdefault((name, f"{linked_state(first)} | {linked_state(second)} | {why}"), []).append(words(version))
    lines = ["| client | version | several in flight | two partitions | what it does |", "|---|---|---|---|---|"]
    lines += [
        f"| [{words(name)}](clients/{slug_of(name)}.md) | {', '.join(versions)} | {states} |"
        for (name, states), versions in rows.items()
    ]
    return "\n".join(lines)


def _outcome_first(why: str, *, with_source: bool = True) -> str:
    """Return what a client does, then where in its source: a cause has the kind of finding, the source and the outcome."""
    form = r"\2 (\1)" if with_source else r"\2"
    return "; ".join(dict.fromkeys(_CAUSE.sub(form, part) for part in _NEXT_CAUSE.split(why)))


def _sequences(results: Results) -> str:
    cells = [
        cell for cell in of_subject(results.cells, "client") if cell.about == SEQUENCES and "default" in cell.settings
    ]
    lines = ["| client | version | sequence numbers as Java's? |", "|---|---|---|"]
    for cell in cells:
        why = f": {words(cell.why)}" if cell.why else ""
        lines.append(
            f"| [{words(cell.name)}](clients/{slug_of(cell.name)}.md) | {words(cell.version)} | {linked_state(cell)}{why} |"
        )
    return "\n".join(lines)


def _uses(results: Results) -> str:
    """Return how each broker answers what each use needs, and which clients were asked on the wire."""
    lines = [f"| broker | {' | '.join(_LIKENESS)} |", "|---|" + "---|" * len(_LIKENESS)]
    lines += [
        f"| {words(name)} | {' | '.join(', '.join(one) or '–' for one in uses.values())} |"
        for name, uses in _likeness_of_brokers(results).items()
    ]
    asked: dict[str, list[str]] = {}
    for cell in of_subject(results.cells, "client"):
        if cell.about.startswith(PREFIX) and cell.version not in asked.setdefault(cell.name, []):
            asked[cell.name].append(cell.version)
    clients = "; ".join(f"{words(name)} {', '.join(map(words, versions))}" for name, versions in asked.items())
    return "\n".join([*lines, "", (
        "The client has a part in it too: [the matrix](matrix.md#clients-on-the-wire) has what these did on the wire. "
        f"A version that is not among them was not asked: {clients or 'none'}."
    )])  # fmt: skip


def _likeness_of_brokers(results: Results) -> dict[str, dict[str, list[str]]]:
    """Return the uses of each broker, by how it answers what they need."""
    cells, found = list(of_subject(results.cells, "broker")), {}
    for name, version in dict.fromkeys((cell.name, cell.version) for cell in cells):
        own = [cell for cell in cells if (cell.name, cell.version) == (name, version)]
        uses = found[f"{name} {version}"] = {each: list[str]() for each in _LIKENESS}
        for use, groups in NEEDS.items():
            asked = [cell for cell in own if cell.about in groups]
            special = [cell for cell in asked if cell.about != "api-versions"]  # which every client needs
            likeness = _likeness(special)
            uses[likeness if likeness == _LACKING else _likeness(asked)].append(use)
    return found


def _likeness(cells: Sequence[Cell]) -> str:
    """Return how a broker answers what these cells ask."""
    if all(cell.state == "not applicable" for cell in cells):
        return _LACKING
    if all(cell.state in {"agrees", "differs, harmless", "not applicable"} for cell in cells):
        return _PARTLY if any(cell.state == "not applicable" for cell in cells) else _SAME
    return _HARMFUL if any(cell.severity in {"critical", "high"} for cell in cells) else _PARTLY


def _brokers(results: Results) -> str:
    cells = list(of_subject(results.cells, "broker"))
    if not cells:
        return "No result of a broker is recorded."
    lines = [f"| broker | as Kafka | {' | '.join(NEEDS)} |", "|---|---|" + "---|" * len(NEEDS)]
    for name, version in dict.fromkeys((cell.name, cell.version) for cell in cells):
        own = [cell for cell in cells if (cell.name, cell.version) == (name, version)]
        page = f"brokers/{slug_of(f'{name} {version}')}.md"
        states = [one_state([cell for cell in own if cell.about in groups]) for groups in NEEDS.values()]
        head = f"[{words(name)} {words(version)}]({page})"
        lines.append(f"| {head} | {words(own[0].release)} | {' | '.join(states)} |")
    return "\n".join(lines)
