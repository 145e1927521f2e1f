"""The rule ``idempotence-config``: what a producer ends up with, given what a user sets and what is left alone.

``{"config": {"enable.idempotence": "true", "acks": "1"}}`` gives ``{"idempotent", "transactional", "acks", "retries",
"max_in_flight", "guarantee_order"}``, or raises. A setting that is absent was not set; null is set, to nothing. Each
question is a real ``KafkaProducer``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import combinations, product

import msgspec
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Question
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.releases import Release, since

__all__ = ["FIVE", "NAMES", "RULE", "Config", "IdempotenceConfigQuestion", "combination", "five", "set_in"]

Config = Mapping[str, str | None]
_Asked = str | None | msgspec.UnsetType
NAMES = {
    "idempotence": "enable.idempotence",
    "acks": "acks",
    "retries": "retries",
    "in_flight": "max.in.flight.requests.per.connection",
    "transactional_id": "transactional.id",
    "two_phase": "transaction.two.phase.commit.enable",
    "timeout": "transaction.timeout.ms",
}


class AskedConfig(Question, frozen=True, rename=NAMES):
    """The settings that count, as a user writes them."""

    idempotence: _Asked = msgspec.UNSET
    acks: _Asked = msgspec.UNSET
    retries: _Asked = msgspec.UNSET
    in_flight: _Asked = msgspec.UNSET
    transactional_id: _Asked = msgspec.UNSET
    two_phase: _Asked = msgspec.UNSET
    timeout: _Asked = msgspec.UNSET


class IdempotenceConfigQuestion(Question, frozen=True):
    """A configuration."""

    config: AskedConfig


def set_in(config: AskedConfig) -> dict[str, str | None]:
    """What is set, by Kafka's names."""
    found = ((name, getattr(config, field)) for field, name in NAMES.items())
    return {name: text for name, text in found if text is not msgspec.UNSET}


def combination(**settings: _Asked) -> IdempotenceConfigQuestion:
    """The question with these settings, by the fields of AskedConfig."""
    return IdempotenceConfigQuestion(AskedConfig(**settings))


def _ask(question: IdempotenceConfigQuestion, at: Release) -> Answer:
    return asdict(producer_outcome(set_in(question.config), at))


# Each value that a branch of any release tells from its neighbours; not set comes first, since that is the smallest.
# FIVE holds what can be read: of these, what comes of a combination is a matter of the rules. ``_ALL`` has besides what
# every release refuses, since whoever looks at texts first tells another mistake.
_NOT = msgspec.UNSET
FIVE: dict[str, tuple[_Asked, ...]] = {
    "idempotence": (_NOT, "true", "false"),
    "acks": (_NOT, "all", "-1", "0", "1"),
    "retries": (_NOT, "0", "1", "2147483647"),
    "in_flight": (_NOT, "1", "5", "6", "2147483647"),
    "transactional_id": (_NOT, "id"),
}
_ALL = {
    "idempotence": (*FIVE["idempotence"], "maybe"),
    "acks": (*FIVE["acks"], "2"),
    "retries": (*FIVE["retries"], "-1"),
    "in_flight": (*FIVE["in_flight"], "0"),
    "transactional_id": (*FIVE["transactional_id"], ""),
}
_TWO_PHASE: dict[str, tuple[_Asked, ...]] = {
    "idempotence": (_NOT, "true", "false"),
    "acks": (_NOT, "1"),
    "retries": (_NOT, "0"),
    "in_flight": (_NOT, "6"),
    "transactional_id": (_NOT, "id"),
    "two_phase": (_NOT, "true", "false"),
    "timeout": (_NOT, "60000", None),
}
# Texts that are read in some other way than they look, or not at all.
_TEXTS: dict[str, tuple[_Asked, ...]] = {
    "idempotence": ("true", "false", " TRUE\t", "fal\u017fe", "maybe", "", None),
    "acks": ("all", "-1", "0", " 1", "2", "ALL", "+1", "", None),
    "retries": ("0", "1", "-1", "2147483647", "2147483648", "+7\x00", "\u00a01", "\u0663", "many", "", None),
    "in_flight": ("1", "5", "6", "0", "-2147483648", "-2147483649", "0006", "5.0", None),
    "transactional_id": ("id", " id ", " ", "", None),
    "two_phase": ("true", "yes", None),
    "timeout": ("60000", "-1", "soon", None),
}


def five() -> Iterator[IdempotenceConfigQuestion]:
    """Every combination of the five settings, of values that can be read."""
    return _product(FIVE)


def _all() -> Iterator[IdempotenceConfigQuestion]:
    return _product(_ALL)


def _two_phases() -> Iterator[IdempotenceConfigQuestion]:
    return _product(_TWO_PHASE)


def _product(values: Mapping[str, tuple[_Asked, ...]]) -> Iterator[IdempotenceConfigQuestion]:
    for chosen in product(*values.values()):
        yield combination(**dict(zip(values, chosen, strict=True)))


