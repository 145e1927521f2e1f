"""Replication: what ``acks`` means, how the high watermark follows the followers, who is in sync and who leads.

The subpackage grows with the rules that it holds; nothing is imported here.
"""
