"""A driver as an answerer: a child process that is asked in batches, and restarted when it breaks the protocol.

When a connection breaks, some questions of its batch are unanswered, and it is not known which of them did it. A driver
mostly answers in order, so the first of them is asked alone, in a separate child which is read to its end; then the
others by halves, and if it was none of them, the one that was answered last. What breaks a connection alone is at fault,
and is Lost; the others get their answers. If nothing breaks when asked again, the first of them is still Lost: a
break that happened is never passed over.

Each restart takes time, and each hang a whole limit, so both are limited, for a rule and for all rules (``Limits``).
After that its questions are Lost without being asked, and say so. The questions that are most like those at fault are
therefore asked last (:mod:`.crash_history`); when several of them in a row end the driver, the others are not asked.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from kafka_conformance.answerers.driver.connection import AnswerRoom, Asked, Command, Connection, Limits
from kafka_conformance.answerers.driver.crash_history import CrashHistory
from kafka_conformance.answerers.driver.lines import DriverHello
from kafka_conformance.answerers.driver.process import Shown, on_stderr
from kafka_conformance.answerers.driver.protocol_errors import Broke, quoted
from kafka_conformance.core import events, interrupts
from kafka_conformance.core.errors import TargetLost
from kafka_conformance.core.protocol import Lost, Outcome, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_reference.releases import Release

__all__ = ["BATCH", "DriverAnswerer"]

BATCH = 256
_HANGS = frozenset({"hangs", "unflushed", "mute"})


class DriverAnswerer:
    """A driver, as a context manager. Raises TargetLost if it does not start with a hello."""

    def __init__(self, command: Command, limits: Limits | None = None) -> None:
        self._command, self._limits, self._shown = command, limits or Limits(), Shown(command.show)
        self._count = 0
        self._spent: Counter[str] = Counter()
        self._hung: Counter[str] = Counter()
        self._restarting_s = 0.0
        self._last: dict[str, Lost] = {}
        self._full: set[str] = set()
        self._rooms: defaultdict[str, AnswerRoom] = defaultdict(lambda: AnswerRoom(self._limits.room))
        self._histories: defaultdict[str, CrashHistory] = defaultdict(CrashHistory)
        # A hello that fails is reported at once: below standard error, if that is shown to the user.
        self._connection: Connection | None = Connection(
            command, self._limits, self._shown, quotes_stderr=command.show is not on_stderr
        )
        try:
            hello = self._connection.open()
            if isinstance(hello, Broke):
                raise TargetLost(hello.lost.error, hello.lost.what, hello.lost.hint)
        except BaseException as error:
            self._end(error)
            raise
        self.description = _description(hello, command)
        self.rules: frozenset[str] | None = frozenset(hello.rules)
        self.grades: Mapping[str, events.Grade] = dict(hello.grades)

    @property
    def name(self) -> str:
        """What the driver calls itself."""
        return self.description.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question."""
        if self.rules is not None and rule.slug not in self.rules:
            return [Unsupported(f"the driver's hello does not name {rule.slug}")] * len(questions)
        asked = [
            Asked(f"q{self._count + n}", rule.slug, str(release), question) for n, question in enumerate(questions, 1)
        ]
        self._count += len(asked)
        self._rooms[rule.slug].left += self._limits.room_each * len(asked)
        outcomes: dict[str, Outcome] = {}
        rest: Sequence[Asked] = asked
        in_a_row = 0
        while rest and in_a_row < self._limits.in_a_row and self._given_up(rule.slug) is None:
            batch = self._next_batch(rule.slug, rest, mixed=in_a_row > 1)
            self._settle(batch, outcomes)
            answered = any(not isinstance(outcomes.get(one.id), Lost | None) for one in batch)
            in_a_row = 0 if answered else in_a_row + 1
            rest = [one for one in rest if one.id not in outcomes]
        outcomes.update((one.id, self._given_up(rule.slug) or self._rest_lost(rule.slug)) for one in rest)
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

    def _next_batch(self, rule: str, rest: Sequence[Asked], *, mixed: bool) -> Sequence[Asked]:
        """Return the questions that are least like those that ended the driver, in their order or ``mixed``."""
        history = self._histories[rule]
        if not history:
            return rest[:BATCH]
        if mixed:  # neighbours are similar in ways that their values do not show
            rest = random.Random(len(rest)).sample(rest, len(rest))  # noqa: S311  deterministic on purpose
        risks = {one.id: history.risk(one.question) for one in rest}
        least, most = min(risks.values()), max(risks.values())
        batch = [one for one in rest if risks[one.id] <= (least + most) / 2]
        return sorted(batch, key=lambda one: risks[one.id])[:BATCH]

    def _settle(self, batch: Sequence[Asked], outcomes: dict[str, Outcome]) -> None:
        """Ask a batch. If it breaks the connection, find one question at fault; others may be left without an outcome."""
        broke = self._put(batch, outcomes)
        left = [one for one in batch if one.id not in outcomes]
        if broke is None:
            return
        if broke.culprit not in {one.id for one in batch}:  # unknown, or of a call before this one
            self._search(batch, left, broke.lost, outcomes)
        else:
            self._blame(next(one for one in batch if one.id == broke.culprit), broke.lost, outcomes)

    def _search(
        self, batch: Sequence[Asked], suspects: Sequence[Asked], lost: Lost, outcomes: dict[str, Outcome]
    ) -> None:
        """One of the suspects broke the connection, or the one that was answered before them: find it by asking again."""
        ids = {one.id: one for one in batch}
        before = next((ids[name] for name in reversed(outcomes) if name in ids), None)
        parts = [list(suspects[:1]), *_halves(suspects[1:])]
        while parts:
            if self._given_up(batch[0].rule) is not None:
                self._blame(parts[0][0], lost, outcomes)
                return
            part = parts.pop(0)
            broke = self._put(part, outcomes, alone=len(part) == 1)
            if broke is None:
                continue
            left = [one for one in part if one.id not in outcomes]
            if broke.culprit in {one.id for one in part} or len(part) == 1:
                self._blame(next((one for one in part if one.id == broke.culprit), part[0]), broke.lost, outcomes)
                return
            parts = [list(left[:1]), *_halves(left[1:])]
        if before is not None and (broke := self._put([before], {}, alone=True)) is not None:
            self._blame(before, broke.lost, outcomes)
        else:
            again = f"{lost.what}; asked again, it did not do so"
            self._blame(suspects[0], dataclasses.replace(lost, what=again), outcomes)

    def _blame(self, one: Asked, lost: Lost, outcomes: dict[str, Outcome]) -> None:
        outcomes[one.id] = lost
        self._histories[one.rule].add_crashed(one.question)

    def _put(self, batch: Sequence[Asked], outcomes: dict[str, Outcome], *, alone: bool = False) -> Broke | None:
        """Ask these questions, of a new child if the last connection broke; return how this one broke."""
        rule = batch[0].rule
        broke = None
        if self._connection is None:
            self._connection = Connection(self._command, self._limits, self._shown)
            opened = self._connection.open()
            broke = opened if isinstance(opened, Broke) else None
        if broke is None:
            broke = self._connection.put(batch, outcomes, self._rooms[rule])
            self._histories[rule].add_answered(one.question for one in batch if one.id in outcomes)
        if broke is None and alone:
            broke = self._connection.finish()
        if broke is not None:
            self._last[rule] = broke.lost
            self._hung[rule] += broke.lost.error in _HANGS
            if self._rooms[rule].left < 0:
                self._full.add(rule)
        if broke is not None or alone:
            self._spent[rule] += 1  # by this rule, whichever is asked next
            self._connection.close(at_once=True)
            if broke is None or broke.lost.error not in _HANGS:
                self._restarting_s += self._connection.overhead_s
            self._connection = None
        return broke

    def _rest_lost(self, rule: str) -> Lost:
        """Return the outcome of the questions that are left after too many in a row ended the driver."""
        last = self._last[rule]
        what = f"{last.what}; after {self._limits.in_a_row} such questions in a row the others like them were not asked"
        return dataclasses.replace(last, what=what, asked=False)

    def _given_up(self, rule: str) -> Lost | None:
        """Return the outcome of the questions that are not asked any more, if the rule has used up what it may."""
        if (last := self._last.get(rule)) is None:
            return None
        spent, hung, limits = self._spent[rule], self._hung[rule], self._limits
        times = ""
        if rule in self._full:
            times = "that"
        elif hung >= limits.hangs or (hung and self._hung.total() >= limits.all_hangs):
            times = f"{hung} times it hung over {rule}"
        elif spent >= limits.restarts:
            times = f"{spent} restarts over {rule}"
        elif self._spent.total() >= limits.all_restarts:
            times = f"{self._spent.total()} restarts over all rules"
        elif self._restarting_s >= limits.restarting_s:
            times = f"{limits.restarting_s:g} s of restarts over all rules"
        if not times:
            return None
        return dataclasses.replace(last, what=f"{last.what}; after {times} it was not asked any more", asked=False)


def _halves(asked: Sequence[Asked]) -> list[list[Asked]]:
    middle = (len(asked) + 1) // 2
    return [list(half) for half in (asked[:middle], asked[middle:]) if half]


def _description(hello: DriverHello, command: Command) -> events.Target:
    return events.Target(
        quoted(hello.name) or "a driver without a name", quoted(hello.version), quoted(hello.language), str(command)
    )
