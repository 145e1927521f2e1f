"""Where each mistake was made: a port's own issue, a pull request that mends it, or the line of source that has it.

Only what was looked up and says so is here. A mistake of Kafka's own, mended in a later release, has the pull request that
mended it. Most mutants without a thread are ours: mistakes that could be made, of which no trace was found.
"""

from __future__ import annotations

__all__ = ["REFERENCES"]


_KAFKA = "https://github.com/apache/kafka/pull/"
_AIOKAFKA = "https://github.com/aio-libs/aiokafka/blob/672947afe85c91b7d953f0259e69837a711d3246/aiokafka"
_BALANCERS = "https://github.com/segmentio/kafka-go/issues/581"
_DEKAF = "https://github.com/thomhurst/Dekaf/issues/"
_EMPTY = (
    "https://github.com/confluentinc/librdkafka/issues/4510",
    "https://github.com/SOHU-Co/kafka-node/pull/265",
    _BALANCERS,
)
_NULL = (
    "https://github.com/google/go-cloud/pull/2941",
    "https://github.com/Aiven-Open/karapace/pull/662",
    "https://github.com/IBM/sarama/issues/1957",
)
_UNSIGNED = (
    "https://github.com/platformatic/kafka/issues/121",
    "https://github.com/kafkaex/kafka_ex/issues/398",
    f"{_DEKAF}1336",
    "https://github.com/confluentinc/librdkafka/pull/1816",
)
_CRC32 = (
    "https://github.com/tulios/kafkajs/issues/1154",
    "https://github.com/confluentinc/confluent-kafka-dotnet/issues/165",
    "https://github.com/fluent/fluent-plugin-kafka/pull/405",
    "https://github.com/segmentio/kafka-go/issues/138",
)
_FNV_1A = ("https://github.com/IBM/sarama/issues/1424", "https://github.com/birdayz/kaf/issues/400")
_MIN_INT = ("https://github.com/IBM/sarama/pull/709", "https://github.com/elastic/beats/pull/25048")
_BY_DOUBLES = ("https://github.com/tulios/kafkajs/issues/357", "https://github.com/tulios/kafkajs/pull/358")
_NO_SEED = ("https://github.com/nodefluent/node-sinek/issues/39",)
_KAFKA_NODE = (
    "https://github.com/SOHU-Co/kafka-node/blob/fcc8aefc7798f6e4b79d9b5c31f047c1933329e6/lib/partitioner.js",
)
_SCALA = (
    "https://github.com/apache/kafka/blob/0.10.0.0/core/src/main/scala/kafka/producer/ByteArrayPartitioner.scala",
)
_ROUND_ROBIN = (f"{_KAFKA}17620", f"{_KAFKA}11326")
REFERENCES: dict[str, tuple[str, ...]] = {
    # The hash of a key.
    "seed-left-out": _NO_SEED,
    "characters-for-bytes": ("https://github.com/nodefluent/node-sinek/issues/40",),
    "unsigned-hash": _UNSIGNED,
    "crc32": _CRC32,
    "fnv-1a": _FNV_1A,
    "arrays-hash-code": _SCALA,
    "murmur2-by-doubles": _BY_DOUBLES,
    "tail-not-fallen-through": ("https://github.com/dpkp/kafka-python/pull/439",),
    "first-byte-only": ("https://github.com/collectd/collectd/pull/1765",),
    "murmur3-no-seed": ("https://github.com/nodefluent/node-sinek/issues/33",),
    "kafka-node": _KAFKA_NODE,
    # From the hash to the partition.
    "sign-abs": ("https://github.com/IBM/sarama/pull/1114", "https://github.com/dpkp/kafka-python/issues/374"),
    "sign-negate": _MIN_INT,
    "unsigned": _UNSIGNED,
    "sign-kept": (
        "https://github.com/rsyslog/rsyslog/pull/695",
        "https://github.com/GoogleCloudPlatform/pubsub/issues/104",
    ),
    "null-hashed-as-empty": _NULL,
    "empty-taken-for-null": _EMPTY,
    "librdkafka-consistent": _CRC32,
    "sarama-crc32": ("https://github.com/IBM/sarama/issues/2430",),
    "sarama-hash": (*_FNV_1A, "https://github.com/confluentinc/librdkafka/issues/2724"),
    "sarama-reference-hash": (
        "https://github.com/segmentio/kafka-go/issues/905",
        "https://github.com/IBM/sarama/pull/1114",
    ),
    "scala-producer": _SCALA,
    "kafka-node-keyed": _KAFKA_NODE,
    "murmur3-unsigned": ("https://github.com/nodefluent/node-sinek/issues/33",),
    "sinek-murmur2": (*_NO_SEED, "https://github.com/nodefluent/node-sinek/issues/40"),
    "kafkajs-legacy": _BY_DOUBLES,
    # What a producer looks at.
    "next-led": (
        "https://github.com/collectd/collectd/pull/853",
        "https://github.com/balabit/syslog-ng-incubator/pull/110",
    ),
    "empty-key-is-none": _EMPTY,
    "null-key-is-empty": _NULL,
    "negative-unchecked": (f"{_KAFKA}10525",),
    "as-3.2": (f"{_KAFKA}12049", f"{_DEKAF}1385"),
    "as-3.1": (f"{_KAFKA}10525",),
    "as-0.10.0": (f"{_KAFKA}1995",),
    # The partitioners that are asked record by record.
    "default-empty-key-is-none": _EMPTY,
    "default-null-is-empty": _NULL,
    "default-never-switches": ("https://github.com/dpkp/kafka-python/pull/2989",),
    "uniform-never-switches": ("https://github.com/dpkp/kafka-python/pull/2989",),
    "default-2.3-in-2.4": ("https://github.com/segmentio/kafka-go/issues/584",),
    "default-0.10.1-in-0.11": (f"{_KAFKA}2128",),
    "round-3.9.1-in-3.9.2": _ROUND_ROBIN,
    "round-one-counter": (f"{_KAFKA}2128",),
    "spread-as-3.9.1": _ROUND_ROBIN,
    "spread-switch-not-put-off": (f"{_KAFKA}12570",),
    "spread-never-drained": (f"{_KAFKA}12049",),
    "always-allowed": (f"{_KAFKA}12570",),
    "empty-batches": (f"{_KAFKA}12752",),
    "builtin-3.3.1-in-3.3.2": (f"{_KAFKA}12752",),
    "adaptive-ignored": (f"{_DEKAF}1385",),
    "builtin-4.3-in-4.4": (f"{_KAFKA}19850", f"{_DEKAF}2223"),
}
