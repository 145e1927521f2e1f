"""Adapter of the gate of clients for aiokafka."""

import asyncio
import json
import os

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

env, results = os.environ, open(os.environ["RESULTS"], "w", buffering=1)
common = {"bootstrap_servers": env["BOOTSTRAP"], "client_id": env["CLIENT_ID"]}


async def main(delivered=0, producer=None, limit_s=int(env["TIMEOUT_MS"]) / 1000):
    futures = []
    for line in map(json.loads, open(env["WORKLOAD"], encoding="utf-8")):
        if "consume" in line:
            async with AIOKafkaConsumer(
                    env["TOPIC"], group_id=env["GROUP"], auto_offset_reset="earliest", enable_auto_commit=False,
                    isolation_level=env["ISOLATION"], session_timeout_ms=int(env["SESSION_MS"]), **common) as consumer:
                while delivered < line["consume"]:
                    for one in sum((await consumer.getmany(timeout_ms=500)).values(), []):
                        found = {"partition": one.partition, "offset": one.offset, "value": one.value.decode()}
                        print(json.dumps(found), file=results)
                        delivered += 1
                await consumer.commit()
            continue
        if producer is None:
            producer = AIOKafkaProducer(
                acks=env["ACKS"] if env["ACKS"] == "all" else int(env["ACKS"]), max_batch_size=int(env["BATCH_SIZE"]),
                enable_idempotence=env["IDEMPOTENCE"] == "true", linger_ms=int(env["LINGER_MS"]), max_request_size=2**20,
                compression_type=None if env["COMPRESSION"] == "none" else env["COMPRESSION"],
                request_timeout_ms=int(env["TIMEOUT_MS"]) // 2, **common)
            await producer.start()
        if "flush" in line:
            await asyncio.wait(futures, timeout=limit_s)
        else:
            key = None if line["key"] is None else line["key"].encode()
            futures.append(await producer.send(env["TOPIC"], line["value"].encode(), key, line.get("partition")))
    for number, done in enumerate(await asyncio.gather(*futures, return_exceptions=True)):
        failed = isinstance(done, Exception)
        line = {"error": repr(done)} if failed else {"partition": done.partition, "offset": done.offset}
        print(json.dumps({"record": number, **line}), file=results)
    await (producer.stop() if producer else asyncio.sleep(0))


asyncio.run(main())
