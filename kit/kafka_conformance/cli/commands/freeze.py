"""Generate the frozen cases that ship with the gate, from Java's answers; or check them against Java."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cases.addition import merge_cases, read_questions
from kafka_conformance.cases.check import drifts, read_folder
from kafka_conformance.cases.generation import GenerationPlan, RuleCases, freeze
from kafka_conformance.cases.mutation import kills
from kafka_conformance.cases.store import Provenance, folder_of_cases, frozen, write
from kafka_conformance.cli import options
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.oracle.session import chosen_releases, jvm_name, open_oracle
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.rules import named
from kafka_conformance.rules.mutants import written_mutants
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["OracleJava", "run"]

_DRIFTS_SHOWN = 10


@options.rules
@options.examples(2000)
@options.seed
@click.option("--folder", default=Path(".kafka-conformance") / "cases", type=options.FILE, show_default=True,
              metavar="FOLDER", help="Where to write the files.")  # fmt: skip
@click.option("--keep", is_flag=True,
              help="Keep the cases of the folder, asked again, and add others (default: select all again).")  # fmt: skip
@click.option("--extend", is_flag=True,
              help="Keep the cases that are in the folder, ask them in every pinned release, and add no others: after a "
                   "release was pinned.")  # fmt: skip
@click.option("--add", default=None, type=options.FILE, metavar="FILE",
              help="Keep the cases that are in the folder, and add the questions of this file, which alone are asked: "
                   'lines like {"rule": …, "question": …}.')  # fmt: skip
@click.option("--kills", "recount", is_flag=True,
              help="Keep the cases that are in the folder, and record which mutants each kills now; needs no Java: after a "
                   "mutant was changed.")  # fmt: skip
@click.option("--kafka", default="all", show_default=True, metavar="RELEASES",
              help="With --check: the releases, exact ones joined by commas, 'newest', 'spread' or 'all'.")  # fmt: skip
@click.option("--check", is_flag=False, flag_value=Path(), default=None, type=options.FILE, metavar="[FOLDER]",
              help="Write nothing: ask Java again for every answer in this folder (default: the shipped one).")  # fmt: skip
@click.option("--from", "runs", multiple=True, metavar="RUN",
              help="Also select from the questions that a sweep with --kills recorded in this folder; "
                   "repeatable.")  # fmt: skip
def run(*, rules: Sequence[str], examples: int, seed: int, folder: Path, keep: bool = False,
        extend: bool = False, add: Path | None = None, recount: bool = False, kafka: str = "all",
        check: Path | None = None, runs: Sequence[str] = ()) -> int:  # fmt: skip
    """Write the files, or check those in ``check`` (an empty path: the shipped ones); return the exit code."""
    if sum((keep, extend, add is not None, recount, check is not None)) > 1:
        raise BadInput("--keep, --extend, --add, --kills and --check exclude one another: give one")
    meant = named(rules)
    if recount:
        return _recount(meant, folder)
    if check is not None:
        return _check(meant, folder_of_cases() if check == Path() else check, kafka)
    pins = load()
    kept = _kept(meant, folder) if keep or extend else {}
    if add is not None:
        kept = {slug: dict.fromkeys(questions, ()) for slug, questions in read_questions(add).items()}
        meant = [rule for rule in meant if rule.slug in kept]
        if not meant:
            raise BadInput(f"{add} has no question of {', '.join(rules)}")
    plan = GenerationPlan(meant, chosen_releases("all", pins), examples, seed, swept=_swept(runs), kept=kept,
                extends=extend or add is not None)  # fmt: skip
    made, sizes = [], []
    with steps("starting Spark's JVM", len(meant) * len(plan.releases)) as progress, open_oracle(pins) as oracle:
        for found in freeze(plan, OracleJava(oracle), progress):
            each = found if add is None else merge_cases(frozen(found.rule, folder), found)
            path = folder / f"{each.rule.slug}.ndjson"
            write(path, _provenance(each, folder) if extend else each.frozen.provenance, each.frozen.cases)
            made.append(each)
            sizes.append(path.stat().st_size)
    _print(made, sizes, folder, seed)
    return _exit_code(made)


def _recount(rules: Sequence[Rule], folder: Path) -> int:
    """Write which mutants each case kills; 1 if no case kills some mutant."""
    unkilled = []
    with steps("asking mutants", len(rules)) as progress:
        for slug, found in read_folder(folder, rules).items():
            progress.doing(slug)
            rule = next(one for one in rules if one.slug == slug)
            mutants = written_mutants(rule)
            killed = kills(rule, mutants, found.cases, [case.typed_question(rule) for case in found.cases])
            pairs = zip(found.cases, killed, strict=True)
            write(folder / f"{slug}.ndjson", found.provenance,
                  [msgspec.structs.replace(case, kills=slugs) for case, slugs in pairs])  # fmt: skip
            unkilled += sorted({mutant.slug for mutant in mutants}.difference(*killed))
            progress.advance()
    words = f"mutants that no case kills: {', '.join(unkilled)}" if unkilled else "each mutant is killed"
    console().print(f"{plural(len(rules), 'rule')} recounted in {folder}; {words}", markup=False, soft_wrap=True)
    return 1 if unkilled else 0


def _provenance(made: RuleCases, folder: Path) -> Provenance:
    """Return the provenance of extended cases: they come from the search of the file that is there."""
    earlier, now = frozen(made.rule, folder), made.frozen.provenance
    if earlier is None:
        return now
    return msgspec.structs.replace(now, seed=earlier.provenance.seed, examples=earlier.provenance.examples)


def _kept(rules: Sequence[Rule], folder: Path) -> Mapping[str, Mapping[Question, Collection[str]]]:
    """Return the questions of the cases in this folder with the releases in their names; a rule without a file has none."""
    kept: dict[str, dict[Question, list[str]]] = {}
    for rule in rules:
        found = frozen(rule, folder)
        for case in found.cases if found is not None else ():
            kept.setdefault(rule.slug, {}).setdefault(case.typed_question(rule), []).append(case.release)
    return kept


def _swept(runs: Sequence[str]) -> Mapping[str, Mapping[str, Sequence[Question]]]:
    """What these runs of sweeps found to show mutants."""
    if not runs:
        return {}
    from kafka_conformance.spark.session import open_spark
    from kafka_conformance.spark.sweep.mutant_hits import kills_in

    with open_spark() as spark:
        return kills_in(spark, runs)


def _check(rules: Sequence[Rule], folder: Path, kafka: str) -> int:
    found = read_folder(folder, rules)
    pins = load()
    releases = chosen_releases(kafka, pins)
    asked_in = set(map(str, releases))
    unpinned = {version for each in found.values() for version in each.provenance.jars} - set(pins.releases)
    if unpinned:
        raise KitError(f"cases in {folder} are of releases that are not pinned: {', '.join(sorted(unpinned))}")
    asked = sum(len(asked_in.intersection(case.releases)) for each in found.values() for case in each.cases)
    total = sum(len(asked_in.intersection(each.provenance.jars)) for each in found.values())
    drifted = 0
    out = console()
    with steps("starting Spark's JVM", total) as progress, open_oracle(pins) as oracle:
        for line in drifts(found, releases, OracleJava(oracle), progress):
            drifted += 1
            if drifted <= _DRIFTS_SHOWN:
                out.print(line, style="bold red", markup=False, soft_wrap=True)
        jvm = OracleJava(oracle).jvm
    cases = sum(len(each.cases) for each in found.values())
    words = f"{plural(drifted, 'drift')}" if drifted else "all as frozen"
    summary = f"{plural(cases, 'case')}, {plural(asked, 'answer')} asked for again: {words}. JVM {jvm}"
    out.print(summary, markup=False, soft_wrap=True)
    return 1 if drifted else 0


@dataclass(frozen=True, slots=True)
class OracleJava:
    """The oracle, as freezing sees it."""

    oracle: Oracle

    @property
    def jvm(self) -> str:
        """The JVM's version, and how it was found."""
        return jvm_name(self.oracle)

    @property
    def answerer(self) -> Answerer:
        """The classes of whatever release is asked about."""
        return JavaAnswerer(self.oracle)

    def sha256(self, rule: Rule, release: Release) -> str:
        """The jar's, opened for it. Raises KitError where it is not pinned, JarError, WrongRelease."""
        opened = self.oracle.open_broker(str(release)) if rule.broker else self.oracle.open(str(release))
        if not opened.pinned:
            raise KitError(f"the jars of release {release} are not pinned, so nothing is frozen from them")
        return opened.broker_sha256 if rule.broker else opened.jar_sha256


