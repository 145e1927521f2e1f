"""Find which partitioner placed each record of a block."""
