"""The rule ``consumer-fetch``: what a consumer delivers of a fetch response.

::

    {"records": "0000…", "fetch_offset": 11, "read_committed": true, "aborted": [[7, 10]]}
        {"delivered": [11, 12], "position": 14}
        {"delivered": [11], "position": 12, "raises": "KafkaException", "cause": "KafkaException", "again": "KafkaException"}

The answer is that of all polls until the response is used up, or one throws; ``again`` is what the next poll does.

Not asked: 0.11.0.0, which after an exception reads on in the middle of a batch, or delivers one record up to 500 times;
error codes of a response; deserializers that throw; offsets below 0 or beyond 2^53.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.consumer_fetch import spaces
from kafka_conformance.rules.consumer_fetch.adapter import ask
from kafka_conformance.rules.consumer_fetch.domain import OPTIONAL_LABELS, OPTIONAL_PARTS, domain, nearest, plain
from kafka_conformance.rules.consumer_fetch.explain import explain_fetch
from kafka_conformance.rules.consumer_fetch.generators import questions
from kafka_conformance.rules.consumer_fetch.harmless import harmless
from kafka_conformance.rules.consumer_fetch.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_reference.consumer import CONSUMER_FETCH, ConsumerFetchBehaviour
from kafka_reference.record_batch import RecordBatchBehaviour

__all__ = ["RULE"]

_KIP = "https://cwiki.apache.org/confluence/display/KAFKA"

RULE = Rule(
    slug="consumer-fetch",
    title="CompletedFetch: what a consumer delivers of a fetch response",
    area=Area.LOG,
    releases=CONSUMER_FETCH,
    question=ConsumerFetchQuestion,
    ask=ask,
    strategy=questions,
    spaces=(
        Space(
            "two transactions of one producer around one of another: markers, offsets, isolation", spaces.every_marker
        ),
        Space("what follows a marker: a transaction, a damaged batch, lower offsets", spaces.every_marker_run),
        Space("lists of aborted transactions: every order, entries too many and too few", spaces.every_abort_list),
        Space("a batch with each subset of its records, at each offset", spaces.every_compacted_batch),
        Space("two batches of each format and codec, fetched at each offset", spaces.every_offset),
        Space("each prefix of two batches, of messages and of a wrapper", spaces.every_cut),
        Space("a damaged batch: each wrong field, with and without check.crcs", spaces.every_damage),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    explain=explain_fetch,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    harmless=harmless,
    java=((CONSUMER_FETCH, "kafkaoracle.consumer_fetch.ConsumerFetchRule"),),
    codecs=True,
    source="CompletedFetch, FetchCollector (since 3.7.0); Fetcher, SubscriptionState",
    links=(
        f"{_KIP}/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
        "https://kafka.apache.org/documentation/#consumerconfigs_isolation.level",
    ),
    harness=(
        "The loop of polls is the kit's: Fetcher.collectFetch (fetchedRecords, up to 3.1.x) of a Fetcher without a network, "
        "until a poll returns nothing or throws, and once more after an exception. The response has no error, no high "
        "watermark and version 11."
    ),
    behaviours=(ConsumerFetchBehaviour, RecordBatchBehaviour),
)
