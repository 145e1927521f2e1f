"""The command line. Exit codes: 0 conforms, 1 differs, 2 the kit could not judge."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import fresh_seed, split
from kafka_conformance.verify import certificate as certifying
from kafka_jars.errors import JarError

__all__ = ["app", "main"]

Command = TypeVar("Command", bound=Callable[..., Any])


def _names(_: click.Context, __: click.Parameter, value: str) -> Sequence[str]:
    return split(value)


def _seed(_: click.Context, __: click.Parameter, value: int | None) -> int:
    return fresh_seed() if value is None else value


def _asking(command: Command, examples: int | None = 2000) -> Command:
    """The options of every command that makes questions."""
    usual = "500 for one release, 2000 for several" if examples is None else True
    options = (
        click.option("--rules", default="", metavar="SLUGS", callback=_names, help="Slugs joined by commas; else all."),
        click.option("--examples", default=examples, type=click.IntRange(min=0), show_default=usual, metavar="N",
                     help="Questions that Hypothesis makes, for each rule."),
        click.option("--seed", default=None, type=click.IntRange(min=0), metavar="N", callback=_seed,
                     help="Makes the same questions again; a fresh one if absent. It is printed."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _kafka(default: str) -> Callable[[Command], Command]:
    words = "Exact releases joined by commas, or all, or newest."
    return click.option("--kafka", default=default, show_default=True, metavar="RELEASES", help=words)


def _spark(command: Command) -> Command:
    """The options of every command that is a Spark job."""
    command = click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE",
                           help="Spark's own: spark.driver.memory=8g, say.")(command)  # fmt: skip
    return click.option("--master", default="", metavar="MASTER",
                        help="Where it runs; local[*] if absent. Within spark-submit, that decides.")(command)  # fmt: skip


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kit_version(), prog_name="kafka-conformance")
def app() -> None:
    """Does an implementation behave like Kafka?

    Exit codes: 0 conforms, 1 differs, 2 the kit could not judge.
    """


@app.command()
@_kafka("newest")
@partial(_asking, examples=None)
@click.option("--exhaustive", default=2, type=click.IntRange(0, 3), show_default=True, metavar="N",
              help="Also every key of up to so many bytes.")  # fmt: skip
@click.option("--who", default="reference", show_default=True, help="Who is judged: or mutant:NAME, to see it fail.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--certificate", default=certifying.LAST, type=click.Path(path_type=Path), show_default=True, metavar="FILE",
              help="Where the certificate goes.")  # fmt: skip
def verify(**options: Any) -> int:
    """Prove the reference against the real Java classes."""
    from kafka_conformance.cli.commands import verify as command

    return command.run(**options)


@app.command()
@_kafka("newest")
@click.option("--rules", default="", metavar="SLUGS", callback=_names, help="Slugs joined by commas; else all.")
@click.option("--every", default=3, type=click.IntRange(-1, 4), show_default=True, metavar="N",
              help="Every key of up to so many bytes; -1 for none. Those of up to 2 with all counts 1-1024.")  # fmt: skip
@click.option("--keys", default=1_000_000, type=click.IntRange(0, 10**12), show_default=True, metavar="N",
              help="Random keys, for each rule of keys.")  # fmt: skip
@click.option("--longest", default=4_096, type=click.IntRange(0, 65_536), show_default=True, metavar="BYTES",
              help="How long random keys may be.")  # fmt: skip
@click.option("--scripts", default=10_000, type=click.IntRange(0, 10**9), show_default=True, metavar="N",
              help="Questions that Hypothesis makes, for each other rule.")  # fmt: skip
@click.option("--seed", default=None, type=click.IntRange(0, 2**53), metavar="N", callback=_seed,
              help="Draws the same keys and scripts again; a fresh one if absent. It is printed.")  # fmt: skip
@click.option("--who", default="reference", show_default=True, help="Who is judged: or mutant:NAME, to see it fail.")
@click.option("--kills", is_flag=True, help="Also note which questions show which mutants, for freeze --from.")
@click.option("--master", default="", metavar="URL", help="Spark's master; local[*] if absent.")
@click.option("--folder", default="", metavar="FOLDER",
              help="Where the run is kept, on any file system Spark knows; the same command resumes it.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def sweep(**options: Any) -> int:
    """Prove the reference at scale, on Spark: keys by the billion, scripts by the million."""
    from kafka_conformance.cli.commands import sweep as command

    return command.run(**options)


@app.command()
@click.argument("releases", metavar="R1 R2 | all", nargs=-1, required=True)
@_asking
@click.option(
    "--table", type=click.Path(path_type=Path), metavar="FILE", help="Write the table of changes into this page."
)
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="FILE", help="Exit with 1 unless this page says the same."
)
def diff(**options: Any) -> int:
    """What Java changed between releases, by example. Exit code 1 if something did."""
    from kafka_conformance.cli.commands import diff as command

    return command.run(**options)


@app.command()
@click.argument("named", metavar="FILE-OR-ID")
@click.option("--expected", default="", metavar="WHO", help="Ask somebody else: java, reference, mutant:NAME.")
@click.option("--actual", default="", metavar="WHO", help="Likewise, in place of the one that was judged.")
def replay(**options: Any) -> int:
    """Ask one failed question again, and show both answers."""
    from kafka_conformance.cli.commands import replay as command

    return command.run(**options)


@app.command()
@click.argument("file", metavar="FILE")
@click.option("--kafka", default="", metavar="RELEASE", help="An exact release, or newest; else the one in the file.")
@click.option("--who", default="reference", show_default=True, metavar="WHO",
              help="Whose answers: reference, java, or mutant:NAME. The reasons are the reference's.")  # fmt: skip
@click.option("--svg", default=None, type=click.Path(path_type=Path), metavar="FILE", help="Also draw the timeline.")
@click.option("--json", "as_json", is_flag=True, help="A JSON line for each question on standard output.")
def explain(**options: Any) -> int:
    """Show a question and its answer as a timeline: what happened at each step, and why."""
    from kafka_conformance.cli.commands import explain as command

    return command.run(**options)


@app.command()
@click.option("--as", "who", default="reference", show_default=True, help="reference, java, or mutant:NAME.")
def answer(**options: Any) -> int:
    """Answer protocol lines from standard input."""
    from kafka_conformance.cli.commands import answer as command

    return command.run(**options)


@app.command()
@click.option("--write", default=None, type=click.Path(path_type=Path), metavar="FILE", help="Into a file instead.")
def schema(**options: Any) -> int:
    """Print the JSON Schema of the protocol's lines, either way."""
    from kafka_conformance.cli.commands import schema as command

    return command.run(**options)


