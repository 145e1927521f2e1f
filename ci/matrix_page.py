"""The page of the matrix: clients by rule, and brokers by group of cases."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from client_page import slug_of
from matrix_results import MARKS, MEANINGS, Cell, Results, of_subject, worst_state
from wire_page import group_cells, is_on_wire

from kafka_conformance.gate.reports.markdown import words

__all__ = ["PAGE", "REMARK", "linked_state", "matrix_page", "one_state", "table"]

PAGE = "matrix.md"
REMARK = "<!-- Written by `python ci/matrix.py` from `ci/{client-results,adapter-results,broker-gates}.ndjson`. -->"

_ABOUT = """\
# Matrix

What each client and each broker does, compared with Kafka's own classes and brokers. A cell that differs leads to the
smallest case: both answers, what users notice, the versions, and a command that asks again. Rows are in alphabetical
order: nothing here is a ranking.

[Do two clients put a key in the same partition?](questions.md#do-two-clients-put-a-key-in-the-same-partition) ·
[Which client follows KIP-794?](questions.md#which-client-follows-kip-794) ·
[What does a client do on error 45?](questions.md#what-does-a-client-do-on-error-45) ·
[What does a client deliver of a fetch response?](questions.md#what-does-a-client-deliver-of-a-fetch-response) ·
[May I put a client in front of this broker?](questions.md#may-i-put-a-client-in-front-of-this-broker)

Here: [clients by rule](#clients-by-rule) · [clients on the wire](#clients-on-the-wire) ·
[brokers by group of cases](#brokers-by-group-of-cases) · [other settings](#clients-in-other-settings) ·
[the data, badges and feeds](#more). Your own client: [the gate in your CI](gate.md#github), and
[a pull request](../../ci/adopters/krafka/pull-request.md) that brings it into a Rust client.
"""

_CLIENTS = """\
## Clients by rule

Each version in its default setting. [Clients compared](clients.md) says the same in words; the page of a client has all of
its settings. Asked: {sets} of [the frozen cases](cases.md#sets), and fresh questions.
"""

_SCRIPTS = """\
## Clients on the wire

Each client, unchanged, was put before a real broker that lost its responses and refused its requests: the worst state of
each group of [scripts](gate-client.md#scripts).
"""

_SETTINGS = """\
## Clients in other settings

What a user has to set is on [the page of the clients](clients.md).
"""

_BROKERS = """\
## Brokers by group of cases

[The gate of brokers](gate-broker.md) says what each group asks.
"""

_MORE = """\
## More

- Kafka's own releases by behaviour: [behaviour by release](behaviour.md), [changes by release](changes.md).
- [`results.json`](matrix/results.json) has all cells, and the counts behind them; its format is described by
  [`results.schema.json`](matrix/results.schema.json). `format` changes only if a reader of the old format would misread it.
- The site has a badge of each cell, `matrix/badges/NAME/ABOUT.json`, as an endpoint for shields.io: the newest version of a
  client by default, `matrix/badges/franz-go/partition-for-key.json`, or a broker,
  `matrix/badges/kfake-2026-09-18/fetch.json`.
- `python ci/matrix_changes.py OLD NEW` compares two such files: `--feed FILE` writes an Atom feed of the changes,
  `--issues FOLDER` the draft of an issue for each new difference. `ci/workflows/matrix.yml` does both every night.
"""


def matrix_page(results: Results) -> str:
    """Return the page."""
    clients = [cell for cell in of_subject(results.cells, "client") if not is_on_wire(cell)]
    scripts = group_cells([cell for cell in results.cells if is_on_wire(cell)])
    brokers = list(of_subject(results.cells, "broker"))
    sets = list(dict.fromkeys(cell.case_set for cell in clients if cell.case_set))
    first = [cell for cell in clients if _is_default(cell)]
    others = [cell for cell in clients if not _is_default(cell)]
    states = "\n".join(f"| {MARKS[state]} {state} | {meaning} |" for state, meaning in MEANINGS.items())
    parts = [
        _ABOUT,
        f"| state | meaning |\n|---|---|\n{states}",
        _CLIENTS.format(sets=" and ".join(sets) or "no set"),
        table(["client", "version"], _rows(first, _client_heads)),
        _SCRIPTS,
        table(["client", "version"], _rows(scripts, _client_heads)),
        _BROKERS,
        table(["broker", "version", "as Kafka"], _rows(brokers, _broker_heads)),
        _SETTINGS,
        table(
            ["client", "version", "setting"], _rows(others, lambda cell: [*_client_heads(cell), words(_settings(cell))])
        ),
        _MORE,
    ]
    return f"{REMARK}\n" + "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _is_default(cell: Cell) -> bool:
    return "default" in cell.settings


def _settings(cell: Cell) -> str:
    return ", ".join(cell.settings)


def _client_heads(cell: Cell) -> list[str]:
    return [f"[{words(cell.name)}](clients/{slug_of(cell.name)}.md)", words(cell.version)]


def _broker_heads(cell: Cell) -> list[str]:
    page = f"brokers/{slug_of(f'{cell.name} {cell.version}')}.md"
    return [f"[{words(cell.name)}]({page})", words(cell.version), words(cell.release)]


def _rows(cells: Iterable[Cell], heads: Callable[[Cell], list[str]]) -> list[tuple[list[str], list[Cell]]]:
    """Return the cells of each subject, version and setting, with the first cells of their row."""
    groups = itertools.groupby(cells, key=lambda cell: (cell.name, cell.version, cell.settings))
    rows = [list(group) for _, group in groups]
    return [(heads(row[0]), row) for row in rows]


def table(heads: Sequence[str], rows: Sequence[tuple[list[str], list[Cell]]]) -> str:
    """Return a table whose columns are what the cells of the first row are about; none for a column that no row asked."""
    if not rows:
        return "None is recorded."
    asked = [cell.about for cell in rows[0][1] if any(_at(row, cell.about).state != "not run" for _, row in rows)]
    lines = [f"| {' | '.join([*heads, *asked])} |", "|" + "---|" * (len(heads) + len(asked))]
    lines += [f"| {' | '.join([*first, *(linked_state(_at(row, about)) for about in asked)])} |" for first, row in rows]
    return "\n".join(lines)


def _at(row: Sequence[Cell], about: str) -> Cell:
    return next(cell for cell in row if cell.about == about)


def linked_state(cell: Cell, name: str = "") -> str:
    """Return the state of a cell, with a link to what differs."""
    text = f"{MARKS[cell.state]} {name or cell.state}"
    if cell.state == "differs" and cell.severity:
        text += f": {cell.severity}"
    return f"[{text}]({cell.page})" if "#" in cell.page else text


def one_state(cells: Sequence[Cell]) -> str:
    """Return the worst state of several cells, with links to those that have it if they differ, and what was not judged."""
    state = worst_state(cells)
    found = [cell for cell in cells if cell.state == state and "#" in cell.page]
    if not found:
        return f"{MARKS[state]} {state}"
    links = ", ".join(dict.fromkeys(
        f"[{words(cell.about)}]({cell.page})" + (f" ({cell.severity})" if cell.severity else "") for cell in found
    ))  # fmt: skip
    lacking = ", ".join(cell.about for cell in cells if cell.state == "not applicable")
    return f"{MARKS[state]} {state}: {links}" + (f"; lacks what {lacking} asks" if lacking else "")
