"""Find keys that a co-partitioned join of two topics would miss.

Exit code 0: no key is missed; 1: some are, or the partition counts differ, which Kafka Streams rejects; 2: it could not be
judged. No intermediate results are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from kafka_conformance.cli import options
from kafka_conformance.cli.audit_scope import EngineOptions, Scope, engine_options, join_scope
from kafka_conformance.cli.audit_source import SourceOptions, check, join_source
from kafka_conformance.core import interrupts
from kafka_conformance.core.streams import say_json
from kafka_conformance.reports.terminal import console

__all__ = ["run"]

_AGAIN = "run the same command again; a join keeps no intermediate results"


@click.argument("sources", metavar="TOPIC TOPIC | FILES FILES", nargs=-1)
@join_source
@join_scope
@options.as_json
@engine_options
def run(*, sources: Sequence[str], source: SourceOptions, scope: Scope, as_json: bool, engine: EngineOptions) -> int:
    """Join two topics, print the missed keys, and return the exit code. Raises BadInput, KitError."""
    a, b = addresses = source.addresses(sources, 2)
    # Only now: a wrong argument is refused before an extra is missed.
    from kafka_conformance.audit.engines.run import JoinJob, run_join
    from kafka_conformance.audit.reports import join_terminal

    selection, chosen = scope.selection(), engine.chosen()
    scope.check(source.partitions, joins=True)
    check(addresses, chosen.master)
    with interrupts.explained(_AGAIN):
        found = run_join(JoinJob(a, b, scope.expect, scope.key_format, selection, chosen))
    if as_json:
        say_json(found)
    else:
        join_terminal.show(console(), found)
    return 0 if found.whole else 1
