"""A driver as an answerer: a child process that is asked in batches, and restarted when it breaks the protocol.

When a connection breaks, some questions of its batch are unanswered, and it is not known which of them did it. A driver
mostly answers in order, so the first of them is asked alone, in a child of its own which is read to its end; then the
others by halves, and if it was none of them, the one that was answered last. What breaks a connection alone is at fault,
and is Lost; the others get their answers. If nothing breaks when asked again, the first of them is Lost all the same: a
break that happened is never passed over.

Each restart takes time, and each hang a whole limit, so a rule has so many of them (``Limits``). After that its questions
are Lost without being asked, and say so.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from kafka_conformance.answerers.driver.connection import Asked, Command, Connection, Limits
from kafka_conformance.answerers.driver.lines import DriverHello
from kafka_conformance.answerers.driver.protocol_errors import Broke, quoted
from kafka_conformance.core import events, interrupts
from kafka_conformance.core.errors import TargetLost
from kafka_conformance.core.protocol import Lost, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_reference.releases import Release

__all__ = ["BATCH", "DriverAnswerer"]

BATCH = 256


class DriverAnswerer:
    """A driver, as a context manager. Raises TargetLost if it does not start with a hello."""

    def __init__(self, command: Command, limits: Limits | None = None) -> None:
        self._command, self._limits = command, limits or Limits()
        self._count = 0
        self._spent: Counter[str] = Counter()
        self._hung: Counter[str] = Counter()
        self._last: dict[str, Lost] = {}
        self._connection: Connection | None = Connection(command, self._limits)
        try:
            hello = self._connection.open()
            if isinstance(hello, Broke):
                raise TargetLost(hello.lost.error, hello.lost.what, hello.lost.hint)
        except BaseException as error:
            self._end(error)
            raise
        self.said = _said(hello, command)
        self.rules: frozenset[str] | None = frozenset(hello.rules)
        self.grades: Mapping[str, events.Grade] = dict(hello.grades)

    @property
    def name(self) -> str:
        """What the driver calls itself."""
        return self.said.name

    def answer(self, rule: Rule, at: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question."""
        if self.rules is not None and rule.slug not in self.rules:
            return [Unsupported(f"the driver's hello does not name {rule.slug}")] * len(questions)
        asked = [Asked(f"q{self._count + n}", rule.slug, str(at), question) for n, question in enumerate(questions, 1)]
        self._count += len(asked)
        outcomes: dict[str, Outcome] = {}
        for start in range(0, len(asked), BATCH):
            self._settle(asked[start : start + BATCH], outcomes)
        return [outcomes[one.id] for one in asked]

    def finish(self) -> Lost | None:
        """End the driver. Return the protocol error if it wrote anything that belongs to no question."""
        if self._connection is None:
            return None
        try:
            broke = self._connection.finish()
        finally:
            self._connection.close(at_once=True)
        self._connection = None
        return None if broke is None else broke.lost

    def close(self) -> None:
        """End the driver, and everything it started."""
        self._end(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Exception):
            interrupts.acknowledge()  # what it is doing is not worth waiting for
        if self._connection is not None:
            self._connection.close(at_once=error is not None)
        self._connection = None

    def _settle(self, batch: Sequence[Asked], outcomes: dict[str, Outcome], *, alone: bool = False) -> None:
        """Every question of the batch has an outcome afterwards."""
        if (given_up := self._given_up(batch[0].rule)) is not None:
            outcomes.update((one.id, given_up) for one in batch)
            return
        broke = self._put(batch, outcomes, alone=alone)
        if broke is None:
            return
        left = [one for one in batch if one.id not in outcomes]
        culprit = broke.culprit
        if culprit not in {*outcomes, *(one.id for one in left)}:  # unknown, or of a call before this one
            culprit = (left or batch)[0].id if alone or len(left) == 1 else None
        if culprit is None:
            ids = {one.id: one for one in batch}
            last = next((ids[name] for name in reversed(outcomes) if name in ids), None)
            self._narrow(left, last, broke.lost, outcomes)
            return
        outcomes[culprit] = broke.lost
        if left := [one for one in left if one.id != culprit]:
            self._settle(left, outcomes)

    def _narrow(
        self, suspects: Sequence[Asked], before: Asked | None, lost: Lost, outcomes: dict[str, Outcome]
    ) -> None:
        """One of these broke the connection, or the one that was answered before them: it is not known which."""
        self._settle(suspects[:1], outcomes, alone=True)
        for half in _halves(suspects[1:]):
            self._settle(half, outcomes)
        if before is not None and not any(isinstance(outcomes[one.id], Lost) for one in suspects):
            self._settle([before], outcomes, alone=True)
            suspects = [*suspects, before]
        if not any(isinstance(outcomes[one.id], Lost) for one in suspects):
            again = f"{lost.what}; asked again, it did not do so"
            outcomes[suspects[0].id] = dataclasses.replace(lost, what=again)

    def _put(self, batch: Sequence[Asked], outcomes: dict[str, Outcome], *, alone: bool) -> Broke | None:
        rule = batch[0].rule
        broke = None
        if self._connection is None:
            self._connection = Connection(self._command, self._limits)
            opened = self._connection.open()
            broke = opened if isinstance(opened, Broke) else None
        if broke is None:
            broke = self._connection.put(batch, outcomes)
        if broke is None and alone:
            broke = self._connection.finish()
        if broke is not None:
            self._last[rule] = broke.lost
            self._hung[rule] += broke.lost.error in {"hangs", "unflushed", "mute"}
        if broke is not None or alone:
            self._spent[rule] += 1  # by this rule, whichever is asked next
            self._connection.close(at_once=True)
            self._connection = None
        return broke

    def _given_up(self, rule: str) -> Lost | None:
        spent, hung = self._spent[rule], self._hung[rule]
        if spent < self._limits.restarts and hung < self._limits.hangs:
            return None
        times = f"{hung} times it hung" if hung >= self._limits.hangs else f"{spent} restarts"
        last = self._last[rule]
        return dataclasses.replace(last, what=f"{last.what}; after {times} over {rule} it was not asked any more")


def _halves(asked: Sequence[Asked]) -> Iterator[Sequence[Asked]]:
    middle = (len(asked) + 1) // 2
    return (half for half in (asked[:middle], asked[middle:]) if half)


def _said(hello: DriverHello, command: Command) -> events.Target:
    return events.Target(
        quoted(hello.name) or "a driver without a name", quoted(hello.version), quoted(hello.language), str(command)
    )
