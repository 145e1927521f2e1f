"""Judge another implementation against Java's answers; needs no Java.

TARGET is a name in ci/drivers or python:package.module:answerer; COMMAND starts a driver. The implementation is asked
frozen cases with Java's answers, then generated questions. Several targets are shown side by side.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from io import RawIOBase
from pathlib import Path
from shutil import which

import click

from kafka_conformance.answerers.driver.protocol_errors import quoted
from kafka_conformance.answerers.in_process import PREFIX
from kafka_conformance.answerers.named_driver import FOLDER as DRIVERS
from kafka_conformance.answerers.names import target_name
from kafka_conformance.answerers.target import TargetAnswerer, open_target
from kafka_conformance.cases.failures import FOLDER
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput, KitError, TargetLost
from kafka_conformance.core.events import Event, to_line
from kafka_conformance.core.files import check_writable, exists, open_stream
from kafka_conformance.core.notices import warn
from kafka_conformance.core.progress import steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate import known_failures
from kafka_conformance.gate.grades import check_grade
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.reports import github as gate_github
from kafka_conformance.gate.reports import writers as gate_writers
from kafka_conformance.gate.runner import GatePlan, GateResult, gate, newest_with
from kafka_conformance.gate.selection import Selection, check_patterns
from kafka_conformance.oracle.session import chosen_releases, unproven_releases
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.rules import RULES, named
from kafka_conformance.rules.eras import ERAS, Era, eras, newest_of_eras
from kafka_jars.pins import load
from kafka_reference.proven import lacks_proof
from kafka_reference.releases import Release

__all__ = [
    "asked_eras", "asked_rules", "command", "entries_of", "event_stream", "known_entries", "report", "run",
]  # fmt: skip


_ALIKE = 0.8
"""How much a target resembles the second word of ``gate broker`` or ``gate client`` if that was meant: ``clients``."""


@click.argument("targets", metavar="TARGET... | -- COMMAND...", nargs=-1)
@click.option("--kafka", default="", metavar="RELEASES",
              help="Exact releases joined by commas, 'newest', 'spread', 'all', or 'eras': for each rule one release of "
                   "each distinct behaviour (default: for each rule the newest with it).")  # fmt: skip
@options.allow_unproven
@options.rules
@click.option("--run", "patterns", multiple=True, metavar="PATTERN",
              help="Ask only these questions: RULE, RULE/KIND or the id of a question, with * for any text; "
                   "repeatable.")  # fmt: skip
@click.option("--skip", multiple=True, metavar="PATTERN", help="Leave these questions out; repeatable.")
@options.examples(200)
@options.seed
@click.option("--timeout", default=30.0, type=click.FloatRange(0.1, 3600), show_default=True, metavar="SECONDS",
              help="Longest wait for the hello, and for each batch of answers.")  # fmt: skip
@click.option("--known-failures", "known", default=None, type=options.FILE, metavar="FILE",
              help="TOML file of the failures that are known.")  # fmt: skip
@click.option("--write-known-failures", "write_known", is_flag=True, help="Write or update the file of known failures.")
@click.option("--known-flaky", is_flag=True,
              help="Count answers that change when the target is asked again as known failures.")  # fmt: skip
@click.option("--failures", default=None, type=options.FILE, metavar="FOLDER",
              help="Where to save failed questions (default: .kafka-conformance/failures).")  # fmt: skip
@click.option("--out-of-domain", is_flag=True,
              help="Also ask what no user of any client can bring about; it never changes the verdict.")  # fmt: skip
@click.option("--events", default=None, type=options.REPORT, metavar="FILE", help="Write all events as JSON lines.")
@options.reports
@click.option("--github/--no-github", default=None,
              help="Print GitHub annotations and write a job summary (default: only in GitHub Actions).")  # fmt: skip
def run(*, targets: Sequence[str], command: Sequence[str], kafka: str, rules: Sequence[str], patterns: Sequence[str],
        skip: Sequence[str], examples: int, seed: int, timeout: float, known: Path | None, write_known: bool,
        failures: Path | None, events: Path | None, junit: Path | None, markdown: Path | None, html: Path | None,
        badge: Path | None, github: bool | None, out_of_domain: bool, allow_unproven: bool,
        known_flaky: bool) -> int:  # fmt: skip
    """Gate one implementation, or several side by side; return the exit code."""
    if events == Path("-"):
        raise BadInput(
            "--events - would write a file named -: name a file; `report` reads one, or - for standard input"
        )
    if len(targets) > 1 and (known or junit or badge or command):
        raise BadInput("--known-failures, --junit, --badge and a command belong to one implementation: gate it alone")
    if not command:
        _check_targets(targets)
    entries = known_entries(known, write=write_known)
    asked, unproven = proven_rules(asked_rules(kafka, rules), named=bool(rules), allow=allow_unproven)
    selection = Selection(check_patterns(patterns), check_patterns(skip))
    plan = GatePlan(asked, examples, seed, failures or FOLDER, bool(rules), out_of_domain=out_of_domain,
                    unproven=unproven, known_flaky=known_flaky, selection=selection,
                    eras=asked_eras(kafka, rules))  # fmt: skip
    with event_stream(events) as stream:
        gates = [_gate(each, command, timeout, plan, entries, stream) for each in targets or ("",)]
    if len(gates) > 1:
        found = [event for each in gates for event in each.events]
        return gate_writers.write_several(found, markdown=markdown, html=html)
    (gated,) = gates
    write_to = known if write_known else None
    return report(gated, entries, write_to, github, junit=junit, markdown=markdown, html=html, badge=badge)


def _check_targets(targets: Sequence[str]) -> None:
    """Raise BadInput if the targets are the words of a command, which belongs after ``--``."""
    first = targets[0] if targets else ""
    if not exists(DRIVERS / first.partition(":")[0]):
        for meant in get_close_matches(first, ["broker", "client"], 1, _ALIKE):
            raise BadInput(f"unknown target {quoted(first)}: did you mean 'gate {meant}'?")
    is_name = first.startswith(PREFIX) or exists(DRIVERS / first.partition(":")[0])
    if first and not is_name and (which(first) or exists(Path(first)) or Path(first).suffix == ".py"):
        interpreter = ("python3",) if Path(first).suffix == ".py" and which(first) is None else ()
        raise BadInput(
            f"{quoted(shlex.join(targets))} is a command: write -- before it: "
            f"kafka-conformance gate -- {quoted(shlex.join((*interpreter, *targets)))}"
        )


def _gate(target: str, command: Sequence[str], timeout_s: float, plan: GatePlan, entries: KnownFailures,
          stream: Callable[[Event], None]) -> GateResult:  # fmt: skip
    """Open one implementation and gate it."""
    with ExitStack() as stack:
        implementation = stack.enter_context(_opened(target, command, timeout_s))
        for slug, grade in implementation.grades.items():
            if slug in RULES:
                check_grade(RULES[slug], grade)
        progress = stack.enter_context(steps(f"the gate of {implementation.name}", len(plan.asked)))
        gated = gate(implementation, replace(plan, by=target_name(target, command)), entries, stream, progress)
    if gated.warning:
        warn(gated.warning)
    return gated


class _GateCommand(click.Command):
    """Leaves everything after ``--`` to the command of the target."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before ``--``."""
        end = args.index("--") if "--" in args else len(args)
        ctx.params["command"] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])


