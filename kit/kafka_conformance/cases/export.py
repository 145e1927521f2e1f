"""The frozen cases as plain JSON files, for those who never run the kit.

A folder for each rule has ``schema.json``, and a folder for each era, named after the newest release of the era, with
``cases.json``: one case on a line, each with its name, its question, the answer of Kafka's classes, and the reason why no
user can bring the question about, if there is one. Withdrawn cases are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kafka_conformance.cases.sets import CaseSets
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.json_schema import schema_parts
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.eras import Era, eras

__all__ = ["case_files", "cases_schema"]

_README = """\
# Frozen cases of Kafka's rules: {label}

Questions with the answers of Kafka's own classes, written by `kafka-conformance cases --write FOLDER`. All you need is JSON.

- `RULE/RELEASE/cases.json`: the cases of a rule in an era. RELEASE is the newest of the era; `releases` has all of them.
- `RULE/schema.json`: the JSON Schema of these files.
- `manifest.json`: the case set, and every file with its number of cases.

A case has `id`, `question`, `answer`, and `out_of_domain` if no user of a client can bring the question about. Keys are
bytes in hex. The answer `{{"raises": NAME}}` means that Java throws this exception. The page of each rule in the
documentation explains the fields.

Use this folder as a git submodule, at a commit that you choose: files change only when another set is opened, a case is
withdrawn, or a Kafka release is added.

| rule | eras | cases of the newest |
|---|---|---|
{rows}
"""


def case_files(rules: Sequence[Rule], sets: CaseSets, *, every_era: bool) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield each file with its path: of the newest era of each rule, or of every era. Raises KitError without cases."""
    rows, listed = [], {}
    for rule in rules:
        found = frozen(rule)
        if found is None:
            raise KitError(
                f"{rule.slug} has no frozen cases: make them with kafka-conformance freeze --rules {rule.slug}"
            )
        withdrawn = sets.withdrawn_of(rule.slug)
        chosen, cases = eras(rule)[0 if every_era else -1 :], list[Case]()
        for era in chosen:
            cases = [case for case in found.at(str(era.newest)) if case.id not in withdrawn]
            path = PurePosixPath(rule.slug, str(era.newest), "cases.json")
            listed[str(path)] = len(cases)
            yield path, _cases(found.provenance.java, rule, era, cases, sets.label)
        yield PurePosixPath(rule.slug, "schema.json"), _laid_out(cases_schema(rule))
        rows.append(f"| {rule.slug} | {len(chosen)} | {len(cases):,} |")
    manifest = {"set": sets.newest.name, "sha256": sets.newest.sha256, "withdrawn": sets.withdrawn, "files": listed}
    yield PurePosixPath("manifest.json"), _laid_out(manifest)
    yield PurePosixPath("README.md"), _README.format(label=sets.label, rows="\n".join(rows))


def cases_schema(rule: Rule) -> dict[str, Any]:
    """Return the JSON Schema of a rule's files of cases."""
    (question,), named = schema_parts([rule.question])
    case = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "question": question,
            "answer": {"type": "object"},
            "out_of_domain": {"type": "string", "minLength": 1},
        },
        "required": ["id", "question", "answer"],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Frozen cases of {rule.slug}",
        "type": "object",
        "properties": {
            "rule": {"const": rule.slug},
            "java": {"type": "string"},
            "set": {"type": "string"},
            "releases": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "cases": {"type": "array", "items": case},
        },
        "required": ["rule", "java", "set", "releases", "cases"],
        "additionalProperties": False,
        "$defs": named,
    }


def _cases(java: str, rule: Rule, era: Era, cases: Sequence[Case], label: str) -> str:
    head = {"rule": rule.slug, "java": java, "set": label, "releases": list(map(str, era.releases))}
    lines = ",\n".join(f"  {to_json(_case(rule, case)).decode()}" for case in cases)
    fields = "".join(f' "{name}": {to_json(value).decode()},\n' for name, value in head.items())
    return f'{{\n{fields} "cases": [\n{lines}\n ]\n}}\n'


def _case(rule: Rule, case: Case) -> dict[str, Any]:
    outside = rule.domain(case.typed_question(rule))
    return {
        "id": case.id,
        "question": case.question,
        "answer": case.answer,
        **({"out_of_domain": outside} if outside else {}),
    }


def _laid_out(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"
