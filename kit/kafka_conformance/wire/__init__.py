"""Kafka's protocol: the messages of every release, one client, and the gate of brokers."""
