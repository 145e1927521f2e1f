"""What is replaced is there again after the block, whatever happens in it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kafka_conformance.kit_mistakes.mistake import patched, replacing


def test_patched_attributes_are_restored_after_the_block_and_after_an_exception() -> None:
    owner = SimpleNamespace(one=1, two=2)
    with patched((owner, "one", 10), (owner, "two", 20)):
        assert (owner.one, owner.two) == (10, 20)
    with pytest.raises(KeyError), replacing((owner, "one", 10))(None):  # type: ignore[arg-type]
        raise KeyError
    assert (owner.one, owner.two) == (1, 2)


def test_patching_a_missing_attribute_raises_and_restores_earlier_ones() -> None:
    owner = SimpleNamespace(one=1)
    with pytest.raises(AttributeError), patched((owner, "one", 10), (owner, "gone", 1)):
        pass
    assert owner.one == 1
