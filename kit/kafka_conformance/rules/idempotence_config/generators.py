"""Hypothesis strategies for ``idempotence-config``: likely values, padded or not, and arbitrary texts."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

from kafka_conformance.rules.idempotence_config.question import IdempotenceConfigQuestion, Setting, combination

__all__ = ["configs"]

_BLANKS = st.text("\t \n\x00\u00a0", max_size=2)
_NUMBER = st.one_of(
    st.sampled_from(("0", "1", "5", "6", "2147483647", "-1", "2147483648", "-2147483649")),
    st.integers(-(2**31), 2**31 - 1).map(str),
    st.text("0123456789+-. \u0663\uff15\U0001d7d9", max_size=12),
)
_TEXT = st.text(max_size=6)  # without lone surrogates, which are not in any JSON


def _padded(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(texts, st.builds("{}{}{}".format, _BLANKS, texts, _BLANKS))


def _any(likely: tuple[str, ...], more: st.SearchStrategy[str]) -> st.SearchStrategy[Setting]:
    return st.one_of(
        st.just(msgspec.UNSET), st.sampled_from(likely), _padded(st.sampled_from(likely)), _padded(more), st.none()
    )


_WORDS = _any(("true", "false", "True", "FALSE"), _TEXT)
_CONFIGS = st.builds(
    combination,
    idempotence=_WORDS,
    acks=_any(("all", "-1", "0", "1"), st.one_of(_NUMBER, _TEXT)),
    retries=_any(("0", "1", "2147483647"), _NUMBER),
    in_flight=_any(("1", "5", "6"), _NUMBER),
    transactional_id=_any(("id", "another"), _TEXT),
    two_phase=st.one_of(st.just(msgspec.UNSET), st.just(msgspec.UNSET), _WORDS),
    timeout=st.one_of(st.just(msgspec.UNSET), st.just(msgspec.UNSET), _any(("60000",), _NUMBER)),
)


def configs() -> st.SearchStrategy[IdempotenceConfigQuestion]:
    """Return a strategy for configurations."""
    return _CONFIGS