command = click.command("gate", cls=_GateCommand, help=__doc__)(run)


def known_entries(known: Path | None, *, write: bool) -> KnownFailures:
    """The known failures in a file, which need not exist if it is to be written. Raises BadInput, KitError."""
    if write and known is None:
        raise BadInput("--write-known-failures needs --known-failures FILE, the file to write")
    if write and known is not None:
        check_writable(known)
    return entries_of(known if known is not None and (not write or exists(known)) else None)


def entries_of(known: Path | None) -> KnownFailures:
    """The known failures in this file, as of today; none without a file. Raises BadInput."""
    today = datetime.now(UTC).date()
    return KnownFailures(today=today) if known is None else known_failures.read(known, today)


def asked_rules(kafka: str, slugs: Sequence[str]) -> list[tuple[Rule, Release]]:
    """Each rule with its releases: those named, the newest of each era, or the newest of all.

    Raises BadInput if nothing is left to ask.
    """
    pins, rules = load(), named(slugs)
    if kafka.strip() == ERAS:
        return [(rule, release) for rule in rules for release in newest_of_eras(rule)]
    if not kafka:
        return [(rule, _newest_proven(rule, chosen_releases("all", pins))) for rule in rules]
    releases = chosen_releases(kafka, pins)
    found = [(rule, at) for rule in rules for at in releases if at in rule.releases]
    if not found:
        raise BadInput(f"none of these rules exists in Kafka {kafka}: {', '.join(rule.slug for rule in rules)}")
    return found


