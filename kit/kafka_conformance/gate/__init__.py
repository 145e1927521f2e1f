"""The gate: another implementation compared with Kafka, without Java."""
