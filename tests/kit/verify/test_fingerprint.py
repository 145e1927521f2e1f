"""The fingerprint of a rule: which changes of the code void its proof, and which do not."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import kafka_conformance
import kafka_reference
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import (
    Sources,
    fingerprint,
    fingerprinted_sources,
    installed_sources,
    mutants_fingerprint,
)
from kafka_conformance.verify.reachable_code import reachable_code
from kafka_reference.errors import JavaException, NotInThisRelease
from kafka_reference.releases import NEWEST, parse_release

HASHES = {"murmur2", "partition-for-key", "producer-partition", "default-partitioner"}
SCRIPTS = {"producer-sequences", "delivery"}


@cache
def installed_fingerprints() -> dict[str, str]:
    """The fingerprint of each rule as it is installed."""
    return {slug: fingerprint(rule) for slug, rule in RULES.items()}


@cache
def installed_mutants() -> dict[str, str]:
    """The fingerprint of the mutants of each rule as they are installed."""
    return {slug: mutants_fingerprint(rule) for slug, rule in RULES.items()}


def changed_by(sources: Sources) -> set[str]:
    """The rules whose fingerprint is another one with these sources."""
    return {slug for slug, rule in RULES.items() if fingerprint(rule, sources) != installed_fingerprints()[slug]}


def python_with(module: str, old: str, new: str, times: int = -1) -> Sources:
    installed = installed_sources()
    assert old in installed.python[module]
    return Sources({**installed.python, module: installed.python[module].replace(old, new, times)}, installed.java)


def java_with(name: str, change: Callable[[str], str]) -> Sources:
    installed = installed_sources()
    changed = change(installed.java[name])
    assert changed != installed.java[name]
    return Sources(installed.python, {**installed.java, name: changed})


@pytest.mark.parametrize(
    ("module", "old", "new", "those", "not_those"),
    [
        ("kafka_reference.partitioning.murmur2", "0x9747B28C", "0x9747B28D", HASHES, {"producer-sequences", "record-sizes"}),
        ("kafka_reference.partitioning.keyed", " % num_partitions", " // num_partitions",
         {"partition-for-key", "default-partitioner"}, {"murmur2", "record-sizes"}),
        ("kafka_conformance.rules.common.keys", "def every_tail(", "def every_tail(_: int = 0", {"murmur2"}, SCRIPTS),
        ("kafka_conformance.rules.murmur2.rule", "st.one_of(st.none(), keys())", "keys()", {"murmur2"}, SCRIPTS),
        ("kafka_conformance.core.sources", "def sources(", "def sources(again: int, ", set(RULES), set()),
    ],
)  # fmt: skip
def test_code_change_alters_fingerprints_of_rules_using_the_code_and_not_of_unrelated_rules(
    module: str, old: str, new: str, those: set[str], not_those: set[str]
) -> None:
    changed = changed_by(python_with(module, old, new))
    assert those <= changed
    assert changed.isdisjoint(not_those)


SENDER = [name for name in installed_sources().python if name.startswith("kafka_reference.idempotence.sender")]


@pytest.mark.parametrize("module", SENDER)
def test_sender_code_change_alters_fingerprints_only_of_rules_that_use_the_sender(module: str) -> None:
    installed = installed_sources()
    text = installed.python[module].replace("self.", "self .x.").replace(" = ", " = 1 and ")
    changed = changed_by(Sources({**installed.python, module: text}, installed.java))
    assert "producer-sequences" in changed or not text.count("1 and")
    assert changed <= {"producer-sequences", "delivery", "record-accumulator", "producer-send"}


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("kafka_reference.partitioning.murmur2", "SEED = 0x9747B28C\n", "SEED = 0x9747b28c  # Kafka's own\n\n\n"),
        ("kafka_reference.partitioning.murmur2", '"""', '"""Otherwise said.\n\n'),
        ("kafka_reference.partitioning.cluster", '    """', '    """Otherwise said.\n\n'),
        ("kafka_reference.partitioning.murmur2", ") -> int:", ") -> object:"),
        ("kafka_conformance.rules.murmur2.rule", 'title="', 'title="once more '),
        ("kafka_conformance.rules.murmur2.rule", 'links=("', 'links=("x", "'),
        ("kafka_conformance.rules.common.keys", "def key_labels(", "def key_labels(again: int, "),
    ],
)
def test_python_comment_docstring_annotation_title_link_or_label_change_alters_no_rule_fingerprint(
    module: str, old: str, new: str
) -> None:
    assert changed_by(python_with(module, old, new, times=1)) == set()


def test_code_of_mutants_explanations_and_labels_is_outside_rule_fingerprints() -> None:
    installed = installed_sources()
    parts = ("mutant", "explain", "labels")
    beside = [name for name in installed.python if "rules." in name and any(one in name for one in parts)]
    assert len(beside) > 15
    unlike = {name: f"raise AssertionError({name!r})\n" for name in beside}
    assert changed_by(Sources({**installed.python, **unlike}, installed.java)) == set()


def mutants_changed_by(sources: Sources) -> set[str]:
    """The rules whose mutants have another fingerprint with these sources."""
    return {slug for slug, rule in RULES.items() if mutants_fingerprint(rule, sources) != installed_mutants()[slug]}


RULES_OF_KAFKA = "kafka_conformance.rules"


@pytest.mark.parametrize(
    ("module", "old", "new", "those"),
    [
        (f"{RULES_OF_KAFKA}.time_index.mutants", '"time-index-rounds-up"', '"time-index-rounds-down"', {"time-index"}),
        (f"{RULES_OF_KAFKA}.time_index.mutants", "MUTANTS = (", "MUTANTS = () and (", {"time-index"}),
        (f"{RULES_OF_KAFKA}.delivery.mutants", "MUTANTS = (", "MUTANTS = () and (", {"delivery"}),
        (f"{RULES_OF_KAFKA}.murmur2.ported_hash_mutants", "MUTANTS = tuple(", "MUTANTS = list(", {"murmur2"}),
        (f"{RULES_OF_KAFKA}.common.index_mistakes", "def ask(", "def ask(_: int, ", {"time-index", "offset-index"}),
        ("kafka_conformance.core.mutant", "release: Release = NEWEST", "release: Release = None", set(RULES)),
    ],
)  # fmt: skip
def test_mutant_code_change_alters_only_mutant_fingerprints_of_rules_that_use_the_code(
    module: str, old: str, new: str, those: set[str]
) -> None:
    changed = python_with(module, old, new)
    assert mutants_changed_by(changed) == those
    assert changed_by(changed) == set()


def test_rule_code_change_also_alters_the_mutant_fingerprint_of_the_rule() -> None:
    changed = python_with("kafka_reference.partitioning.murmur2", "0x9747B28C", "0x9747B28D")
    assert {"murmur2"} <= changed_by(changed) <= mutants_changed_by(changed)
    assert "record-sizes" not in mutants_changed_by(changed)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (f"{RULES_OF_KAFKA}.time_index.mutants", '"""', '"""Otherwise said.\n\n'),
        (f"{RULES_OF_KAFKA}.time_index.mutants", "MUTANTS = (\n", "MUTANTS = (  # so\n\n\n"),
        (f"{RULES_OF_KAFKA}.murmur2.rule", 'title="', 'title="once more '),
    ],
)
def test_mutant_comment_docstring_or_rule_title_change_alters_no_mutant_fingerprint(
    module: str, old: str, new: str
) -> None:
    assert mutants_changed_by(python_with(module, old, new, times=1)) == set()


def test_java_class_change_alters_exactly_the_fingerprints_of_rules_that_use_the_class() -> None:
    changed = changed_by(java_with("Murmur2Rule", lambda text: text.rstrip().removesuffix("}") + " int more; }"))
    assert changed == {"murmur2"}
    assert changed_by(java_with("Rule", lambda text: text.rstrip().removesuffix("}") + " int more; }")) == set(RULES)


def test_java_classes_of_equal_name_are_distinguished_by_package() -> None:
    changed = changed_by(
        java_with("partition.ProduceRequests", lambda text: text.rstrip().removesuffix("}") + " int more; }")
    )
    assert "produce-acks" in changed
    assert "producer-sequences" not in changed
    changed = changed_by(
        java_with("sender.ProduceRequests", lambda text: text.rstrip().removesuffix("}") + " int more; }")
    )
    assert "producer-sequences" in changed
    assert "produce-acks" not in changed


def test_java_comment_or_layout_change_alters_no_rule_fingerprint() -> None:
    assert (
        changed_by(java_with("Murmur2Rule", lambda text: text.replace("{", "{ // so\n\n /* and\n so */", 1))) == set()
    )


BEHAVIOUR = """
from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

