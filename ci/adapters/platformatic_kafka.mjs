// Adapter of the gate of clients for @platformatic/kafka.
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { Consumer, Producer, compatibilityPartitioner, stringDeserializers, stringSerializers } =
  await import(createRequire(`${process.cwd()}/`).resolve("@platformatic/kafka"));

const env = process.env, topic = env.TOPIC, compression = env.COMPRESSION;
const report = (line) => appendFileSync(env.RESULTS, `${JSON.stringify(line)}\n`);
const common = { clientId: env.CLIENT_ID, bootstrapBrokers: [env.BOOTSTRAP] };
let delivered = 0, producer, waiting = [];
const refuse = (error) => { console.log(error.message); process.exit(77); };
const lacksCodec = (error) => error?.code === "PLT_KFK_UNSUPPORTED_COMPRESSION" || (error?.cause && lacksCodec(error.cause));

async function consume(until) {
  const consumer = new Consumer({ ...common, groupId: env.GROUP, deserializers: stringDeserializers });
  const stream = await consumer.consume({ topics: [topic], mode: "committed", fallbackMode: "earliest", autocommit: false,
    isolationLevel: env.ISOLATION === "read_committed" ? 1 : 0, sessionTimeout: Number(env.SESSION_MS), heartbeatInterval: 2000 });
  const last = new Map();
  try {
    for await (const one of stream) {
      report({ partition: one.partition, offset: Number(one.offset), value: one.value });
      last.set(one.partition, one);
      if (++delivered >= until) break;
    }
  } catch (error) { lacksCodec(error) ? refuse(error) : report({ error: String(error) }); }
  const offsets = [...last.values()].map(({ partition, offset }) => ({ topic, partition, offset: offset + 1n, leaderEpoch: -1 }));
  await consumer.commit({ offsets }).catch((error) => report({ error: String(error) }));
  await consumer.close(true).catch((error) => report({ error: String(error) }));
}

for (const line of readFileSync(env.WORKLOAD, "utf8").split("\n").filter(Boolean).map(JSON.parse)) {
  if ("consume" in line) { await consume(line.consume); continue; }
  if (!producer) {
    report({ order: false }); // each call of send is a request of its own
    producer = new Producer({ ...common, idempotent: env.IDEMPOTENCE === "true", maxInflights: Number(env.IN_FLIGHT),
      partitioner: compatibilityPartitioner, serializers: stringSerializers });
  }
  if ("flush" in line) { await Promise.all(waiting.splice(0)); continue; }
  const message = { topic, value: line.value, ...(line.key !== null && { key: line.key }), ...("partition" in line && { partition: line.partition }) };
  waiting.push(producer.send({ messages: [message], compression, acks: env.ACKS === "all" ? -1 : Number(env.ACKS) }).then(
    ({ offsets: [done] }) => report({ record: line.send, partition: done.partition, offset: Number(done.offset) }),
    (error) => lacksCodec(error) ? refuse(error) : report({ record: line.send, error: [error, ...(error.errors ?? [])].join(" ") })));
}
process.exit(0);
