"""A mutation that is planted in a forked process: the rule has it there, and nowhere else."""

from __future__ import annotations

from kafka_conformance.generated_mutants.forked_tasks import in_forks
from kafka_conformance.generated_mutants.mutant_trial import ask_until_killed
from kafka_conformance.generated_mutants.mutated_modules import dependents_of, plant, rule_anew
from kafka_conformance.generated_mutants.mutations import Module, Mutation
from kafka_conformance.generated_mutants.questions import RuleQuestions
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_conformance.verify.fingerprint import installed_sources
from kafka_reference.releases import NEWEST

CODE = {
    "p.a": "X = 1",
    "p.b": "from p.a import X",
    "p.c": "from p import b",
    "p.d": "import p.c",
    "p.e": "from q import a",
}
RULE = RULES["sequence-increment"]
NAME = "kafka_reference.idempotence.sequences"
QUESTION = SequenceQuestion(sequence=5, by=3)


def test_dependents_of_a_module_include_transitive_importers() -> None:
    assert dependents_of("p.a", CODE) == {"p.b", "p.c", "p.d"}
    assert dependents_of("p.d", CODE) == frozenset()


def test_planted_mutation_is_active_only_in_the_forked_process() -> None:
    sources = installed_sources().python
    module = Module(NAME, sources[NAME], [])
    wrong = next(one for one in module.mutations if one.key == f"{NAME}:increment: sequence + by → sequence - by")

    def work(mutation: Mutation) -> dict[str, object]:
        plant(NAME, module.compile(mutation), dependents_of(NAME, sources))
        return rule_anew(RULE).ask(QUESTION, NEWEST)

    before = RULE.ask(QUESTION, NEWEST)
    ((_, planted),) = in_forks([wrong], work, dict, at_once=1)
    assert (planted, before) == ({"sequence": 2}, {"sequence": 8})
    assert RULE.ask(QUESTION, NEWEST) == before


def test_planted_mutation_reaches_rules_that_import_the_module_from_the_package() -> None:
    """``from kafka_reference.elections import leader_election`` would find the old module in the package."""
    name, rule = "kafka_reference.elections.leader_election", RULES["leader-election"]
    sources = installed_sources().python
    module = Module(name, sources[name], [])
    wrong = next(
        one
        for one in module.mutations
        if one.key == f"{name}:elect_leader: return Elected(leader, unclean=False) → return None"
    )

    def work(mutation: Mutation) -> list[str]:
        plant(name, module.compile(mutation), dependents_of(name, sources))
        asked = RuleQuestions(rule, 1).asked("frozen")[:200]
        return [ask_until_killed("key", asked).verdict]

    assert list(in_forks([wrong], work, list, at_once=1)) == [(wrong, ["frozen"])]
