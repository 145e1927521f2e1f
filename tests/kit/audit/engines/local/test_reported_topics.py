"""Topics that public threads describe, with fresh keys: what was placed is found before a record is called misplaced."""

from __future__ import annotations

import base64
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import audit_truth
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kafka_conformance.audit.reports import summary
from kafka_conformance.audit.result import Audit
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_reference import partition_for_key

SEED = os.environ.get("KINDS_OF_TOPIC_SEED", "20")
SCS = "string-hash-code-abs-or-zero"
Rows = list[tuple[int, bytes]]


def names(kind: str, count: int = 300) -> list[bytes]:
    draws = random.Random(f"{SEED}/{kind}")
    return [b"%032x" % draws.getrandbits(128) for _ in range(count)]


def audited(folder: Path, records: Rows, partitions: int, *words: str) -> Audit:
    """Audit these records, in the order of their times, with the command."""
    print(f"KINDS_OF_TOPIC_SEED={SEED}")
    ends: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for time, (partition, key) in enumerate(records):
        rows.append({"partition": partition, "offset": ends.get(partition, 0), "timestamp_ms": time, "key": key})
        ends[partition] = ends.get(partition, 0) + 1
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    command = ["audit", str(folder / "t.parquet"), "--partitions", str(partitions), "--engine", "local", "--json", *words,
               "--folder", str(folder / f"run{len(words)}")]  # fmt: skip
    ran = CliRunner().invoke(app, command, standalone_mode=False)
    if ran.exception:
        raise ran.exception
    found = msgspec.json.decode(ran.stdout, type=Audit)
    assert summary.details(found)[-1].startswith("Next: ")
    return found


def attributed(found: Audit) -> set[str]:
    return {str(share.placed) for share in found.shares if share.attributed}


def java(keys: list[bytes], shown: Callable[[bytes], bytes], partitions: int = 12) -> Rows:
    return [(partition_for_key(key, partitions), shown(key)) for key in keys * 2]


WINDOW = (1_700_000_000_000).to_bytes(8, "big")
VIEWS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "window": ("window", lambda key: key + WINDOW),
    "window store": ("window-store", lambda key: key + WINDOW + b"\0\0\0\0"),
    "session": ("session-window", lambda key: key + (1_700_000_000_500).to_bytes(8, "big") + WINDOW),
    "frame": ("frame", lambda key: b"\0\0\0\0\x07" + key),
    "apicurio": ("apicurio-frame", lambda key: b"\0" + (7).to_bytes(8, "big") + key),
    "tenant": ("after:|", lambda key: b"acme|" + key),
    "version": ("before:#", lambda key: key + b"#%d" % (len(key) + key[0])),
    "member": ("field:id", lambda key: b'{"at": %d, "id": "%s"}' % (key[0], key)),
    "inner member": ("field:payload.id", lambda key: b'{"schema": null, "payload": {"id": "%s"}}' % key),
    "base64": ("base64", base64.b64encode),
    "hex": ("hex", lambda key: key.hex().encode()),
    "hex of a window": ("hex+window", lambda key: (key + WINDOW).hex().encode()),
    "quotes": ("unquoted", lambda key: b'"%s"' % key),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_java_partitioned_key_is_found_inside_wrapped_or_encoded_keys_except_by_whole_view(
    kind: str, tmp_path: Path
) -> None:
    view, shown = VIEWS[kind]
    found = audited(tmp_path, java(names(kind), shown), 12)
    assert (found.key_view, found.offending, attributed(found)) == (view, 0, {"murmur2@12"})
    assert summary.headline(found).endswith(f", by {summary.find_view(view).text}.")
    whole = audited(tmp_path, java(names(kind), shown), 12, "--key-view", "whole")
    assert (whole.key_view, attributed(whole)) == ("whole", set())
    assert whole.offending > 400


@pytest.mark.parametrize(("view", "width"), [("int32", 4), ("int64", 8)])
def test_integer_keys_exported_as_text_are_judged_by_serialized_bytes(view: str, width: int, tmp_path: Path) -> None:
    numbers = [int(name[:6], 16) for name in names(view)]
    records = [(partition_for_key(number.to_bytes(width, "big"), 12), b"%d" % number) for number in numbers]
    found = audited(tmp_path, records, 12)
    assert (found.key_view, found.offending) == (view, 0)


def test_json_string_keys_exported_without_quotes_are_judged_with_quotes(tmp_path: Path) -> None:
    records = [(partition_for_key(b'"%s"' % key, 12), key) for key in names("quoted")]
    found = audited(tmp_path, records, 12)
    assert (found.key_view, found.offending) == ("quoted", 0)


def test_few_keys_that_fit_only_in_json_quotes_are_not_reported_misplaced(tmp_path: Path) -> None:
    keys = [key for key in names("few quotes") if partition_for_key(b'"%s"' % key, 3) != partition_for_key(key, 3)][:2]
    found = audited(tmp_path, [(partition_for_key(b'"%s"' % key, 3), key) for key in keys], 3)
    assert "quoted" in found.fitting_views
    assert "Java's producer fits all of them too, by the key in JSON quotes" in summary.headline(found)
    assert not any("are not where" in line for line in summary.details(found))


