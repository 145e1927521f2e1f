// A driver for kafka-conformance: the hash of a key, and its partition. Node.js without packages.
import { createInterface } from "node:readline";

const rules = ["murmur2", "partition-for-key"];
const hello = { protocol: 1, name: "example", version: "1", language: "javascript", rules };

function murmur2(key) {
  const m = 0x5bd1e995, whole = key.length & ~3;
  let h = 0x9747b28c ^ key.length;
  for (let i = 0; i < whole; i += 4) {
    const k = Math.imul(key.readInt32LE(i), m);
    h = Math.imul(h, m) ^ Math.imul(k ^ (k >>> 24), m);
  }
  if (key.length > whole) h = Math.imul(h ^ key.readUIntLE(whole, key.length - whole), m);
  h = Math.imul(h ^ (h >>> 13), m);
  return h ^ (h >>> 15);
}

function answer(rule, { key, partitions }) {
  if (key === null) return { raises: "NullPointerException" };
  const hash = murmur2(Buffer.from(key, "hex"));
  if (rule === "murmur2") return { hash };
  if (partitions === 0) return { raises: "ArithmeticException" };
  return { partition: (hash & 0x7fffffff) % partitions };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const reply = asked.hello ? { hello } : { id: asked.id, answer: answer(asked.rule, asked.question) };
  process.stdout.write(JSON.stringify(reply) + "\n");
}
