"""Known failures: what an entry covers, when it is wrong, and how the file is updated without losing what was written."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.cases.sets import CaseSets, Withdrawn, case_sets
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.events import Differed
from kafka_conformance.gate import known_failures
from kafka_conformance.gate.known_failures import KnownFailures, Miss, read, updated

TODAY = date(2026, 11, 21)
ENTRY = """
# Looked at with the maintainers.
[[known]]
rule = "murmur2"
pattern = "another*"
reason = "CRC32 is its default"  # as they say
issue = "https://example.org/1"
expires = 2026-12-01
"""


def _miss(**changes: object) -> Miss:
    fields = {
        "rule": "murmur2", "release": "4.4.0", "id": "aa", "kind": "another hash", "actual": {"hash": 1},
        "equals": lambda slug: slug == "crc32",
    }  # fmt: skip
    return Miss(**{**fields, **changes})  # type: ignore[arg-type]


def _differed(kind: str = "another hash") -> Differed:
    asked: tuple[dict[str, object], ...] = ({"key": ""}, {"hash": 2}, {"hash": 1})
    return Differed("murmur2", "4.4.0", "aa", "fresh", kind, 1, *asked, java="Utils.murmur2", link="")


def _known(tmp_path: Path, text: str = ENTRY) -> KnownFailures:
    (tmp_path / "known.toml").write_text(text, encoding="utf-8")
    known = read(tmp_path / "known.toml", TODAY)
    known.asked("murmur2", "4.4.0", ["aa", "bb"])
    return known


def test_known_failure_covers_a_difference_of_the_named_rule_with_matching_pattern(tmp_path: Path) -> None:
    known = _known(tmp_path)
    covered = known.covers(_miss())
    assert covered is not None
    assert (covered.reason, covered.expires) == ("CRC32 is its default", "2026-12-01")
    assert known.wrong() == []


@pytest.mark.parametrize("change", [{"rule": "delivery"}, {"kind": "hash → raises X"}])
def test_known_failure_does_not_cover_difference_of_another_rule_or_kind(
    tmp_path: Path, change: dict[str, object]
) -> None:
    assert _known(tmp_path).covers(_miss(**change)) is None


@pytest.mark.parametrize(
    ("line", "covers"),
    [
        ('diagnosis = "crc32"', True),
        ('diagnosis = "fnv-1a"', False),
        ("message = '{\"hash\":1}'", True),
        ("message = '{\"hash\":2*}'", False),
        ('release = "4.4.0"', True),
    ],
)
def test_known_failure_covers_only_matching_message_diagnosis_and_release(
    tmp_path: Path, line: str, covers: bool
) -> None:
    known = _known(tmp_path, ENTRY + line + "\n")
    assert (known.covers(_miss()) is not None) == covers
    assert [stale.why for stale in known.wrong()] == ([] if covers else ["another message"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ENTRY, "stale"),
        (ENTRY.replace("2026-12-01", "2026-11-20"), "expired"),
        (ENTRY.replace('"murmur2"', '"delivery"'), "unknown"),
        (ENTRY.replace('pattern = "another*"', 'case = "cc"'), "unknown"),
        (ENTRY.replace('pattern = "another*"', 'case = "bb"'), "stale"),
        (ENTRY + 'release = "2.8.2"\n', "unknown"),
    ],
)
def test_stale_expired_or_unknown_known_failure_is_reported_with_hint(tmp_path: Path, text: str, why: str) -> None:
    (stale,) = _known(tmp_path, text).wrong()
    assert stale.why == why
    assert stale.hint


def test_partial_run_keeps_unmatched_patterns_and_unasked_cases_but_reports_expired_and_agreeing_cases(
    tmp_path: Path,
) -> None:
    text = ENTRY + ENTRY.replace('pattern = "another*"', 'case = "not asked"')
    known = _known(tmp_path, text)
    assert known.keeps() == [False, False]
    known.partial = True
    assert known.wrong() == []
    assert known.keeps() == [True, True]
    for text, why in ((ENTRY.replace("2026-12-01", "2026-11-20"), "expired"),
                      (ENTRY.replace('pattern = "another*"', 'case = "bb"'), "stale")):  # fmt: skip
        known = _known(tmp_path, text)
        known.partial = True
        assert [stale.why for stale in known.wrong()] == [why]


def test_expired_known_failure_covers_no_difference(tmp_path: Path) -> None:
    known = _known(tmp_path, ENTRY.replace("2026-12-01", "2026-11-20"))
    assert known.covers(_miss()) is None


def test_known_failure_still_covers_differences_on_the_expiry_date(tmp_path: Path) -> None:
    known = _known(tmp_path, ENTRY.replace("2026-12-01", "2026-11-21"))
    assert known.covers(_miss()) is not None
    assert known.wrong() == []


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[other]\nx = 1\n",
        ENTRY + 'misspelt = "x"\n',
        ENTRY + 'case = "aa"\n',
        ENTRY.replace('pattern = "another*"\n', ""),
        ENTRY.replace("CRC32 is its default", "  "),
        ENTRY.replace("expires = 2026-12-01", ""),
        ENTRY.replace("2026-12-01", '"soon"'),
        "\x00",
        ENTRY + 'release = "lately"\n',
    ],
)
def test_malformed_known_failures_file_raises_bad_input_with_a_one_line_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "known.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="known") as raised:
        read(tmp_path / "known.toml", TODAY)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("crc23", "did you mean 'crc32'?"),
        ("as-3.9.9", "did you mean 'as-3.9."),
        ("zzz", "a report of the gate names the diagnosis of each difference"),
    ],
)
def test_known_failure_with_unknown_diagnosis_raises_bad_input_with_nearest_name_or_hint(
    tmp_path: Path, written: str, hint: str
) -> None:
    (tmp_path / "known.toml").write_text(f'{ENTRY}diagnosis = "{written}"\n', encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(hint)) as raised:
        read(tmp_path / "known.toml", TODAY)
    assert str(raised.value).startswith(f"{tmp_path}/known.toml: unknown diagnosis '{written}' for murmur2: ")


@pytest.mark.parametrize("diagnosis", ["crc32", "as-2.8.2", "always-the-same", "another-error"])
def test_known_failure_accepts_a_diagnosis_naming_a_mutant_a_release_or_a_generic_mistake(
    tmp_path: Path, diagnosis: str
) -> None:
    assert _known(tmp_path, f'{ENTRY}diagnosis = "{diagnosis}"\n').entries


@pytest.mark.parametrize(
    ("release", "holds"),
    [
        ("", ["2.8.2", "3.2.3", "3.3.1", "4.4.0"]),
        ("since 3.3.1", ["3.3.1", "4.4.0"]),
        ("up to 3.2.3", ["2.8.2", "3.2.3"]),
        ("3.2.3 to 3.3.1", ["3.2.3", "3.3.1"]),
        ("3.3.1", ["3.3.1"]),
    ],
)
def test_known_failure_covers_only_releases_in_the_given_range(tmp_path: Path, release: str, holds: list[str]) -> None:
    known = _known(tmp_path, f'{ENTRY}release = "{release}"\n')
    asked = ["2.8.2", "3.2.3", "3.3.1", "4.4.0"]
    assert [each for each in asked if known.covers(_miss(release=each))] == holds


@pytest.mark.parametrize(
    ("found", "written"),
    [
        (["2.8.2", "3.2.3", "3.3.1", "4.4.0"], [""]),
        (["3.3.1", "4.4.0"], ["since 3.3.1"]),
        (["4.4.0"], ["since 4.4.0"]),
        (["2.8.2", "3.2.3"], ["up to 3.2.3"]),
        (["3.2.3", "3.3.1"], ["3.2.3 to 3.3.1"]),
        (["2.8.2", "3.3.1"], ["up to 2.8.2", "3.3.1"]),
    ],
)
def test_new_known_failures_have_an_entry_per_release_range_without_range_if_all_differ(
    tmp_path: Path, found: list[str], written: list[str]
) -> None:
    known = KnownFailures(today=TODAY)
    for release in ("2.8.2", "3.2.3", "3.3.1", "4.4.0"):
        known.asked("murmur2", release, [])
    kinds = [(msgspec.structs.replace(_differed(), release=release), "crc32") for release in found]
    assert updated(tmp_path / "new.toml", known, kinds) == len(written)
    assert [entry.release for entry in read(tmp_path / "new.toml", TODAY).entries] == written


def test_known_failure_written_from_one_release_covers_later_releases(tmp_path: Path) -> None:
    known = KnownFailures(today=TODAY)
    known.asked("murmur2", "4.4.0", [])
    updated(tmp_path / "new.toml", known, [(_differed(), "crc32")])
    later = read(tmp_path / "new.toml", TODAY)
    later.asked("murmur2", "4.5.0", [])
    assert later.covers(_miss(release="4.5.0")) is not None
    assert later.wrong() == []


def test_missing_known_failures_file_raises_bad_input_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path / "no.toml", TODAY)


def test_new_known_failures_file_covers_the_recorded_differences_for_90_days(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    odd = _miss(kind="a [kind] of *its* own?")
    assert updated(path, KnownFailures(today=TODAY), [(_differed(), "crc32"), (_differed(odd.kind), "")]) == 2
    known = read(path, TODAY)
    known.asked("murmur2", "4.4.0", [])
    assert known.covers(_miss()) is not None
    assert known.covers(odd) is not None
    assert known.covers(_miss(kind="a [kind] of Xits own?")) is None
    assert known.wrong() == []
    assert known.entries[0].diagnosis == "crc32"
    assert (known.entries[0].expires - TODAY).days == 90


def test_update_of_known_failures_adds_new_entries_removes_stale_ones_and_keeps_comments(tmp_path: Path) -> None:
    stale = ENTRY.replace("another*", "nothing like it").replace("CRC32 is its default", "gone")
    known = _known(tmp_path, ENTRY + stale)
    assert known.covers(_miss()) is not None
    assert updated(tmp_path / "known.toml", known, [(_differed("raises X"), "")]) == 1
    text = (tmp_path / "known.toml").read_text()
    assert "# as they say" in text
    assert "gone" not in text
    assert [entry.pattern for entry in read(tmp_path / "known.toml", TODAY).entries] == ["another*", "raises X"]


def test_update_of_an_unwritable_known_failures_file_raises_kit_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(KitError, match="cannot be written"):
        updated(tmp_path / "taken" / "known.toml", KnownFailures(today=TODAY), [])


def test_new_known_failure_names_every_release_of_the_differing_era(tmp_path: Path) -> None:
    known = KnownFailures(today=TODAY)
    for era in (("1.1.1",), ("2.0.1", "2.8.2", "3.0.0"), ("3.1.2", "4.4.0")):
        known.asked("murmur2", era[-1], ["aa"], era)
    found = msgspec.structs.replace(_differed(), release="3.0.0")
    assert updated(tmp_path / "known.toml", known, [(found, "crc32")]) == 1
    assert 'release = "2.0.1 to 3.0.0"' in (tmp_path / "known.toml").read_text()


CASES = """
[[known]]
rule = "murmur2"
cases = ["aa", "bb"]  # both
reason = "tracked"
expires = 2026-12-01
"""


def test_known_failure_with_case_ids_covers_any_difference_of_these_cases_and_no_other_case(tmp_path: Path) -> None:
    known = _known(tmp_path, CASES)
    assert known.covers(_miss(id="cc")) is None
    assert known.covers(_miss(kind="any kind")) is not None
    assert known.covers(_miss(id="bb")) is not None
    assert known.wrong() == []


def test_known_failure_with_one_agreeing_case_is_stale_and_update_removes_only_that_case(tmp_path: Path) -> None:
    known = _known(tmp_path, CASES)
    known.covers(_miss())
    (wrong,) = known.wrong()
    assert (wrong.entry, wrong.why) == ("murmur2 aa, bb", "stale")
    assert wrong.hint == "remove from `cases`, or use --write-known-failures: bb agrees"
    assert updated(tmp_path / "known.toml", known, []) == 0
    again = read(tmp_path / "known.toml", TODAY)
    assert (again.entries[0].cases, again.entries[0].reason) == (("aa",), "tracked")


def test_nonexistent_case_of_known_failure_is_reported_unknown_in_full_run_and_kept_in_partial(tmp_path: Path) -> None:
    known = _known(tmp_path, CASES.replace('"bb"', '"zz"'))
    known.covers(_miss())
    assert [(each.why, each.hint) for each in known.wrong()] == [
        ("unknown", "remove from `cases`, or use --write-known-failures: zz is not a case of the gate")
    ]
    known.partial = True
    assert known.wrong() == []
    assert known.kept_cases(0) == ["aa", "zz"]


def test_update_removes_known_failure_of_which_every_listed_case_agrees(tmp_path: Path) -> None:
    known = _known(tmp_path, CASES)
    updated(tmp_path / "known.toml", known, [])
    assert read(tmp_path / "known.toml", TODAY).entries == []


@pytest.mark.parametrize(
    ("named", "kept", "wrong"),
    [
        ('case = "gone"', [], []),
        ('cases = ["gone"]', ["gone"], []),
        ('cases = ["gone", "aa"]', ["gone", "aa"], []),
        ('cases = ["gone", "bb"]', ["gone"], ["stale"]),
        ('cases = ["gone", "cc"]', ["gone"], ["unknown"]),
    ],
)
def test_known_failure_is_kept_and_not_reported_for_a_listed_case_removed_from_the_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, kept: list[str], wrong: list[str]
) -> None:
    sets = CaseSets(case_sets().sets, (Withdrawn("gone", "murmur2", "2026-11-01", "its answer was wrong"),))
    monkeypatch.setattr(known_failures, "case_sets", lambda: sets)
    known = _known(tmp_path, ENTRY.replace('pattern = "another*"', named))
    known.covers(_miss())
    assert [stale.why for stale in known.wrong()] == wrong
    assert not any("gone" in stale.hint for stale in known.wrong())
    assert (known.kept_cases(0), known.keeps()) == (kept, [True])


def test_known_failure_written_for_a_finding_with_cases_lists_exactly_these_cases(tmp_path: Path) -> None:
    known = KnownFailures(today=TODAY)
    known.asked("murmur2", "4.4.0", ["aa", "bb"])
    updated(tmp_path / "new.toml", known, [(msgspec.structs.replace(_differed(), cases=("aa", "bb")), "")])
    (entry,) = read(tmp_path / "new.toml", TODAY).entries
    assert (entry.cases, entry.pattern) == (("aa", "bb"), "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('reason = "tracked"', "", "number 1: the field 'reason' is missing"),
        ("reason", "reson", "number 1: unknown field 'reson': did you mean reason, "),
        ('cases = ["aa", "bb"]', "case = 7", "number 1: 'case': expected `str`, got `int`"),
        ('cases = ["aa", "bb"]', 'case = "a"\npattern = "b"', "number 1: an entry needs one of `case`, `cases` and "),
        ("[[known]]", "[known]", "write each entry as a [[known]] table"),
    ],
)  # fmt: skip
def test_error_for_invalid_known_failure_names_entry_and_field_or_the_required_table_syntax(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(BadInput) as raised:
        _known(tmp_path, CASES.replace(old, new))
    assert message in str(raised.value)
    assert "$[" not in str(raised.value)