class _GateCommand(click.Command):
    """What stands after ``--`` is the target's command, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The target's own words are kept from click."""
        at = args.index("--") if "--" in args else len(args)
        ctx.params["command"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


_FILE = click.Path(path_type=Path)


@app.command(cls=_GateCommand)
@click.argument("target", metavar="TARGET | -- COMMAND...", required=False, default="")
@click.option("--kafka", default="", metavar="RELEASES", help="Exact releases, or all, or newest; else, for each rule, the "
              "newest that has it.")  # fmt: skip
@partial(_asking, examples=200)
@click.option("--timeout", default=30.0, type=click.FloatRange(0.1, 3600), show_default=True, metavar="SECONDS",
              help="For its hello, and for each batch of questions.")  # fmt: skip
@click.option(
    "--known-failures", "known", default=None, type=_FILE, metavar="FILE", help="What it is known to fail; TOML."
)
@click.option("--write-known-failures", "write_known", is_flag=True, help="Make that file, or mend it.")
@click.option("--failures", default=None, type=_FILE, metavar="FOLDER", help="Where failed questions are kept.")
@click.option("--events", default=None, type=_FILE, metavar="FILE", help="Everything that happens, as JSON lines.")
@click.option("--junit", default=None, type=_FILE, metavar="FILE", help="A report as JUnit XML.")
@click.option("--markdown", default=None, type=_FILE, metavar="FILE", help="A report as Markdown.")
@click.option("--html", default=None, type=_FILE, metavar="FILE", help="A report as one HTML page.")
@click.option("--badge", default=None, type=_FILE, metavar="FILE", help="An endpoint for a badge of shields.io.")
@click.option("--github/--no-github", default=None, help="Annotations and a job summary; else where GitHub runs it.")
def gate(**options: Any) -> int:
    """Judge another implementation: a driver's command, python:package.module:answerer, or a name in ci/drivers.

    Needs no Java. What it is asked: frozen cases with Java's answers, then fresh questions.
    """
    from kafka_conformance.cli.commands import gate as command

    return command.run(**options)


@app.command()
@_asking
def selftest(**options: Any) -> int:
    """Prove that the kit can fail: every mutant has to be found."""
    from kafka_conformance.cli.commands import selftest as command

    return command.run(**options)


@app.command()
@_asking
@click.option("--folder", default=Path(".kafka-conformance") / "cases", type=click.Path(path_type=Path), show_default=True,
              metavar="FOLDER", help="Where the files go.")  # fmt: skip
@click.option("--check", is_flag=False, flag_value=Path(), default=None, type=click.Path(path_type=Path), metavar="[FOLDER]",
              help="Make nothing: ask Java again for every answer in this folder, or the shipped one.")  # fmt: skip
@click.option("--from", "runs", multiple=True, metavar="RUN",
              help="Also choose from what a sweep with --kills found, in its folder; several times if wanted.")  # fmt: skip
def freeze(**options: Any) -> int:
    """Make the frozen cases that the gate ships with, from Java's answers."""
    from kafka_conformance.cli.commands import freeze as command

    return command.run(**options)


@app.command()
@click.option("--kafka", default=["2.8.2", "3.3.2"], multiple=True, show_default=True, metavar="RELEASES",
              help="Exact releases, or all, or newest; may be given several times.")  # fmt: skip
@click.option("--records", default=100_000, type=click.IntRange(10_000, 50_000_000), show_default=True, metavar="N",
              help="Records sent in each run.")  # fmt: skip
@click.option("--seed", default=1, type=click.IntRange(0, 2**53), show_default=True, metavar="N", help="Of all draws.")
@click.option(
    "--plot", default=None, type=click.Path(path_type=Path), metavar="FILE", help="Also draw it, as .png say."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def skew(**options: Any) -> int:
    """How evenly Java spreads records without a key, and whether its rule predicts that."""
    from kafka_conformance.cli.commands import skew as command

    return command.run(**options)


@app.command()
@_kafka("all")
@click.option("--table", type=click.Path(path_type=Path), metavar="FILE", help="Write it into this page.")
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="FILE", help="Exit with 1 unless this page says the same."
)
def idempotence(**options: Any) -> int:
    """What becomes of every combination of a producer's settings, by exact release."""
    from kafka_conformance.cli.commands import idempotence as command

    return command.run(**options)


@app.command()
@click.argument("sources", metavar="TOPIC | FILES", nargs=-1, required=True)
@click.option("--bootstrap-server", "bootstrap", default="", metavar="HOST:PORT", help="The broker of a topic.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE",
              help="For Kafka, as Spark's connector has it: kafka.security.protocol=SSL, say.")  # fmt: skip
@click.option("--format", "form", default="", type=click.Choice(["", "parquet", "json"]), metavar="parquet|json",
              help="Files in place of a topic, with columns partition, offset, key, and perhaps timestamp.")  # fmt: skip
@click.option("--partitions", default=None, type=click.IntRange(1, 1_000_000), metavar="N",
              help="Of files: how many partitions their topic has.")  # fmt: skip
@click.option("--key-column", default="key", show_default=True, metavar="NAME", help="Of files.")
@click.option("--key-encoding", default="utf8", type=click.Choice(["utf8", "hex", "base64"]), show_default=True,
              metavar="utf8|hex|base64", help="Of files, where keys are text.")  # fmt: skip
@click.option(
    "--expect",
    default="murmur2",
    show_default=True,
    metavar="RULE",
    help="Where keys should be: Java's way, or another.",
)
@click.option("--join", is_flag=True, help="Of two: would a join of them, partition by partition, miss keys?")
@click.option(
    "--repair-to", default="", metavar="TOPIC", help="Write the records to this new topic, where Java would put them."
)
@click.option("--really", is_flag=True, help="With --repair-to: do it. Without, what would be done is told.")
@click.option("--target-partitions", default=None, type=click.IntRange(1, 100_000), metavar="N",
              help="With --repair-to: of the new topic; as many as the old one if absent.")  # fmt: skip
@click.option("--folder", default="", metavar="FOLDER",
              help="Where results go, and what is resumed; a new one in .kafka-conformance/audits if absent.")  # fmt: skip
@click.option("--chunk", default=25_000_000, type=click.IntRange(1_000, 1_000_000_000), show_default=True, metavar="N",
              help="Records after which a run that was ended goes on.")  # fmt: skip
@click.option("--all-records", is_flag=True, help="Keep a row for every record, not only for those out of place.")
@click.option("--html", default=None, type=_FILE, metavar="FILE", help="Also as one HTML page, with plots.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@_spark
def audit(**options: Any) -> int:
    """Which rule put each record of a topic where it is: who hashed what, and what co-partitioning breaks.

    Exit code 0: every key where it is expected; 1: not; 2: it could not be judged.
    """
    from kafka_conformance.cli.commands import audit as command

    return command.entered(**options)


def _faults(command: Command) -> Command:
    """The options of ``delivery`` that name requests."""
    for option, words in (
        ("--restart-producer", "The producer ends before it hears of this request."),
        ("--crash-replicated", "The leader crashes once followers have this request."),
        ("--crash-unreplicated", "The leader crashes with this request, before a follower has it."),
        ("--crash-before", "The leader crashes before this request."),
        ("--lose-response", "This request is dealt with, and its response is lost."),
        ("--lose-request", "This request is lost."),
    ):
        command = click.option(option, multiple=True, type=click.IntRange(1, 1000), metavar="REQUEST", help=words)(
            command
        )
    return command


@app.command()
@click.option("--acks", default=None, metavar="0|1|all", help="As a user sets it; left alone if absent.")
@click.option("--retries", default=None, metavar="N", help="Likewise.")
@click.option("--in-flight", default=None, metavar="N", help="max.in.flight.requests.per.connection, likewise.")
@click.option("--idempotence", default=None, metavar="true|false", help="enable.idempotence, likewise.")
@click.option("--replicas", default=3, type=click.IntRange(1, 9), show_default=True, metavar="N")
@click.option("--min-insync-replicas", default=1, type=click.IntRange(1, 9), show_default=True, metavar="N")
@click.option("--records", default=3, type=click.IntRange(1, 20), show_default=True, metavar="N")
@_faults
@click.option("--refuse", multiple=True, metavar="REQUEST[=ERROR]",
              help="The leader answers this request with an error; else NOT_LEADER_OR_FOLLOWER.")  # fmt: skip
@click.option("--kafka", default="newest", show_default=True, metavar="RELEASE", help="An exact release, or newest.")
@click.option("--who", default="reference", show_default=True, metavar="WHO", help="reference, java, or mutant:NAME.")
@click.option("--explain", is_flag=True, help="Tell the story, request by request.")
@click.option("--json", "as_json", is_flag=True, help="Question and answer as a JSON line.")
def delivery(**options: Any) -> int:
    """What becomes of records with faults between them and the log: lost, doubled, reordered.

    Requests are counted as they come over the wire, from 1; a retry is another request.
    """
    from kafka_conformance.cli.commands import delivery as command

    return command.run(**options)


@app.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@click.option("--write", default=None, type=click.Path(path_type=Path), metavar="FILE",
              help="Write it: several, of runs over some releases each, become one.")  # fmt: skip
@click.option("--shipped", is_flag=True, help="The one that ships with the package, not the last one made here.")
@click.option("--markdown", is_flag=True, help="The table the README shows.")
def certificate(**options: Any) -> int:
    """What is proven, against what."""
    from kafka_conformance.cli.commands import certificate as command

    return command.run(**options)


@app.command()
@click.argument("events", metavar="EVENTS", type=click.Path(path_type=Path))
@click.option("--junit", default=None, type=click.Path(path_type=Path), metavar="FILE", help="JUnit XML.")
@click.option("--github", is_flag=True, help="GitHub's annotations on standard output, and the summary of the job.")
@click.option("--markdown", default=None, type=click.Path(path_type=Path), metavar="FILE", help="A page in Markdown.")
@click.option("--badge", default=None, type=click.Path(path_type=Path), metavar="FILE",
              help="JSON for an endpoint badge of shields.io.")  # fmt: skip
@click.option(
    "--html", default=None, type=click.Path(path_type=Path), metavar="FILE", help="One page that needs no network."
)
@click.option("--terminal", is_flag=True, help="Print it; as it is done where no other report is asked for.")
def report(**options: Any) -> int:
    """Make any report of a gate from the events it saved; `-` is standard input. Its exit code is the gate's."""
    from kafka_conformance.cli.commands import report as command

    return command.run(**options)


@app.group()
def jars() -> None:
    """The jars of Kafka's releases, each held to a sha256."""


@jars.command("list")
def jars_list() -> int:
    """Every pinned jar, and whether it is in the cache."""
    from kafka_conformance.cli.commands import jars as command

    return command.list_jars()


@jars.command("resolve")
@_kafka("all")
def jars_resolve(**options: Any) -> int:
    """Fetch and check jars; everything works without a network afterwards."""
    from kafka_conformance.cli.commands import jars as command

    return command.resolve(**options)


@jars.command("pin")
@click.argument("versions", metavar="RELEASE...", nargs=-1, required=True)
def jars_pin(**options: Any) -> int:
    """Fetch a release and write its sha256 into releases.toml."""
    from kafka_conformance.cli.commands import jars as command

    return command.pin(**options)


@app.group()
def broker() -> None:
    """A real Kafka broker, here, for as long as you want it."""


@broker.command("run")
@click.option(
    "--kafka", default="newest-that-runs", show_default=True, metavar="RELEASE", help="An exact one, from 3.3 on."
)
@click.option("--nodes", default="1", type=click.Choice(["1", "3"]), callback=lambda _, __, value: int(value),
              show_default=True, help="How many brokers.")  # fmt: skip
@click.option("--engine", default="auto", type=click.Choice(["auto", "docker", "jars"]), show_default=True,
              help="auto: Docker where it answers and no release is named, else jars.")  # fmt: skip
@click.option(
    "--topic", "topics", multiple=True, metavar="NAME:PARTITIONS", help="Make this topic; may be given often."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the broker's; likewise.")
@click.option(
    "--port", default=None, type=click.IntRange(1, 65_535), metavar="N", help="The first node's; else a free one."
)
@click.option(
    "--heap-mb", default=256, type=click.IntRange(96, 65_536), show_default=True, metavar="MB", help="Each node's."
)
def broker_run(**options: Any) -> int:
    """Run a broker until Ctrl-C; the one line on standard output is where clients find it."""
    from kafka_conformance.cli.commands import broker as command

    return command.run(**options)


@broker.command("fetch")
@click.option("--kafka", default="newest", show_default=True, metavar="RELEASES", help="Joined by commas, or all.")
def broker_fetch(**options: Any) -> int:
    """Fetch and check brokers' jars; they start without a network afterwards."""
    from kafka_conformance.cli.commands import broker as command

    return command.fetch(**options)


@broker.command("pin")
@click.argument("versions", metavar="RELEASE...", nargs=-1, required=True)
def broker_pin(**options: Any) -> int:
    """Find all jars a release's broker runs on and write their sha256 into brokers.toml."""
    from kafka_conformance.cli.commands import broker as command

    return command.pin(**options)


def main() -> NoReturn:
    """Run a command; one line on standard error and exit code 2 for whatever kept it from judging."""
    interrupts.listen()
    # py4j logs what it also raises, and where nothing is set up to receive it Python prints it.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        # Not app(): click would take a reader that has gone for an ordinary failure, exit code 1.
        with app.make_context("kafka-conformance", sys.argv[1:]) as context:
            code = app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        code = end.exit_code
    except (KitError, JarError) as error:
        code = _say(error)
    except (KeyboardInterrupt, click.Abort):
        interrupts.heard()
        code = _say("interrupted: nothing was judged to the end")
    except click.ClickException as error:
        said = error.format_message()
        if said.startswith("Usage:"):  # a group without a command: its help is what was wanted
            print(said, file=sys.stderr)
            code = 2
        else:
            code = _say(f"{said} (see --help)")
    except BrokenPipeError:
        # Whoever read our output has gone; Python would fail once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 2
    except Exception as error:  # noqa: BLE001  a mistake of ours is no verdict: Python's own exit code for it would be 1
        if os.environ.get("KAFKA_CONFORMANCE_TRACEBACK"):
            traceback.print_exc()
        more = "KAFKA_CONFORMANCE_TRACEBACK=1 shows where; please report it"
        code = _say(f"this is a mistake in kafka-conformance itself: {type(error).__name__}: {error} ({more})")
    sys.exit(code if isinstance(code, int) else 0)


def _say(what: object) -> int:
    print(f"kafka-conformance: {harmless(str(what), keep=chr(10))}", file=sys.stderr)
    return 2
