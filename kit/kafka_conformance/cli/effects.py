"""Options without an effect are refused: a user who gives one expects a result that the command does not give.

Most options act in every mode of their command. ``NO_EFFECT`` lists the others: for each command its modes, when a mode is
chosen, and the options that are ignored in it. A command that refuses an option itself, with its own reason, need not be
listed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from kafka_conformance.core.errors import BadInput

__all__ = ["NO_EFFECT", "Mode", "checked"]


@dataclass(frozen=True, slots=True)  # not of msgspec, which a command imports when it is used
class Mode:
    """A mode of a command: ``where`` names it, ``chosen`` decides by the parameters, ``without`` are ignored options.

    ``example`` are the words that choose it, for tests.
    """

    where: str
    chosen: Callable[[Mapping[str, Any]], Any]
    without: tuple[str, ...]
    example: tuple[str, ...]


_BROKER = ("--bootstrap-server", "--command-config", "--option")
_COLUMNS = ("--key-column", "--key-encoding")
_AT_BROKER = ("--bootstrap-server", "127.0.0.1:1")


def _names_broker(given: Mapping[str, Any]) -> bool:
    """Whether a topic is read. Without a broker, the endings of files may name their format."""
    return bool((given["bootstrap"] or given["command_config"]) and not given["form"])


_OF_EXPORTS = (
    Mode("with --format", lambda given: given["form"], (*_BROKER, "--isolation"),
         ("x.json", "--format", "json", "--partitions", "6")),
    Mode("with --bootstrap-server or --command-config, and without --format", _names_broker, (*_COLUMNS, "--partitions"),
         ("a", *_AT_BROKER)),
)  # fmt: skip


def _has_no_release(given: Mapping[str, Any]) -> bool:
    return bool(given["rule"] == "all" and not given["kafka"] and not given["second"])


NO_EFFECT: dict[str, tuple[Mode, ...]] = {
    "audit": (
        Mode("with --report-only", lambda given: given["report_only"],
             (*_BROKER, "--isolation", "--segments", "--topic", "--format", "--partitions", *_COLUMNS, "--expect",
              "--key-format", "--key-view", "--from", "--to", "--sample", "--chunk", "--all-records", "--engine"),
             ("--report-only", "--folder", "x")),
        Mode("with --segments", lambda given: given["segments"], (*_BROKER, "--format", *_COLUMNS), ("--segments", "x")),
        Mode("without --segments", lambda given: not given["segments"], ("--topic",), ("a", *_AT_BROKER)),
        *_OF_EXPORTS,
    ),
    "behaviour": (
        Mode("with --table or --check", lambda given: given["table"] or given["check"],
             ("--kafka", "--json", "--allow-unproven"), ("all", "--table", "x.md")),
        Mode("with all and no release", _has_no_release, ("--allow-unproven",), ("all",)),
    ),
    "cases": (Mode("without --write", lambda given: not given["write"], ("--rules", "--every-era"), ()),),
    "certificate": (
        Mode("with --markdown", lambda given: given["markdown"], ("--verbose",), ("--markdown",)),
        Mode("with a FILE", lambda given: given["files"], ("--shipped",), ("x.json",)),
    ),
    "coverage": (
        Mode("with --shipped", lambda given: given["shipped"], ("--kafka", "--examples", "--seed"), ("--shipped",)),
        Mode("with --json", lambda given: given["as_json"], ("--verbose",), ("--shipped", "--json")),
    ),
    "delivery": (
        Mode("with --json", lambda given: given["as_json"], ("--explain",), ("--json",)),
    ),
    "freeze": (
        Mode("with --check", lambda given: given["check"] is not None, ("--examples", "--seed", "--folder", "--from"),
             ("--check", "x")),
        Mode("without --check", lambda given: given["check"] is None, ("--kafka",), ()),
        Mode("with --kills", lambda given: given["recount"], ("--examples", "--seed", "--from"), ("--kills",)),
    ),
    "gate": (
        Mode("with several targets", lambda given: len(given["targets"]) > 1, ("--github",), ("a", "b")),
    ),
    "gate client": (
        Mode("with --cassettes", lambda given: given["replayed"],
             ("--seed", "--generate", "--shrink", "--record-cassettes", "--kafka", "--timeout"), ("--cassettes", "x")),
    ),
    "join": _OF_EXPORTS,
    "repair": (
        Mode("with --map-groups", lambda given: given["map_groups"],
             ("--target-partitions", "--follow", "--follow-until-idle", "--keep-staged"),
             ("a", "b", "--map-groups", *_AT_BROKER)),
        Mode("without --map-groups", lambda given: not given["map_groups"], ("--group",), ("a", "b", *_AT_BROKER)),
    ),
    "changes": (Mode("with --json", lambda given: given["as_json"], ("--short",), ("2.8.2", "3.9.2", "--json")),),
    "findings": (Mode("with --json", lambda given: given["as_json"], ("--short",), ("--json",)),),
    "report": (
        Mode("with --since", lambda given: given["since"],
             ("--junit", "--markdown", "--html", "--badge", "--github", "--terminal"), ("x", "--since", "y")),
    ),
    "rules": (
        Mode("with --write or --check", lambda given: given["write"] or given["check"], ("--json",), ("--write", "x")),
    ),
    "selftest": (
        Mode("with --kit", lambda given: given["kit"], ("--examples", "--seed"), ("--kit",)),
        Mode("with --generated", lambda given: given["generated"], ("--examples",), ("--generated",)),
    ),
    "verify": (
        Mode("with --answerer mutant:NAME", lambda given: given["answerer_name"].startswith("mutant:"),
             ("--certificate",), ("--answerer", "mutant:sign-abs")),
        Mode("with --json", lambda given: given["as_json"], ("--verbose",), ("--json",)),
    ),
}  # fmt: skip
"""For each command the modes in which some of its options have no effect."""


def checked(command: click.Command, name: str) -> click.Command:
    """Return the command; before it runs, it raises BadInput for an option without an effect."""
    run = command.callback
    if run is None or name not in NO_EFFECT:
        return command

    @wraps(run)
    def checked_run(**given: Any) -> Any:
        context = click.get_current_context()
        options = set(_given(context))
        for mode in NO_EFFECT[name]:
            if mode.chosen(context.params):
                for option in mode.without:
                    if option in options:
                        raise BadInput(f"{option} has no effect {mode.where}: leave it out")
        return run(**given)

    command.callback = checked_run
    return command


def _given(context: click.Context) -> Iterator[str]:
    """Yield the long names of the options on the command line, whatever their values are."""
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and isinstance(parameter, click.Option):
            yield max(parameter.opts, key=len)
