"""Summaries of audits: the right sentence for each kind of topic."""

from __future__ import annotations

import audits
import pytest

from kafka_conformance.audit.reports import summary
from kafka_conformance.audit.result import (
    EITHER,
    UNEXPLAINED,
    AttributedRun,
    Audit,
    Doubt,
    Growth,
    Placed,
    SplitKey,
    Splits,
)

LIBRDKAFKA = "librdkafka-consistent (librdkafka's default, and ruby-kafka's: CRC32, unsigned)"
SARAMA = "sarama-hash (sarama's default, kafka-go's Hash, librdkafka's fnv1a: FNV-1a, its sign dropped)"
JAVA = "murmur2 (Java's own: murmur2, its sign masked)"


@pytest.mark.parametrize(
    ("audit", "sentence"),
    [
        (audits.healthy(), "All 1,402,416 keyed records are where Java's producer puts them."),
        (audits.mixed(), "17.9 % of 3,911,112 keyed records are not where Java's producer puts them."),
        (audits.keyless(), "None of the 241,200 records has a key, so no key can be in a wrong partition."),
        (audits.empty(), "The topic has no records."),
        (
            audits.healthy(expected=Placed("sarama-hash", 6), offending=1),
            "< 0.1 % of 1,402,416 keyed records are not where sarama-hash puts them.",
        ),
        (
            audits.healthy(expected=Placed("murmur2", 3), offending=701_208),
            "50.0 % of 1,402,416 keyed records are not where Java's producer puts them with 3 partitions.",
        ),
    ],
)
def test_audit_headline_states_the_share_of_misplaced_keyed_records_or_that_no_keys_exist(
    audit: Audit, sentence: str
) -> None:
    assert summary.headline(audit) == sentence


TWO, MANY = ("murmur2", "sign-abs"), ("a", "b", "c", "d", "e", "f", "g")


@pytest.mark.parametrize(
    ("doubt", "sentence"),
    [
        (
            Doubt(5, TWO, 31, 1e-6),
            (
                "Cannot tell: 5 distinct keys, these rules all fit: murmur2, sign-abs."
                " It would take 31 distinct keys (99.9999 % confidence)."
            ),
        ),
        (
            Doubt(1, MANY, 12, 1e-9),
            (
                "Cannot tell: 1 distinct key, these rules all fit: a, b, c, d, e, f and 1 more."
                " It would take 12 distinct keys (99.9999999 % confidence)."
            ),
        ),
        (
            Doubt(5, ("sarama-hash",), 11, 1e-9),
            (
                "Cannot tell: 5 distinct keys, and only sarama-hash fits all of them, perhaps by chance."
                " It would take 11 distinct keys (99.9999999 % confidence)."
            ),
        ),
        (
            Doubt(8, (), 23, 1e-9),
            (
                "Cannot tell: 8 distinct keys, and no rule fits all of them."
                " It would take 23 distinct keys (99.9999999 % confidence)."
            ),
        ),
        (
            Doubt(5000, (), None, 1e-6),
            "Cannot tell: with one partition, every rule puts every key into it. Only a topic of several can be judged.",
        ),
    ],
)
def test_inconclusive_headline_names_fitting_rules_and_keys_needed_and_details_the_next_step(
    doubt: Doubt, sentence: str
) -> None:
    audit = audits.mixed(doubt=doubt)
    assert summary.headline(audit) == sentence
    misplaced, after = summary.details(audit)
    assert misplaced == "17.9 % of 3,911,112 keyed records are not where Java's producer puts them."
    more = doubt.needed and f"Next: audit {doubt.needed - doubt.keys} more distinct keys: "
    assert after.startswith(more or "Next: audit a topic of several partitions ")
    placed, _ = summary.details(audits.healthy(doubt=doubt))
    assert placed == "All 1,402,416 keyed records are where Java's producer puts them."


def test_inconclusive_headline_names_the_key_encodings_with_which_java_partitioning_fits() -> None:
    audit = audits.mixed(doubt=Doubt(8, (), 23, 1e-9), fitting_views=("quoted", "hex"))
    assert summary.headline(audit) == (
        "Cannot tell: 8 distinct keys. No rule fits them whole; Java's producer fits all of them by the key in JSON quotes"
        " or by the bytes that the key is hex of. It would take 23 distinct keys (99.9999999 % confidence)."
    )


def test_summary_names_partitioners_that_the_keys_cannot_distinguish() -> None:
    details = summary.details(audits.mixed(undecided=("djb2-unsigned", "crc32-floor-mod")))
    assert details[1] == (
        "The keys cannot tell which of these rules placed records that are unexplained: djb2-unsigned, crc32-floor-mod."
    )


