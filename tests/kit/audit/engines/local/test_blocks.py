from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local import blocks
from kafka_conformance.audit.engines.local.blocks import BlockPacker

Keys = Sequence[bytes | None]


def packed_by_java(keys: Keys, most: int, most_bytes: int) -> list[Keys]:
    """The blocks of AuditBlocks.java, written down once more."""
    packed: list[list[bytes | None]] = []
    for key in keys:
        held = sum(len(each or b"") for each in packed[-1]) if packed else 0
        if not packed or len(packed[-1]) == most or held > most_bytes:
            packed.append([])
        packed[-1].append(key)
    return packed


def packed(pieces: Sequence[Keys]) -> list[Block]:
    packer, made, at = BlockPacker(3), list[Block](), 0
    for keys in pieces:
        offsets = np.arange(at, at + len(keys), dtype=np.int64)
        made += packer.add(offsets, 10 * offsets, pa.array(keys, pa.binary()))
        at += len(keys)
    return [*made, *packer.end()]


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MOST_RECORDS", 4)
        patch.setattr(blocks, "MOST_BYTES", 9)
        yield


KEYS = st.lists(st.none() | st.binary(max_size=12), max_size=12)


@given(st.lists(KEYS, max_size=6))
def test_block_boundaries_equal_those_of_the_java_packer_for_any_batch_sizes(pieces: list[Keys]) -> None:
    made = packed(pieces)
    whole = [key for keys in pieces for key in keys]
    assert [block.keys.to_pylist() for block in made] == packed_by_java(whole, 4, 9)
    assert [offset for block in made for offset in block.offsets] == list(range(len(whole)))
    assert all((block.timestamps_ms == 10 * block.offsets).all() and block.partition == 3 for block in made)