def _newest_proven(rule: Rule, releases: Sequence[Release]) -> Release:
    """Return the newest of these releases in which the rule is proven; the newest that has it if it is proven in none."""
    return newest_with(rule, [release for release in releases if not lacks_proof(release, rule.slug)] or releases)


def proven_rules(asked: Sequence[tuple[Rule, Release]], *, named: bool, allow: bool
                 ) -> tuple[list[tuple[Rule, Release]], tuple[str, ...]]:  # fmt: skip
    """Return what a gate asks of ``asked``, and the releases in which a rule that is asked is not proven.

    Unless the rules were ``named`` or unproven ones are allowed, a rule is left out where the certificate does not prove it
    so far, with a warning. Raises BadInput for a release without any proof, for a named rule, and if nothing is left.
    """
    kept = [(rule, release) for rule, release in asked if named or allow or not lacks_proof(release, rule.slug)]
    left_out = [f"{rule.slug} in {release}" for rule, release in asked if (rule, release) not in kept]
    if left_out:
        warn(f"not proven so far, left out: {', '.join(left_out)}; --allow-unproven asks them")
    if not kept:
        raise BadInput("nothing is left to ask: name other rules or releases, or give --allow-unproven")
    return kept, unproven_releases([(rule.slug, release) for rule, release in kept], allow=allow)


def asked_eras(kafka: str, slugs: Sequence[str]) -> dict[str, Sequence[Era]]:
    """Return the eras of each rule if ``kafka`` asks for them; otherwise nothing. Raises BadInput."""
    return {rule.slug: eras(rule) for rule in named(slugs)} if kafka.strip() == ERAS else {}


@contextmanager
def _opened(target: str, command: Sequence[str], timeout_s: float) -> Iterator[TargetAnswerer]:
    """Open the target. Raises KitError if it does not answer the hello, with what it did instead."""
    try:
        with open_target(target, command, timeout_s=timeout_s) as implementation:
            yield implementation
    except TargetLost as lost:
        raise KitError(f"the target could not be asked ({lost.error}): {lost}") from lost


@contextmanager
def event_stream(path: Path | None) -> Iterator[Callable[[Event], None]]:
    """Where events go as they happen: a file, or nowhere. One that cannot be written, or is full, costs a warning."""
    with ExitStack() as stack:
        file: RawIOBase | None = None

        def written(event: Event) -> None:
            """Write an event at once, so that a gate that is killed has written all it knew."""
            nonlocal file
            if file is not None and not _tried(path, partial(file.write, to_line(event) + b"\n")):
                file = None

        def opened() -> None:
            nonlocal file
            if path is not None:
                file = stack.enter_context(open_stream(path))

        _tried(path, opened)
        yield written


def _tried(path: Path | None, write: Callable[[], object]) -> bool:
    try:
        write()
    except KitError as error:
        warn(str(error))
        return False
    except OSError as error:
        warn(f"{path} cannot be written: {error.strerror}")
        return False
    return True


def report(gated: GateResult, entries: KnownFailures, write_to: Path | None, github: bool | None,
           **files: Path | None) -> int:  # fmt: skip
    """Show and write the reports of a gate, and the file of known failures if it is given; return the exit code."""
    gate_writers.show(gated.events)
    in_actions = gate_github.in_actions(os.environ) if github is None else github
    gate_writers.write_all(gated.events, github=in_actions, **files)
    return gated.ended.exit_code if write_to is None else _write_known_failures(write_to, entries, gated)


def _write_known_failures(path: Path, entries: KnownFailures, gated: GateResult) -> int:
    """Write or update the file; return 2 if something could not be judged: no entry is then known or stale."""
    if gated.ended.exit_code == 2:
        raise KitError(f"{path} is unchanged: {gated.ended.why}")
    if gated.ended.failed:
        raise KitError(f"{path} is unchanged: {plural(gated.ended.failed, 'question')} could not be judged")
    added, kept = known_failures.updated(path, entries, gated.unknown), sum(entries.keeps())
    gone = len(entries.entries) - kept
    words = f"{path}: entries added: {added}, kept: {kept}, removed: {gone}. Add a reason to each new entry."
    console().print(words, markup=False, soft_wrap=True)
    return 0
