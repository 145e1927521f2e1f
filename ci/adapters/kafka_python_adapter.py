"""Adapter of the gate of clients for kafka-python."""

import contextlib
import json
import os

from kafka import KafkaConsumer, KafkaProducer
from kafka.codec import has_lz4, has_snappy, has_zstd
from kafka.errors import UnsupportedCodecError

env, delivered, producer, futures = os.environ, 0, None, []
results, timeout_ms = open(env["RESULTS"], "w", buffering=1), int(env["TIMEOUT_MS"])
common = {"bootstrap_servers": env["BOOTSTRAP"], "client_id": env["CLIENT_ID"]}
if not {"snappy": has_snappy, "lz4": has_lz4, "zstd": has_zstd}.get(env["COMPRESSION"], lambda: True)():
    raise SystemExit(77)  # a library is not installed
for line in map(json.loads, open(env["WORKLOAD"], encoding="utf-8")):
    if "consume" in line:
        consumer = KafkaConsumer(env["TOPIC"], group_id=env["GROUP"], auto_offset_reset="earliest", enable_auto_commit=False,
                                 isolation_level=env["ISOLATION"], session_timeout_ms=int(env["SESSION_MS"]), **common)
        while delivered < line["consume"]:
            try:
                polled = sum(consumer.poll(500).values(), [])
            except UnsupportedCodecError:
                raise SystemExit(77) from None
            for one in polled:
                found = {"partition": one.partition, "offset": one.offset, "value": one.value.decode()}
                print(json.dumps(found), file=results)
            delivered += len(polled)
        consumer.commit()
        consumer.close()
        continue
    producer = producer or KafkaProducer(
        acks=env["ACKS"] if env["ACKS"] == "all" else int(env["ACKS"]), enable_idempotence=env["IDEMPOTENCE"] == "true",
        batch_size=int(env["BATCH_SIZE"]), linger_ms=int(env["LINGER_MS"]), request_timeout_ms=timeout_ms // 2,
        compression_type=None if env["COMPRESSION"] == "none" else env["COMPRESSION"], delivery_timeout_ms=timeout_ms,
        max_in_flight_requests_per_connection=int(env["IN_FLIGHT"]), **common)
    if "send" in line:
        key = None if line["key"] is None else line["key"].encode()
        futures.append(producer.send(env["TOPIC"], line["value"].encode(), key, partition=line.get("partition")))
    else:
        with contextlib.suppress(Exception):  # what fails has an error in its future
            producer.flush(timeout_ms / 1000)
for number, future in enumerate(futures):
    try:
        done = future.get(timeout_ms / 1000)
        print(json.dumps({"record": number, "partition": done.partition, "offset": done.offset}), file=results)
    except Exception as error:
        print(json.dumps({"record": number, "error": repr(error)}), file=results)
