"""The steps of ``regenerate.py``: every generated file and record of the repository, and what decides it.

A new generated file needs a step here; ``tests/ci/test_regenerate.py`` fails without one.

Keys are over code without comments and layout, over the bytes of other files, and over the fingerprints of rules. The
machinery between a question and Java (the oracle, its workers, the comparison) is in no key and in no fingerprint:
``selftest`` proves it. What happens outside the checkout, such as a new version of a client, is in none either.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from modulefinder import ModuleFinder
from pathlib import Path

import broker_gates
import case_sets
import finding_pages
import historical_bugs
import java_transcripts
import matrix
import msgspec
import proof_pages
import record_broker_cases
from regenerate import Step

from kafka_conformance.answerers.driver import schema
from kafka_conformance.cases.rule_pages import rule_pages
from kafka_conformance.cases.sets import case_sets as shipped_sets
from kafka_conformance.cases.store import frozen
from kafka_conformance.core.rule import Area
from kafka_conformance.generated_mutants import record as generated
from kafka_conformance.generated_mutants.certificate_scores import with_scores
from kafka_conformance.generated_mutants.page import COMMAND as SCORES
from kafka_conformance.generated_mutants.page import score_table
from kafka_conformance.generated_mutants.population import Population
from kafka_conformance.oracle.session import chosen_releases
from kafka_conformance.replication.example_page import COMMAND as EXAMPLES
from kafka_conformance.replication.example_page import example_page
from kafka_conformance.reports.behaviour import behaviour_page
from kafka_conformance.reports.page_block import block_of
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify.coverage import record as coverage
from kafka_conformance.verify.coverage.mirrored_code import mirroring_rules
from kafka_conformance.verify.coverage.page import coverage_page
from kafka_conformance.verify.fingerprint import Sources, fingerprint, mutants_fingerprint
from kafka_conformance.verify.mutants import record as mutants
from kafka_conformance.verify.verification import VerificationPlan
from kafka_jars.pins import load
from kafka_reference.certificate import certificate, dump_code
from kafka_reference.proven import proven_releases

__all__ = ["STEPS", "file_key", "rule_keys"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "kit" / "docs"
CASES = "kit/kafka_conformance/cases/data"
BROKER_CASES = "kit/kafka_conformance/wire/broker_gate/cases.ndjson"
JAVA_TRANSCRIPTS = "kit/kafka_conformance/wire/client_gate/java_transcripts.ndjson"
CASE_SETS = "kit/kafka_conformance/cases/sets.json"
CERTIFICATE = "reference/kafka_reference/certificate.json"
KILLED = "kit/kafka_conformance/verify/mutants/record.json"
GENERATED = "kit/kafka_conformance/generated_mutants/record.json"
COVERED = "kit/kafka_conformance/verify/coverage/record.json"
SCHEMA = "kit/kafka_conformance/answerers/driver/protocol.schema.json"
PINS = "jars/kafka_jars/releases.toml"
# Outside tox's folder of temporary files, which each run empties: an unfinished verification resumes from it.
LAST = ".kafka-conformance/regenerate/certificate.json"
_FREEZE_CHECK = "kafka-conformance freeze --check --kafka spread --rules {parts}"
_AUDITED = "tests/kit/audit/attribution/test_random_topics.py", "tests/kit/audit/totals/test_agreement.py"
_AUDITED_CHECK = f"python -m pytest -q -m exhaustive {' '.join(_AUDITED)}"
_PLANTED = "tests/kit/log_inspect/test_planted_mistakes.py"
_PLANTED_CHECK = f"python -m pytest -q -m exhaustive {_PLANTED}"
_UNREACHED = "python ci/unreached.py"
_FINDINGS_CHECK = "python -m pytest -q -m exhaustive tests/conformance/test_findings.py"
_DIGITS = 16


def file_key(*patterns: str, root: Path = ROOT) -> str:
    """Return the key of the files that match these patterns. Raises FileNotFoundError if a pattern has no match."""
    digest = hashlib.sha256()
    for pattern in patterns:
        found = sorted(path for path in root.glob(pattern) if path.is_file() and "__pycache__" not in path.parts)
        if not found:
            raise FileNotFoundError(f"no file is like {pattern}: correct the inputs in ci/regeneration_steps.py")
        for path in found:
            digest.update(f"{path.relative_to(root)}\n".encode())
            digest.update(hashlib.sha256(_content(path)).digest())
    return digest.hexdigest()[:_DIGITS]


def _content(path: Path) -> bytes:
    """Return the bytes of a file; of Python, its code without comments and layout."""
    content = path.read_bytes()
    return dump_code(ast.parse(content)).encode() if path.suffix == ".py" else content


def rule_keys(
    *patterns: str, rules: Collection[str] | None = None, sources: Sources | None = None, root: Path = ROOT
) -> dict[str, str]:
    """Return the key of each rule, or of these: its fingerprint, and the files that match these patterns."""
    files = file_key(*patterns, root=root) if patterns else ""
    return {
        slug: hashlib.sha256(f"{fingerprint(RULES[slug], sources)} {files}".encode()).hexdigest()[:_DIGITS]
        for slug in (RULES if rules is None else rules)
    }


def _kill_keys(sources: Sources | None = None) -> dict[str, str]:
    """Return the key of each rule that has cases: its mutants and the names of its cases, which name their questions."""
    keys = {}
    for slug, rule in RULES.items():
        if (found := frozen(rule)) is not None:
            words = " ".join([mutants_fingerprint(rule, sources), *(case.id for case in found.cases)])
            keys[slug] = hashlib.sha256(words.encode()).hexdigest()[:_DIGITS]
    return keys


def _frozen_keys() -> dict[str, str]:
    """Return the key of each rule that has cases: what answers them, and their file."""
    slugs = [slug for slug, rule in RULES.items() if frozen(rule) is not None]
    return {slug: rule_keys(f"{CASES}/{slug}.ndjson", PINS, rules=(slug,))[slug] for slug in slugs}


def _finding_keys() -> Mapping[str, str]:
    """Return the key of the cases on the pages of findings, and of the rules that answer them."""
    cases = "kit/docs/findings/*.json"
    rules = {msgspec.json.decode(path.read_bytes())["rule"] for path in ROOT.glob(cases)}
    return _files(cases, "tests/conformance/test_findings.py", PINS, rules=sorted(rules))()


def imported_files(*scripts: str, root: Path = ROOT) -> list[str]:
    """Return scripts and the Python files of the checkout that they import, also in functions, relative to ``root``.

    A module that is found by its name at run time is not among them.
    """
    shared = "kit", "reference", "jars", "ci", "tests/shared", "tests/pipeline"
    folders = (*shared, *(str(Path(one).parent) for one in scripts))
    finder = ModuleFinder([str(root / folder) for folder in folders])
    for script in scripts:
        finder.run_script(str(root / script))
    found = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    return sorted({*scripts, *(str(path.relative_to(root)) for path in found)})


def _scripts(
    *scripts: str, files: Collection[str] = (), rules: Collection[str] = ()
) -> Callable[[], Mapping[str, str]]:
    """Return the check of a step that is void as a whole: by all that these scripts import, by other files, and by rules."""
    return lambda: _files(*imported_files(*scripts), *files, rules=rules)()


def _unreached_keys() -> Mapping[str, str]:
    """Return the key of the reference with its comments, which say what no question reaches, and of what asks it."""
    digest = hashlib.sha256(_scripts("ci/unreached.py", files=(f"{CASES}/*.ndjson",), rules=RULES)()["inputs"].encode())
    for path in sorted((ROOT / "reference").rglob("*.py")):
        digest.update(path.read_bytes())
    return {"inputs": digest.hexdigest()[:_DIGITS]}


def _log_tests() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / _PLANTED).parent.glob("*.py"))


def _files(*patterns: str, rules: Collection[str] = ()) -> Callable[[], Mapping[str, str]]:
    """Return the check of a step that is void as a whole: by these files, and by the fingerprints of rules."""

    def keys() -> Mapping[str, str]:
        words = "".join([file_key(*patterns), *rule_keys(rules=rules).values()])
        return {"inputs": hashlib.sha256(words.encode()).hexdigest()[:_DIGITS]}

    return keys


def _cases_of_old_releases() -> list[str]:
    """Return the rules that have cases, but not of every pinned release that has the rule."""
    releases, void = chosen_releases("all", load()), []
    for slug, rule in RULES.items():
        found = frozen(rule)
        wanted = {str(release) for release in releases if rule.has_java(release)}
        if found is not None and wanted - set(found.provenance.jars):
            void.append(slug)
    return void


def _unproven_rules() -> list[str]:
    """Return the rules that the certificate does not prove as installed in every release, and those it has in excess."""
    rules, pins = list(RULES.values()), load()
    proven = certificates.proven_pairs(rules, certificate(), pins)
    plan = VerificationPlan(rules, chosen_releases("all", pins), 0, 0, 0, proven=proven)
    found = dict.fromkeys([*(rule.slug for rule, _ in plan.tasks()), *certificates.void_rules(certificate())])
    harness = certificate().harness
    return list(dict.fromkeys([*found, *(rule.slug for rule in rules if harness.get(rule.slug, "") != rule.harness)]))


def _void_kills() -> list[str]:
    return mutants.void_rules(mutants.shipped(), MUTANTS)


def _void_generated() -> list[str]:
    """Return the rules without a row of their generated mutants as installed."""
    population, record = Population(proven_releases()), generated.shipped()
    rows = {slug: record.row(slug) for slug in RULES}
    return [
        slug
        for slug, row in rows.items()
        if row is None or row.fingerprint != generated.fingerprint_of(slug, population.of(slug))
    ]


def _unmeasured() -> list[str]:
    """Return the rules whose code has changed since Kafka's classes were measured in the newest release that has them."""
    rows = coverage.newest_rows(coverage.shipped())
    measured = {row.rule: row.fingerprint for row in rows}
    return [rule.slug for rule in mirroring_rules() if measured.get(rule.slug) != fingerprint(rule)]


