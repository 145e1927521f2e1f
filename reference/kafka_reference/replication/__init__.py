"""Replication: what ``acks`` means, how the high watermark follows the followers, who is in sync; nothing is imported here."""
