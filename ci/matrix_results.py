"""The matrix as data: what each client does in each rule, and each broker in each group of cases.

``kit/docs/matrix/results.json`` has one cell on a line; ``kit/docs/matrix/results.schema.json`` is its JSON Schema. The
pages are made from the same cells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from client_page import asked_rules, differs_in, slug_of, version_order, versions_of
from client_results import GateResult, RuleCount

from kafka_conformance.answerers.named_driver import NamedDriver
from kafka_conformance.core.json_schema import schema_parts
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.reports.type_docs import anchor

__all__ = [
    "FORMAT",
    "MARKS",
    "MEANINGS",
    "Cell",
    "Results",
    "State",
    "broker_cells",
    "client_cells",
    "of_subject",
    "read_matrix",
    "results_json",
    "schema_json",
    "worst_state",
]

FORMAT = 1
"""Changed if a reader of the previous format would misread a file. Fields may be added without a change."""

State: TypeAlias = Literal["agrees", "differs", "differs, harmless", "no answer", "not applicable", "not run"]

MEANINGS: Mapping[State, str] = {
    "agrees": "all answers are Kafka's",
    "differs": "at least one answer differs in what a user can notice. The cell links to the smallest case",
    "differs, harmless": "answers differ only in what no user notices",
    "no answer": "too few questions were answered to judge the rest, or the subject failed at some",
    "not applicable": "the subject lacks what the questions are about",
    "not run": "not asked",
}
MARKS: Mapping[State, str] = {
    "agrees": "✓",
    "differs": "✗",
    "differs, harmless": "≈",
    "no answer": "?",
    "not applicable": "–",
    "not run": "·",
}
# The worst first: what stands for several cells.
_WORST: Sequence[State] = ("differs", "no answer", "differs, harmless", "agrees", "not run", "not applicable")

WITHOUT_PRODUCER_IDS = "no idempotent producer"
_SEQUENCES = "sequence-increment"
_NO_ANSWER = ": no answer"


class Cell(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one client does in one rule or one script, or one broker in one group of cases.

    ``subject`` is ``client`` or ``broker``; ``name``, ``version`` and ``settings`` say which one: the settings of a client
    with the same behaviour, or none for a broker. ``about`` is the rule, the script (``client/lost/response``), or the group
    of cases; ``release`` is the Kafka release that it is compared with. ``asked``, ``agreed`` and ``unsupported`` count
    questions; those that are unsupported are not among those asked. ``severity`` is that of the worst difference, if its
    severity is known. ``why`` is the reason of a state other than ``agrees`` and ``differs``, or what differs in a script,
    as Markdown. ``page`` is the page with the differences, below the documentation's root. ``case_set`` is the set of frozen
    cases that was asked, which never changes.
    """

    subject: Literal["client", "broker"]
    name: str
    version: str
    settings: tuple[str, ...]
    about: str
    state: State
    release: str = ""
    severity: str = ""
    asked: Annotated[int, msgspec.Meta(ge=0)] = 0
    agreed: Annotated[int, msgspec.Meta(ge=0)] = 0
    unsupported: Annotated[int, msgspec.Meta(ge=0)] = 0
    why: str = ""
    page: str = ""
    case_set: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies the cell in two files of results."""
        return (self.subject, self.name, self.version, ",".join(self.settings), self.about)


class Results(msgspec.Struct, frozen=True):
    """All cells of the matrix. ``format`` is the version of the document's format."""

    format: int
    cells: tuple[Cell, ...]


def client_cells(results: Sequence[GateResult], drivers: Mapping[str, NamedDriver]) -> list[Cell]:
    """Return a cell for each client, version, setting and rule that any client was asked.

    Clients are in the order of their names, versions newest first.
    """
    rules = asked_rules(results)
    by_client: dict[str, list[GateResult]] = {}
    for one in sorted(results, key=lambda one: drivers[one.name].client.lower()):
        by_client.setdefault(drivers[one.name].client, []).append(one)
    return [
        _client_cell(name, one, rule, drivers[one.name])
        for name, ones in by_client.items()
        for one in itertools.chain.from_iterable(versions_of(ones))
        for rule in rules
    ]


def broker_cells(results: Sequence[GateResult]) -> list[Cell]:
    """Return a cell for each broker and group of cases, in the order of the brokers' names, versions newest first."""
    by_name: dict[str, list[GateResult]] = {}
    for one in sorted(results, key=lambda one: one.name.lower()):
        by_name.setdefault(one.name, []).append(one)
    ordered = [
        one
        for ones in by_name.values()
        for one in sorted(ones, key=lambda each: version_order(each.version), reverse=True)
    ]
    return [_broker_cell(one, rule) for one in ordered for rule in sorted(asked_rules(results))]


