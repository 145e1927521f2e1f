"""Gate every client in ``ci/drivers`` in each of its settings; record the results, and write them as pages.

::

    python ci/clients.py                              # all; writes ci/client-results.ndjson and the pages of the matrix
    python ci/clients.py --only kafkajs --only sarama # these; results of the others stay
    python ci/clients.py --only sarama:default --rules consumer-fetch # this rule of it; results of other rules stay

``ci/matrix.py`` writes the pages from the record, without a gate.

Counts of clients that draw partitions (librdkafka for an empty key) differ a little from run to run. The exit code is the
highest one of the gates; 2 if a gate did not finish. A rule of which a client answers too little is shown as not judged,
which is not a failure here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from client_gates import PARALLEL, gate_all, names
from client_results import RECORD, merged, read_results, replaced, result_of, results_text
from matrix import write_pages


@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="A folder in ci/drivers, or one of its settings, NAME:SETTING; may be given several times (default: all).",
)
@click.option("--rules", metavar="SLUGS", help="Gate these rules only, and replace their results in the record.")
@click.option("--kafka", metavar="RELEASES", help="Releases to gate (default: the gate's).")
@click.option(
    "--examples", metavar="N", default="200", help="Generated questions per rule, for the gate (default: 200)."
)
@click.option("--seed", metavar="N", default="4", help="Seed of the gate (default: 4, the seed of the pages).")
@click.option(
    "--parallel", metavar="N", type=click.IntRange(1), default=PARALLEL, show_default=True, help="Gates at a time."
)
def main(only: Sequence[str], rules: str | None, kafka: str | None, examples: str, seed: str, parallel: int) -> None:
    """Gate the clients, record the results, and write the pages."""
    asked = {"--rules": rules, "--kafka": kafka, "--examples": examples, "--seed": seed}
    options = [word for name, value in asked.items() if value for word in (name, value)]
    gated = gate_all(only or names(), options, parallel=parallel)
    results = [result_of(one) for one in gated]
    if rules:
        results = merged(read_results(), results, rules.split(","))
    elif only:
        results = replaced(read_results(), results)
    RECORD.write_text(results_text(results), encoding="utf-8")
    write_pages()
    if rules and all(one.finished for one in gated):  # known failures of other rules are not used
        sys.exit(int(any(one.seen.ended.differed or one.seen.ended.failed for one in gated if one.seen.ended)))
    sys.exit(2 if not all(one.finished for one in gated) else max((one.failure for one in gated), default=2))


if __name__ == "__main__":
    main()