def _exit_code(made: Sequence[RuleCases]) -> int:
    """What Java could not answer keeps from judging; a survivor or a reference that is not Java's is a verdict."""
    if any(each.apart or each.survivors for each in made):
        return 1
    return 2 if any(each.failed or each.missing_labels for each in made) else 0


def _print(made: Sequence[RuleCases], sizes: Sequence[int], folder: Path, seed: int) -> None:
    out = console()
    heads = ["rule", "cases", "newest", "kinds", "mutants", "bytes", "asked", "not in its release"]
    rows = [_row(each, size) for each, size in zip(made, sizes, strict=True)]
    out.print(table("", heads, rows))
    cases = sum(len(each.frozen.cases) for each in made)
    apart = sum(len(each.apart) for each in made)
    out.print(
        f"{plural(cases, 'case')} in {folder}, {sum(sizes):,} bytes; the reference answers {cases - apart:,} of them as"
        f" Java does. seed {seed}",
        markup=False,
        soft_wrap=True,
    )
    for each in made:
        for title, some in (
            ("mutants that no case catches", each.survivors),
            ("the reference answers otherwise", each.apart),
            ("kinds that no case is of", each.missing_labels),
            ("Java could not answer", each.failed),
        ):
            if some:
                line = (
                    f"{each.rule.slug}: {title}: {', '.join(some[:3])}{f' … {len(some):,} in all' if some[3:] else ''}"
                )
                out.print(line, style="bold red", markup=False, soft_wrap=True)


def _row(each: RuleCases, size: int) -> list[str]:
    cases = each.frozen.cases
    newest = list(each.frozen.provenance.jars)[-1:]
    mutants = len(written_mutants(each.rule))
    labels = {label for case in cases for label in each.rule.labels(case.typed_question(each.rule))}
    return [
        each.rule.slug,
        f"{len(cases):,}",
        f"{sum(case.release in newest for case in cases):,}",
        f"{len(labels):,}",
        f"{mutants - len(each.survivors)} of {mutants}",
        f"{size:,}",
        f"{each.asked:,}",
        f"{each.absent:,}",
    ]
