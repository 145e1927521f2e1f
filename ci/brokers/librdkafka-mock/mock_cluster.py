"""Serve librdkafka's mock cluster of one broker until SIGTERM."""

import signal

from confluent_kafka import Producer

producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
for broker in producer.list_topics(timeout=10).brokers.values():
    print(f"{broker.host}:{broker.port}", flush=True)
signal.pause()
