"""What the sticky assignors of each release do."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["CooperativeStickyAssignorBehaviour", "StickyAssignorBehaviour"]


@behaviour("StickyAssignor", since("0.11.0.0"))
class StickyAssignorBehaviour(Behaviour):
    """What both sticky assignors of a release do: StickyAssignor up to 2.3.x, AbstractStickyAssignor since 2.4.0."""

    user_data_has_generation: bool = holds(
        since("2.3.0"), "The user data of StickyAssignor carry the generation of the owned partitions.", "KAFKA-7026"
    )
    user_data_lists_topics_from_the_front: bool = holds(
        since("2.1.0"), "Topics in the same bucket of a HashMap are listed with the last one first in the user data."
    )
    unknown_topic_throws: bool = holds(
        since("0.11.0.0", until="2.2.x"),
        "A subscription to a topic that the metadata do not know throws NullPointerException.",
        "KAFKA-7962",
    )
    no_partitions_throw: bool = holds(
        since("0.11.0.0", until="2.2.x"),
        "A group that had an assignment and whose topics have no partitions throws NoSuchElementException.",
        "KAFKA-7026",
    )
    moves_new_partitions_first: bool = holds(
        since("2.4.0"),
        "The assignment is balanced by newly assigned partitions first, unless a member lost a subscription.",
        "KAFKA-8767",
    )
    lists_partitions_by_owner: bool = holds(
        since("0.11.0.0", until="2.5.0"),
        "With equal subscriptions partitions are moved in turn from the member that has most, and unowned ones last.",
        "KAFKA-9987",
    )
    equal_subscriptions_have_own_path: bool = holds(
        since("2.5.1"), "A group whose subscriptions are equal is assigned by quotas, without balancing.", "KAFKA-9987"
    )
    user_data_is_read_once: bool = holds(
        since("2.5.1", until="2.8.x"),
        "With different subscriptions, user data that were read to compare the subscriptions count as empty.",
        "KAFKA-12675",
    )
    steals_from_full_members: bool = holds(
        since("2.5.1", until="2.8.x"),
        "Every member keeps as many partitions as the largest share, and the others take from these what they lack.",
        "KAFKA-12464",
    )
    drops_partitions_of_two_owners: bool = holds(
        since("2.8.1"), "A partition that two members of the same generation claim belongs to neither.", "KAFKA-12984"
    )
    general_path_drops_old_claims: bool = holds(
        since("3.0.0"),
        "With different subscriptions a member keeps only claims that count with equal subscriptions as well.",
        "KAFKA-12675",
    )
    old_generation_keeps_unclaimed: bool = holds(
        since("3.4.1"),
        "A member of an older generation keeps the partitions that no member of a newer one claims.",
        "KAFKA-14639",
    )
    loser_counts_as_owner: bool = holds(
        since("3.4.1", until="3.5.1"),
        "A member whose claim lost to a newer generation is compared with the next claimant in its place.",
        "KAFKA-15106",
    )
    matches_racks: bool = holds(
        since("3.5.0"),
        "Members get partitions that have a replica in their rack, where shares allow it.",
        "KAFKA-14452 (KIP-881)",
    )
    one_more_is_balanced: bool = holds(
        since("3.5.2"),
        "With different subscriptions, balancing stops although a member has one partition more than another.",
        "KAFKA-15106",
    )
    keeps_lowest_partitions: bool = holds(
        since("3.7.1"), "Owned partitions are kept in the order of partition, then topic.", "KAFKA-16277"
    )
    returned_partition_is_no_transfer: bool = holds(
        since("3.7.1"), "A partition that its owner had to give up and gets again is not withheld.", "KAFKA-15170"
    )
    withholds_mismatched_racks: bool = holds(
        since("3.7.1"), "A partition that its owner gives up for its rack is withheld from the new one.", "KAFKA-15170"
    )
    rack_fill_counts_full_members: bool = holds(
        since("3.7.1"), "Members filled by rack count among those with the larger share.", "KAFKA-15170"
    )


@behaviour("CooperativeStickyAssignor", since("2.4.0"))
class CooperativeStickyAssignorBehaviour(Behaviour):
    """What CooperativeStickyAssignor reads: the generation from user data, since 3.4.0 from the subscription itself."""

    reads_generation: bool = holds(
        since("2.8.1"), "Owned partitions count by their generation; before, all of them count.", "KAFKA-12984"
    )
    reads_generation_of_subscription: bool = holds(
        since("3.4.0"),
        "The generation is that of the subscription, and that of the user data only where the subscription states none.",
        "KAFKA-14016 (KIP-792)",
    )
