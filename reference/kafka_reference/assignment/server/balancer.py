"""The choice of the next member to give a partition to, and of the next one to take from, within one topic.

Members are sorted by the number of their partitions. Those with the fewest form a range at one end, which gets one partition
each, in order, and then grows by the members that have as many; those with the most form a range at the other end, which
gives one each and grows the same way.

Java source mirrored: ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``, since 4.0.0,
https://github.com/apache/kafka/blob/4.0.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformHeterogeneousAssignmentBuilder.java
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Balancer"]


class Balancer:
    """The members of one topic. ``sizes`` are the partitions of each member, by index; they change while this is used."""

    def __init__(self, sizes: list[int], members: Iterable[int]) -> None:
        self._sizes = sizes
        self._members = sorted(members, key=lambda member: (sizes[member], member))
        self._least_end, self._least_count, self._next_least = 0, sizes[self._members[0]] - 1, 0
        self._most_start = self._most_end = len(self._members)
        self._most_count = sizes[self._members[-1]] + 1
        self._next_most = len(self._members) - 1
        self.imbalance = sizes[self._members[-1]] - sizes[self._members[0]]

    def least_loaded(self) -> int:
        """Return the member to give the next partition to."""
        if self._next_least >= self._least_end:
            self._least_count += 1
            while self._least_end < len(self._members) and self._size(self._least_end) == self._least_count:
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._members[self._next_least - 1]

    def most_loaded(self) -> int | None:
        """Return the member to take the next partition from; None if no member has any to give."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_count = self._size(self._most_start - 1)
            else:
                self._most_count -= 1
            while self._most_start > 0 and self._size(self._most_start - 1) == self._most_count:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._members[self._next_most + 1]

    def exclude_most_loaded(self) -> None:
        """Leave out the member that :meth:`most_loaded` returned last."""
        place, end = self._next_most + 1, self._most_end - 1
        self._members[place], self._members[end] = self._members[end], self._members[place]
        self._most_end -= 1

    def is_balanced(self) -> bool:
        """Return whether the two ranges differ by one partition at most."""
        return self._most_count - self._least_count <= 1

    def _size(self, place: int) -> int:
        return self._sizes[self._members[place]]
