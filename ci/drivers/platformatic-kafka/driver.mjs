// @platformatic/kafka, by its own producer, up to the partition of the metadata that it looks up to send to.
// `default`: no partitioner named; `java`: compatibilityPartitioner.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { NumericMap, Producer, compatibilityPartitioner, kMetadata, murmur2 } from '@platformatic/kafka'

const java = process.argv[2] === 'java' ? { partitioner: compatibilityPartitioner } : {}
const goesRound = { unsupported: 'what has no key goes round, and is placed at once; keys are not ignored' }
const bytes = hex => (hex === null ? null : Buffer.from(hex, 'hex'))
class Reached extends Error {}

const choose = (partitionsCount, message, plugged) => {
  const partitioner = plugged ? { partitioner: () => plugged.returns } : java
  const producer = new Producer({ clientId: 'driver', bootstrapBrokers: ['127.0.0.1:1'], ...partitioner })
  const partitions = new Proxy([], { get: (_, partition) => { throw new Reached(partition) } })
  producer[kMetadata] = (_, callback) => callback(null, { topics: new Map([['t', { partitionsCount, partitions }]]) })
  try {
    producer.send({ messages: [{ topic: 't', ...message }] }, () => {})
  } catch (error) {
    if (!(error instanceof Reached)) throw error
    const partition = Number(error.message)
    return Number.isInteger(partition) ? { answer: { partition } } : { unsupported: 'without partitions it looks up NaN' }
  }
  return { failed: 'it looks up no partition' }
}

const rules = {
  murmur2: q => (q.key === null ? { unsupported: 'it takes bytes' } : { answer: { hash: murmur2(bytes(q.key)) } }),

  'partition-for-key': ({ key, partitions }) =>
    key === null && !java.partitioner ? goesRound : choose(partitions, { key: bytes(key) }),

  'producer-partition': ({ record: { partition, key }, config, cluster }) => {
    const asked = partition === null && !config.partitioner
    if (asked && (config.ignore_keys || (key === null && !java.partitioner))) return goesRound
    const { partitions } = cluster
    if (partitions.some(p => p.id >= partitions.length)) return { unsupported: 'it numbers them from 0, as topics are' }
    return choose(partitions.length, { key: bytes(key), ...(partition !== null && { partition }) }, config.partitioner)
  },

  'sequence-increment': ({ sequence, by }) => {
    const sequences = new NumericMap([['t:0', sequence]]) // what the producer counts with
    sequences.postIncrement('t:0', by, 0)
    return { answer: { sequence: sequences.get('t:0') } }
  }
}

const { version } = JSON.parse(readFileSync('node_modules/@platformatic/kafka/package.json'))
const hello = { protocol: 1, name: '@platformatic/kafka', version, language: 'javascript', rules: Object.keys(rules) }
createInterface({ input: process.stdin }).on('line', text => {
  const line = JSON.parse(text)
  let response = { hello }
  try {
    if (!line.hello) response = { id: line.id, ...rules[line.rule](line.question) }
  } catch (error) {
    response = { id: line.id, failed: String(error) }
  }
  console.log(JSON.stringify(response))
})
