"""Frozen cases held to the real Java: every answer asked for again, in every release that a case names.

First the files are looked at: what is wrong with them has nothing to do with Java, and there is no use in asking. Then
whatever Java answers otherwise is drift, and so is a jar that is not the one that answered, a release that is pinned and
in no case, a mutant that a case catches or does not catch any more, and one that no case catches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from kafka_conformance.cases.generation import Java
from kafka_conformance.cases.mutation import kills
from kafka_conformance.cases.store import Case, Frozen, read
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.pipeline import BATCH
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Outcome, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import Release, parse_release

__all__ = ["damages", "drifts", "read_folder"]

# Java answers while the mutants do.
_ASIDE = ThreadPoolExecutor(1, "java")


def read_folder(folder: Path, rules: Sequence[Rule]) -> dict[str, Frozen]:
    """The files of these rules, which all have to be there and be sound, and none of no rule. Raises BadInput."""
    strangers = sorted(path.name for path in folder.glob("*.ndjson") if path.stem not in RULES)
    if strangers:
        raise BadInput(f"{folder} has cases of rules that do not exist: {', '.join(strangers)}")
    found = {rule.slug: read(folder / f"{rule.slug}.ndjson") for rule in rules}
    damaged = [f"{rule.slug}: {what}" for rule in rules for what in damages(rule, found[rule.slug])]
    if damaged:
        more = f"; and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
        raise BadInput(f"frozen cases in {folder} are damaged: {damaged[0]}{more}")
    return found


def damages(rule: Rule, frozen: Frozen) -> Iterator[str]:
    """What is wrong with a file by itself: a name that is not the content's, releases out of order, a case twice."""
    known = list(frozen.provenance.jars)
    if frozen.provenance.rule != rule.slug:
        yield f"it is about {frozen.provenance.rule}"
    seen: set[tuple[bytes, str]] = set()
    for case in frozen.cases:
        try:
            question = case.typed_question(rule)
        except msgspec.MsgspecError as error:
            yield f"{case.id} is no question of this rule: {error}"
            continue
        if question_id(rule.slug, case.release, question) != case.id:
            yield f"{case.id} is not the name of its content"
        if [version for version in known if version in case.releases] != list(case.releases):
            yield f"{case.id} names releases that are not in the first line, or not in their order"
        elif not case.releases or case.releases[-1] != case.release:
            yield f"{case.id} is called after {case.release}, which is not the newest of its releases"
        told = {(to_json(question), version) for version in case.releases}
        if told & seen:
            yield f"{case.id} answers a question that another case answers in the same release"
        seen |= told


def drifts(found: Mapping[str, Frozen], releases: Sequence[Release], java: Java, progress: Steps) -> Iterator[str]:
    """A line for each thing that is not so any more. Raises KitError or JarError when Java cannot be asked."""
    for slug, frozen in found.items():
        rule = RULES[slug]
        questions = [case.typed_question(rule) for case in frozen.cases]
        waiting = _ASIDE.submit(_asked_again, rule, frozen, questions, java, progress)
        caught = list(_other_kills(rule, frozen, questions))
        yield from _other_jars(rule, frozen, releases)
        yield from waiting.result()
        yield from caught


def _asked_again(
    rule: Rule, frozen: Frozen, questions: Sequence[Question], java: Java, progress: Steps
) -> list[str]:  # fmt: skip
    drifted = []
    for version, sha256 in frozen.provenance.jars.items():
        progress.doing(f"{rule.slug} in {version}")
        at = parse_release(version)
        if (other := java.sha256(rule, at)) != sha256:
            drifted.append(f"{rule.slug} in {version}: answered by the jar {sha256[:12]}, and that is {other[:12]} now")
        meant = [place for place, case in enumerate(frozen.cases) if version in case.releases]
        for first in range(0, len(meant), BATCH):
            batch = meant[first : first + BATCH]
            outcomes = java.answerer.answer(rule, at, [questions[place] for place in batch])
            for place, outcome in zip(batch, outcomes, strict=True):
                drifted += _drift(rule, version, frozen.cases[place], outcome)
        progress.advance()
    return drifted


def _drift(rule: Rule, version: str, case: Case, outcome: Outcome) -> Iterator[str]:
    frozen = to_json(case.answer).decode()
    match outcome:
        case Answered(answer):
            now = to_json(answer).decode()
            if now != frozen:
                yield f"{rule.slug} {case.id} in {version}: frozen {frozen}, Java says {now}"
        case none:
            yield f"{rule.slug} {case.id} in {version}: frozen {frozen}, Java has no answer: {none}"


def _other_jars(rule: Rule, frozen: Frozen, releases: Sequence[Release]) -> Iterator[str]:
    pinned = {str(at) for at in releases if rule.has_java(at)}
    for version in sorted(pinned - set(frozen.provenance.jars)):
        yield f"{rule.slug}: release {version} is pinned and has no cases"
    if frozen.provenance.java != rule.source:
        yield f"{rule.slug}: made with {frozen.provenance.java}, which is {rule.source} now"
    labels = {label for case in frozen.cases for label in rule.labels(case.typed_question(rule))}
    for label in sorted(rule.required_labels - labels):
        yield f"{rule.slug}: no case is of the kind: {label}"


def _other_kills(rule: Rule, frozen: Frozen, questions: Sequence[Question]) -> Iterator[str]:
    mutants = [mutant for mutant in MUTANTS if mutant.rule == rule.slug]
    caught = set()
    for case, question in zip(frozen.cases, questions, strict=True):
        now = kills(mutants, case, question)
        caught |= {*now}
        if now != case.kills:
            other = ", ".join(sorted({*now} ^ {*case.kills}))
            yield f"{rule.slug} {case.id}: whether it catches these mutants is not as frozen: {other}"
    for mutant in mutants:
        if mutant.slug not in caught:
            yield f"{rule.slug}: no case catches the mutant {mutant.slug}"
