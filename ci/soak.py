"""Run ``verify`` for a long time in one process and one JVM, and fail if anything grows: memory, threads, classes, files.

::

    python ci/soak.py --minutes 30
    python ci/soak.py --minutes 5 --seed 7 --rules murmur2 --kafka newest

Each round opens every release, verifies every rule in it with fresh questions, and closes it. Then everything is measured
that may leak (soak_gauges.py), after forced garbage collections. The first fifth of the rounds is warm-up; of the others, a
measure grows by the test in soak_growth.py. What grows is printed with its growth per round, and the classes and types
of which most objects were added. Ctrl-C ends the run early: it judges the rounds until then.

The exit code is 0 if nothing grows, 1 if something does, 2 if this could not be judged: too few rounds, an answer that does
not match, a JVM that ended.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click
import msgspec
from soak_gauges import Gauges, python_objects
from soak_growth import LEAST_ROUNDS, MEASURES, Growth, find_growth, warm_up
from soak_report import page, report
from soak_rounds import Settings, play_round, round_seeds, wall_seconds

from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.oracle.session import chosen_releases, fresh_seed, jvm_name, open_oracle, split
from kafka_conformance.reports.terminal import plural
from kafka_conformance.rules import named
from kafka_jars.errors import JarError
from kafka_jars.pins import load

_RULES = (
    "murmur2,record-accumulator,producer-send,producer-sequences,delivery,sticky-assignor,broker-producer-state,log-segment,"
    "record-batch,isr,produce-acks,zookeeper-leader-election"
)
_RELEASES = "2.0.1,3.9.2,newest"
# As a worker of verify has it, but with a heap of fixed size whose pages are all touched, so that the resident memory
# shows what grows outside the heap; and soft references go with each collection, so that caches do not look like leaks.
_JVM_OPTIONS = (
    "-XX:TieredStopAtLevel=1", "-Xms768m", "-Xmx768m", "-XX:+AlwaysPreTouch", "-XX:SoftRefLRUPolicyMSPerMB=0",
)  # fmt: skip
# The round after which objects are counted for the first time: caches are filled by then.
_COUNTED_ROUND = 3


@dataclass(slots=True)
class Record:
    """What a run has measured: a sample after each round, matching answers, and live objects early and at the end."""

    samples: list[dict[str, float]] = field(default_factory=list)
    matched: int = 0
    jvm: str = ""
    seconds: float = 0
    early: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    kept_in: Path | None = None

    def add(self, sample: dict[str, float]) -> None:
        """Add the sample of a round, also as a line of JSON to the file ``kept_in``."""
        self.samples.append(sample)
        if self.kept_in is not None:
            with self.kept_in.open("ab") as file:
                file.write(msgspec.json.encode(sample) + b"\n")

    def judge(self) -> list[Growth]:
        """Judge each measure after the warm-up. Raises KitError if there are too few rounds."""
        left_out = warm_up(len(self.samples))
        if len(self.samples) - left_out < LEAST_ROUNDS:
            raise KitError(
                f"measured {plural(len(self.samples), 'round')}: at least {LEAST_ROUNDS} after {left_out} of warm-up are"
                " needed; give more --minutes, or fewer --rules"
            )
        judged = self.samples[left_out:]
        return [find_growth(measure, [sample[measure.name] for sample in judged]) for measure in MEASURES]


def soak(settings: Settings, minutes: float, record: Record, plant: Callable[[Oracle], None] = lambda _: None) -> None:
    """Measure rounds for some minutes into ``record``, at least one. ``plant`` is called in each round, by tests.

    Ctrl-C ends it in order. Raises KitError or JarError when Java cannot be asked.
    """
    elapsed, total = wall_seconds(), round(minutes * 60)
    with temporary_folder() as folder, steps("starting Spark's JVM", total) as progress:
        try:
            with open_oracle(options=_JVM_OPTIONS) as oracle:
                record.jvm = jvm_name(oracle)
                gauges = Gauges(oracle.jvm, folder)
                for seed in round_seeds(settings.seed):
                    _measure_round(oracle, settings, seed, record, gauges, _shown(progress, record, seed, elapsed))
                    plant(oracle)
                    if elapsed() >= total:
                        break
        except KeyboardInterrupt:
            interrupts.acknowledge()
            click.echo("interrupted: judging the rounds until now", err=True)
        finally:
            record.seconds = elapsed()


def _measure_round(oracle: Oracle, settings: Settings, seed: int, record: Record, gauges: Gauges,
                   doing: Callable[[str], None]) -> None:  # fmt: skip
    record.matched += play_round(oracle, settings, seed, doing)
    doing("measuring")
    record.add(gauges.sample())
    record.late = gauges.histogram() + python_objects()
    if len(record.samples) <= _COUNTED_ROUND:
        record.early = record.late


def _shown(progress: Steps, record: Record, seed: int, elapsed: Callable[[], float]) -> Callable[[str], None]:
    """Return a function that shows what is done, and the seconds of the run as its steps."""

    def show(what: str) -> None:
        progress.advance(min(int(elapsed()), progress.total) - progress.done)
        progress.doing(f"round {len(record.samples) + 1}, seed {seed}: {what}")

    return show


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make this process and its children write temporary files into a separate folder, deleted after the block."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-soak-") as folder:
        os.environ["TMPDIR"], tempfile.tempdir = folder, None
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before


def run(settings: Settings, minutes: float, written: Path | None = None, samples: Path | None = None) -> int:
    """Soak, print what grows, write the page, and return the exit code. Raises KitError, JarError."""
    record = Record(kept_in=samples)
    try:
        soak(settings, minutes, record)
    finally:
        if record.samples:
            click.echo(
                f"{plural(len(record.samples), 'round')} in {record.seconds / 60:.1f} minutes, seed {settings.seed}"
            )
    growths = record.judge()
    for line in report(growths, record.late - record.early):
        click.echo(line)
    if written is not None:
        written.write_text(page(settings, record, growths), encoding="utf-8")
    return 1 if any(growth.grows for growth in growths) else 0


def _check(settings: Settings, files: Sequence[Path]) -> None:
    """Raise BadInput for what would fail after the run, or measure nothing."""
    if not any(release in rule.releases for rule in settings.rules for release in settings.releases):
        raise BadInput(f"no release of {', '.join(map(str, settings.releases))} has any of these rules: name others")
    for file in files:
        if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
            raise BadInput(f"cannot write {file}: name a file in a folder that is there and writable")


@click.command(help=__doc__.partition("\n")[0])
@click.option("--minutes", type=click.FloatRange(0.1), default=30, show_default=True, help="How long new rounds begin.")
@click.option("--seed", type=click.IntRange(0), help="Seed of all rounds' seeds (default: random; it is printed).")
@click.option("--rules", default=_RULES, show_default=True, metavar="RULES", help="Rules, joined by commas.")
@click.option("--kafka", default=_RELEASES, show_default=True, metavar="RELEASES", help="Releases, joined by commas.")
@click.option("--examples", type=click.IntRange(1), default=20, show_default=True, help="Generated questions per rule.")
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the page there.")
@click.option("--samples", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Append the measures of each round there, as lines of JSON.")  # fmt: skip
def main(minutes: float, seed: int | None, rules: str, kafka: str, examples: int, write: Path | None,
         samples: Path | None) -> None:  # fmt: skip
    """Soak, and exit with the code."""
    interrupts.install()
    try:
        chosen = chosen_releases(kafka, load())
        settings = Settings(named(split(rules)), chosen, examples, fresh_seed() if seed is None else seed)
        _check(settings, [path for path in (write, samples) if path is not None])
        click.echo(f"seed {settings.seed}")
        sys.exit(run(settings, minutes, write, samples))
    except (KitError, JarError) as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(2)


if __name__ == "__main__":
    main()
