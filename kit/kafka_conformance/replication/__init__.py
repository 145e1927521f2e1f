"""Replication: histories of a partition on three brokers, predicted by the reference and compared with a real cluster."""
