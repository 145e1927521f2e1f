"""A block of keys judged, without Spark or Java: cells are laid out here as KeyBlock.java does."""

from __future__ import annotations

import itertools
import zlib
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from kafka_conformance.core.errors import OracleFault, WrongRelease
from kafka_conformance.rules import RULES
from kafka_conformance.spark.sweep.key_spaces import KeySpace, every_key, random_keys
from kafka_conformance.spark.sweep.keys import CLAIM, ClaimKeys, CompareKeys, Keys
from kafka_reference import murmur2, partition_for_key

WHO = "4.4.0 abc"
SPACE = every_key(1)


def rule_of(space: KeySpace) -> str:
    return "partition-for-key" if space.argument(0) else "murmur2"


def claim(space: KeySpace = SPACE, block: int = 0) -> bytes:
    """What the reference claims."""
    made, _ = ClaimKeys(space, rule_of(space), True).claim(block)
    assert made is not None
    return made


def cell(
    space: KeySpace, block: int, answerer: str = WHO, wrong: dict[int, int] | None = None, claimed: bytes | None = None,
    **changed: Any,
) -> bytes:  # fmt: skip
    """What Java says of a block. The answers are those of the scalar reference, but for those that are ``wrong``."""
    offsets, data = changed.get("keys", space.column(block))
    argument = space.argument(block)
    keys = [data[a:b].tobytes() for a, b in itertools.pairwise(offsets)]
    java = np.array([partition_for_key(key, argument) if argument else murmur2(key) for key in keys], "<i4")
    for place, answer in (wrong or {}).items():
        java[place] = answer
    keys_sum = zlib.crc32(offsets.tobytes() + data.tobytes())
    said = np.array([(len(keys), changed.get("argument", argument), keys_sum, zlib.crc32(java.tobytes()))], CLAIM)
    reported = b"" if claimed == said.tobytes() else java.tobytes()
    return said.tobytes() + (len(reported) // 4).to_bytes(8, "little") + reported + answerer.encode()


def judge(space: KeySpace = SPACE, answerer: str = "reference", wanted: int = 1000, kills: bool = False) -> CompareKeys:
    return CompareKeys(3, rule_of(space), "4.4.0", "abc", answerer, wanted, kills, space)


def test_key_block_with_equal_checksums_has_no_difference_and_sends_no_answers() -> None:
    """Claims that are alike bring no answers with them, and prove what the answers would."""
    said = cell(SPACE, 0, claimed=claim())
    assert len(said) == 40 + len(WHO)
    for block in (judge().compare(0, claim(), said, 1000), judge().compare(0, None, cell(SPACE, 0), 1000)):
        assert (block.part, block.block, block.asked, block.differing, [*block.questions]) == (3, 0, 257, 0, [])
        assert (block.release, block.jar_sha256, block.seen) == ("4.4.0", "abc", b"")


@pytest.mark.parametrize("place", [0, 1, 128, 255, 256])
@pytest.mark.parametrize("bit", range(32))
def test_block_checksum_reveals_a_single_flipped_bit_in_any_hash(place: int, bit: int) -> None:
    (right,) = np.frombuffer(cell(SPACE, 0)[40 + 4 * place :][:4], "<i4")
    wrong = int(right ^ np.uint32(1 << bit).view(np.int32))
    said = cell(SPACE, 0, wrong={place: wrong}, claimed=claim())
    assert judge().compare(0, claim(), said, 0).differing == 1


def test_damaged_block_checksum_raises_oracle_fault() -> None:
    damaged = claim()[:-1] + b"!"
    with pytest.raises(OracleFault, match="their claims differ"):
        judge().compare(0, damaged, cell(SPACE, 0, claimed=damaged), 1)


def test_key_with_differing_hash_is_reported_as_question_with_both_answers() -> None:
    block = judge().compare(0, claim(), cell(SPACE, 0, wrong={1: 7, 256: 8}), 1000)
    assert (block.asked, block.differing) == (257, 2)
    first, last = block.questions
    assert (first.question, first.expected, first.actual) == ('{"key":"00"}', '{"hash":7}', '{"hash":375494588}')
    assert (last.question, last.expected) == ('{"key":"ff"}', '{"hash":8}')


def test_block_reports_at_most_the_requested_number_of_differing_questions() -> None:
    wrong = cell(SPACE, 0, wrong=dict.fromkeys(range(257), 0))
    assert [len(judge().compare(0, claim(), wrong, wanted).questions) for wanted in (0, -1, 5, 999)] == [0, 0, 5, 257]
    assert judge().compare(0, claim(), wrong, 0).differing == 257


def test_vectorized_hash_that_differs_from_the_scalar_reference_counts_as_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = judge()
    columns = mine._columns
    rule = replace(mine.rule, columns=replace(columns, reference=lambda o, d, a: columns.reference(o, d, a) ^ 1))
    monkeypatch.setitem(RULES, "murmur2", rule)
    said = cell(SPACE, 0, claimed=claim())
    block = mine.compare(0, claim(), said, 2)
    assert block.differing == 257
    assert block.questions[1].actual == msgspec.json.encode({"bulk": 375494588 ^ 1}).decode()


def test_mutants_are_detected_in_a_block_of_keys() -> None:
    block = judge(answerer="mutant:signed-tail").compare(0, None, cell(SPACE, 0), 1)
    assert block.differing == 128
    assert block.questions[0].question == '{"key":"80"}'
    counts = every_key(1, 1, 3)
    block = judge(counts, answerer="mutant:sign-kept").compare(2, None, cell(counts, 2), 1)
    assert block.differing > 50
    assert msgspec.json.decode(block.questions[0].actual)["partition"] < 0


def test_up_to_three_smallest_keys_are_listed_for_each_mutant_killed_by_a_block() -> None:
    block = judge(kills=True).compare(0, None, cell(SPACE, 0), 1)
    kills: dict[str, list[str]] = {}
    for kill in block.kills:
        kills.setdefault(kill.mutant, []).append(kill.question)
    assert kills["signed-tail"] == ['{"key":"80"}', '{"key":"81"}', '{"key":"82"}']
    assert kills["one-bit"][0] == '{"key":""}'
    assert "big-endian" not in kills  # it takes a word of four bytes


@pytest.mark.parametrize("changed", [
    {"keys": (*SPACE.column(0)[0:1], SPACE.column(0)[1][::-1].copy())},
    {"argument": 12},
])  # fmt: skip
def test_block_of_other_keys_or_partition_count_than_planned_raises_oracle_fault(changed: dict[str, Any]) -> None:
    with pytest.raises(OracleFault, match="block 0 has other keys than its space"):
        judge().compare(0, claim(), cell(SPACE, 0, **changed), 1)


def test_random_block_repeating_keys_of_another_block_raises_oracle_fault() -> None:
    space = random_keys(3_000, 5, 64)
    claims = ClaimKeys(space, "murmur2", True)
    assert claims.claim(0)[1] != claims.claim(1)[1] == ClaimKeys(space, "murmur2", False).claim(1)[1]
    with pytest.raises(OracleFault, match="block 1 has other keys than its space"):
        judge(space).compare(1, claim(space, 1), cell(space, 0), 1)


@pytest.mark.parametrize("answerer", ["4.3.0 abc", "4.4.0 abd", ""])
def test_block_of_keys_answered_by_another_release_or_jar_raises_wrong_release(answerer: str) -> None:
    with pytest.raises(WrongRelease, match=f"release 4.4.0 with sha256 abc was sent, and {answerer}"):
        judge().compare(0, claim(), cell(SPACE, 0, answerer, claimed=claim()), 1)


def test_key_blocks_are_compared_over_sliced_arrow_batches() -> None:
    """As Arrow brings them: several rows, and a slice of them."""
    space = every_key(1, 1, 4)
    numbers = pa.RecordBatch.from_arrays([pa.array(range(4))], ["id"])
    (claims,) = ClaimKeys(space, "partition-for-key", True)([numbers])
    cells = [cell(space, at, wrong={0: -1} if at else None, claimed=claim(space, at)) for at in range(4)]
    batch = claims.append_column("cell", pa.array(cells, pa.binary()))
    rows = [row for made in judge(space, wanted=2)([batch.slice(1, 3), batch.slice(0, 1)]) for row in made.to_pylist()]
    assert [row["block"] for row in rows] == [1, 2, 3, 0]
    assert [row["differing"] for row in rows] == [1, 1, 1, 0]
    assert [len(row["questions"]) for row in rows] == [1, 1, 0, 0]


def test_sweep_part_of_random_keys_states_blocks_keys_and_seed() -> None:
    keys = Keys(random_keys(5_000, 1, 64))
    assert (keys.blocks, keys.asked, keys.drawn) == (5, 5_000, True)
    assert keys.plan()["keys"]["seed"] == 1
    assert not Keys(every_key(4)).drawn
