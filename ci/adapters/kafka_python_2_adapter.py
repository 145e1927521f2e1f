"""Adapter of the gate of clients for kafka-python 2: the other one, without the settings that a release lacks."""

import runpy
from pathlib import Path

import kafka


def without_unknown(client):
    def start(*topics, **settings):
        for name in set(settings) - set(client.DEFAULT_CONFIG):
            if settings.pop(name) in (True, "read_committed"):
                print(f"this release of kafka-python has no setting {name}", flush=True)
                raise SystemExit(77)
        if settings.get("enable_idempotence"):
            settings["max_in_flight_requests_per_connection"] = 1  # required
        return client(*topics, **settings)

    return start


kafka.KafkaProducer, kafka.KafkaConsumer = map(without_unknown, (kafka.KafkaProducer, kafka.KafkaConsumer))
runpy.run_path(str(Path(__file__).with_name("kafka_python_adapter.py")))
