from __future__ import annotations

import pytest

from kafka_reference.behaviour import differing_fields
from kafka_reference.broker.append_table import SequenceRelation, Verdict
from kafka_reference.broker.behaviour import ProducerMap, ProducerStateBehaviour
from kafka_reference.errors import NotInThisRelease

MARKERS = {"timestamp_of_last_batch", "replicated_markers_checked", "snapshot_adds_missing_batch"}


def test_producer_state_behaviour_before_0_11_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease, match=r"0\.11\.0\.0"):
        ProducerStateBehaviour.of("0.10.2.2")


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("0.11.0.0", "0.11.0.1", {"snapshot_errors_escape"}),
        ("0.11.0.1", "0.11.0.2", {"replicated_batches_checked"}),
        ("0.11.0.2", "0.11.0.3", set()),
        (
            "1.0.1",
            "1.0.2",
            {"current_epoch", "started_in_request", "stale_sequence_is_duplicate", "refused_request_changes_entry"},
        ),
        ("1.0.2", "1.1.0", set()),
        ("1.1.1", "2.0.0", set()),
        ("2.0.0", "2.0.1", {"current_epoch", "started_in_request"}),
        ("2.0.1", "2.1.0", {"overwriting_truncates_snapshot"}),
        ("2.1.0", "2.1.1", {"batch_length_from_sequences"}),
        ("2.2.0", "2.2.1", {"own_transactions_hold_stable_offset"}),
        ("2.3.1", "2.4.0", {"deleted_records_remove_producer", "producer_map"}),
        ("2.4.0", "2.4.1", MARKERS),
        ("2.4.1", "2.5.0", {"unknown_producer", "current_epoch", "started_in_request"}),
        ("2.6.3", "2.7.0", {"older_epoch"}),
        (
            "2.7.2",
            "2.8.0",
            {"empty_transactions_complete", "snapshot_folder_listed", "log_start_deletes_snapshots"},
        ),
        ("3.4.1", "3.5.2", {"producer_map"}),
        ("3.5.2", "3.6.2", {"verifies_transactions"}),
        ("3.9.2", "4.0.2", {"verification_notes_epoch_bump"}),
        ("4.0.2", "4.1.2", {"epoch_bump_starts_at_zero"}),
        ("4.1.2", "4.2.2", {"markers_need_bumped_epoch"}),
        ("4.2.2", "4.3.1", {"marker_may_repeat_highest_epoch"}),
        ("4.3.1", "4.4.0", set()),
    ],
)
def test_producer_state_behaviour_changes_listed_fields_between_releases(
    before: str, after: str, changed: set[str]
) -> None:
    one, other = ProducerStateBehaviour.of(before), ProducerStateBehaviour.of(after)
    assert set(differing_fields(one, other)) == changed


def test_behaviour_record_values_print_as_readable_text() -> None:
    record = ProducerStateBehaviour.of("4.4.0")
    assert str(record.newer_epoch) == "next: appended; nonzero_start: OutOfOrderSequenceException"
    assert str(record.current_epoch) == "next: appended; repeated, gap, nonzero_start: OutOfOrderSequenceException"
    assert str(record.older_epoch) == "InvalidProducerEpochException"
    assert [str(one) for one in ProducerMap] == ["HashMap of Scala 2.12", "HashMap of Scala 2.13", "java.util.HashMap"]
    assert record.newer_epoch[SequenceRelation.NEXT] is Verdict.APPENDED
