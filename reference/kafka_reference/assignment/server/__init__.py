"""The assignors of the group coordinator (KIP-848): which member of a consumer group gets which partitions."""
