"""``selftest --generated``: mutate the reference by its syntax trees, and report which mutants a gate would miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kafka_conformance.cases.addition import ChosenQuestion, append_questions
from kafka_conformance.cases.store import frozen
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.generated_mutants import record as records
from kafka_conformance.generated_mutants.explanations import explain
from kafka_conformance.generated_mutants.mutant_trial import Result
from kafka_conformance.generated_mutants.population import Mutant, Population
from kafka_conformance.generated_mutants.record import GeneratedRow, Record, Results, fingerprint_of
from kafka_conformance.generated_mutants.rounds import Earlier, Hunt
from kafka_conformance.generated_mutants.scores import FROZEN, GATE, Score, row_of, score_of
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.rules import RULES
from kafka_conformance.verify.workers import cores
from kafka_reference.proven import proven_releases

__all__ = ["FOLDER", "run_generated"]

FOLDER = Path(".kafka-conformance", "generated-mutants")
"""Where the result of each mutant is written."""
KILLERS = FOLDER / "killers.ndjson"
"""Where a search writes the questions that kill."""
_WRITE_EVERY = 500
# Their mutants take 34 and 26 minutes of processor time: with --changed and without a record, nightly asks them.
_SLOWEST = frozenset({"delivery", "record-accumulator"})
_SHOWN = 160


def run_generated(slugs: Sequence[str], seed: int, *, changed: bool, record: Path | None, search: int = 0) -> int:
    """Ask the generated mutants of these rules; 1 if too many live, or more than the record has.

    ``search`` is how many further questions of each rule are asked about survivors; the killers are written. With
    ``changed``, rules without a row on record are left out, and those whose row holds are not asked again; the slowest of
    the others are asked only for a record.
    """
    shipped = records.shipped()
    missing = [slug for slug in slugs if changed and shipped.row(slug) is None]
    slugs = [slug for slug in slugs if slug not in missing]
    kept = Record() if record is None else records.read(record)
    population = Population(proven_releases())
    with steps("generating mutants", 0) as progress:
        mutants = {slug: population.of(slug) for slug in slugs}
        fingerprints = {slug: fingerprint_of(slug, mutants[slug]) for slug in slugs}
        rows = _kept(shipped, fingerprints) if changed else {}
        late = [slug for slug in slugs if changed and record is None and slug in _SLOWEST and slug not in rows]
        slugs = [slug for slug in slugs if slug not in late]
        asked = [slug for slug in slugs if slug not in rows]
        results = _results({slug: mutants[slug] for slug in asked}, seed)
        progress.begin("generated mutants", sum(len(mutants[slug]) for slug in asked))
        _ask(Hunt(seed, progress, at_once=cores()), mutants, results, progress)
        killers = _search(search, seed, mutants, results, progress) if search else []
    for slug in asked:
        rows[slug] = row_of(slug, fingerprints[slug], seed, mutants[slug], results[slug].known)
    if record is not None:
        records.write(records.merged(kept, [rows[slug] for slug in asked]), record)
    if search:
        _report_search(killers)
    if late:
        console().print(f"changed, and left to tox -e nightly: {', '.join(late)}", markup=False, soft_wrap=True)
    if missing:
        console().print(f"not on record, left out: {', '.join(missing)}", markup=False, soft_wrap=True)
    return _report([score_of(rows[slug], mutants[slug]) for slug in slugs], shipped, asked, seed)


def _kept(shipped: Record, fingerprints: Mapping[str, str]) -> dict[str, GeneratedRow]:
    """Return the rows of the record that hold for the installed code."""
    return {slug: row for slug, made in fingerprints.items() if (row := shipped.row(slug)) and row.fingerprint == made}


def _results(mutants: Mapping[str, Sequence[Mutant]], seed: int) -> dict[str, Results]:
    """Return the files of results of these rules, each with the frozen cases that the mutants of its rule are asked."""
    askers = {
        slug: dict.fromkeys(asker for one in some for asker in (one.rules[0], *one.siblings))
        for slug, some in mutants.items()
    }
    stored = {asker: frozen(RULES[asker]) for asker in dict.fromkeys(one for some in askers.values() for one in some)}
    ids = {asker: [case.id for case in found.cases] for asker, found in stored.items() if found is not None}
    return {
        slug: Results(FOLDER, slug, seed, {asker: ids[asker] for asker in some if asker in ids})
        for slug, some in askers.items()
    }


def _ask(hunt: Hunt, mutants: Mapping[str, Sequence[Mutant]], results: Mapping[str, Results], progress: Steps) -> None:
    """Ask the mutants that have no result yet, and write the results now and then."""
    waiting = [one for slug, file in results.items() for one in mutants[slug] if one.mutation.key not in file.known]
    rule_of = {one.mutation.key: one.rules[0] for one in waiting}
    earlier = {key: Earlier(result, file.asked) for file in results.values() for key, result in file.earlier.items()}
    progress.advance(progress.total - len(waiting))
    try:
        for number, result in enumerate(hunt.results(waiting, earlier), 1):
            results[rule_of[result.key]].known[result.key] = result
            progress.advance()
            if number % _WRITE_EVERY == 0:
                _write(results)
    finally:
        _write(results)


def _search(
    examples: int, seed: int, mutants: Mapping[str, Sequence[Mutant]], results: Mapping[str, Results], progress: Steps
) -> list[Result]:
    """Return the results of mutants that no frozen case kills, but fresh questions of a gate do, or a search."""
    known = [(mutant, file.known[mutant.mutation.key]) for slug, file in results.items() for mutant in mutants[slug]]
    alive = [one for one, result in known if result.verdict == "survived" and explain(one.mutation) is None]
    progress.begin("searching", len(alive))
    hunt = Hunt(seed, progress, at_once=cores(), stages=["search"], examples=examples)
    found = [result for _, result in known if result.verdict == "fresh"]
    for result in hunt.results(alive):
        progress.advance()
        if result.verdict == "fresh":
            found.append(result)
    return found


def _report_search(killers: Sequence[Result]) -> None:
    chosen = [ChosenQuestion(one.rule, msgspec.Raw(one.question.encode())) for one in killers]
    count = append_questions(KILLERS, chosen)
    out = console()
    for one in killers:
        out.print(f"found: {one.key}: {one.how} in {one.question[:_SHOWN]}", markup=False, soft_wrap=True)
    summary = f"{plural(len(killers), 'mutant')} killed by questions that are not frozen"
    out.print(f"{summary}; for freeze --add: {KILLERS}, with {plural(count, 'question')}", markup=False, soft_wrap=True)


def _write(results: Mapping[str, Results]) -> None:
    for file in results.values():
        file.write()


def _report(scores: Sequence[Score], shipped: Record, asked: Sequence[str], seed: int) -> int:
    out = console()
    rows = [
        [score.rule, f"{score.frozen + score.fresh + len(score.alive):,}", f"{score.by_frozen:.1%}", f"{score.by_gate:.1%}",
         f"{len(score.alive):,}", f"{score.equivalent:,}", f"{score.unreachable:,}"]
        for score in scores
    ]  # fmt: skip
    out.print(
        table("", ["rule", "mutants", "by frozen cases", "by a gate", "alive", "equivalent", "unreachable"], rows)
    )
    for score in scores:
        for mutation in score.alive:
            where = f"{mutation.module.replace('.', '/')}.py:{mutation.line}"
            out.print(f"alive: {where}: {mutation.key}", markup=False, soft_wrap=True, highlight=False)
    failed = [score.rule for score in scores if score.rule in asked and not _holds(score, shipped)]
    out.print(f"{len(asked)} of {len(scores)} rules asked, seed {seed}; each mutant's result: {FOLDER}/RULE.ndjson",
              markup=False, soft_wrap=True)  # fmt: skip
    if failed:
        out.print(
            f"less than {FROZEN:.0%} killed by frozen cases or {GATE:.0%} by a gate, and less than before: "
            f"{', '.join(failed)}", style="bold red", markup=False, soft_wrap=True,
        )  # fmt: skip
    return 1 if failed else 0


def _holds(score: Score, shipped: Record) -> bool:
    """Return whether a rule's score is enough, or at least the one on record."""
    row = shipped.row(score.rule)
    if score.is_enough or row is None:
        return score.is_enough
    killed = row.frozen + row.fresh
    every = killed + len(row.survivors)
    survivors = len(score.alive) + score.equivalent + score.unreachable
    now = score.frozen + score.fresh
    return now / (now + survivors) >= killed / every and score.frozen >= row.frozen
