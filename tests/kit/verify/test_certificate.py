"""The certificate from counts to file to table."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules import RULES
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record
from kafka_conformance.verify.fingerprint import fingerprint
from kafka_conformance.verify.verification import RuleResult, VerificationPlan
from kafka_jars.pins import load
from kafka_reference.certificate import Certificate, CertificateRow, MutationScore, from_json, reference_fingerprint
from kafka_reference.certificate import certificate as shipped
from kafka_reference.releases import parse_release

PLAN = VerificationPlan([RULES["murmur2"]], [parse_release("4.4.0")], 100, 7, 2)


def judged(version: str, asked: int, *, pinned: bool = True) -> RuleResult:
    tally = Tally(RULES["murmur2"], Counter({"edges": 10, "hypothesis": asked - 10}), agreed=asked)
    return RuleResult(parse_release(version), tally, (), "ab" * 32, pinned)


def row(rule: str, version: str, asked: int, agreed: int) -> CertificateRow:
    return CertificateRow(rule, version, asked, agreed, {"hypothesis": asked}, "ab" * 32, True)


def certificate(*rows: CertificateRow) -> Certificate:
    return Certificate("2026-11-30", "0.1.0", 7, "17", "cd" * 32, rows)


def test_certificate_rows_equal_counted_answers_and_fingerprints() -> None:
    made = certificates.made_from([judged("4.4.0", 110), judged("3.6.1", 110, pinned=False)], PLAN, "17.0.9 (PATH)")
    proven = fingerprint(RULES["murmur2"])
    assert made.rows == (
        CertificateRow("murmur2", "4.4.0", 110, 110, {"edges": 10, "hypothesis": 100}, "ab" * 32, True, proven),
        CertificateRow("murmur2", "3.6.1", 110, 110, {"edges": 10, "hypothesis": 100}, "ab" * 32, False, proven),
    )
    assert (made.seed, made.jvm, made.kit) == (7, "17.0.9 (PATH)", kit_version())
    assert made.reference_sha256 == reference_fingerprint()
    assert abs(datetime.date.fromisoformat(made.made) - datetime.datetime.now(datetime.UTC).date()).days <= 1


def test_certificate_json_round_trips_with_sources(tmp_path: Path) -> None:
    made = certificate(row("murmur2", "4.4.0", 10, 10))
    path = tmp_path / "new" / "certificate.json"
    certificates.write(made, path)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["rows"][0]["sources"] == {"hypothesis": 10}
    assert from_json(text) == made
    assert text.endswith("}\n")


def test_unwritable_certificate_raises_kit_error_with_path_and_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "file" / "certificate.json"
    with pytest.raises(KitError, match=f"{path} cannot be written: what should be its folder is a file"):
        certificates.write(certificate(), path)


def test_certificate_table_sums_rows_by_rule() -> None:
    made = certificate(
        row("murmur2", "3.9.2", 1000, 1000),
        row("partition-for-key", "3.9.2", 2000, 2000),
        row("murmur2", "4.4.0", 16_843_009, 16_843_000),
        row("partition-for-key", "4.4.0", 2000, 2000),
        row("producer-partition", "4.4.0", 5, 5),
    )
    made = replace(
        made,
        scores={"murmur2": MutationScore(1999, 1980, 1989, 8, 3), "partition-for-key": MutationScore(0, 0, 0, 2, 0)},
    )
    measured = CoverageRow(
        "murmur2", "4.4.0", "ab" * 32, "", 1, 500, 76, {"edges": 10, "others": 5}, 500,
        {"Utils": (Method("Utils.murmur2(byte[])", Ratio(23, 24), Ratio(5, 6), (9,), ((8, 1, 2),)),)},
    )  # fmt: skip
    table, _, note = certificates.markdown(made, Record((measured,))).partition("\n\n")
    assert note.startswith("*Branches* and *lines* belong to the methods of Kafka that the rule mirrors")
    assert table == (
        "| rule | Java's branches run | Java's lines run | not Kafka's | mutants killed | kinds of question "
        "| enumerated spaces | releases | questions per release | matching answers |\n"
        "|---|---:|---:|---|---:|---:|---:|---|---:|---:|\n"
        "| `murmur2` | 5 of 6 (83 %) | 23 of 24 (95 %) | nothing | 1,989 of 1,999 (99 %) | 76 | 2 | 2: 3.9.2 to 4.4.0 "
        "| 1,000 to 16,843,009 | 16,844,000 of 16,844,009 |\n"
        "| `partition-for-key` | not measured | not measured | | none of its own | |  | 2: 3.9.2 to 4.4.0 | 2,000 | all |\n"
        "| `producer-partition` | not measured | not measured | | not measured | |  | 4.4.0 | 5 | all |"
    )


def test_certificate_table_row_begins_with_shipped_java_coverage() -> None:
    row = next(line for line in certificates.markdown(shipped()).splitlines() if line.startswith("| `murmur2` |"))
    assert row.startswith("| `murmur2` | 6 of 6 (100 %) | 24 of 24 (100 %) | nothing |")


def test_certificate_table_lists_harness_logic_that_is_not_kafka_code() -> None:
    made = replace(certificate(row("murmur2", "4.4.0", 5, 5)), harness={"murmur2": "The loop is the kit's."})
    assert certificates.markdown(made).endswith("\n\n- `murmur2`: The loop is the kit's.\n")
    harness = RULES["murmur2"].harness
    noted = replace(PLAN, rules=[replace(RULES["murmur2"], harness="So.")])
    assert certificates.made_from([judged("4.4.0", 110)], noted, "17").harness == {"murmur2": "So."}
    assert certificates.made_from([judged("4.4.0", 110)], PLAN, "17").harness == (
        {"murmur2": harness} if harness else {}
    )


RULE = RULES["murmur2"]
RELEASES = [parse_release("3.9.2"), parse_release("4.4.0")]
PINS = load()


def proven(**changes: object) -> Certificate:
    """A certificate that proves murmur2 in two releases; ``changes`` are of its last row."""
    rows = [
        replace(row("murmur2", str(release), 10, 10), fingerprint=fingerprint(RULE),
                jar_sha256=PINS.clients(str(release))[0].sha256 or "")
        for release in RELEASES
    ]  # fmt: skip
    return certificate(rows[0], replace(rows[1], **changes))


PAIRS = {("murmur2", str(release)) for release in RELEASES}


def test_certificate_rows_of_equal_code_and_jar_need_no_verification() -> None:
    assert certificates.proven_pairs([RULE], proven(), PINS) == PAIRS
    assert certificates.proven_pairs([RULES["record-sizes"]], proven(), PINS) == frozenset()


@pytest.mark.parametrize(
    "changes",
    [{"fingerprint": "0"}, {"fingerprint": ""}, {"agreed": 9}, {"jar_sha256": "ef" * 32}],
)
def test_certificate_row_with_other_fingerprint_answers_or_jar_is_verified_again(changes: dict[str, object]) -> None:
    assert certificates.proven_pairs([RULE], proven(**changes), PINS) == PAIRS - {("murmur2", "4.4.0")}


def test_merged_certificate_rows_name_differing_seed_or_date_and_stale_rows_are_dropped() -> None:
    made = replace(certificate(row("record-sizes", "3.9.2", 5, 5)), seed=8, made="2026-12-01")
    both = certificates.with_rows_of(proven(), made)
    assert [(one.rule, one.release, one.seed, one.made, one.jvm) for one in both.rows] == [
        ("murmur2", "3.9.2", 7, "2026-11-30", None),
        ("record-sizes", "3.9.2", None, None, None),
        ("murmur2", "4.4.0", 7, "2026-11-30", None),
    ]
    again = certificates.with_rows_of(both, replace(made, seed=7, rows=()))
    assert [(one.rule, one.seed) for one in again.rows] == [("murmur2", None)] * 2
    assert (both.seed, again.seed) == (8, 7)
    assert len(certificates.with_rows_of(proven(fingerprint="0"), made).rows) == 2, (
        "what proves other code is left behind"
    )


def test_merged_certificate_keeps_rows_of_releases_not_verified_again() -> None:
    made = replace(certificate(row("murmur2", "4.4.0", 9, 9)), seed=8)
    both = certificates.with_rows_of(proven(), made)
    assert [(one.release, one.asked, one.seed) for one in both.rows] == [("3.9.2", 10, 7), ("4.4.0", 9, None)]


def test_certificate_is_invalid_for_unknown_rules_and_rules_with_changed_code_or_reference() -> None:
    assert certificates.void_rules(proven()) == []
    assert certificates.void_rules(proven(fingerprint="0")) == ["murmur2"]
    old = replace(proven(fingerprint=""), rows=proven(fingerprint="").rows[1:])
    assert certificates.void_rules(old) == ["murmur2"], "of another reference"
    assert certificates.void_rules(replace(old, reference_sha256=reference_fingerprint())) == []
    assert certificates.void_rules(certificate(row("gone", "4.4.0", 1, 1))) == ["gone"]


def test_certificate_row_of_earlier_run_round_trips_through_json(tmp_path: Path) -> None:
    made = replace(proven(seed=5, jvm="17", made="2026-01-01", kit="0.0.9"), harness={"murmur2": "So."})
    certificates.write(made, tmp_path / "it.json")
    text = (tmp_path / "it.json").read_text(encoding="utf-8")
    assert from_json(text) == made
    assert "null" not in text


def test_shipped_certificate_is_valid_for_the_installed_rules() -> None:
    void = certificates.void_rules(shipped())
    assert void == [], (
        f"the code of {', '.join(void)} has changed: run `kafka-conformance verify --kafka all --changed --certificate"
        " reference/kafka_reference/certificate.json`"
    )


def test_pinned_release_that_has_a_rule_without_certificate_row_is_listed_unproven() -> None:
    every = [str(release) for release in sorted(map(parse_release, PINS.releases)) if RULE.has_java(release)]
    unproven = certificates.unproven_releases(proven(), PINS)
    assert unproven["murmur2"] == [release for release in every if release not in {"3.9.2", "4.4.0"}]
    assert "0.10.0.1" not in unproven["record-batch"], "a release that lacks the rule has nothing to prove"
    assert certificates.unproven_releases(shipped(), PINS) == shipped().unproven, (
        "run `kafka-conformance certificate --shipped --write reference/kafka_reference/certificate.json`"
    )


def test_release_leaves_unproven_list_once_certified() -> None:
    earlier = replace(proven(), unproven={"murmur2": ["4.3.1", "4.4.1"], "record-sizes": ["4.4.1"]})
    made = certificate(replace(row("murmur2", "4.4.1", 5, 5), fingerprint=fingerprint(RULE)))
    both = certificates.with_rows_of(earlier, made)
    assert both.unproven == {"murmur2": ["4.3.1"], "record-sizes": ["4.4.1"]}


def test_certificate_table_names_unproven_releases_of_a_rule() -> None:
    half = replace(proven(), unproven={"murmur2": ["4.4.1"], "isr": ["4.3.1", "4.4.1"]})
    table = certificates.markdown(half)
    assert "| 2: 3.9.2 to 4.4.0; not proven so far: 4.4.1 |" in table
    assert "\n\nNot proven so far: `isr` in 4.3.1, 4.4.1.\n\n" in table
    assert "ot proven so far" not in certificates.markdown(proven())
