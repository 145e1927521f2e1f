"""The command line. Exit codes: 0 conforms, 1 differs, 2 the kit could not judge."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import click
import typer
from kafka_jars.errors import JarError

from kafka_conformance.errors import Interrupted, KitError
from kafka_conformance.session import fresh_seed, split

__all__ = ["app", "main"]

app = typer.Typer(
    name="kafka-conformance",
    help="Does an implementation behave like Kafka? Exit codes: 0 conforms, 1 differs, 2 the kit could not judge.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
jars_app = typer.Typer(help="The jars of Kafka's releases.", no_args_is_help=True)
app.add_typer(jars_app, name="jars")

Rules = Annotated[str, typer.Option(help="Rules by slug, joined by commas; all of them if empty.", metavar="SLUGS")]
Examples = Annotated[int, typer.Option(min=0, help="Questions that Hypothesis makes, for each rule.")]
Seed = Annotated[int | None, typer.Option(help="Makes the same questions again; a fresh one if absent, printed.")]
Kafka = Annotated[
    str, typer.Option(help="Exact releases joined by commas, or all, or newest.", metavar="RELEASE|all|newest")
]


@app.command()
def verify(
    kafka: Kafka = "newest",
    rules: Rules = "",
    examples: Examples = 2000,
    seed: Seed = None,
    exhaustive: Annotated[int, typer.Option(min=0, max=3, help="Also every key of up to so many bytes.")] = 2,
    who: Annotated[
        str, typer.Option(help="Who is judged: reference, or mutant:NAME to see the kit fail.")
    ] = "reference",
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    certificate: Annotated[Path, typer.Option(help="Where the certificate goes.")] = Path(
        ".kafka-conformance/certificate.json"
    ),
) -> int:
    """Prove the reference against the real Java classes."""
    from kafka_conformance.commands import verify as command

    return command.run(
        kafka=kafka, rules=split(rules), examples=examples, seed=_seed(seed), exhaustive=exhaustive, who=who,
        as_json=json, certificate=certificate,
    )  # fmt: skip


@app.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="R1", help="A release.")],
    second: Annotated[str, typer.Argument(metavar="R2", help="Another.")],
    rules: Rules = "",
    examples: Examples = 2000,
    seed: Seed = None,
) -> int:
    """What changed between two releases, as shrunk examples. Exit code 1 if something did."""
    from kafka_conformance.commands import diff as command

    return command.run(first=first, second=second, rules=split(rules), examples=examples, seed=_seed(seed))


@app.command()
def replay(
    named: Annotated[str, typer.Argument(metavar="FILE-OR-ID", help="A failure file, or the id of one.")],
    expected: Annotated[str, typer.Option(help="Ask somebody else: java, reference, mutant:NAME.")] = "",
    actual: Annotated[str, typer.Option(help="Likewise, in place of the one that was judged.")] = "",
) -> int:
    """Ask one failed question again, and show both answers."""
    from kafka_conformance.commands import replay as command

    return command.run(named=named, expected=expected, actual=actual)


@app.command()
def answer(
    who: Annotated[str, typer.Option("--as", help="reference, java, or mutant:NAME.")] = "reference",
) -> int:
    """Answer protocol lines from standard input."""
    from kafka_conformance.commands import answer as command

    return command.run(who=who)


@app.command()
def selftest(rules: Rules = "", examples: Examples = 2000, seed: Seed = None) -> int:
    """Prove that the kit can fail: every mutant has to be found."""
    from kafka_conformance.commands import selftest as command

    return command.run(rules=split(rules), examples=examples, seed=_seed(seed))


@app.command()
def certificate(
    file: Annotated[Path | None, typer.Argument(help="Another certificate than the last one made here.")] = None,
    shipped: Annotated[bool, typer.Option("--shipped", help="The one that ships with the package.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table the README shows.")] = False,
) -> int:
    """What is proven, against what."""
    from kafka_conformance.commands import certificate as command

    return command.run(file=file, shipped=shipped, markdown=markdown)


@jars_app.command("list")
def jars_list() -> int:
    """Every pinned jar, and whether it is in the cache."""
    from kafka_conformance.commands import jars as command

    return command.list_jars()


@jars_app.command("resolve")
def jars_resolve(kafka: Kafka = "all") -> int:
    """Fetch and check jars; everything works without a network afterwards."""
    from kafka_conformance.commands import jars as command

    return command.resolve(kafka=kafka)


@jars_app.command("pin")
def jars_pin(versions: Annotated[list[str], typer.Argument(metavar="RELEASE...", help="Releases to pin.")]) -> int:
    """Fetch a release and write its sha256 into releases.toml."""
    from kafka_conformance.commands import jars as command

    return command.pin(versions=versions)


def main() -> NoReturn:
    """Run a command; one line on standard error and exit code 2 for whatever kept it from judging."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
    except (KitError, JarError) as error:
        code = _say(error)
    except (KeyboardInterrupt, click.exceptions.Abort):
        code = _say("interrupted: nothing was judged to the end")
    except click.exceptions.ClickException as error:
        error.show()
        code = 2
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: there is nobody to tell
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _say(what: object) -> int:
    print(f"kafka-conformance: {what}", file=sys.stderr)
    return 2


def _terminated(*_: Any) -> NoReturn:
    raise Interrupted("asked to terminate: nothing was judged to the end")


def _seed(seed: int | None) -> int:
    return fresh_seed() if seed is None else seed
