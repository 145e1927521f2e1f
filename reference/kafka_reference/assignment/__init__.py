"""Which member of a consumer group gets which partitions: the assignors.

>>> group = [Member("a", ("t",)), Member("b", ("t",))]
>>> range_assignment({"t": Topic(3)}, group)
{'a': [('t', 0), ('t', 1)], 'b': [('t', 2)]}
"""

from kafka_reference.assignment.members import Assignment, Member, Topic, TopicPartition
from kafka_reference.assignment.range import range_assignment
from kafka_reference.assignment.round_robin import round_robin_assignment
from kafka_reference.assignment.sticky import cooperative_sticky_assignment, sticky_assignment

__all__ = [
    "Assignment",
    "Member",
    "Topic",
    "TopicPartition",
    "cooperative_sticky_assignment",
    "range_assignment",
    "round_robin_assignment",
    "sticky_assignment",
]