def _differs(path: Path, made: Callable[[], str]) -> list[str]:
    """Return the name of a file that is not as it would be made."""
    current = path.exists() and path.read_text(encoding="utf-8") == made()
    return [] if current else [path.name]


def _block_differs(path: Path, command: str, made: Callable[[], str]) -> list[str]:
    """Return the name of a page whose part between the marks of ``command`` is not as it would be made."""
    current = path.exists() and block_of(path.read_text(encoding="utf-8"), command) == made().strip("\n")
    return [] if current else [path.name]


def _void_rule_pages() -> list[str]:
    return [name for name, text in rule_pages().items() if _differs(DOCS / "rules" / name, lambda text=text: text)]


def _void_matrix() -> list[str]:
    made = matrix.made_pages()
    gone = [str(path.relative_to(DOCS)) for path in matrix.gone_pages(made, DOCS)]
    return [*(path for path, text in made.items() if _differs(DOCS / path, lambda text=text: text)), *gone]


def _void_findings() -> list[str]:
    areas = finding_pages.read_areas()
    pages = {f"{area.name}.md": finding_pages.page(area) for area in areas}
    void = [name for name, text in pages.items() if _differs(DOCS / "findings" / name, lambda text=text: text)]
    return [*_differs(DOCS / "findings.md", lambda: finding_pages.index(areas)), *void]


