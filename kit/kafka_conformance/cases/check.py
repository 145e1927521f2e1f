"""Frozen cases against the real Java: every answer is asked again, in every release that a case names.

First the files are checked without Java: a damaged file is not asked about at all. Then every answer of Java that
differs is drift, and so is an answer that the reference does not give, a jar that is not the one that answered, a pinned
release without a case, a mutant that a case kills or does not kill any more, and a mutant that no case kills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafka_conformance.answerers.recorded_outcomes import RecordedAnswerer
from kafka_conformance.cases.generation import Java, apart
from kafka_conformance.cases.mutation import kills
from kafka_conformance.cases.store import Frozen, read
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import entries
from kafka_conformance.core.pipeline import Comparison, Judgement
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Crashed, Differs, Errored, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.proven import lacks_proof
from kafka_reference.releases import Release, parse_release

__all__ = ["damages", "drifts", "read_folder"]

# Java answers while the mutants do.
_JAVA_THREAD = ThreadPoolExecutor(1, "java")


def read_folder(folder: Path, rules: Sequence[Rule]) -> dict[str, Frozen]:
    """Read the files of these rules. Raises BadInput for one that is missing, damaged or of an unknown rule."""
    unknown = [path.name for path in entries(folder) if path.suffix == ".ndjson" and path.stem not in RULES]
    if unknown:
        raise BadInput(f"{folder} has cases of rules that do not exist: {', '.join(unknown)}")
    found = {rule.slug: read(folder / f"{rule.slug}.ndjson") for rule in rules}
    damaged = [f"{rule.slug}: {what}" for rule in rules for what in damages(rule, found[rule.slug])]
    if damaged:
        more = f"; and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
        raise BadInput(f"frozen cases in {folder} are damaged: {damaged[0]}{more}")
    return found


def damages(rule: Rule, frozen: Frozen) -> Iterator[str]:
    """Yield the damages of a file: a name that does not match the content, releases out of order, a case twice."""
    known = list(frozen.provenance.jars)
    if frozen.provenance.rule != rule.slug:
        yield f"it is about {frozen.provenance.rule}"
    seen: set[tuple[bytes, str]] = set()
    for case in frozen.cases:
        try:
            question = case.typed_question(rule)
        except UNREADABLE as error:
            yield f"{case.id} is not a question of this rule: {error}"
            continue
        if question_id(rule.slug, case.release, question) != case.id:
            yield f"{case.id} is not the name of its content"
        if [version for version in known if version in case.releases] != list(case.releases):
            yield f"{case.id} names releases that are not in the first line, or not in their order"
        elif case.release not in case.releases:
            yield f"{case.id} is called after {case.release}, which is not one of its releases"
        asked = {(to_json(question), version) for version in case.releases}
        if asked & seen:
            yield f"{case.id} answers a question that another case answers in the same release"
        seen |= asked


def drifts(found: Mapping[str, Frozen], releases: Sequence[Release], java: Java, progress: Steps) -> Iterator[str]:
    """Yield a line for each drift in ``releases``. Raises KitError or JarError when Java cannot be asked."""
    for slug, frozen in found.items():
        rule = RULES[slug]
        questions = [case.typed_question(rule) for case in frozen.cases]
        waiting = _JAVA_THREAD.submit(_answer_drifts, rule, frozen, questions, releases, java, progress)
        killed = list(_kill_drifts(rule, frozen, questions))
        others = [
            f"{slug} {name}: the reference does not give this answer" for name in apart(rule, frozen.cases, questions)
        ]
        yield from _provenance_drifts(rule, frozen, releases)
        yield from waiting.result()
        yield from (*killed, *others)


def _answer_drifts(
    rule: Rule, frozen: Frozen, questions: Sequence[Question], releases: Sequence[Release], java: Java, progress: Steps
) -> list[str]:  # fmt: skip
    drifted = []
    for version, sha256 in frozen.provenance.jars.items():
        if (release := parse_release(version)) not in releases:
            continue
        progress.doing(f"{rule.slug} in {version}")
        if (other := java.sha256(rule, release)) != sha256:
            drifted.append(f"{rule.slug} in {version}: answered by the jar {sha256[:12]}, and that is {other[:12]} now")
        cases = {q: case for q, case in zip(questions, frozen.cases, strict=True) if version in case.releases}
        expected = RecordedAnswerer("frozen", {question: Answered(case.answer) for question, case in cases.items()})
        comparison = Comparison(expected, java.answerer, release)
        for judgement in comparison.judgements(rule, Source("frozen", tuple(cases))):
            drifted += _drift(f"{rule.slug} {cases[judgement.question].id} in {version}", judgement)
        progress.advance()
    return drifted


def _drift(name: str, judgement: Judgement) -> Iterator[str]:
    match judgement.verdict, judgement.expected:
        case Differs(expected, actual), _:
            yield f"{name}: frozen {to_json(expected).decode()}, Java returns {to_json(actual).decode()}"
        case ((Errored() | Crashed()), Answered(answer)):
            yield f"{name}: frozen {to_json(answer).decode()}, Java has no answer: {judgement.actual}"


def _provenance_drifts(rule: Rule, frozen: Frozen, releases: Sequence[Release]) -> Iterator[str]:
    pinned = {str(release) for release in releases if rule.has_java(release) and not lacks_proof(release, rule.slug)}
    for version in sorted(pinned - set(frozen.provenance.jars)):
        yield f"{rule.slug}: release {version} is pinned and has no cases"
    if frozen.provenance.java != rule.source:
        yield f"{rule.slug}: made with {frozen.provenance.java}, which is {rule.source} now"
    labels = {label for case in frozen.cases for label in rule.labels(case.typed_question(rule))}
    for label in sorted(rule.required_labels - labels):
        yield f"{rule.slug}: no case is of the kind: {label}"


def _kill_drifts(rule: Rule, frozen: Frozen, questions: Sequence[Question]) -> Iterator[str]:
    mutants = written_mutants(rule)
    killed = set()
    for case, now in zip(frozen.cases, kills(rule, mutants, frozen.cases, questions), strict=True):
        killed |= {*now}
        if now != case.kills:
            other = ", ".join(sorted({*now} ^ {*case.kills}))
            yield f"{rule.slug} {case.id}: not the frozen verdict about these mutants: {other}"
    for mutant in mutants:
        if mutant.slug not in killed:
            yield f"{rule.slug}: no case kills the mutant {mutant.slug}"
