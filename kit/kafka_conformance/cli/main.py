"""The command line. Exit codes: 0 conforms, 1 differs, 2 the kit could not judge.

A command is a module in ``cli/commands``, named as the user types it. Its function ``run`` is decorated with click's
options and returns the exit code; the module's docstring is the help text. A module with subcommands, or that makes the
command itself, defines it as ``command``. Modules are imported when their command is used.
"""

from __future__ import annotations

import ast
import errno
import logging
import os
import pkgutil
import sys
import traceback
from contextlib import suppress
from functools import cache, partial, update_wrapper
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from kafka_conformance.cli import commands
from kafka_conformance.cli.effects import checked
from kafka_conformance.core import interrupts, streams
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.extras import missing_extra
from kafka_conformance.core.files import working_folder
from kafka_conformance.core.notices import warn
from kafka_conformance.core.submission import is_submitted
from kafka_conformance.core.suggestion import did_you_mean
from kafka_jars.errors import JarError
from kafka_jars.store import cache_folder

__all__ = ["app", "main"]

_NAME = "kafka-conformance"
_COMPLETE = "_KAFKA_CONFORMANCE_COMPLETE"
# What they print is all that they do: exit code 0 would be wrong without it.
_PRINTS = {
    "",
    "answer",
    "behaviour",
    "broker",
    "cases",
    "changes",
    "delivery",
    "explain",
    "findings",
    "jars",
    "place",
    "rules",
    "sample",
    "schema",
}

_SECTIONS = {
    "Judge a client or a broker": (
        "gate", "gate broker", "gate client", "record", "trace", "explain", "replay", "report", "cases", "sample", "schema",
        "answer",
    ),
    "Look up what Kafka does": (
        "behaviour", "changes", "delivery", "diff", "findings", "group", "idempotence", "place", "rules", "skew",
    ),
    "Run topics and brokers": ("audit", "join", "repair", "log", "broker", "cluster"),
    "Prove the reference": ("certificate", "drift", "jars", "sweep", "verify"),
}  # fmt: skip
"""The commands by what a user comes for."""
_OTHERS = "Maintain the kit"

_REPAIR = ("--repair-to", "--execute", "--target-partitions", "--follow", "--follow-until-idle", "--keep-staged",
           "--map-groups", "--group")  # fmt: skip
_ELSEWHERE = {"audit": {"--join": "join TOPIC TOPIC", **dict.fromkeys(_REPAIR, "repair TOPIC NEW-TOPIC")}}
"""For a command, options that people look for there, and the command that has them."""


