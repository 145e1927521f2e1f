"""A delivery scenario and its outcome: records on their way from an application to a partition's log, with faults.

The application sends records 0, 1, 2, … to one partition, all at once. Each record is a batch, and each batch a request. The
producer follows its settings: it numbers its batches if it is idempotent, limits its requests in flight, and retries. The
leader appends a request unless it is a duplicate or its sequence is refused. :mod:`.network` connects the two.

The outcome is read from the log of the last leader:

========== ==========================================================================================================
lost       acknowledged, but not in the log
doubled    in the log more than once
reordered  in the log, first behind a record that was sent later
failed     the application received an error; the record may still be in the log
unanswered neither acknowledged nor failed when the scenario ends
========== ==========================================================================================================

A restarted producer has another id, so the leader appends what the application sends again: idempotence covers one producer
and one partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_reference.arguments import COUNT, SETTINGS, checked
from kafka_reference.delivery.faults import CRASHES, FOLLOWERS, Fault, InvalidScenario, Kind, by_request
from kafka_reference.delivery.messages import Batch
from kafka_reference.delivery.replicas import PartitionState

__all__ = ["Outcome", "RequestOutcome", "Scenario"]


@checked(config=SETTINGS, records=COUNT)
@dataclass(frozen=True, slots=True)
class Scenario:
    """``records`` records, sent by a producer with ``config``: what a user sets, by Kafka's names, without unset ones.

    >>> Scenario({"acks": "1", "retries": 0}, records=3).replicas
    3
    """

    config: Mapping[str, object]
    records: int
    faults: Sequence[Fault] = ()
    replicas: int = 3
    min_insync_replicas: int = 1
    """``min.insync.replicas``; Kafka accepts more than there are replicas."""
    unclean_leader_election: bool = False
    """``unclean.leader.election.enable``."""

    @property
    def shows_replicas(self) -> bool:
        """Whether the outcome has the log of every replica: there is a fault of a follower, or unclean election."""
        return self.unclean_leader_election or any(fault.kind in FOLLOWERS for fault in self.faults)

    def validate(self) -> dict[int, Fault]:
        """Return the faults by request number. Raises InvalidScenario if the scenario is not possible."""
        if self.replicas < 1:
            raise InvalidScenario(f"{self.replicas} replicas: a partition has at least 1")
        if self.min_insync_replicas < 1:
            raise InvalidScenario(f"min.insync.replicas {self.min_insync_replicas}: Kafka accepts 1 or more")
        crashes = sum(fault.kind in CRASHES for fault in self.faults)
        if crashes >= self.replicas:
            raise InvalidScenario(
                f"{crashes} crashes with {self.replicas} replicas: set at least {crashes + 1} replicas, so that one is left"
            )
        found = by_request(self.faults)
        for fault in self.faults:
            if fault.replica is not None and not 0 <= fault.replica < self.replicas:
                raise InvalidScenario(
                    f"{fault.kind.value} of replica {fault.replica} with {self.replicas} replicas: choose 0 to "
                    f"{self.replicas - 1}"
                )
            at_once = found.get(fault.request)
            if fault.kind is Kind.SHRINK_ISR_AFTER_APPEND and at_once is not None and at_once.kind in CRASHES:
                raise InvalidScenario(
                    f"the leader crashes at request {fault.request}, before replica.lag.time.max.ms has passed: give "
                    f"{fault.kind.value} another request"
                )
        return found


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """A request and its result: "written", "duplicate", "lost", or the error in its response.

    A request with an error and an offset is in the log of the leader. ``partition`` is the partition after the request, if
    the scenario shows replicas.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> simulate(Scenario({}, records=2)).requests[1].result
    'written'
    """

    request: int
    batch: Batch
    fault: Fault | None
    result: str
    offset: int | None
    answered: bool
    partition: PartitionState | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the leader has not accepted the request."""
        return self.result not in ("written", "duplicate")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a scenario; records by the application's numbers. ``failed`` has the name of each exception.

    ``partition`` has all replicas, if the scenario has a fault of a follower or unclean election.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> simulate(Scenario({}, records=2)).acknowledged
    (0, 1)
    """

    log: tuple[int, ...]
    acknowledged: tuple[int, ...]
    failed: tuple[tuple[int, str], ...]
    unanswered: tuple[int, ...]
    lost: tuple[int, ...]
    doubled: tuple[int, ...]
    reordered: tuple[int, ...]
    requests: tuple[RequestOutcome, ...]
    partition: PartitionState | None = None

    @classmethod
    def from_log(
        cls, log: Iterable[Batch], records: int, completed: Mapping[int, int | str], requests: Iterable[RequestOutcome],
        partition: PartitionState | None = None,
    ) -> Outcome:  # fmt: skip
        """Return the outcome for ``records`` records; ``completed`` has an offset or an exception's name for each."""
        written = tuple(record for batch in log for record in batch.records)
        acknowledged = tuple(record for record in range(records) if isinstance(completed.get(record), int))
        first = list(dict.fromkeys(written))
        return cls(
            log=written,
            acknowledged=acknowledged,
            failed=tuple((record, result) for record, result in sorted(completed.items()) if isinstance(result, str)),
            unanswered=tuple(record for record in range(records) if record not in completed),
            lost=tuple(record for record in acknowledged if record not in written),
            doubled=tuple(sorted(record for record, times in Counter(written).items() if times > 1)),
            reordered=tuple(
                sorted(record for place, record in enumerate(first) if any(one > record for one in first[:place]))
            ),
            requests=tuple(requests),
            partition=partition,
        )
