"""kafka-python's assignors, asked as the leader of a group asks them: with subscriptions as its own members write them.

Members of a cooperative group write no generation.
"""

from functools import partial

from kafka.cluster import ClusterMetadata
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.group import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription


def cluster(partitions):
    metadata = ClusterMetadata()
    metadata._partitions = partitions
    return metadata


def subscription(assignor, member):
    """What the member sends with JoinGroup: its topics and, by a sticky assignor, what it was told that it owns."""
    generation = -1 if member["generation"] is None else member["generation"]
    if member["owned"] or generation != -1:
        owned = {}
        for topic, partition in member["owned"]:
            owned.setdefault(topic, []).append(partition)
        assignor.on_assignment(ConsumerProtocolAssignment(0, list(owned.items()), b""), generation)
    return ConsumerProtocolSubscription.decode(assignor.metadata(member["topics"]).encode())


def assigned(assignor, racks, q):
    if racks and q["racks"] and any(member["rack"] for member in q["members"]):
        return {"unsupported": "it does not look at racks"}
    if assignor is StickyPartitionAssignor and any(one["owned"] and one["generation"] is None for one in q["members"]):
        return {"unsupported": "a member that owns partitions has a generation"}
    member, subscribed = JoinGroupResponse.JoinGroupResponseMember, {t for one in q["members"] for t in one["topics"]}
    members = [member(one["id"], one["instance"], subscription(assignor(), one)) for one in q["members"]]
    topics = {topic: dict.fromkeys(range(count)) for topic, count in q["topics"].items() if topic in subscribed}
    try:
        plan = assignor().assign(cluster(topics), members)
    except KeyError:
        return {"answer": {"raises": "KeyError"}}
    return {"answer": {"assignment": {each: [list(tp) for tp in its.partitions()] for each, its in plan.items()}}}


ASSIGNORS = {  # Java's looks at racks, but for round-robin
    "range-assignor": partial(assigned, RangePartitionAssignor, True),
    "round-robin-assignor": partial(assigned, RoundRobinPartitionAssignor, False),
    "sticky-assignor": partial(assigned, StickyPartitionAssignor, True),
    "cooperative-sticky-assignor": partial(assigned, CooperativeStickyAssignor, True),
}