@behaviour("Sender")
class SenderBehaviour(Behaviour):
    '''What the Sender does.'''
    waits: bool = holds(since("2.1.0"), "It waits.", "KAFKA-1")
    remembered: int = varies("Batches remembered.", (since("1.0.0"), 5), otherwise=1, ticket="KAFKA-2")

def asks():
    return SenderBehaviour.of("4.4.0").waits
"""


def test_behaviour_record_text_is_outside_the_fingerprint_but_values_are_not() -> None:
    def code(text: str) -> dict[str, str]:
        return reachable_code(("sender", "asks"), {"sender": text})

    for words in ("It waits.", "KAFKA-1", "Batches remembered.", "KAFKA-2", "What the Sender does."):
        assert code(BEHAVIOUR.replace(words, "Otherwise said")) == code(BEHAVIOUR)
    for words in ('"2.1.0"', '"1.0.0"', "5)", "otherwise=1"):
        assert code(BEHAVIOUR.replace(words, words.replace("0", "3").replace("5", "6").replace("=1", "=2"))) != code(
            BEHAVIOUR
        )


CHECKED = {
    "a": """
from dataclasses import dataclass
from kafka_reference.arguments import COUNT, checked, one_of

@checked(size=COUNT, kind=one_of("x", "y"))
@dataclass
class Box:
    size: int
    kind: str

