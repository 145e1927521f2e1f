"""Known mistakes of consumers: offsets, positions, markers, aborted transactions, old formats, exceptions."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.mutations import on
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_conformance.rules.consumer_fetch.rule import RULE
from kafka_reference.consumer import CompletedFetch, completed_fetch
from kafka_reference.errors import IllegalStateException
from kafka_reference.record_batch import Batch, DefaultBatch, LegacyBatch
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_GITHUB = "https://github.com"
_FRANZ_GO = "twmb/franz-go/blob/adb3a18abe14bdb230f1cd738d03623301013d42/CHANGELOG.md"


class _DeliversBelow(CompletedFetch):
    """All records of a batch are delivered, also those below the fetch offset."""

    def _is_wanted(self, _: Batch, __: int) -> bool:
        return True


class _DropsBatchBelow(CompletedFetch):
    """A batch that begins below the fetch offset is dropped whole."""

    def _is_wanted(self, batch: Batch, _: int) -> bool:
        return batch.base_offset >= self.position


class _DeliversOneBelow(CompletedFetch):
    """The record before the fetch offset is delivered again."""

    def _is_wanted(self, _: Batch, offset: int) -> bool:
        return offset >= self.position - 1


class _BehindLastRecord(CompletedFetch):
    """The position follows the last record that was read, not the last offset of the batch."""

    def _offset_behind(self, _: Batch) -> int:
        return self._next_offset


class _BehindCount(CompletedFetch):
    """The position is the first offset of the batch and the number of its records."""

    def _offset_behind(self, batch: Batch) -> int:
        return batch.next_offset if batch.record_count is None else batch.base_offset + batch.record_count


class _BehindOneMore(CompletedFetch):
    """The position behind a batch without records is its last offset: it is fetched again and again."""

    def _offset_behind(self, batch: Batch) -> int:
        return batch.last_offset if batch.record_count == 0 else batch.next_offset


class _GivenOrder(CompletedFetch):
    """The list of aborted transactions is read from its front, in the order of the broker."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._queue = [(each.first_offset, each.producer_id) for each in arguments[3]]

    def _take_aborted(self, last_offset: int) -> None:
        while self._queue and self._queue[0][0] <= last_offset:
            self._aborted_producers.add(self._queue.pop(0)[1])


class _BelowFirst(CompletedFetch):
    """A transaction is aborted from the batch on that follows its first."""

    def _take_aborted(self, last_offset: int) -> None:
        super()._take_aborted(last_offset - 1)


class _FromTheStart(CompletedFetch):
    """A producer in the list is aborted from the first batch of the response on."""

    def _take_aborted(self, _: int) -> None:
        super()._take_aborted(2**63)


class _NeverEnds(CompletedFetch):
    """Behind an abort marker the producer remains aborted."""

    def _end_aborted(self, _: int) -> None:
        pass


class _AnyMarkerEnds(CompletedFetch):
    """The first marker of a producer in the list ends its aborted transaction, also one of an earlier transaction."""

    def _is_abort_marker(self, batch: DefaultBatch) -> bool:
        if batch.control:
            self._queue = [each for each in self._queue if each[1] != batch.producer_id]
        return batch.control


class _OneMarkerOnly(CompletedFetch):
    """A marker of a producer that is not aborted is an error."""

    def _is_abort_marker(self, batch: DefaultBatch) -> bool:
        if (found := super()._is_abort_marker(batch)) and batch.producer_id not in self._aborted_producers:
            raise IllegalStateException
        return found


class _AllOfProducer(CompletedFetch):
    """Batches of an aborted producer that are not transactional are skipped as well."""

    def _skips(self, batch: DefaultBatch) -> bool:
        return super()._skips(batch) or (not batch.control and batch.producer_id in self._aborted_producers)


class _SkipsAfterDelivery(CompletedFetch):
    """An aborted batch is skipped, but the position stays: a response of such batches is fetched again and again."""

    def _skips(self, batch: DefaultBatch) -> bool:
        skipped = super()._skips(batch)
        self._held = getattr(self, "_held", True) and skipped
        return skipped

    def _offset_behind(self, batch: Batch) -> int:
        return self.position if getattr(self, "_held", False) else batch.next_offset


def _by(fetch: type[CompletedFetch]) -> Ask:
    """Answer with this class in place of the reference's."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.object(completed_fetch, "CompletedFetch", fetch):
            return RULE.ask(question, release)

    return ask


def _with(target: Any, name: str, value: Any) -> Ask:
    """Answer with another attribute of a class of the reference."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.object(target, name, value):
            return RULE.ask(question, release)

    return ask


def _last_of_producer(question: ConsumerFetchQuestion) -> ConsumerFetchQuestion:
    return replaced(question, aborted=tuple(dict(question.aborted).items()))


def _reversed_pairs(question: ConsumerFetchQuestion) -> ConsumerFetchQuestion:
    return replaced(question, aborted=tuple((first, producer) for producer, first in question.aborted))


def _loses_read(question: Any, release: Release) -> Answer:
    answer = RULE.ask(question, release)
    if "raises" in answer:
        return {**answer, "delivered": [], "position": question.fetch_offset}
    return answer


