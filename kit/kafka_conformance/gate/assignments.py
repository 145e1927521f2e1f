"""Answers of assignors, compared by what each member gets.

The leader of a group sends each member its partitions by topic, and the member keeps them as a set: their order in Java's
assignment is seen by no user.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Answer, to_json

__all__ = ["in_any_order"]


def in_any_order(answer: Answer) -> Answer:
    """Return an assignment with each member's partitions sorted, duplicates included; other answers are unchanged."""
    assignment = answer.get("assignment")
    if answer.keys() != {"assignment"} or not isinstance(assignment, dict):
        return answer
    ordered = {
        each: sorted(owned, key=to_json) if isinstance(owned, list) else owned for each, owned in assignment.items()
    }
    return {"assignment": ordered}
