"""Write the matrix: what each client and each broker does compared with Kafka, from recorded results alone.

::

    python ci/matrix.py                                                     # writes all pages; seconds
    python ci/matrix.py --broker kfake 2026-09-18 events.ndjson             # records a broker from the events of its gate

The pages are ``kit/docs/matrix.md``, ``questions.md``, ``clients.md``, and a page for each client and broker; the data is
``kit/docs/matrix/results.json``. ``ci/clients.py`` records
the clients by rule, ``ci/adapter_gates.py`` on the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import adapter_results
import broker_page
import click
import client_page
import matrix_page
import question_page
import wire_page
from client_gates import ROOT, read, read_driver
from client_results import BROKERS, broker_result, read_results, results_text
from matrix_results import FORMAT, Results, broker_cells, client_cells, results_json, schema_json

from kafka_conformance.answerers.named_driver import FOLDER

__all__ = ["DOCS", "GENERATED", "gone_pages", "made_pages", "record_broker", "write_pages"]

DOCS = ROOT / "kit" / "docs"
GENERATED = ("clients/*.md", "clients/*/*.json", f"{broker_page.FOLDER}/*.md")
"""Files below ``kit/docs`` that are removed where no result makes them."""


def made_pages() -> dict[str, str]:
    """Return all pages and files of the recorded results by their path below ``kit/docs``."""
    clients, brokers = read_results(), read_results(BROKERS)
    drivers = {one.name: read_driver(ROOT / FOLDER / one.name) for one in clients}
    adapters = {one.name: one for one in adapter_results.read_clients()}
    wire = wire_page.wire_clients(adapter_results.read_results(), adapters, clients, drivers)
    cells = (*client_cells(clients, drivers), *wire_page.wire_cells(wire), *broker_cells(brokers))
    results = Results(FORMAT, cells)
    return {
        **wire_page.with_scripts(client_page.pages(clients, drivers), wire),
        **broker_page.broker_pages(brokers),
        matrix_page.PAGE: matrix_page.matrix_page(results),
        question_page.PAGE: question_page.question_page(results, clients, drivers),
        "matrix/results.json": results_json(results),
        "matrix/results.schema.json": schema_json(),
    }


def gone_pages(made: dict[str, str], docs: Path) -> list[Path]:
    """Return the generated files below ``docs`` that are not among those made."""
    return [path for glob in GENERATED for path in sorted(docs.glob(glob)) if str(path.relative_to(docs)) not in made]


def write_pages() -> None:
    """Write all pages, and remove those whose client or broker is gone."""
    made = made_pages()
    for path, text in made.items():
        (DOCS / path).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / path).write_text(text, encoding="utf-8")
    for path in gone_pages(made, DOCS):
        path.unlink()


def record_broker(name: str, version: str, events: Path, record: Path = BROKERS) -> None:
    """Add the result in a broker's events to the record, or replace that of the same broker and version.

    Raises click.ClickException if the events hold no result.
    """
    seen = read(events)
    if not seen.rows:
        raise click.ClickException(f"{events} holds no event of a gate of brokers: give the file that --events wrote")
    kept = (
        [one for one in read_results(record) if (one.name, one.version) != (name, version)] if record.exists() else []
    )
    found = sorted([*kept, broker_result(name, version, seen)], key=lambda one: (one.name.lower(), one.version))
    record.write_text(results_text(found), encoding="utf-8")


@click.command(help=__doc__)
@click.option(
    "--broker",
    "recorded",
    nargs=3,
    multiple=True,
    metavar="NAME VERSION EVENTS",
    help="Record a broker first; repeatable.",
)
def main(recorded: Sequence[tuple[str, str, str]]) -> None:
    """Record brokers, if any are named, and write the pages."""
    for name, version, events in recorded:
        record_broker(name, version, Path(events))
    write_pages()


if __name__ == "__main__":
    main()
