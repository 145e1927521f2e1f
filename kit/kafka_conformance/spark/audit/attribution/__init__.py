"""Which partitioner placed each record of a block."""