def test_topic_partitioned_by_last_octet_of_ip_address_keys_is_recognised(tmp_path: Path) -> None:
    draws = random.Random(SEED)
    octets = [draws.randrange(1, 255) for _ in range(300)]
    found = audited(tmp_path, [(octet % 7, b"10.%d.0.%d" % (at, octet)) for at, octet in enumerate(octets)], 7)
    assert (found.key_view, attributed(found)) == ("digits", {"text-integer@7"})


def test_spring_cloud_stream_partitioner_is_named_with_and_without_java_records(tmp_path: Path) -> None:
    keys = names("scs")
    mine = [(audit_truth.place(SCS, key, 7), key) for key in keys]
    found = audited(tmp_path, mine, 7)
    assert attributed(found) == {f"{SCS}@7"}
    assert "Spring Cloud Stream's default" in summary.topic_writers(found)
    both = [row if at % 2 else (partition_for_key(row[1], 7), row[1]) for at, row in enumerate(mine * 2)]
    assert attributed(audited(tmp_path, both, 7, "--chunk", "2000")) == {f"{SCS}@7", "murmur2@7"}


def test_string_hash_codes_of_characters_and_of_bytes_are_distinguished_by_non_ascii_keys(tmp_path: Path) -> None:
    """Debezium hashes characters, as kafka-node does but for a hash of 0; the gate's mutant hashes the key's bytes."""
    keys = ["Zoë-".encode() + name[:8] for name in names("debezium")]
    for rule in ("string-hash-code-text-masked", "string-hash-code-masked"):
        folder = tmp_path / rule
        folder.mkdir()
        mine = [(audit_truth.place(rule, key, 12), key) for key in keys]
        (share,) = (share for share in audited(folder, mine, 12).shares if share.attributed)
        named = {"string-hash-code-text-masked", "string-hash-code-masked"} & {share.placed.rule, *share.alike}
        assert named == {rule}
        assert audited(folder, mine, 12, "--expect", rule).conforms


def test_hash_variants_indistinguishable_for_the_keys_are_named_together(tmp_path: Path) -> None:
    """String.hashCode of four characters is positive: masked or absolute, the partition is the same."""
    keys = [name[:4] for name in names("short", 900)]
    found = audited(tmp_path, [(audit_truth.place(SCS, key, 7), key) for key in keys], 7)
    (share,) = (share for share in found.shares if share.attributed)
    assert {share.placed.rule, *share.alike} >= {SCS, "string-hash-code-masked", "string-hash-code-floor-mod"}


def test_java_long_hash_code_partitioner_is_found_in_a_topic_with_murmur2_text_keys(tmp_path: Path) -> None:
    longs = [bytes.fromhex(name[:16].decode()) for name in names("long")]
    rule = "long-hash-code-abs-or-zero"
    records = [(audit_truth.place(rule, key, 7), key) for key in longs] + java(names("text", 300), bytes, 7)
    found = audited(tmp_path, records, 7)
    assert attributed(found) == {f"{rule}@7", "murmur2@7"}


def test_interleaved_partition_counts_are_not_reported_as_an_increase(tmp_path: Path) -> None:
    keys = names("mirror", 900)
    interleaved = [(partition_for_key(key, 6 if at % 2 else 10), key) for at, key in enumerate(keys * 2)]
    found = audited(tmp_path, interleaved, 10)
    assert (found.growth, [(one.before, one.after) for one in found.mixed_counts]) == ((), [(6, 10)])
    assert "This shows no increase of the partition count." in " ".join(summary.details(found))
    one_after_the_other = [(partition_for_key(key, count), key) for count in (6, 10) for key in keys]
    grown = audited(tmp_path, one_after_the_other, 10, "--chunk", "2000")
    assert ([(one.before, one.after) for one in grown.growth], grown.mixed_counts) == ([(6, 10)], ())


def test_audit_of_files_with_too_high_partition_count_asks_to_check_the_count(tmp_path: Path) -> None:
    keys = names("count", 400)
    found = audited(tmp_path, [(partition_for_key(key, 8), key) for key in keys], 12)
    assert found.mixed_counts == ()
    assert summary.details(found)[-1].startswith("Next: partitions 8 to 11 hold no record: check that the topic has 12")


def test_audit_suggests_partitioning_by_another_field_if_each_key_has_one_unexplained_partition(tmp_path: Path) -> None:
    draws = random.Random(SEED)
    where = {key: draws.choice([0, 1, 2, 4]) for key in names("field", 60)}
    found = audited(tmp_path, [(partition, key) for key, partition in [*where.items()] * 2], 6)
    writers = summary.topic_writers(found)
    assert attributed(found) == set()
    assert "each key stays in one partition" in writers
    assert "another field" in writers
    assert "partitions that hold nothing: 3, 5" in writers


def test_unknown_key_view_option_raises_an_error_that_lists_the_views(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown key view 'tail': expected one of whole, window"):
        audited(tmp_path, [(0, b"a")], 2, "--key-view", "tail")