class _Commands(click.Group):
    """The commands in ``cli/commands``, found by file name and imported when they are used.

    The command of ``gate_broker.py`` is ``gate broker``; ``gate`` is a command too.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, sorted."""
        return sorted(module.name.replace("_", " ") for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        return _load(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names. Raises UsageError for none, with names that resemble it."""
        if (two := " ".join(args[:2])) in (names := self.list_commands(ctx)):
            return super().resolve_command(ctx, [two, *args[2:]])
        if args[0] not in names and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}: {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with the first line of its docstring, without importing it."""
        names = self.list_commands(ctx)
        listed = {name for section in _SECTIONS.values() for name in section}
        for title, section in {**_SECTIONS, _OTHERS: [name for name in names if name not in listed]}.items():
            with formatter.section(title):
                formatter.write_dl([(name, _summary(name)) for name in section])


class _Command(click.Command):
    """Names the option for a release that is given as an argument (``findings 3.9.2``), and the command of an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse all words. Raises UsageError for words that belong to no parameter."""
        ctx.allow_extra_args = True
        try:
            extra = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if words := _ELSEWHERE.get(self.name or "", {}).get(error.option_name):
                ctx.fail(f"{self.name} has no {error.option_name}: use kafka-conformance {words}")
            raise
        if extra and not ctx.resilient_parsing:
            takes_release = any("--kafka" in parameter.opts for parameter in self.params)
            hint = f": did you mean --kafka {extra[0]}?" if takes_release and extra[0][0].isdigit() else ""
            ctx.fail(f"Got unexpected extra argument{'s' if extra[1:] else ''} ({' '.join(extra)}){hint}")
        return extra


@cache
def _load(name: str) -> click.Command:
    working_folder()  # Hypothesis asks for it when it is imported
    module = import_module(f"{commands.__name__}.{name.replace(' ', '_')}")
    found = getattr(module, "command", None)
    if found is None:
        # click removes the options from what it is given: a copy, so that an interrupted loading can be repeated.
        run = update_wrapper(partial(module.run), module.run)
        found = click.command(name, cls=_Command, help=module.__doc__)(run)
    assert isinstance(found, click.Command)  # noqa: S101
    return checked(found, name)


def _summary(name: str) -> str:
    source = Path(commands.__path__[0], f"{name.replace(' ', '_')}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from kafka_conformance.core.version import kit_version

        streams.say(f"kafka-conformance, version {kit_version()}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Print the version and exit.")  # fmt: skip
def app() -> None:
    """Compare an implementation of Kafka's rules with Kafka's own Java classes.

    Exit codes: 0 conforms, 1 differs, 2 the kit could not judge.
    """


def main() -> NoReturn:
    """Run the command in ``sys.argv``. Any failure to judge is one line on standard error and exit code 2."""
    try:
        _prepare()
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:  # before the command, or while its last line is printed
        interrupts.acknowledge()
        code = _fail("interrupted: nothing was judged to the end")
    except BaseException as error:  # noqa: BLE001  also one that reports another: Python's own exit code for it is 1
        code = 2
        interrupts.acknowledge()
        with suppress(BaseException):
            _fail(_defect(error))
    sys.exit(code)


def _prepare() -> None:
    interrupts.install()
    # Hypothesis would make a folder in the working directory.
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))
    if is_submitted():
        from kafka_conformance.spark.submit_streams import separate_error

        separate_error()
    streams.install()
    # py4j logs what it also raises, and Python prints log records that no handler receives.
    logging.getLogger().addHandler(logging.NullHandler())


def _run(words: list[str]) -> int:
    if instruction := os.environ.get(_COMPLETE):
        return shell_complete(app, {}, _NAME, _COMPLETE, instruction)
    try:
        # Not app(): click ends with exit code 1 when the reader of its output has gone.
        with app.make_context(_NAME, words) as context:
            code = app.invoke(context)
            command = context.invoked_subcommand or ""
        return _ended(code if isinstance(code, int) else 0, judged=command not in _PRINTS)
    except click.exceptions.Exit as end:
        return _ended(end.exit_code, judged=False)
    except (KitError, JarError) as error:
        return _fail(error)
    except (KeyboardInterrupt, click.Abort) as interrupt:
        interrupts.acknowledge()
        return _fail(f"interrupted: {str(interrupt) or 'nothing was judged to the end'}")
    except click.ClickException as error:
        return _fail_usage(error.format_message())
    except ModuleNotFoundError as error:
        return _fail(missing_extra(error) or _defect(error))
    except BaseException as error:  # noqa: BLE001  a defect of the kit is not a verdict: Python's exit code for it is 1
        return _fail(_defect(error))


def _defect(error: BaseException) -> str:
    """Return the line about an error that no part of the kit has explained. It does not raise."""
    if os.environ.get("KAFKA_CONFORMANCE_TRACEBACK"):
        with suppress(BaseException):
            traceback.print_exc()
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException as unreadable:  # noqa: BLE001  py4j asks the JVM for the text, which may have ended
        text = f"{type(error).__name__}, whose message cannot be read ({type(unreadable).__name__})"
    where = "KAFKA_CONFORMANCE_TRACEBACK=1 shows where"
    if isinstance(error, MemoryError):
        return f"there was not enough memory: give this process more, or ask less at once ({text}; {where})"
    if isinstance(error, OSError):
        return f"the system refused what this command needs: {text} ({where})"
    if isinstance(error, ImportError):
        return f"a library cannot be loaded: install it again, or give this process more memory: {text} ({where})"
    return f"this is a mistake in kafka-conformance itself: {text} ({where}; please report it)"


def _ended(code: int, *, judged: bool) -> int:
    """Return the exit code of a run whose standard output may be lost: a verdict stays, a listing has failed.

    A reader that has gone has read what it wanted of a listing, as in ``rules | head``.
    """
    lost = streams.output_lost()
    if lost is None:
        return code
    gone = isinstance(lost, BrokenPipeError)
    if judged:
        what = "was closed before everything was printed" if gone else _why(lost)
        warn(f"standard output {what}; the exit code is still the verdict")
        return code
    return code if gone else code or _fail(f"standard output {_why(lost)}")


def _why(lost: OSError) -> str:
    return "is closed" if lost.errno == errno.EBADF else f"cannot be written: {lost.strerror}"


def _fail_usage(message: str) -> int:
    if message.startswith("Usage:"):  # a group without a command: print its help
        streams.say_error(message, keep="\n")
        return 2
    return _fail(f"{message} (see --help)")


def _fail(message: object) -> int:
    streams.say_error(f"kafka-conformance: {message}")
    return 2