def _client_cell(name: str, gate: GateResult, rule: str, driver: NamedDriver) -> Cell:
    cell = Cell("client", name, gate.version, gate.settings, rule, "not run")
    count = gate.count(rule)
    if gate.unfinished:
        return msgspec.structs.replace(cell, why=f"the gate did not finish: {gate.unfinished[1]}")
    if count is None:
        if rule == _SEQUENCES and driver.sequences == WITHOUT_PRODUCER_IDS:
            return msgspec.structs.replace(cell, state="not applicable", why=driver.sequences)
        return msgspec.structs.replace(cell, why=driver.sequences if rule == _SEQUENCES else "")
    return _judged(cell, gate, count, f"clients/{slug_of(name)}.md")


def _broker_cell(gate: GateResult, rule: str) -> Cell:
    group = rule.removeprefix("broker/")
    release = gate.settings[0] if gate.settings else ""
    cell = Cell("broker", gate.name, gate.version, (), group, "not run", release)
    count = gate.count(rule)
    if gate.unfinished or count is None:
        return msgspec.structs.replace(cell, why=gate.unfinished[1] if gate.unfinished else "")
    if not count.asked and count.judged:
        why = "the broker lacks an API or a version that the cases need"
        return msgspec.structs.replace(cell, state="not applicable", unsupported=count.unsupported, why=why)
    return _judged(cell, gate, count, f"brokers/{slug_of(f'{gate.name} {gate.version}')}.md")


def _judged(cell: Cell, gate: GateResult, count: RuleCount, page: str) -> Cell:
    """Return a cell with the state of a rule that was asked."""
    own = [one for one in gate.deviations if one.rule == count.rule]
    severities = [found for one in own if (found := one.impact.partition(",")[0]) in RANKS]
    state, why = _state(gate, count)
    return msgspec.structs.replace(
        cell,
        state=state,
        release=count.release or cell.release,
        severity=min(severities, key=RANKS.__getitem__, default=""),
        asked=count.asked,
        agreed=count.agreed,
        unsupported=count.unsupported,
        why=why,
        page=f"{page}#{anchor(differs_in(cell.about))}" if own else page,
        case_set=gate.case_set,
    )


def _state(gate: GateResult, count: RuleCount) -> tuple[State, str]:
    kinds = [one.kind for one in gate.deviations if one.rule == count.rule]
    if count.known + count.differed:
        silent = bool(kinds) and all(kind.endswith(_NO_ANSWER) for kind in kinds)
        return ("no answer", "no answer before the deadline") if silent else ("differs", "")
    if count.failed or any(one.rule == count.rule for one in gate.unanswered):
        return "no answer", "it failed at some questions"
    if not count.judged or not count.asked:
        return "no answer", "it answers too few of the questions that every implementation has to answer"
    return ("differs, harmless", "no user notices the difference") if count.harmless else ("agrees", "")


def worst_state(cells: Iterable[Cell]) -> State:
    """Return the state that stands for several cells: the worst."""
    found = {cell.state for cell in cells}
    return next((state for state in _WORST if state in found), "not run")


def results_json(results: Results) -> str:
    """Return the document, one cell on a line."""
    cells = ",\n".join(f"  {msgspec.json.encode(cell).decode()}" for cell in results.cells)
    return f'{{\n "format": {results.format},\n "cells": [\n{cells}\n ]\n}}\n'


def read_matrix(content: bytes) -> Results:
    """Return the document in these bytes. Raises msgspec.MsgspecError, or ValueError for another format."""
    found = msgspec.json.decode(content, type=Results)
    if found.format != FORMAT:
        raise ValueError(f"format {found.format} of the results is unknown: this program reads format {FORMAT}")
    return found


def schema_json() -> str:
    """Return the JSON Schema of the document."""
    (results,), named = schema_parts([Results])
    schema = {**results, "$defs": named}
    return msgspec.json.format(msgspec.json.encode(schema, order="deterministic"), indent=2).decode() + "\n"


def of_subject(cells: Iterable[Cell], subject: str) -> Iterator[Cell]:
    """Yield the cells of clients, or of brokers."""
    return (cell for cell in cells if cell.subject == subject)
