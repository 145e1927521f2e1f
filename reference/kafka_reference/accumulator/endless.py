"""An append that never returns, in Kafka and here, ends with an error here.

Without a partition, ``append`` asks the topic's partitioner for one, and begins again if the partitioner leaves it before
the record is in a batch. Two settings make the partitioner leave every partition at once, so Kafka's ``send`` never
returns:

- ``batch.size`` of 2^30 or more: twice the batch size is a negative int32, which no count of bytes is below
- ``batch.size=0``, in 3.3.0 and 3.3.1 (KAFKA-14303)

Any other append leaves a partition twice at most. So one that has left 10,000 partitions in a row is ended. Where another
partition has an open batch, the partitioner comes to it after a few draws, and the append returns as Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from kafka_reference.errors import NeverReturns

__all__ = ["MOST_PARTITIONS_LEFT", "end_endless"]

MOST_PARTITIONS_LEFT = 10_000

Owner = TypeVar("Owner")
P = ParamSpec("P")


def end_endless(partition_changed: Callable[Concatenate[Owner, P], bool]) -> Callable[Concatenate[Owner, P], bool]:
    """Return ``partition_changed`` with a limit on how often in a row it returns True; beyond it, it raises NeverReturns.

    The decorator changes no answer, so fingerprints leave it out (``verify/reachable_code.py``).
    """
    left: WeakKeyDictionary[Owner, int] = WeakKeyDictionary()

    @wraps(partition_changed)
    def limited(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> bool:
        if not partition_changed(self, *args, **kwargs):
            if self in left:
                del left[self]
            return False
        left[self] = left.get(self, 0) + 1
        if left[self] >= MOST_PARTITIONS_LEFT:  # unreached: a question without an answer is not part of a rule
            del left[self]
            raise NeverReturns(
                f"the partitioner left {MOST_PARTITIONS_LEFT} partitions in a row: with this batch.size KafkaProducer.send "
                "of a record without a partition never returns; choose a batch.size of 1 to 1073741823"
            )
        return True

    return limited
