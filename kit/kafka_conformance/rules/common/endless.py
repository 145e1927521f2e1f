"""Questions without an end: legal settings or metadata with which Kafka's producer loops for ever.

The reference raises an error instead: :mod:`kafka_reference.accumulator.endless`, ``StickyPartitionCache``. Java has no such
limit, so the reference is asked first about the few questions that may have no end, and Java only about those that end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_reference.errors import DrawsExhausted, JavaException, NeverReturns, QuestionError
from kafka_reference.releases import Release

__all__ = ["endless_append", "endless_cache"]

_Ask: TypeAlias = Callable[[Any, Release], Answer]
_Endless: TypeAlias = Callable[[Any, Release], str]

# From here on, twice the batch size is a negative int32.
_OVERFLOWS = 2**30


def endless_append(ask: _Ask) -> _Endless:
    """Return the function that says why an append of a question has no end, or ""; ``ask`` is the rule's reference.

    The batch size leaves every partition at once: see :mod:`kafka_reference.accumulator.endless`.
    """
    return _endless(lambda question: question.config.batch_size >= _OVERFLOWS, ask, NeverReturns)


def endless_cache(ask: _Ask) -> _Endless:
    """Return the function that says why a choice of the sticky cache has no end, or ""; ``ask`` is the rule's reference.

    All partitions with a leader, at least two, have the same id: the cache looks for another id.
    """

    def may_loop(question: Any) -> bool:
        steps = (getattr(step, "cluster", None) for step in getattr(question, "steps", ()))
        return any(_has_one_id(cluster) for cluster in (question.cluster, *steps) if cluster is not None)

    return _endless(may_loop, ask, DrawsExhausted)


def _has_one_id(cluster: AskedCluster) -> bool:
    available = [partition.id for partition in cluster.partitions if partition.leader is not None]
    return len(available) > 1 and len(set(available)) == 1


def _endless(may_loop: Callable[[Any], bool], ask: _Ask, loops: type[QuestionError]) -> _Endless:
    def endless(question: Any, release: Release) -> str:
        if not may_loop(question):
            return ""
        try:
            ask(question, release)
        except loops as error:
            return str(error)
        except (JavaException, QuestionError):
            return ""
        return ""

    return endless
