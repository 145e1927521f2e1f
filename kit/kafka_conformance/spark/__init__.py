"""Kafka's placement in your own PySpark, and what every Spark job of the kit stands on."""

from kafka_conformance.spark.functions import partition_for_key, register

__all__ = ["partition_for_key", "register"]
