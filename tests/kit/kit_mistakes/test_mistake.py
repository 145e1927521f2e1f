"""What is replaced is there again after the block, whatever happens in it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kafka_conformance.kit_mistakes.mistake import patched, replacing


def test_a_block_ends_with_what_was_there() -> None:
    owner = SimpleNamespace(one=1, two=2)
    with patched((owner, "one", 10), (owner, "two", 20)):
        assert (owner.one, owner.two) == (10, 20)
    with pytest.raises(KeyError), replacing((owner, "one", 10))(None):  # type: ignore[arg-type]
        raise KeyError
    assert (owner.one, owner.two) == (1, 2)


def test_a_place_that_does_not_exist_is_an_error() -> None:
    owner = SimpleNamespace(one=1)
    with pytest.raises(AttributeError), patched((owner, "one", 10), (owner, "gone", 1)):
        pass
    assert owner.one == 1
