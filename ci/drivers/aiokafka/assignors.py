"""aiokafka's assignors, asked as the leader of a group asks them: with subscriptions as its own members write them.

The assignor is not told which members are static, and no member its generation: nothing calls on_generation_assignment.
"""

from functools import partial

from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.coordinator.protocol import ConsumerProtocol


def cluster(partitions):
    """The metadata of these topics, each with its partitions by number."""
    metadata = ClusterMetadata()
    metadata._partitions = partitions
    return metadata


def subscription(assignor, member):
    """What the member sends with JoinGroup: its topics and, by the sticky assignor, what it was told that it owns."""
    own = type("Own", (assignor,), {})  # an assignor keeps this in its class: each member has a separate process
    if assignor is StickyPartitionAssignor and (member["owned"] or member["generation"] is not None):
        owned = {}
        for topic, partition in member["owned"]:
            owned.setdefault(topic, []).append(partition)
        own.on_assignment(ConsumerProtocol.ASSIGNMENT(0, list(owned.items()), b""))
    written = own.metadata(member["topics"])
    return ConsumerProtocol.METADATA.decode(written.encode())


def assigned(assignor, racks, q):
    if racks and q["racks"] and any(member["rack"] for member in q["members"]):
        return {"unsupported": "it does not look at racks"}
    if assignor is StickyPartitionAssignor and any(one["owned"] and one["generation"] is None for one in q["members"]):
        return {"unsupported": "a member that owns partitions has a generation"}
    subscribed = {topic for member in q["members"] for topic in member["topics"]}
    topics = {topic: dict.fromkeys(range(count)) for topic, count in q["topics"].items() if topic in subscribed}
    members = {member["id"]: subscription(assignor, member) for member in q["members"]}
    plan = assignor.assign(cluster(topics), members)
    return {"answer": {"assignment": {each: [list(tp) for tp in its.partitions()] for each, its in plan.items()}}}


ASSIGNORS = {  # Java's looks at racks, but for round-robin
    "range-assignor": partial(assigned, RangePartitionAssignor, True),
    "round-robin-assignor": partial(assigned, RoundRobinPartitionAssignor, False),
    "sticky-assignor": partial(assigned, StickyPartitionAssignor, True),
}
GRADES = {"sticky-assignor": "admissible"}
