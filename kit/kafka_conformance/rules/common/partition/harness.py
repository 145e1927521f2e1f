"""What of the Java half is the kit's own, for the rules of a partition."""

from __future__ import annotations

__all__ = ["HARNESS"]

HARNESS = (
    "Kafka's Partition, Replica, UnifiedLog, LogManager (never started), KRaftMetadataCache and purgatories answer in one "
    "JVM, without network. The kit calls makeLeader and makeFollower where a broker applies new metadata, registers "
    "brokers in the metadata, calls maybeShrinkIsr where a broker does so by its scheduler, and passes a follower the "
    "batches and the high watermark that its fetcher would. It stands in for AlterPartitionManager (keeps the requests "
    "until a step answers them), for the clock, and for the purgatories' timer; schedulers, listeners and checkpoints do "
    "nothing. Records are empty and of time 0; an append is a client's, without a buffer cache, a verification and a "
    "transaction. A fetch has at most 1 MB and its first batch whole; a follower's append gets the partition's own leader "
    "epoch, in place of its fetcher's. Logs have CreateTime and indexes of 1 KB; all replicas have one directory, all "
    "brokers one incarnation."
)
