"""The page of a rule, in Markdown: what it compares, its questions, steps and answers, examples and known mistakes."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from textwrap import dedent
from types import UnionType
from typing import Any

import msgspec

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.reports.signatures import import_lines, signature
from kafka_conformance.reports.type_docs import FieldDoc, StructDoc, struct_docs
from kafka_conformance.rules.answer_types import answer_types, entry_types, step_types, struct_of
from kafka_conformance.rules.summaries import RuleSummary, rule_summary

__all__ = ["RuleExample", "index_page", "rule_page"]

_WRITTEN = (
    "<!-- Written by `kafka-conformance rules --write kit/docs/rules`: edit summary.toml, types and docstrings. -->"
)
_HEADS = ("field", "type", "default", "meaning")
_ORACLE = "../../../jars/kafka_jars/oracle/release"
_WIDTH = 125


@dataclass(frozen=True, slots=True)
class RuleExample:
    """A question with Java's answer, the releases that give it, and the kinds of question that it belongs to."""

    question: Question
    answer: Answer
    releases: str
    kinds: tuple[str, ...]


def rule_page(
    rule: Rule,
    examples: Sequence[RuleExample],
    thrown: Sequence[Answer],
    kinds_in_domain: frozenset[str],
    out_of_domain: Sequence[str],
    mutants: Iterable[Mutant],
) -> str:
    """Return the page of a rule.

    ``thrown`` are the different exceptions that Java answered, ``kinds_in_domain`` the kinds of questions in domain, and
    ``out_of_domain`` the reasons why questions are not.
    """
    parts = [
        f"{_WRITTEN}\n# {rule.slug}",
        f"{_sentence(rule.title)}",
        *_summary(rule_summary(rule.slug)),
        _facts(rule),
        *_notes(rule),
        *_questions(rule),
        *_answers(rule),
        *_exceptions(thrown),
        *_kinds(rule, kinds_in_domain, out_of_domain),
        *_examples(examples),
        *_mistakes(mutants),
    ]
    return "\n\n".join(parts) + "\n"


def index_page(rules: Iterable[Rule]) -> str:
    """Return the page that lists all rules."""
    rows = [(f"[{rule.slug}]({rule.slug}.md)", _cell(rule.title), str(rule.releases)) for rule in rules]
    about = (
        "Each page begins with the rule, its functions in Python, its lines in Java, and what users notice of a difference. "
        "Then come the fields of questions and answers, the steps, examples with Java's answers, and known mistakes. "
        "`kafka-conformance sample RULE` prints more of them. [How to write a driver](../driver.md), "
        "[how questions carry random draws](../draws.md)."
    )
    return "\n\n".join([f"{_WRITTEN}\n# Rules", about, _table(("rule", "what it covers", "releases"), rows)]) + "\n"


def _summary(summary: RuleSummary) -> Iterator[str]:
    """Yield the rule itself, the reference's functions, Kafka's methods, and what a user notices of a difference."""
    yield f"**The rule.** {_cell(summary.rule)}"
    signatures = [signature(name) for name in summary.functions]
    yield "\n".join(["```python", *import_lines(summary.functions), "", *signatures, "```"])
    methods = ", ".join(f"[`{method.name}`]({method.address})" for method in summary.java)
    yield f"**In Java**, Kafka {' and '.join(dict.fromkeys(method.tag for method in summary.java))}: {methods}."
    yield f"**If an implementation differs.** {_cell(summary.differs)}"


def _facts(rule: Rule) -> str:
    rows = [
        ("releases", str(rule.releases)),
        ("compared with", _cell(rule.source)),
        ("Java half", "<br>".join(_java_half(rule)) or "by way of other rules"),
        ("harness", _cell(rule.harness)),
        ("by release", f"[behaviour records](../behaviour.md#{rule.slug}), [what Java changed](../changes.md)"),
        ("links", "<br>".join(f"<{link}>" for link in rule.links)),
    ]
    return _table(("", ""), rows)


def _java_half(rule: Rule) -> Iterator[str]:
    for spans, name in rule.java:
        package, simple = name.removeprefix("kafkaoracle.").split(".")
        yield f"[{simple}]({_ORACLE}/{package}/{simple}.java), {spans}"


