"""The rule ``idempotence-config``: the effective settings of a producer, given the settings of a user.

In Java, each question constructs a real ``KafkaProducer``. A producer that cannot be constructed is answered by its
ConfigException.
"""

from __future__ import annotations

from dataclasses import asdict

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.idempotence_config.domain import OPTIONAL_LABELS, domain
from kafka_conformance.rules.idempotence_config.generators import configs
from kafka_conformance.rules.idempotence_config.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.idempotence_config.question import IdempotenceConfigQuestion, to_config
from kafka_conformance.rules.idempotence_config.spaces import (
    every_combination,
    every_pair_of_texts,
    every_two_phase_commit,
)
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.idempotence.config_behaviour import ProducerConfigBehaviour
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: IdempotenceConfigQuestion, release: Release) -> Answer:
    return asdict(producer_outcome(to_config(question.config), release))


RULE = Rule(
    slug="idempotence-config",
    title="effective producer settings",
    area=Area.IDEMPOTENCE,
    releases=since("0.10.0.0"),
    question=IdempotenceConfigQuestion,
    ask=_ask,
    strategy=configs,
    spaces=(
        Space("every combination of five settings", every_combination),
        Space("two-phase commit and its time limit × five settings", every_two_phase_commit),
        Space("every pair of texts", every_pair_of_texts),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    optional_labels=OPTIONAL_LABELS,
    java=((since("0.10.0.0"), "kafkaoracle.idempotence_config.IdempotenceConfigRule"),),
    source="new KafkaProducer(Map, Serializer, Serializer)",
    harness=(
        "Nothing is decided by the kit: it reads the settings by reflection from the Sender, the network client and the "
        "TransactionManager of a real KafkaProducer."
    ),
    links=(
        "https://issues.apache.org/jira/browse/KAFKA-13598",
        "https://issues.apache.org/jira/browse/KAFKA-13673",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-679%3A+Producer+will+enable+the+strongest+delivery+guarantee+by+default",
    ),
    behaviours=(ProducerConfigBehaviour,),
)