def _void_scores() -> list[str]:
    made = certificate()
    return [] if with_scores(made) == made else ["scores"]


STEPS = (
    Step("extended-cases", (f"{CASES}/*.ndjson",),
         (f"kafka-conformance freeze --extend --seed 1 --rules {{parts}} --folder {CASES}",), 60,
         void=_cases_of_old_releases),
    # Names of cases are published: --keep keeps those that are there.
    Step("cases", (f"{CASES}/*.ndjson",),
         (f"kafka-conformance freeze --keep --seed 1 --rules {{parts}} --folder {CASES}",), 300,
         keys=rule_keys, after=("extended-cases",), each=True),
    Step("kills", (f"{CASES}/*.ndjson",), (f"kafka-conformance freeze --kills --rules {{parts}} --folder {CASES}",), 20,
         keys=_kill_keys, after=("cases",), each=True),
    # Makes no file: Java, asked again, still answers as frozen.
    Step("frozen-answers", (), (_FREEZE_CHECK,), 20, keys=_frozen_keys, after=("cases", "kills"), checks=(_FREEZE_CHECK,)),
    Step("finding-answers", (), (_FINDINGS_CHECK,), 240, keys=_finding_keys, checks=(_FINDINGS_CHECK,)),
    Step("certificate", (CERTIFICATE,),
         (f"kafka-conformance verify --kafka all --changed --certificate {LAST}",
          f"kafka-conformance certificate {LAST} --write {CERTIFICATE}"), 600, void=_unproven_rules),
    Step("mutants", (KILLED,), (f"kafka-conformance selftest --changed --seed 1 --record {KILLED}",), 120,
         void=_void_kills),
    Step("generated-mutants", (GENERATED,),
         (f"kafka-conformance selftest --generated --seed 1 --rules {{parts}} --record {GENERATED}",), 600,
         void=_void_generated, after=("certificate", "kills")),
    Step("selftest-scores", ("kit/docs/selftest.md",), (f"python -m {SCORES} kit/docs/selftest.md",), 10,
         void=lambda: _block_differs(DOCS / "selftest.md", SCORES, lambda: score_table(generated.shipped())),
         after=("generated-mutants",)),
    Step("certified-scores", (CERTIFICATE,), (f"kafka-conformance certificate --shipped --write {CERTIFICATE}",), 10,
         void=_void_scores, after=("certificate", "generated-mutants")),
    Step("coverage", (COVERED,),
         (f"kafka-conformance coverage --seed 1 --rules {{parts}} --record {COVERED}",), 60, void=_unmeasured),
    Step("coverage-page", ("kit/docs/coverage.md",),
         ("kafka-conformance coverage --shipped --write kit/docs/coverage.md",), 5,
         void=lambda: _differs(DOCS / "coverage.md", lambda: coverage_page(coverage.shipped())), after=("coverage",)),
    Step("proof", ("README.md", "kit/docs/proof.md", "kit/docs/testing.md"), (proof_pages.COMMAND,), 10,
         void=proof_pages.void_pages,
         after=("certificate", "certified-scores", "coverage", "mutants", "extended-cases", "cases", "kills")),
    Step("rule-pages", ("kit/docs/rules/*.md",), ("kafka-conformance rules --write kit/docs/rules",), 10,
         void=_void_rule_pages, after=("cases", "kills")),
    Step("case-sets", ("kit/docs/cases.md",), (case_sets.COMMAND,), 2,
         void=lambda: _block_differs(case_sets.PAGE, case_sets.COMMAND, lambda: case_sets.sets_table(shipped_sets()))),
    Step("broker-cases", (BROKER_CASES,), ("python ci/record_broker_cases.py",), 60 * len(record_broker_cases.RELEASES),
         void=record_broker_cases.void_releases),
    Step("broker-cases-page", ("kit/docs/gate-broker.md",), (record_broker_cases.TABLE,), 2,
         void=lambda: _block_differs(record_broker_cases.PAGE, record_broker_cases.TABLE,
                                     lambda: record_broker_cases.table(record_broker_cases.frozen())),
         after=("broker-cases",)),
    Step("broker-results", ("ci/broker-results.ndjson", "ci/broker-gates.ndjson"), ("python ci/broker_gates.py",), 900,
         needs=("go",), keys=_files("ci/broker_gates.py", "ci/brokers/**/*", BROKER_CASES), after=("broker-cases",)),
    Step("adapter-results", ("ci/adapter-results.ndjson",), ("python ci/adapter_gates.py",), 2400, needs=("go", "node"),
         keys=_files("ci/adapter_gates.py", "ci/adapter_results.py", "ci/adapters/**/*", "ci/drivers/*/driver.toml",
                     "kit/kafka_conformance/wire/client_gate/scripts.toml")),
    Step("java-transcripts", (JAVA_TRANSCRIPTS,), ("python ci/java_transcripts.py",), 240,
         void=java_transcripts.void_scripts),
    Step("broker-results-page", ("kit/docs/gate-broker.md",), (broker_gates.TABLE,), 2,
         void=lambda: _block_differs(broker_gates.PAGE, broker_gates.TABLE,
                                     lambda: broker_gates.table(broker_gates.read_results())),
         after=("broker-results",)),
    Step("behaviour", ("kit/docs/behaviour.md",), ("kafka-conformance behaviour all --table kit/docs/behaviour.md",), 5,
         void=lambda: _block_differs(DOCS / "behaviour.md", "behaviour", lambda: behaviour_page(RULES.values())),
         after=("certificate",)),
    Step("historical-bugs", ("kit/docs/selftest.md",), (historical_bugs.COMMAND,), 10,
         void=lambda: _block_differs(historical_bugs.PAGE, historical_bugs.COMMAND, historical_bugs.table),
         after=("cases", "kills")),
    Step("findings", ("kit/docs/findings.md", "kit/docs/findings/*.md"), ("python ci/finding_pages.py",), 2,
         void=_void_findings),
    Step("replication", ("kit/docs/replication.md",), (f"python -m {EXAMPLES} kit/docs/replication.md",), 5,
         void=lambda: _block_differs(DOCS / "replication.md", EXAMPLES, example_page)),
    Step("schema", (SCHEMA,), (f"kafka-conformance schema --write {SCHEMA}",), 2,
         void=lambda: _differs(ROOT / SCHEMA, schema.text)),
    Step("assignors", ("kit/docs/assignors.md", "kit/docs/pictures/assignors-*.svg"), ("python ci/assignor_page.py",), 30,
         keys=_files("ci/assignor_*.py", "kit/kafka_conformance/rules/eras.py", PINS,
                     rules=[slug for slug in RULES if slug.endswith("-assignor")]),
         after=("certificate",)),
    Step("audit-truth", ("kit/docs/audit-truth.md",), ("python ci/truth_page.py",), 30,
         keys=_scripts("ci/truth_page.py")),
    # Makes no file: thousands of topics whose writers are known are attributed to them.
    Step("audited-topics", (), (_AUDITED_CHECK,), 600,
         keys=_scripts(*_AUDITED, rules=[slug for slug, rule in RULES.items() if rule.area is Area.PLACEMENT]),
         checks=(_AUDITED_CHECK,)),
    # Makes no file: every line of the reference answers some question, or has a reason why none can reach it.
    Step("unreached", (), (_UNREACHED,), 400, keys=_unreached_keys, checks=(_UNREACHED,)),
    # Makes no file: each check of `log inspect` is switched off in turn, and its tests have to fail.
    Step("planted-log-mistakes", (), (_PLANTED_CHECK,), 300,
         keys=_scripts(*_log_tests(), files=("tests/kit/log_inspect/*.toml", "kit/kafka_conformance/log_inspect/**/*")),
         checks=(_PLANTED_CHECK,)),
    Step("idempotence", ("kit/docs/idempotence.md",),
         ("kafka-conformance idempotence --kafka all --table kit/docs/idempotence.md",), 120,
         keys=partial(rule_keys, "kit/kafka_conformance/cli/commands/idempotence.py", PINS,
                      rules=("idempotence-config",)),
         checks=("kafka-conformance idempotence --kafka all --check kit/docs/idempotence.md",)),
    # Exit code 1: Java changed something, which is what the page is about.
    Step("changes", ("kit/docs/changes.md", "kit/docs/changes/*.md", "kit/docs/changes/*.ndjson"),
         ("kafka-conformance diff all --seed 1 --rules {parts} --table kit/docs/changes.md",), 240, accepts=(0, 1),
         keys=partial(rule_keys, "kit/kafka_conformance/cli/commands/diff.py",
                      "kit/kafka_conformance/verify/release_diff.py", "kit/kafka_conformance/reports/change_pages.py", PINS),
         each=True,
         checks=("kafka-conformance diff all --seed 1 --rules {parts} --check kit/docs/changes.md",)),
    Step("clients", ("ci/client-results.ndjson",), ("python ci/clients.py",), 2400, needs=("go", "cargo", "node"),
         keys=_files("ci/client_gates.py", "ci/client_results.py", "ci/drivers/**/*", "ci/known-failures/*.toml",
                     f"{CASES}/*.ndjson", CASE_SETS, rules=RULES),
         after=("cases", "kills")),
    Step("matrix",
         ("kit/docs/matrix.md", "kit/docs/questions.md", "kit/docs/clients.md", "kit/docs/clients/*.md",
          "kit/docs/clients/*/*.json", "kit/docs/brokers/*.md", "kit/docs/matrix/*.json"),
         ("python ci/matrix.py",), 5, void=_void_matrix, after=("clients", "adapter-results", "broker-results")),
    Step("trial", ("kit/docs/trial.md",), ("python ci/trial.py",), 3600, needs=("go", "cargo", "node"),
         keys=_files("ci/trial.*", "ci/client_gates.py", "ci/drivers/**/*", f"{CASES}/*.ndjson", CASE_SETS, rules=RULES),
         after=("cases", "kills")),
    Step("spark-versions", ("kit/docs/spark.md",), ("python ci/spark_matrix.py --write",), 3600,
         keys=_files("ci/spark_matrix.py", "kit/kafka_conformance/spark/**/*.py")),
    # A measurement: it is as true as on the day it was made until the program changes.
    Step("soak", ("kit/docs/soak.md",), ("python ci/soak.py --minutes 30 --write kit/docs/soak.md",), 3600,
         keys=_files("ci/soak*.py")),
    Step("pictures", ("kit/docs/pictures/*.png",), ("python ci/screenshots.py",), 120,
         keys=_files("ci/screenshots.py", "kit/kafka_conformance/gate/reports/*.j2",
                     "kit/kafka_conformance/audit/reports/*.j2"),
         needs=("chromium|chromium-browser|google-chrome",)),
)  # fmt: skip
"""All of them; ``after`` of each names those whose files it reads."""
