from __future__ import annotations

from dataclasses import fields

import pytest

from kafka_reference.broker.eras import era_of
from kafka_reference.errors import NotInThisRelease


@pytest.mark.parametrize("version", ["0.10.2.2", "0.11.0.1", "1.0.1"])
def test_what_is_not_mirrored_is_not_answered(version: str) -> None:
    with pytest.raises(NotInThisRelease, match=r"0\.11\.0\.2"):
        era_of(version)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("2.0.1", "2.1.0", {"cuts_snapshots"}),
        ("2.1.0", "2.1.1", {"measures_by_offsets"}),
        ("2.2.0", "2.2.1", {"passes_own_transactions"}),
        ("2.3.1", "2.4.0", {"forgets_deleted", "new_map"}),
        ("2.4.0", "2.4.1", {"own_timestamp"}),
        ("2.7.2", "2.8.0", {"completes_nothing", "lists_folder"}),
        ("3.4.1", "3.5.2", {"new_map"}),
        ("3.5.2", "3.6.2", {"verifies"}),
        ("3.9.2", "4.0.2", {"knows_bumps"}),
        ("4.0.2", "4.1.2", {"begins_at_zero"}),
        ("4.1.2", "4.2.2", {"bumps_with_markers"}),
        ("4.2.2", "4.3.1", {"highest_epoch_may_repeat"}),
        ("4.3.1", "4.4.0", set()),
    ],
)
def test_a_release_changes_what_its_row_says(before: str, after: str, changed: set[str]) -> None:
    one, other = era_of(before), era_of(after)
    assert {each.name for each in fields(one) if getattr(one, each.name) != getattr(other, each.name)} == changed | {
        "at"
    }
