"""The clients on the wire: cells of the matrix, and sections of their pages, from ``ci/adapter-results.ndjson``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from adapter_results import STATES, Client, Deviation, Result, cause_of
from client_page import WRITTEN, differs_in, slug_of, version_order
from client_results import GateResult
from matrix_results import MARKS, Cell, worst_state

from kafka_conformance.answerers.named_driver import NamedDriver
from kafka_conformance.gate.reports.markdown import code, words
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.type_docs import anchor

__all__ = ["PREFIX", "WireClient", "group_cells", "is_on_wire", "wire_cells", "wire_clients", "with_scripts"]

PREFIX = "client/"
"""What the rules of ``gate client`` begin with in events, and cells of scripts in the results."""
_SHOWN = 160
"""Characters of an example, or of a reason."""
_HEADING = differs_in("scripts on the wire")
_ABOUT = """\
The client, unchanged, was put before a broker of Kafka {release} by [`gate client`](../gate-client.md), which lost responses
and refused requests; [its page](../gate-client.md#scripts) says what each script does. The client has Java's partitioner
where it offers one.
"""


@dataclass(frozen=True, slots=True)
class WireClient:
    """A version of a client on the wire: the names in the matrix, where it is described, and what was recorded."""

    name: str
    version: str
    client: Client
    result: Result


def wire_clients(
    results: Sequence[Result],
    clients: Mapping[str, Client],
    gates: Sequence[GateResult],
    drivers: Mapping[str, NamedDriver],
) -> list[WireClient]:
    """Return the clients in the order of the matrix: by name, the newest version first.

    One that shares the install of a driver has the name and the version that its gate has.
    """
    versions = {one.name: one.version for one in gates}
    found = []
    for one in results:
        client = clients[one.client]
        name = drivers[client.driver].client if client.driver else client.title
        found.append(WireClient(name, versions.get(client.driver, one.version), client, one))
    newest = sorted(found, key=lambda one: version_order(one.result.version), reverse=True)
    return sorted(newest, key=lambda one: one.name.lower())


def is_on_wire(cell: Cell) -> bool:
    """Return whether a cell is about a script of ``gate client``."""
    return cell.about.startswith(PREFIX)


def wire_cells(clients: Sequence[WireClient]) -> list[Cell]:
    """Return a cell for each client and script."""
    return [_cell(one, script) for one in clients for script in one.result.verdicts]


def _cell(one: WireClient, script: str) -> Cell:
    own = [each for each in one.result.deviations if each.script == script]
    state = STATES[one.result.verdicts[script]]
    page = f"clients/{slug_of(one.name)}.md"
    return Cell(
        "client",
        one.name,
        one.version,
        ("default",),
        PREFIX + script,
        state,
        one.result.release,
        min((each.severity for each in own), key=RANKS.__getitem__, default=""),
        asked=int(state != "not applicable"),
        agreed=int(state in ("agrees", "differs, harmless")),
        unsupported=int(state == "not applicable"),
        why=one.result.reasons.get(script)
        or "; ".join(f"{each.kind}: {cause_of(one.client, each) or each.what}" for each in own),
        page=f"{page}#{anchor(_HEADING)}" if own else page,
    )


def group_cells(cells: Sequence[Cell]) -> list[Cell]:
    """Return a cell for each client, version and group of scripts, with the worst state.

    ``client/lost/response`` is in the group ``lost``.
    """
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        group = cell.about.removeprefix(PREFIX).partition("/")[0]
        groups.setdefault((cell.name, cell.version, group), []).append(cell)
    return [_worst(own, group) for (_, _, group), own in groups.items()]


def _worst(own: Sequence[Cell], group: str) -> Cell:
    state = worst_state(own)
    first = min(
        (cell for cell in own if cell.state == state), key=lambda cell: RANKS[cell.severity] if cell.severity else 9
    )
    return msgspec.structs.replace(first, about=group)


def with_scripts(pages: Mapping[str, str], clients: Sequence[WireClient]) -> dict[str, str]:
    """Return the pages of clients with sections about scripts, by their path below ``kit/docs``.

    A client that was not gated by rules has a page of these sections alone.
    """
    found = dict(pages)
    for name, own in itertools.groupby(clients, key=lambda one: one.name):
        path = f"clients/{slug_of(name)}.md"
        page = found.get(path, f"{WRITTEN}\n# {words(name)}\n")
        found[path] = "\n\n".join([page.rstrip("\n"), *_sections(list(own))]) + "\n"
    return found


def _sections(versions: Sequence[WireClient]) -> Iterator[str]:
    yield "## On the wire"
    yield _ABOUT.format(release=" and ".join(dict.fromkeys(one.result.release for one in versions))).rstrip("\n")
    heads = " | ".join(words(one.version) for one in versions)
    rows = [
        f"| {MARKS[state]} {state} | {' | '.join(_count(one, verdict) for one in versions)} |"
        for verdict, state in STATES.items()
    ]
    yield "\n".join([f"| scripts | {heads} |", "|---|" + "---:|" * len(versions), *rows])
    yield _scripts(versions)
    if notes := "\n".join(_reasons(versions)):
        yield notes
    differences = list(_differences(versions))
    if differences:
        yield f"## {_HEADING}"
        yield from differences


def _count(one: WireClient, verdict: str) -> str:
    return str(sum(each == verdict for each in one.result.verdicts.values()))


def _scripts(versions: Sequence[WireClient]) -> str:
    """Return the scripts in which not all versions agree."""
    lines = []
    for script in versions[0].result.verdicts:
        states = [STATES[one.result.verdicts[script]] for one in versions]
        if set(states) != {"agrees"}:
            lines.append(f"| `{script}` | {' | '.join(f'{MARKS[state]} {state}' for state in states)} |")
    heads = " | ".join(words(one.version) for one in versions)
    if not lines:
        return "All scripts agree."
    table = [f"| script | {heads} |", "|---|" + "---|" * len(versions), *lines]
    return "\n".join(["Scripts in which not every version agrees:", "", *table])


def _reasons(versions: Sequence[WireClient]) -> Iterator[str]:
    """Yield why scripts do not apply, could not be judged, or differ without harm."""
    for one in versions:
        groups: dict[tuple[str, str], list[str]] = {}
        for script, why in one.result.reasons.items():
            state = STATES[one.result.verdicts[script]]
            what = why.partition(": ")[0] if state == "differs, harmless" else why  # without the example
            groups.setdefault((state, what), []).append(f"`{script}`")
        for (state, what), scripts in groups.items():
            yield f"- {words(one.version)}, {state}: {words(what, _SHOWN)} ({', '.join(scripts)})"


def _differences(versions: Sequence[WireClient]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[tuple[WireClient, Deviation]]] = {}
    for one in versions:
        for each in one.result.deviations:
            groups.setdefault((each.kind, cause_of(one.client, each)), []).append((one, each))
    for (kind, cause), some in sorted(groups.items(), key=lambda item: (RANKS[item[1][0][1].severity], item[0])):
        (first, example), seen = some[0], dict[str, list[str]]()
        for one, each in some:
            seen.setdefault(one.version, []).append(f"`{each.script}`")
        where = "; ".join(f"{words(version)} ({', '.join(scripts)})" for version, scripts in seen.items())
        again = f"python ci/adapter_gates.py --run {example.script} {first.client.name}"
        yield f"### {code(kind)} in {code(example.script)}"
        yield "\n".join([
            f"{example.severity.capitalize()}. {words(example.effect)}",
            "",
            f"- Seen in: {where}.",
            f"- Cause: {cause or 'not checked'}.",
            f"- For example: {words(example.what, _SHOWN)}",
            f"- Ask again, from a checkout: {code(again)}. It starts a broker, and records nothing.",
        ])  # fmt: skip
