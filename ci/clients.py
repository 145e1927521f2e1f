"""Gate every client in ``ci/drivers`` in each of its settings, and write the results as a page.

::

    python ci/clients.py                              # all of them; writes kit/docs/clients.md
    python ci/clients.py --only kafkajs --only sarama # these; the page goes to standard output

Counts of clients that draw partitions (librdkafka for an empty key) differ a little from run to run. The exit code is the
highest one of the gates; 2 if a gate did not finish. A rule of which a client answers too little is shown as not judged, and
is no failure here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
from client_gates import PARALLEL, ROOT, gate_all, names
from client_page import page

PAGE = ROOT / "kit" / "docs" / "clients.md"


@click.command()
@click.option(
    "--only", multiple=True, metavar="NAME", help="A folder in ci/drivers; may be given several times (default: all)."
)
@click.option("--kafka", metavar="RELEASES", help="Releases to gate (default: the gate's).")
@click.option(
    "--examples", metavar="N", default="200", help="Generated questions per rule, for the gate (default: 200)."
)
@click.option("--seed", metavar="N", default="4", help="Seed of the gate (default: 4, the seed of the page).")
@click.option(
    "--parallel", metavar="N", type=click.IntRange(1), default=PARALLEL, show_default=True, help="Gates at a time."
)
def main(only: Sequence[str], kafka: str | None, examples: str, seed: str, parallel: int) -> None:
    """Gate the clients, and write the page."""
    asked = {"--kafka": kafka, "--examples": examples, "--seed": seed}
    options = [word for name, value in asked.items() if value for word in (name, value)]
    gated = gate_all(only or names(), options, parallel=parallel)
    text = page(gated)
    if only:
        click.echo(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    sys.exit(2 if not all(one.finished for one in gated) else max((one.failure for one in gated), default=2))


if __name__ == "__main__":
    main()