@pytest.mark.parametrize(
    ("audit", "sentence"),
    [
        (audits.healthy(), f"One kind of producer wrote this topic: {JAVA} 100 %."),
        (
            audits.librdkafka(),
            f"One kind of producer wrote this topic: {LIBRDKAFKA} 99.8 %. 0.2 % may be of more than one.",
        ),
        (
            audits.mixed(),
            (
                f"Three kinds of producer wrote this topic: {JAVA} 82.0 %; {LIBRDKAFKA} 15.6 %; {SARAMA} 2.0 %."
                " 0.1 % may be of more than one, and 0.2 % match no known placement."
            ),
        ),
        (audits.grown(), f"One kind of producer wrote this topic: {JAVA} 100 %."),
        (
            audits.strange(),
            (
                "100 % match no known placement, but each key stays in one partition: an unknown function of the key chose"
                " it, or of something that goes with the key, such as another field, a database, a table or the number of a"
                " task."
            ),
        ),
        (audits.keyless(), ""),
        (audits.empty(), ""),
    ],
)
def test_topic_writers_sentence_gives_shares_of_partitioners_ambiguous_and_unexplained_records(
    audit: Audit, sentence: str
) -> None:
    assert summary.topic_writers(audit) == sentence


@pytest.mark.parametrize(
    ("audit", "sentence"),
    [
        (audits.healthy(), ""),
        (audits.grown(), ""),
        (audits.keyless(), ""),
        (
            audits.librdkafka(),
            "Since partition 0, offset 1,000, 2025-03-01T00:00:00.123Z: the first record placed by librdkafka-consistent.",
        ),
        (
            audits.mixed(),
            "Since partition 0, offset 64,377, 2025-03-01T12:00:00.123Z: the first record placed by librdkafka-consistent.",
        ),
        (audits.timeless(), "Since partition 0, offset 7,009: the first record placed by librdkafka-consistent."),
        (audits.strange(), "Since partition 0, offset 1,000, 2025-03-01T00:00:00Z: the first record unexplained."),
        (audits.strange(runs_in_all=5), ""),
    ],
)
def test_summary_names_the_first_unexpected_record_or_unexplained_one_if_every_run_is_kept(
    audit: Audit, sentence: str
) -> None:
    assert summary.broken_since(audit) == sentence


def test_summary_names_first_unexpected_record_at_old_partition_count_but_spans_omit_old_label() -> None:
    grown = audits.audit(
        4,
        12,
        lambda hour, _: {"murmur2@12": 10, "sarama-hash@3" if hour < 2 else "sarama-hash@12": 10},
        growth=(Growth("sarama-hash", 3, 12, {0: 1019}, None),),
    )
    assert summary.broken_since(grown).endswith("the first record placed by sarama-hash of 3 partitions.")
    assert "(old partition count)" not in str(summary.spans(grown))


def test_partition_count_increase_is_reported_with_last_old_offsets_of_up_to_24_partitions() -> None:
    (one,) = audits.grown().growth
    assert summary.details(audits.grown())[1] == (
        "The partition count increased while this was in use: murmur2, from 3 to 12 partitions."
        " The last record with the old partition count is of 2025-03-01T23:59:59.999Z."
    )
    assert summary.until(one) == ([(0, 97_023), (1, 97_023), (2, 97_023)], 0)
    shown, more = summary.until(Growth("murmur2", 100, 200, dict.fromkeys(range(100), 5), None))
    assert (len(shown), more) == (24, 76)
    assert [row[0] for row in summary.spans(audits.grown())] == [
        "murmur2 of 3 partitions (old partition count)",
        "murmur2 (expected)",
    ]


def test_partitioner_table_lists_the_expected_one_first_and_unexplained_records_last() -> None:
    rows = summary.placements(audits.mixed())
    assert [row[:4] for row in rows] == [
        ("murmur2 (expected)", "12", "3,207,888", "82.0 %"),
        ("librdkafka-consistent", "12", "611,064", "15.6 %"),
        ("sarama-hash", "12", "79,992", "2.0 %"),
        ("either of several", "-", "4,812", "0.1 %"),
        ("unexplained", "-", "7,356", "0.2 %"),
    ]
    assert all(len(row) == len(summary.PLACEMENTS) for row in rows)
    assert all(len(row) == len(summary.SPANS) for row in summary.spans(audits.mixed()))
    assert summary.placements(audits.librdkafka())[0][:3] == ("murmur2 (expected)", "12", "0")


