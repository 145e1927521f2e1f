"""What each release's ``Partition`` and ``Replica`` do, as one record: both change together."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["PARTITIONS", "PartitionBehaviour"]

PARTITIONS = since("3.3.0")


@behaviour("Partition", PARTITIONS)
class PartitionBehaviour(Behaviour):
    """High watermark, in-sync replicas and the checks of ``acks``, oldest change first."""

    checks_broker_epoch: bool = holds(
        since("3.5.0"),
        "A follower joins the in-sync replicas only if the broker epoch of its last fetch is that of the metadata, or -1; "
        "AlterPartition requests name the broker epochs.",
        "KAFKA-14617, KIP-903",
    )
    waits_only_for_eligible: bool = holds(
        since("3.6.0"),
        "The high watermark waits for a caught-up follower outside of the in-sync replicas only if it may join them: it is "
        "neither fenced nor shutting down.",
        "KAFKA-15021",
    )
    min_isr_capped_at_replicas: bool = holds(
        since("3.7.0"),
        "min.insync.replicas counts at most as many as there are replicas.",
        "KAFKA-15583",
    )
    high_watermark_waits_for_min_isr: bool = holds(
        since("3.7.0"),
        "The high watermark stays while there are fewer in-sync replicas than min.insync.replicas.",
        "KAFKA-15583",
    )
    fences_stale_fetch: bool = holds(
        since("3.7.0"),
        "A fetch with an older broker epoch than that of the metadata is refused and leaves the follower's state as it was.",
        "KAFKA-15221, KIP-903",
    )
    fetch_starts_at_batch: bool = holds(
        since("4.0.0"),
        "A fetch from the middle of a batch counts as one from the first offset of the batch, and a high watermark within a "
        "batch falls back to it when its position is looked up.",
    )
    refuses_newer_epochs: bool = holds(
        since("3.9.1", until="3.9.x") | since("4.0.1"),
        "A follower appends the batches before the first one whose leader epoch is above its own.",
        "KAFKA-18723",
    )
