"""Which member of a consumer group gets which partitions: the assignors."""