def _texts() -> Iterator[IdempotenceConfigQuestion]:
    """Each text alone, and any two of different settings: that tells which of two mistakes is complained about."""
    for field, texts in _TEXTS.items():
        yield from (combination(**{field: text}) for text in texts)
    for one, other in combinations(_TEXTS, 2):
        yield from (combination(**{one: left, other: right}) for left, right in product(_TEXTS[one], _TEXTS[other]))


def _broken(config: Config) -> bool:
    """Whether the reference of the newest release cannot read it: which way to name a question, not what it answers."""
    return any(text is None or text.strip().lower() not in _READABLE for text in config.values())


_READABLE = frozenset(
    {text for values in (*FIVE.values(), *_TWO_PHASE.values()) for text in values if isinstance(text, str)}
)


def _labels(question: IdempotenceConfigQuestion) -> Iterator[str]:
    config = set_in(question.config)
    yield _way(config)
    if None in config.values():
        yield "null"
    if config.get(NAMES["transactional_id"]) is not None:
        yield "transactional.id"
    if not config:
        yield "nothing set"


def _way(config: Config) -> str:
    if _broken(config):
        return "texts"
    if config.get(NAMES["two_phase"]) == "true" and NAMES["timeout"] in config:
        return "two-phase commit with a time limit"
    asked = (config.get(NAMES["idempotence"]) or "left alone").strip().lower()
    conflicts = [
        name
        for name, fine in (
            ("retries", ("1", "2147483647")),
            ("acks", ("all", "-1")),
            (NAMES["in_flight"], tuple("1235")),
        )
        if (config.get(name) or fine[0]).strip() not in fine
    ]
    return f"idempotence {asked}{', ' if conflicts else ''}{' and '.join(conflicts)}"


_BLANKS = st.text("\t \n\x00\u00a0", max_size=2)
_NUMBER = st.one_of(
    st.sampled_from(("0", "1", "5", "6", "2147483647", "-1", "2147483648", "-2147483649")),
    st.integers(-(2**31), 2**31 - 1).map(str),
    st.text("0123456789+-. \u0663\uff15\U0001d7d9", max_size=12),
)
_TEXT = st.text(max_size=6)  # without lone surrogates, which are not in any JSON


def _padded(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(texts, st.builds("{}{}{}".format, _BLANKS, texts, _BLANKS))


def _any(likely: tuple[str, ...], more: st.SearchStrategy[str]) -> st.SearchStrategy[_Asked]:
    return st.one_of(
        st.just(msgspec.UNSET), st.sampled_from(likely), _padded(st.sampled_from(likely)), _padded(more), st.none()
    )


_WORDS = _any(("true", "false", "True", "FALSE"), _TEXT)
_QUESTIONS = st.builds(
    combination,
    idempotence=_WORDS,
    acks=_any(("all", "-1", "0", "1"), st.one_of(_NUMBER, _TEXT)),
    retries=_any(("0", "1", "2147483647"), _NUMBER),
    in_flight=_any(("1", "5", "6"), _NUMBER),
    transactional_id=_any(("id", "another"), _TEXT),
    two_phase=st.one_of(st.just(msgspec.UNSET), st.just(msgspec.UNSET), _WORDS),
    timeout=st.one_of(st.just(msgspec.UNSET), st.just(msgspec.UNSET), _any(("60000",), _NUMBER)),
)

RULE = Rule(
    slug="idempotence-config",
    title="what a producer ends up with",
    area=Area.IDEMPOTENCE,
    releases=since("0.10.0.0"),
    question=IdempotenceConfigQuestion,
    ask=_ask,
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space("every combination of five settings", _all),
        Space("two-phase commit and its time limit × five settings", _two_phases),
        Space("every pair of texts", _texts),
    ),
    labels=_labels,
    path=lambda question: next(_labels(question)),
    required_labels=frozenset(
        {"texts", "null", "nothing set", "transactional.id", "two-phase commit with a time limit"}
        | {f"idempotence {asked}" for asked in ("left alone", "true", "false")}
        | {
            f"idempotence {asked}, {conflict}"
            for asked in ("left alone", "true")
            for conflict in ("retries", "acks", "max.in.flight.requests.per.connection", "retries and acks")
        }
    ),
    java=((since("0.10.0.0"), "kafkaoracle.idempotence_config.IdempotenceConfigRule"),),
    source="new KafkaProducer(Map, Serializer, Serializer)",
    harness=(
        "None decides: the settings are read by reflection from the Sender, the network client and the "
        "TransactionManager that a real KafkaProducer made."
    ),
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-13598",
        "https://issues.apache.org/jira/browse/KAFKA-13673",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-679%3A+Producer+will+enable+the+strongest+delivery+guarantee+by+default",
    ),
)
