// Adapter of the gate of clients for KafkaJS.
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { CompressionTypes, Kafka, Partitioners, logLevel } = createRequire(`${process.cwd()}/`)("kafkajs");

const env = process.env, timeoutMs = Number(env.TIMEOUT_MS), topic = env.TOPIC;
const report = (line) => appendFileSync(env.RESULTS, `${JSON.stringify(line)}\n`);
const kafka = new Kafka({ clientId: env.CLIENT_ID, brokers: [env.BOOTSTRAP], logLevel: logLevel.NOTHING });
const compression = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP }[env.COMPRESSION];
if (compression === undefined) { console.log(`no codec for ${env.COMPRESSION}`); process.exit(77); }
let delivered = 0, producer, waiting = [];

async function consume(until) {
  const consumer = kafka.consumer({ groupId: env.GROUP, sessionTimeout: Number(env.SESSION_MS), heartbeatInterval: 2000,
    readUncommitted: env.ISOLATION === "read_uncommitted" });
  consumer.on("consumer.crash", ({ payload: { error, restart } }) => {
    if (!restart) { console.log(error.message); process.exit(/compression/i.test(error.message) ? 77 : 1); }
  });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise((done) => consumer.run({ autoCommitThreshold: 1, eachMessage: async ({ partition, message }) => {
    report({ partition, offset: Number(message.offset), value: message.value.toString() });
    if (++delivered >= until) done();
  } }));
  await Promise.race([consumer.disconnect(), new Promise((done) => setTimeout(done, 2000))]);
}

for (const line of readFileSync(env.WORKLOAD, "utf8").split("\n").filter(Boolean).map(JSON.parse)) {
  if ("consume" in line) { await consume(line.consume); continue; }
  if (!producer) {
    report({ order: false }); // each call of send is a request of its own
    producer = kafka.producer({ idempotent: env.IDEMPOTENCE === "true", maxInFlightRequests: Number(env.IN_FLIGHT),
      createPartitioner: Partitioners.JavaCompatiblePartitioner });
    await producer.connect();
  }
  if ("flush" in line) { await Promise.all(waiting.splice(0)); continue; }
  const messages = [{ key: line.key, value: line.value, partition: line.partition }];
  waiting.push(producer.send({ topic, acks: env.ACKS === "all" ? -1 : Number(env.ACKS), compression, timeout: timeoutMs, messages }).then(
    ([done]) => report({ record: line.send, partition: done.partition, offset: Number(done.baseOffset) }),
    (error) => report({ record: line.send, error: String(error) })));
}
process.exit(0); // not disconnect(), which waits for ever after a lost response
