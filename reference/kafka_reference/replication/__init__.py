"""Replication: what ``acks`` means, how the high watermark follows the followers, and who is in sync.

Nothing is imported here.
"""