@checked
def fill(box: Box):
    return box
""",
    "kafka_reference.arguments": "COUNT = 1\n\ndef checked(function):\n    return LIMIT\n\nLIMIT = 2\n",
}


def test_argument_check_decorator_is_outside_the_fingerprint() -> None:
    plain = CHECKED["a"].replace('@checked(size=COUNT, kind=one_of("x", "y"))\n', "").replace("@checked\n", "")
    assert plain.count("@") == 1
    for name in ("Box", "fill"):
        found = reachable_code(("a", name), CHECKED)
        assert found == reachable_code(("a", name), {**CHECKED, "a": plain})
        assert not any(where.startswith("kafka_reference.arguments") for where in found)
    narrower = CHECKED["a"].replace("size=COUNT", "size=INT32").replace('"x", ', "")
    assert reachable_code(("a", "Box"), {**CHECKED, "a": narrower}) == reachable_code(("a", "Box"), CHECKED)


@pytest.mark.parametrize(
    "imported",
    ["from kafka_reference.registry import checked", "from kafka_reference.arguments import one_of as checked"],
)
def test_other_decorator_named_checked_is_part_of_the_fingerprint(imported: str) -> None:
    other = CHECKED["a"].replace("from kafka_reference.arguments import COUNT, checked, one_of", imported)
    assert other != CHECKED["a"]
    assert reachable_code(("a", "fill"), {**CHECKED, "a": other}) != reachable_code(("a", "fill"), CHECKED)


FOLLOWED = {
    "a": "from b import f as g\nimport c as d\nfrom pack import inner\n\ndef one():\n    return g() + d.two()\n\n"
         "def other():\n    return inner.five()\n",
    "b": "from e import f\n",
    "c": "TABLE = {}\n\ndef two():\n    return TABLE[1]\n\ndef three():\n    pass\n\nTABLE[1] = three\n",
    "e": "def register(function):\n    return function\n\n@register\ndef four():\n    pass\n\ndef f():\n    return 1\n",
    "pack": "", "pack.inner": "from math import inf\n\ndef five():\n    return inf\n",
}  # fmt: skip


def test_reachable_code_follows_imports_tables_and_decorators() -> None:
    reached = set(reachable_code(("a", "one"), FOLLOWED))
    assert reached == {"a:one", "b:f", "c:", "c:TABLE", "c:two", "c:three", "e:f", "e:four", "e:register"}
    assert set(reachable_code(("a", "other"), FOLLOWED)) == {"a:other", "pack.inner:five", "pack.inner:inf"}


def test_reachable_code_differs_if_a_name_is_imported_from_another_module() -> None:
    other = {**FOLLOWED, "pack.inner": FOLLOWED["pack.inner"].replace("from math", "from cmath")}
    assert reachable_code(("a", "other"), other) != reachable_code(("a", "other"), FOLLOWED)
    assert reachable_code(("a", "one"), other) == reachable_code(("a", "one"), FOLLOWED)


PACKAGES = {Path(package.__file__ or "").parent: package.__name__ for package in (kafka_reference, kafka_conformance)}


def called_by(run: Callable[[], Any]) -> set[tuple[str, str]]:
    """The top-level functions and classes of ours whose code runs: module and name."""
    profile = cProfile.Profile(builtins=False)  # written in C: a callback in Python takes most of the time
    before = sys.getprofile()
    profile.enable()
    try:
        run()
    finally:
        profile.disable()
        sys.setprofile(before)
    codes = [entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType)]
    found = set()
    for code in codes:
        path, name = Path(code.co_filename), code.co_qualname.partition(".")[0]
        for folder, package in PACKAGES.items():
            if path.is_relative_to(folder) and not name.startswith("<"):
                parts = (package, *path.relative_to(folder).with_suffix("").parts)
                found.add((".".join(part for part in parts if part != "__init__"), name))
    return found


@pytest.mark.parametrize("slug", RULES)
def test_functions_run_for_an_answer_except_argument_checks_and_endless_append_guard_are_fingerprinted(
    slug: str,
) -> None:
    rule = RULES[slug]
    covered = fingerprinted_sources(rule, installed_sources())

    def answers() -> None:
        for space in rule.spaces:
            for question in islice(space.questions(), 0, 400, 13):
                for release in (parse_release("0.11.0.3"), parse_release("2.3.1"), NEWEST):
                    with suppress(JavaException, NotInThisRelease):
                        rule.ask(question, release)

    ran = {(module, name) for module, name in called_by(answers) if module in installed_sources().python}
    assert ran
    names = {(key.partition(":")[0], one) for key in covered for one in key.partition(":")[2].split(",")}
    # Neither the check of arguments nor the end of an append that never returns decides an answer.
    decide_nothing = {"kafka_reference.arguments", "kafka_reference.proven", "kafka_reference.accumulator.endless"}
    assert {one for one in ran - names if one[0] not in decide_nothing} == set()
