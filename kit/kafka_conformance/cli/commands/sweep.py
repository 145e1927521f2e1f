"""Prove the reference at scale, on Spark: billions of keys, millions of scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.cases.failures import save_failure
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.reports.terminal import console, finding, plural, table
from kafka_conformance.rules import named
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.spark.executors import fetch_releases
from kafka_conformance.spark.session import open_spark
from kafka_conformance.spark.sweep.key_spaces import every_key, random_keys
from kafka_conformance.spark.sweep.run import Part, Plan, Swept, Work, chunks_of, sweep
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
@options.who("reference or mutant:NAME, whose answers are compared with Java's")
@click.option("--kills", is_flag=True, help="Also record which questions kill which mutants, for `freeze --from`.")
@options.master
@click.option("--folder", default="", metavar="FOLDER",
              help="Folder of the run, on any file system that Spark can reach (default: a folder in "
              ".kafka-conformance/sweeps). Run the same command again to resume.")  # fmt: skip
@options.as_json
def run(*, kafka: str, rules: Sequence[str], every: int, keys: int, longest: int, scripts: int, seed: int, who: str,
        kills: bool, master: str, folder: str, as_json: bool) -> int:  # fmt: skip
    """Sweep, print; the exit code."""
    pins = load()
    meant = _rules(rules, who)
    releases = chosen_releases(kafka, pins)
    plan = Plan(list(_parts(meant, releases, every, keys, longest, scripts, seed)), who, seed, kills)
    if not plan.parts:
        raise BadInput("nothing to ask: no such rule in these releases, or no questions wanted")
    folder = folder or _default_folder(plan)
    with steps("starting Spark", len(chunks_of(plan.parts))) as progress:
        fetch_releases(meant, releases, pins)
        with open_spark(master) as spark:
            results = sweep(spark, plan, pins, folder, progress)
    code = _exit_code(results)
    saved = _saved(results, plan)
    if as_json:
        print(msgspec.json.encode(_document(results, plan, folder, saved, code)).decode())
    else:
        _print(results, plan, folder, saved, code)
    return code


def _rules(slugs: Sequence[str], who: str) -> list[Rule]:
    """The rules meant; of a mutant its own. Raises BadInput."""
    if who == "reference":
        return named(slugs)
    if not who.startswith("mutant:"):
        raise BadInput(f"{who} is nobody sweep knows: reference, or mutant:NAME")
    slug = who.removeprefix("mutant:")
    mutant_answerer(slug)
    (own,) = {mutant.rule for mutant in MUTANTS if mutant.slug == slug}
    if slugs and own not in slugs:
        raise BadInput(f"{who} is a mutant of {own}, which is not among the rules asked")
    return named([own])


def _parts(rules: Sequence[Rule], releases: Sequence[Release], every: int, keys: int, longest: int,
           scripts: int, seed: int) -> Iterator[Part]:  # fmt: skip
    for at in releases:
        for rule in rules:
            if rule.java_class(at) is None:
                continue
            works: list[Work] = (
                list(_keys(rule, every, keys, longest, seed)) if rule.columns else _scripts(scripts, seed)
            )
            yield from (Part(rule, at, work) for work in works)


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


def _default_folder(plan: Plan) -> str:
    """A folder for this plan: the same command with the same seed resumes it."""
    words = [plan.who, plan.seed, plan.kills, kit_version()]
    words += [[part.rule.slug, str(part.release), part.work.plan()] for part in plan.parts]
    return str((FOLDER / f"{plan.seed}-{hashlib.sha256(to_json(words)).hexdigest()[:8]}").absolute())


def _exit_code(results: Sequence[Swept]) -> int:
    if any(swept.differing for swept in results):
        return 1
    return 2 if any(swept.errored or not swept.alike for swept in results) else 0


def _saved(results: Sequence[Swept], plan: Plan) -> dict[int, str]:
    """The smallest question of each part that differs, on disk for ``replay``; its id."""
    saved = {}
    for number, swept in enumerate(results):
        if (difference := _smallest(swept)) is not None:
            at = swept.part.release
            found = {"seed": plan.seed, "jar_sha256": swept.sent.sha256, "of_this_kind": swept.differing}
            save_failure(swept.part.rule, difference, (("java", at), (plan.who, at)), found)
            saved[number] = question_id(swept.part.rule.slug, str(at), difference.question)
    return saved


def _smallest(swept: Swept) -> Difference | None:
    if not swept.questions:
        return None
    kept = min(swept.questions, key=lambda each: (len(each.question), each.question))
    question = msgspec.json.decode(kept.question, type=swept.part.rule.question)
    return Difference(question, msgspec.json.decode(kept.expected), msgspec.json.decode(kept.actual))


def _print(results: Sequence[Swept], plan: Plan, folder: str, saved: dict[int, str], code: int) -> None:
    out = console()
    heads = ["rule", "release", "jar", "asked about", "asked", "alike", "differing", "a second"]
    out.print(table("", heads, map(_row, results)))
    for number, name in saved.items():
        swept, difference = results[number], _smallest(results[number])
        assert difference is not None  # noqa: S101  it was saved
        at = swept.part.release
        names = f"java {at}", f"{plan.who} {at}"
        out.print(finding(swept.part.rule, difference, names, swept.differing, name, "smallest"), soft_wrap=True)
    for swept in results:
        for line in swept.errors[:3]:
            told = f"{swept.part.rule.slug} in {swept.part.release} could not be judged: {line}"
            out.print(told, style="bold red", markup=False, soft_wrap=True)
    asked, alike = sum(swept.asked for swept in results), sum(swept.alike for swept in results)
    differing, absent = sum(swept.differing for swept in results), sum(swept.unsupported for swept in results)
    words = {0: "no disagreement", 1: f"{plural(differing, 'answer')} not Java's", 2: "could not be judged"}[code]
    words += f" ({absent:,} more are about what their release does not have)" if absent else ""
    out.print(f"{plural(asked - absent, 'question')}, {alike:,} answered alike: {words}. seed {plan.seed}",
              markup=False, soft_wrap=True)  # fmt: skip
    out.print(f"what was found, as Parquet: {folder}", style="dim", markup=False, soft_wrap=True)


def _row(swept: Swept) -> list[str]:
    release = f"{swept.part.release}{'' if swept.sent.pinned else ' (unpinned)'}"
    counts = [f"{swept.asked:,}", f"{swept.alike:,}", f"{swept.differing:,}"]
    return [swept.part.rule.slug, release, swept.sent.sha256[:12], swept.part.work.name, *counts, _speed(swept)]


def _speed(swept: Swept) -> str:
    """Of what was asked just now; a resumed run does not know how long the rest took."""
    return f"{swept.asked_now / swept.seconds:,.0f}" if swept.asked_now else "done before"


def _document(results: Sequence[Swept], plan: Plan, folder: str, saved: dict[int, str], code: int) -> dict[str, Any]:
    return {
        "exit_code": code,
        "who": plan.who,
        "seed": plan.seed,
        "kit": kit_version(),
        "folder": folder,
        "results": [
            {
                "rule": swept.part.rule.slug,
                "release": str(swept.part.release),
                "jar_sha256": swept.sent.sha256,
                "pinned": swept.sent.pinned,
                "asked_about": swept.part.work.name,
                "asked": swept.asked,
                "alike": swept.alike,
                "differing": swept.differing,
                "errored": swept.errored,
                "unsupported": swept.unsupported,
                "errors": swept.errors[:10],
                "asked_now": swept.asked_now,
                "seconds": round(swept.seconds, 3),
                "kept": len(swept.questions),
                "smallest": saved.get(number),
            }
            for number, swept in enumerate(results)
        ],
    }
