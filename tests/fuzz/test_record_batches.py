"""Record batches of every magic, codec and release."""

from __future__ import annotations

from contextlib import suppress

import pytest
from batch_files import BATCHES, repaired
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st

from kafka_reference import record_batch
from kafka_reference.errors import IllegalArgumentException, JavaException
from kafka_reference.record_batch import Codec, default, records
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import InputFault, compress, open_stream
from kafka_reference.record_batch.varints import read_varint, read_varlong, write_varint, write_varlong
from kafka_reference.releases import NEWEST

RELEASES = ["4.4.0", "3.0.0", "2.3.0", "0.11.0.0"]
FIELDS = [name for name in dir(record_batch.DefaultBatch) if not name.startswith("_")]
RECORD_FIELDS = [name for name in dir(record_batch.Message) if not name.startswith("_") and name != "computed_checksum"]
BEHAVIOUR = RecordBatchBehaviour.of(NEWEST)
CONTENT = b"the same words, the same words, the same words" * 20
STREAMS = {codec: [compress(codec, content, 2) for content in (CONTENT, b"", b"x")] for codec in list(Codec)[1:]}


def reads_all(given: tuple[bytes, str]) -> None:
    """Read every field of every batch, and its records in each way; no other error than Java's is raised."""
    data, release = given
    for batch in record_batch.decode_batches(data, release):
        for name in FIELDS:
            if isinstance(getattr(type(batch), name, None), property):
                with suppress(JavaException):
                    getattr(batch, name)
        for read in (batch.valid, batch.ensure_valid, batch.records, batch.streaming_records, batch.skipping_records):
            with suppress(JavaException):
                found = read()
                for record in found if not isinstance(found, bool) and found is not None else ():
                    with suppress(JavaException):
                        _ = record and [getattr(record, name) for name in RECORD_FIELDS if hasattr(type(record), name)]
                    if isinstance(record, record_batch.Record):
                        with suppress(JavaException):
                            record_batch.decode_end_marker(record.key, record.value, release)


BATCH = Door(reads_all, (JavaException,))


def reads_stream(given: tuple[Codec, bytes, int]) -> None:
    codec, data, magic = given
    found = open_stream(codec, data, magic, BEHAVIOUR)
    assert found.fault is None or isinstance(found.fault, (InputFault, JavaException))


def with_release(files: st.SearchStrategy[bytes]) -> st.SearchStrategy[tuple[bytes, str]]:
    return st.tuples(files, st.sampled_from(RELEASES))


def test_fuzzed_record_batches_raise_documented_errors_only(plan: FuzzPlan) -> None:
    explore(plan, BATCH, with_release(arbitrary_or_mutated(BATCHES, repaired)), 400)


@pytest.mark.parametrize("codec", list(Codec)[1:])
def test_fuzzed_compressed_streams_raise_documented_errors_only(plan: FuzzPlan, codec: Codec) -> None:
    inputs = st.tuples(st.just(codec), arbitrary_or_mutated(STREAMS[codec]), st.sampled_from([0, 2]))
    explore(plan, Door(reads_stream, (JavaException,), 64), inputs, 120)


def test_compressed_random_bytes_are_decompressed_unchanged_by_every_codec(plan: FuzzPlan) -> None:
    def returns(given: tuple[Codec, bytes]) -> None:
        found = open_stream(given[0], compress(*given, 2), 2, BEHAVIOUR)
        assert (found.data, found.fault) == (given[1], None)

    explore(plan, Door(returns, ()), st.tuples(st.sampled_from(list(Codec)[1:]), st.binary(max_size=400)), 100)


def test_fuzzed_varints_round_trip_or_raise_documented_errors_only(plan: FuzzPlan) -> None:
    def read(data: bytes) -> None:
        for take, write in ((read_varint, write_varint), (read_varlong, write_varlong)):
            with suppress(IndexError, IllegalArgumentException):
                number, end = take(data, 0)
                assert end <= len(data)
                assert take(write(number), 0)[0] == number

    explore(plan, Door(read, ()), st.binary(max_size=12), 150)


def test_fuzzer_finds_bug_and_memory_leak_planted_in_record_batch_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = with_release(arbitrary_or_mutated(BATCHES, repaired))
    with monkeypatch.context() as patch:
        plant(patch, records, "_read_body", lambda *_: True)
        with pytest.raises(BrokenPromise, match="planted"):
            explore(FuzzPlan(shrink=False), BATCH, inputs, 600)
    with monkeypatch.context() as patch:
        held = []
        right = default.open_stream
        patch.setattr(default, "open_stream", lambda *given: held.append(b"x" * 2**26) or right(*given))
        with pytest.raises(BrokenPromise, match="MiB of memory"):
            explore(FuzzPlan(shrink=False), BATCH, inputs, 300)