def _silent(question: Any, release: Release) -> Answer:
    answer = RULE.ask(question, release)
    return {"delivered": answer["delivered"], "position": answer["position"]}


def _goes_on(question: Any, release: Release) -> Answer:
    answer = RULE.ask(question, release)
    return {**answer, "again": None} if "again" in answer else answer


def _wrongly(slug: str, description: str, ask: Ask, *references: str, release: str = "") -> Mutant:
    at = parse_release(release) if release else NEWEST
    return Mutant(slug, RULE.slug, description, ask, at, tuple(f"{_GITHUB}/{each}" for each in references))


MUTANTS = (
    _wrongly("fetch-delivers-below-offset", "records of a batch below the fetch offset are delivered", _by(_DeliversBelow),
             "thomhurst/Dekaf/issues/2074", "dpkp/kafka-python/issues/322", "dpkp/kafka-python/pull/1239",
             "kafka4beam/brod/issues/95", "influxdata/rskafka/pull/99"),
    _wrongly("fetch-drops-first-batch", "a batch that begins below the fetch offset is dropped", _by(_DropsBatchBelow)),
    _wrongly("fetch-delivers-last-again", "the record before the fetch offset is delivered", _by(_DeliversOneBelow),
             "Parsely/pykafka/pull/397"),
    _wrongly("fetch-position-of-last-record", "the position follows the last record, not the last offset of the batch",
             _by(_BehindLastRecord), "tulios/kafkajs/issues/562", "confluentinc/librdkafka/issues/3400"),
    _wrongly("fetch-position-by-count", "the position is the base offset and the number of records", _by(_BehindCount),
             "segmentio/kafka-go/pull/813"),
    _wrongly("fetch-stuck-at-empty-batch", "the position is the last offset of a batch that compaction emptied",
             _by(_BehindOneMore), "confluentinc/librdkafka/issues/3400"),
    _wrongly("fetch-stuck-at-aborted", "the position stays at batches that are skipped whole", _by(_SkipsAfterDelivery),
             "tulios/kafkajs/issues/403", "kafkaex/kafka_ex/pull/557"),
    _wrongly("fetch-delivers-markers", "control records are delivered", _with(DefaultBatch, "control", False),
             "segmentio/kafka-go/pull/1446", "kafkaex/kafka_ex/pull/557"),
    _wrongly("fetch-ignores-abort-list", "the list of aborted transactions is not read",
             on(RULE.slug, lambda question: replaced(question, aborted=())), "segmentio/kafka-go/pull/1446",
             "segmentio/kafka-go/issues/1332"),
    _wrongly("fetch-abort-list-in-given-order", "the list is expected in the order of offsets", _by(_GivenOrder),
             _FRANZ_GO),
    _wrongly("fetch-abort-list-by-producer", "of a producer, the last entry of the list counts",
             on(RULE.slug, _last_of_producer)),
    _wrongly("fetch-abort-list-swapped", "producer id and first offset are swapped", on(RULE.slug, _reversed_pairs)),
    _wrongly("fetch-abort-begins-late", "a transaction is aborted from its second batch on", _by(_BelowFirst)),
    _wrongly("fetch-abort-begins-early", "the first offset of an aborted transaction is ignored", _by(_FromTheStart)),
    _wrongly("fetch-abort-never-ends", "an abort marker does not end the transaction", _by(_NeverEnds)),
    _wrongly("fetch-commit-ends-abort", "the first marker of a producer ends its aborted transaction, even a commit",
             _by(_AnyMarkerEnds), "kafka4beam/brod/pull/659"),
    _wrongly("fetch-marker-without-entry-fails", "an abort marker without an entry in the list is an error",
             _by(_OneMarkerOnly), "platformatic/kafka/issues/391", _FRANZ_GO),
    _wrongly("fetch-aborts-plain-batches", "idempotent batches of an aborted producer are skipped", _by(_AllOfProducer)),
    _wrongly("fetch-aborts-uncommitted", "aborted transactions are skipped at either isolation level",
             on(RULE.slug, lambda question: replaced(question, read_committed=True)),
             "twmb/franz-go/pull/758"),
    _wrongly("fetch-relative-offsets", "offsets in a wrapper of magic 1 are taken as absolute",
             _with(LegacyBatch, "_base_of_inner_offsets", lambda *_: 0), "confluentinc/librdkafka/pull/2349"),
    _wrongly("fetch-offsets-from-wrapper", "offsets in a wrapper of magic 1 begin at the wrapper's",
             _with(LegacyBatch, "_base_of_inner_offsets", lambda batch, _: batch.message.offset)),
    _wrongly("fetch-crc-unchecked", "CRCs are not checked",
             on(RULE.slug, lambda question: replaced(question, check_crcs=False))),
    _wrongly("fetch-exception-loses-records", "records before an exception are not delivered", _loses_read),
    _wrongly("fetch-exception-is-silent", "a batch that cannot be read ends the response silently", _silent,
             "criteo/kafka-sharp/issues/46"),
    _wrongly("fetch-exception-once", "the poll after an exception returns nothing", _goes_on),
)  # fmt: skip
