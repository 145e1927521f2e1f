"""Inspect a broker's log directory without writing to it: segments, batches, indexes, snapshots and checkpoints."""