def test_runs_of_unexpected_partitioners_are_listed_earliest_first_with_the_count_of_omitted_runs() -> None:
    runs, more = summary.foreign_runs(audits.mixed(), 3)
    every = [run for run in audits.mixed().runs if run.placed != (Placed("murmur2", 12),)]
    assert (len(runs), more) == (3, len(every) - 3)
    assert [(run.partition, run.first_offset) for run in runs] == [(0, 64_377), (1, 66_909), (2, 69_441)]
    assert summary.foreign_runs(audits.healthy(), 3) == ([], 0)
    assert summary.runs_title(audits.mixed()).endswith("than the expected one")
    assert summary.runs_title(audits.thousand()).endswith("among the 1,027 runs that were kept")


def test_run_text_names_every_alternating_partitioner_or_unexplained_if_none() -> None:
    run = AttributedRun(0, (Placed("murmur2", 12), Placed("sarama-hash", 3)), 0, 9, None, None, 10)
    assert summary.placed_by(audits.mixed(), run) == "murmur2 and sarama-hash, 3 partitions"
    assert summary.placed_by(audits.mixed(), AttributedRun(0, (), 0, 9, None, None, 10)) == "unexplained"


def test_partition_table_shows_all_partitions_or_24_with_misplaced_records_of_a_large_topic() -> None:
    audit = audits.thousand()
    shown, hidden, offending = summary.select_partitions(audit.by_partition)
    assert (len(shown), hidden) == (24, 976)
    assert min(line.offending for line in shown) > 0
    assert [line.partition for line in shown] == sorted(line.partition for line in shown)
    assert offending == audit.offending - sum(line.offending for line in shown)
    assert summary.select_partitions(audits.mixed().by_partition) == (list(audits.mixed().by_partition), 0, 0)


def test_partition_writers_text_names_up_to_three_partitioners_with_shares_or_dash_without_keys() -> None:
    line = audits.mixed().by_partition[0]
    assert (
        summary.partition_writers(audits.mixed(), line)
        == "murmur2 81.0 %; librdkafka-consistent 16.5 %; sarama-hash 2.2 %; 2 more"
    )
    assert summary.partition_writers(audits.keyless(), audits.keyless().by_partition[0]) == "-"
    grown = audits.grown().by_partition[0]
    assert summary.partition_writers(audits.grown(), grown) == "murmur2 of 3 partitions 78.4 %; murmur2 21.6 %"


def test_split_keys_text_counts_split_keys_or_states_why_none_and_rows_list_places() -> None:
    assert summary.split(audits.mixed()) == (
        "8,765 of 64,321 keys (13.6 %) are in several partitions, with 345,678 records;"
        " first at partition 3, offset 63,456, 2025-03-01T12:00:00.123Z."
    )
    assert summary.split(audits.healthy()) == "Each of 4,321 keys is in one partition."
    assert summary.split(audits.keyless()) == "There are no keys."
    unasked = audits.healthy(splits=Splits(0, 0, 0, None, ()))
    assert summary.split(unasked) == "One placement placed all keys, so no key is in several partitions."
    rows = list(summary.split_rows(audits.mixed()))
    assert rows[0] == (
        '"user-1"',
        "250",
        "3 from offset 63,456, 2025-03-01T12:00:00Z; 4 from offset 63,463, 2025-03-01T13:00:00Z",
    )
    assert rows[2][2].endswith("; 2 more")
    assert list(summary.split_rows(audits.mixed(splits=Splits(1, 2, 2, None, (SplitKey("61", (), 2),))))) == [
        ('"a"', "2", "")
    ]


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        (
            Splits(0, 100, 0, None, ()),
            ", but each key stays in one partition: an unknown function of the key chose it, or of",
        ),
        (
            Splits(90, 100, 7300, None, ()),
            ", and repeated keys are in several partitions: these were named, drawn at random, or taken in turn",
        ),
        (Splits(20, 100, 2000, None, ()), ""),  # some of both
        (Splits(0, 7380, 0, None, ()), ""),  # too few keys are repeated
    ],
)
def test_unexplained_text_names_key_function_if_repeated_keys_stay_or_draws_if_most_split(
    splits: Splits, words: str
) -> None:
    sentence = summary.topic_writers(audits.strange(splits=splits))
    assert sentence.startswith(f"100 % match no known placement{words}")
    assert words or sentence == "100 % match no known placement."


def test_unexplained_records_of_mixed_topic_are_not_described_by_split_keys() -> None:
    assert "0.2 % match no known placement." in summary.topic_writers(audits.mixed(splits=Splits(0, 100, 0, None, ())))


def test_partitioner_labels_exclude_either_and_unexplained() -> None:
    assert not {EITHER, UNEXPLAINED} & set(summary.labels(audits.mixed()))
