"""Options that several commands share."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from kafka_conformance.cli.completion import complete_answerers, complete_releases, complete_rules, rule_slugs
from kafka_conformance.core.files import check_writable, report_path
from kafka_conformance.findings import ROLES
from kafka_conformance.oracle.session import fresh_seed, split

__all__ = [
    "FILE", "PRODUCT", "REPORT", "Command", "allow_unproven", "answerer_option", "as_json", "collected", "examples", "kafka",
    "master", "reports", "resumable_seed", "role", "rules", "seed", "seed_up_to",
]  # fmt: skip

Command = Callable[..., Any]
Function = TypeVar("Function", bound=Command)


class _Named(click.Path):
    """A file or a folder; an empty name is refused, which would be the working directory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises click.BadParameter for an empty name."""
        if value in {"", b""}:
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class _Written(_Named):
    """A file that the command writes, checked before any work: click reads the options first."""

    def __init__(self, check: Callable[[Path], Path | None]) -> None:
        super().__init__()
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or None for a report that cannot be written. Raises KitError for what has to be written."""
        return self._check(Path(os.fsdecode(super().convert(value, param, ctx))))


def _checked(path: Path) -> Path:
    check_writable(path)
    return path


FILE = _Named()
"""A file or a folder that the command opens itself: ``core.files`` reports more reasons why it cannot than click."""
REPORT = _Written(report_path)
"""A report in addition to the verdict: one that cannot be written is a warning."""
PRODUCT = _Written(_checked)
"""A file that the command is there to write: one that cannot be written ends it before it begins."""


def _names(_: click.Context, __: click.Parameter, value: str) -> Sequence[str]:
    return split(value)


def _seed(_: click.Context, __: click.Parameter, value: int | None) -> int:
    return fresh_seed() if value is None else value


role = click.option("--role", type=click.Choice(ROLES), default=None,
                    help="Only what concerns this role (default: all).")  # fmt: skip


def kafka(default: str, more: str = "or 'all'") -> Callable[[Function], Function]:
    """Return the option for the releases to ask; ``more`` ends the list of what it takes."""
    return click.option("--kafka", default=default, show_default=True, metavar="RELEASES",
                        shell_complete=complete_releases,
                        help="Exact releases joined by commas, 'newest', 'spread' (the newest patch release of every "
                             f"minor release) {more}.")  # fmt: skip


def examples(default: int | None) -> Callable[[Function], Function]:
    """Return the option for the number of generated questions; None leaves the default to the command."""
    shown = "500 for one release, 2000 for several" if default is None else True
    return click.option("--examples", default=default, type=click.IntRange(min=0), show_default=shown, metavar="N",
                        help="Questions that Hypothesis generates for each rule.")  # fmt: skip


def seed_up_to(largest: int | None, what: str = "the generated questions") -> Callable[[Function], Function]:
    """Return the option for the seed of ``what``."""
    return click.option("--seed", default=None, type=click.IntRange(0, largest), metavar="N", callback=_seed,
                        help=f"Seed of {what}; it is printed (default: random).")  # fmt: skip


def answerer_option(help_text: str) -> Callable[[Function], Function]:
    """Return the option for the implementation that answers."""
    return click.option("--answerer", "answerer_name", default="reference", show_default=True,
                        metavar="ANSWERER", shell_complete=complete_answerers, help=f"{help_text}.")  # fmt: skip


def reports(function: Function) -> Function:
    """Add the options for the reports of a gate that are files."""
    for name, what in (
        ("--badge", "the JSON of a shields.io endpoint badge"),
        ("--html", "a report as one HTML page that needs no network"),
        ("--markdown", "a report as Markdown"),
        ("--junit", "a report as JUnit XML"),
    ):
        function = click.option(name, default=None, type=REPORT, metavar="FILE", help=f"Write {what}.")(function)
    return function


def collected(
    name: str, kind: type[msgspec.Struct], *declared: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command, which receives them as ``name``, a struct with their names.

    A field of the struct without an option has its default.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def run(**given: Any) -> Any:
            own = {field: given.pop(field) for field in kind.__struct_fields__ if field in given}
            return function(**{name: kind(**own)}, **given)

        decorated: Command = run
        for option in reversed(declared):
            decorated = option(decorated)
        return decorated

    return decorate


# A paragraph that click does not wrap: it would break slugs at their hyphens.
_SLUGS = "\b\n" + textwrap.fill(", ".join(rule_slugs()), 50, break_on_hyphens=False)
rules = click.option("--rules", default="", metavar="SLUGS", callback=_names, shell_complete=complete_rules,
                     help=f"Rules, joined by commas (default: all):\n\n{_SLUGS}")  # fmt: skip
seed = seed_up_to(None)
resumable_seed = click.option("--seed", default=None, type=click.IntRange(min=0), metavar="N",
                              help="Seed of the generated questions; it is printed (default: that of an unfinished run of "
                              "the same command, else random).")  # fmt: skip
master = click.option("--master", default="", metavar="URL",
                      help="Spark's master (default: local[*], or as spark-submit says).")  # fmt: skip
allow_unproven = click.option("--allow-unproven", is_flag=True,
                              help="Accept a release without a row in the certificate; every report says so.")  # fmt: skip
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output.")