def _notes(rule: Rule) -> Iterator[str]:
    """Yield what the docstring of the rule, or of its question, adds to its first line."""
    module = f"kafka_conformance.rules.{rule.slug.replace('-', '_')}.rule"
    for name in (module, rule.question.__module__):
        _, _, rest = inspect.cleandoc(sys.modules[name].__doc__ or "").partition("\n\n")
        if rest:
            yield _from_rst(rest)
            return


def _from_rst(text: str) -> str:
    """Return a docstring as Markdown: literals, and blocks after ``::``."""
    found: list[str] = []
    for is_block, lines in groupby(text.split("\n"), lambda line: line.startswith("    ")):
        part = "\n".join(lines)
        if is_block:
            found.append(f"\n```text\n{dedent(part)}\n```\n")
        else:
            plain = re.sub(r":\w+:`\.?([^`]*)`", r"``\1``", part)
            found.append(re.sub(r"(^|\n)::(?=\n|$)", "", plain).replace("``", "`").replace("::\n", ":\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(found)).strip()


def _questions(rule: Rule) -> Iterator[str]:
    docs = struct_docs(rule.question)
    yield f"## Question\n\n{docs[0].meaning}"
    yield _fields(docs[0])
    if any(field.name in {"draws", "seed"} for field in docs[0].fields):
        yield f"[How `{rule.slug}` uses the draws](../draws.md)."
    yield from _objects(doc for doc in docs[1:] if not doc.op)
    steps = [doc for doc in docs[1:] if doc.op]
    if not steps:
        return
    yield "## Steps\n\nA step is an object; its field `op` names its kind. The answer has one entry for each step."
    answers = step_types(rule) or {}
    ops = {str(kind.__struct_config__.tag): answer for kind, answer in answers.items()}
    for doc in steps:
        yield f"### Step `{doc.op}`\n\n{doc.meaning}"
        if doc.fields:
            yield _fields(doc)
        yield from _step_answer(ops.get(doc.op))


def _step_answer(answer: type[AnswerType] | UnionType | None) -> Iterator[str]:
    if answer is None:
        yield "Answer: `{}`."
        return
    kind = struct_of(answer)
    doc = struct_docs(kind)[0]
    yield f"Answer: {doc.meaning}{'' if kind is answer else ' null: there is nothing.'}"
    yield _fields(doc)


def _answers(rule: Rule) -> Iterator[str]:
    roots = answer_types(rule)
    docs = struct_docs(roots[0])
    yield f"## Answer\n\n{docs[0].meaning}"
    yield _fields(docs[0])
    inner = {doc.name: doc for root in roots for doc in struct_docs(root)[1:]}
    inner |= {doc.name: doc for kind in entry_types(rule).values() for doc in struct_docs(kind)}
    yield from _objects(inner.values())


def _objects(docs: Iterable[StructDoc]) -> Iterator[str]:
    for doc in docs:
        shape = " It is written as a list of these values." if doc.is_list else ""
        yield f"### Object {doc.name}\n\n{doc.meaning}{shape}"
        yield _fields(doc)


def _fields(doc: StructDoc) -> str:
    def row(field: FieldDoc) -> tuple[str, ...]:
        return f"`{field.name}`", _cell(field.type), _cell(field.default) or "required", _cell(field.meaning)

    rows = [row(field) for field in doc.fields]
    if all(cells[2] == "required" for cells in rows):
        return _table((*_HEADS[:2], _HEADS[3]), [(name, kind, meaning) for name, kind, _, meaning in rows])
    return _table(_HEADS, rows)


def _exceptions(thrown: Sequence[Answer]) -> Iterator[str]:
    if not thrown:
        return
    yield (
        "## Exceptions\n\nWhere Java throws, the answer is the simple class name of the exception, with its message where "
        'that is Kafka\'s own: `{"raises": "…", "message": "…"}`. The frozen cases have these:'
    )
    yield _table(
        ("raises", "message"), [(f"`{one['raises']}`", _cell(harmless(one.get("message") or ""))) for one in thrown]
    )


def _kinds(rule: Rule, kinds_in_domain: frozenset[str], out_of_domain: Sequence[str]) -> Iterator[str]:
    optional = {kind: lacks for kind, lacks in rule.optional_labels.items() if kind in rule.required_labels}
    core = rule.required_labels - optional.keys()
    yield "## Kinds of question"
    yield (
        "[The gate judges](../gate.md#what-is-needed-for-a-verdict) an implementation that answers questions of these "
        f"kinds: {_listed(core & kinds_in_domain)}."
    )
    if core - kinds_in_domain:
        yield f"Questions of these kinds are [out of domain](#in-domain): {_listed(core - kinds_in_domain)}."
    if optional:
        yield (
            "A client without the feature answers questions of these kinds with "
            '`{"id": …, "unsupported": "why"}`. A question may be of several kinds.'
        )
        yield _table(("kind", "a client may lack"), [(f"`{kind}`", _cell(lacks)) for kind, lacks in optional.items()])
    yield from _parts(rule)
    yield f"## In domain\n\n{_domain(rule)}"
    if out_of_domain:
        reasons = "\n".join(f"- {_sentence(_cell(reason))}" for reason in out_of_domain)
        yield (
            "Questions out of domain are those that no user can bring about; the gate asks them with `--out-of-domain`. "
            f"The reasons of this rule:\n\n{reasons}"
        )


def _parts(rule: Rule) -> Iterator[str]:
    if not rule.optional_parts:
        return
    yield (
        "## Optional parts of the answer\n\nA client may leave these fields out; all other fields are judged. The "
        'answer to a step that it cannot give is `{"unsupported": "why"}`; `steps.look` is the answer to a step `look`.'
    )
    yield _table(
        ("part", "a client may lack"), [(f"`{part}`", _cell(lacks)) for part, lacks in rule.optional_parts.items()]
    )


def _domain(rule: Rule) -> str:
    """Return what the docstring of the rule's domain says after its subject."""
    module = f"kafka_conformance.rules.{rule.slug.replace('-', '_')}.domain"
    if find_spec(module) is None:
        return "Every question: a user of some client can bring it about."
    text = inspect.cleandoc(import_module(module).__doc__ or "")
    first, _, rest = text.partition("\n\n")
    _, _, predicate = first.partition(" a user can bring about")
    summary = predicate.lstrip(":. ")
    return _from_rst("\n\n".join(filter(None, (_sentence(summary) if summary else "", rest))))


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in sorted(kinds, key=_natural))


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


def _examples(examples: Sequence[RuleExample]) -> Iterator[str]:
    yield "## Examples\n\nQuestions with the answers of Kafka's own classes."
    for number, example in enumerate(examples, 1):
        question, answer = map(_laid_out, (example.question, example.answer))
        yield (
            f"### Example {number}\n\n{_cell(', '.join(example.kinds))}\n\n```json\n{question}\n```\n\n"
            f"Answer in {example.releases}:\n\n```json\n{answer}\n```"
        )


def _laid_out(value: Any) -> str:
    """Return JSON on one line, or, where it is too long, with a line for each field and for each entry of its lists."""
    plain = msgspec.to_builtins(value)
    whole = _compact(plain)
    if len(whole) <= _WIDTH or not isinstance(plain, dict):
        return whole
    lines = []
    for name, field in plain.items():
        text = _compact(field)
        if isinstance(field, list | tuple) and len(text) + len(name) + 6 > _WIDTH:
            text = "[\n" + ",\n".join(f"  {_compact(one)}" for one in field) + "\n ]"
        lines.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(lines) + "\n}"


def _compact(value: Any) -> str:
    return re.sub(r"\n\s*", " ", msgspec.json.format(msgspec.json.encode(value), indent=0).decode())


def _mistakes(mutants: Iterable[Mutant]) -> Iterator[str]:
    yield "## Known mistakes"
    yield "The gate names these if an implementation makes them; `selftest` proves that the questions find each of them."
    rows = [
        (
            f"`{mutant.slug}`",
            _cell(_sentence(mutant.description)),
            "<br>".join(f"<{link}>" for link in mutant.references),
        )
        for mutant in mutants
    ]
    yield _table(("name", "mistake", "references"), rows)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines)
