"""Prove the reference at scale, on Spark: billions of keys, millions of scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.names import JAVA, mutant_of, reference_or_mutant
from kafka_conformance.cases.failures import save_failure
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import working_folder
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.streams import say_json
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import named
from kafka_conformance.spark.executors import fetch_releases
from kafka_conformance.spark.session import open_spark
from kafka_conformance.spark.sweep.key_spaces import every_key, random_keys
from kafka_conformance.spark.sweep.run import Part, PartResult, SweepPlan, Work, chunks_of, sweep
from kafka_conformance.spark.sweep.scripts import Scripts
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["run"]

FOLDER = Path(".kafka-conformance") / "sweeps"
# Every partition count up to this is asked with every key of up to two bytes, and with random keys.
_COUNTS, _WITH_EVERY_COUNT = 1_024, 2


@options.kafka("newest")
@options.rules
@click.option("--every", default=3, type=click.IntRange(-1, 4), show_default=True, metavar="BYTES",
              help="Ask every key of up to this many bytes; -1 for none. Keys of up to 2 bytes are asked with every "
              "partition count from 1 to 1024.")  # fmt: skip
@click.option("--keys", default=1_000_000, type=click.IntRange(0, 10**12), show_default=True, metavar="N",
              help="Random keys for each rule that places keys.")  # fmt: skip
@click.option("--longest", default=4_096, type=click.IntRange(0, 65_536), show_default=True, metavar="BYTES",
              help="Longest random key.")  # fmt: skip
@click.option("--scripts", default=10_000, type=click.IntRange(0, 10**9), show_default=True, metavar="N",
              help="Generated questions for each other rule.")  # fmt: skip
@options.seed_up_to(2**53)
@options.answerer_option("reference or mutant:NAME, whose answers are compared with Java's")
@click.option("--kills", is_flag=True, help="Also record which questions kill which mutants, for `freeze --from`.")
@options.master
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the run, on any file system that Spark can reach (default: a folder in "
              ".kafka-conformance/sweeps). Run the same command again to resume.")  # fmt: skip
@options.as_json
def run(*, kafka: str, rules: Sequence[str], every: int, keys: int, longest: int, scripts: int, seed: int,
        answerer_name: str, kills: bool, master: str, folder: str, as_json: bool) -> int:  # fmt: skip
    """Sweep, print the results, and return the exit code."""
    pins = load()
    meant = _rules(rules, answerer_name)
    releases = chosen_releases(kafka, pins)
    plan = SweepPlan(list(_parts(meant, releases, every, keys, longest, scripts, seed)), answerer_name, seed, kills)
    if not plan.parts:
        raise BadInput("nothing to ask: no rule exists in these releases, or the options ask for no questions")
    folder = folder or _default_folder(plan)
    with steps("starting Spark", len(chunks_of(plan.parts))) as progress:
        fetch_releases(meant, releases, pins)
        with open_spark(master) as spark:
            results = sweep(spark, plan, pins, folder, progress)
    code = _exit_code(results)
    saved = _saved(results, plan)
    if as_json:
        say_json(_document(results, plan, folder, saved, code))
    else:
        _print(results, plan, folder, saved, code)
    return code


def _rules(slugs: Sequence[str], answerer_name: str) -> list[Rule]:
    """Return the rules to sweep; for a mutant, its own. Raises BadInput."""
    reference_or_mutant(answerer_name)
    mutant = mutant_of(answerer_name)
    if mutant is None:
        return named(slugs)
    if slugs and mutant.rule not in slugs:
        raise BadInput(f"{answerer_name} is a mutant of {mutant.rule}, which is not among the rules {', '.join(slugs)}")
    return named([mutant.rule])


def _parts(rules: Sequence[Rule], releases: Sequence[Release], every: int, keys: int, longest: int,
           scripts: int, seed: int) -> Iterator[Part]:  # fmt: skip
    for release in releases:
        for rule in rules:
            if rule.java_class(release) is None:
                continue
            works: list[Work] = (
                list(_keys(rule, every, keys, longest, seed)) if rule.columns else _scripts(scripts, seed)
            )
            yield from (Part(rule, release, work) for work in works)


def _keys(rule: Rule, every: int, keys: int, longest: int, seed: int) -> Iterator[Work]:
    from kafka_conformance.spark.sweep.keys import Keys  # needs NumPy, which the light install has not

    counted = rule.columns is not None and rule.columns.arguments != (0,)
    counts = (1, _COUNTS) if counted else (0, 1)
    if every >= 0:
        yield Keys(every_key(min(every, _WITH_EVERY_COUNT) if counted else every, *counts))
    if keys:
        yield Keys(random_keys(keys, seed, longest, *counts))


def _scripts(scripts: int, seed: int) -> list[Work]:
    return [Scripts(scripts, seed)] if scripts else []


def _default_folder(plan: SweepPlan) -> str:
    """Return the folder of a plan, so that the same command with the same seed resumes it."""
    words = [plan.actual, plan.seed, plan.kills, kit_version()]
    words += [[part.rule.slug, str(part.release), part.work.plan()] for part in plan.parts]
    return str(working_folder() / FOLDER / f"{plan.seed}-{hashlib.sha256(to_json(words)).hexdigest()[:8]}")


def _exit_code(results: Sequence[PartResult]) -> int:
    if any(result.differing for result in results):
        return 1
    return 2 if any(result.errored or not result.matching for result in results) else 0


def _saved(results: Sequence[PartResult], plan: SweepPlan) -> dict[int, str]:
    """Save the smallest difference of each part for ``replay``; return their ids by part."""
    saved = {}
    for number, result in enumerate(results):
        if (difference := _smallest(result)) is not None:
            release = result.part.release
            found = {"seed": plan.seed, "jar_sha256": result.sent.sha256, "of_this_kind": result.differing}
            save_failure(result.part.rule, difference, ((JAVA, release), (plan.actual, release)), found)
            saved[number] = question_id(result.part.rule.slug, str(release), difference.question)
    return saved


def _smallest(result: PartResult) -> Difference | None:
    if not result.questions:
        return None
    kept = min(result.questions, key=lambda each: (len(each.question), each.question))
    question = msgspec.json.decode(kept.question, type=result.part.rule.question)
    return Difference(question, msgspec.json.decode(kept.expected), msgspec.json.decode(kept.actual))


def _print(results: Sequence[PartResult], plan: SweepPlan, folder: str, saved: dict[int, str], code: int) -> None:
    out = console()
    heads = ["rule", "release", "jar", "asked about", "asked", "match", "differ", "a second"]
    out.print(table("", heads, map(_row, results)))
    for number, name in saved.items():
        result, difference = results[number], _smallest(results[number])
        assert difference is not None  # noqa: S101  it was saved
        release = result.part.release
        names = f"{JAVA} {release}", f"{plan.actual} {release}"
        out.print(finding(result.part.rule, difference, names, result.differing, name, "smallest"), soft_wrap=True)
    for result in results:
        for line in result.errors[:3]:
            error = f"{result.part.rule.slug} in {result.part.release} could not be judged: {line}"
            out.print(error, style="bold red", markup=False, soft_wrap=True)
    asked, matching = sum(result.asked for result in results), sum(result.matching for result in results)
    differing, unsupported = sum(r.differing for r in results), sum(r.unsupported for r in results)
    verdict = {0: "no difference", 1: f"{plural(differing, 'answer')} not Java's", 2: "could not be judged"}[code]
    verdict += f" ({unsupported:,} more questions do not exist in their release)" if unsupported else ""
    out.print(f"{matching:,} of {plural(asked - unsupported, 'answer')} match: {verdict}. seed {plan.seed}",
              markup=False, soft_wrap=True)  # fmt: skip
    out.print(f"results, as Parquet: {folder}", style="dim", markup=False, soft_wrap=True)


def _row(result: PartResult) -> list[str]:
    release = f"{result.part.release}{'' if result.sent.pinned else ' (unpinned)'}"
    counts = [f"{result.asked:,}", f"{result.matching:,}", f"{result.differing:,}"]
    return [result.part.rule.slug, release, result.sent.sha256[:12], result.part.work.name, *counts, _speed(result)]


def _speed(result: PartResult) -> str:
    """Return the questions of this process per second."""
    return f"{result.asked_now / result.seconds:,.0f}" if result.asked_now else "done before"


def _document(
    results: Sequence[PartResult], plan: SweepPlan, folder: str, saved: dict[int, str], code: int
) -> dict[str, Any]:
    return {
        "exit_code": code,
        "who": plan.actual,
        "seed": plan.seed,
        "kit": kit_version(),
        "folder": folder,
        "results": [
            {
                "rule": result.part.rule.slug,
                "release": str(result.part.release),
                "jar_sha256": result.sent.sha256,
                "pinned": result.sent.pinned,
                "asked_about": result.part.work.name,
                "asked": result.asked,
                "alike": result.matching,
                "differing": result.differing,
                "errored": result.errored,
                "unsupported": result.unsupported,
                "errors": result.errors[:10],
                "asked_now": result.asked_now,
                "seconds": round(result.seconds, 3),
                "kept": len(result.questions),
                "smallest": saved.get(number),
            }
            for number, result in enumerate(results)
        ],
    }
