"""Adapter of the gate of clients for confluent-kafka (librdkafka)."""

import contextlib
import json
import os

from confluent_kafka import Consumer, KafkaException, Producer

env, delivered, producer, results = os.environ, 0, None, open(os.environ["RESULTS"], "w", buffering=1)
common = {"bootstrap.servers": env["BOOTSTRAP"], "client.id": env["CLIENT_ID"], "log_level": 0}


def report(number, error, one):
    done = {"error": error.str()} if error else {"partition": one.partition(), "offset": one.offset()}
    print(json.dumps({"record": number, **done}), file=results)


for line in map(json.loads, open(env["WORKLOAD"], encoding="utf-8")):
    if "consume" in line:
        consumer = Consumer({**common, "group.id": env["GROUP"], "auto.offset.reset": "earliest",
                             "enable.auto.commit": False,
                             "isolation.level": env["ISOLATION"], "session.timeout.ms": int(env["SESSION_MS"])})
        consumer.subscribe([env["TOPIC"]])
        while delivered < line["consume"]:
            if (one := consumer.poll(0.5)) and not one.error():
                found = {"partition": one.partition(), "offset": one.offset(), "value": one.value().decode()}
                print(json.dumps(found), file=results)
                delivered += 1
        consumer.commit(asynchronous=False)
        consumer.close()
        continue
    producer = producer or Producer({
        **common, "acks": env["ACKS"], "enable.idempotence": env["IDEMPOTENCE"] == "true",
        "batch.size": int(env["BATCH_SIZE"]), "linger.ms": int(env["LINGER_MS"]), "partitioner": "murmur2_random",
        "compression.type": env["COMPRESSION"], "max.in.flight.requests.per.connection": int(env["IN_FLIGHT"]),
        "message.timeout.ms": int(env["TIMEOUT_MS"])})
    with contextlib.suppress(KafkaException, SystemError):  # a fatal error: records have separate errors
        while "flush" in line and len(producer):
            producer.flush(0.1)
    try:
        if "send" in line:
            producer.produce(env["TOPIC"], line["value"], line["key"], line.get("partition", -1),
                             on_delivery=lambda error, one, number=line["send"]: report(number, error, one))
    except KafkaException as error:
        report(line["send"], error.args[0], None)
