// no-kafka, by its producer up to the requests that it prepares for a leader. default: DefaultPartitioner, which is meant
// to be Java's; crc32: HashCRC32Partitioner, which takes a key that is text.
const { createInterface } = require('node:readline')
const Kafka = require('no-kafka')

const crc32 = process.argv[2] === 'crc32'
const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const bytes = hex => (hex === null ? null : Buffer.from(hex, 'hex'))

class Custom extends Kafka.DefaultPartitioner {
  constructor(returns) { super(); this.returns = returns }
  partition() { return this.returns }
}

const choose = async (partitions, key, partition, plugged) => {
  if (crc32 && !plugged && key !== null) {
    try { key = text.decode(key) } catch { return { unsupported: 'HashCRC32Partitioner takes text: this is not UTF-8' } }
  }
  const producer = Object.create(Kafka.Producer.prototype)
  producer.partitioner = plugged ? new Custom(plugged.returns) : crc32 ? new Kafka.HashCRC32Partitioner() : new Kafka.DefaultPartitioner()
  producer.client = { getTopicPartitions: async () => partitions, findLeader: async () => 0 }
  const data = { topic: 't', message: { key, value: 'x' }, ...(partition !== null && { partition }) }
  const [prepared] = await producer._prepareProduceRequest([data])
  return Number.isInteger(prepared.partition) ? { answer: { partition: prepared.partition } } : { failed: `partition ${prepared.partition}` }
}

const rules = {
  'partition-for-key': ({ key, partitions }) => {
    if (key === null && !crc32) return { unsupported: 'a record without a key goes round, from a start that is random' }
    return choose({ length: partitions }, bytes(key), null)
  },

  'producer-partition': ({ record: { partition, key }, config, cluster }) => {
    const asked = (partition === null || partition < 0) && !config.partitioner
    if (asked && (config.ignore_keys || (key === null && !crc32))) {
      return { unsupported: 'without a key it goes round, from a start that is random; there is no partitioner.ignore.keys' }
    }
    return choose(cluster.partitions, bytes(key), partition, config.partitioner)
  }
}

const { version } = require('no-kafka/package.json')
const hello = { protocol: 1, name: 'no-kafka', version, language: 'javascript', rules: Object.keys(rules) }
const ask = async line => (line.hello ? { hello } : { id: line.id, ...(await rules[line.rule](line.question)) })
createInterface({ input: process.stdin }).on('line', text => {
  const line = JSON.parse(text)
  ask(line).catch(error => ({ id: line.id, failed: String(error) })).then(said => console.log(JSON.stringify(said)))
})
