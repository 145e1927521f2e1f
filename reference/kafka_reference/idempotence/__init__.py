"""The idempotent producer: its effective configuration, its sender, and the sequences, ids and epochs of its batches."""
