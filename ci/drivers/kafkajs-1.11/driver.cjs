// KafkaJS 1.x, installed in the current folder: its own partitioners, grouping of messages and transaction manager.
// default: DefaultPartitioner, which 2.x calls LegacyPartitioner; java: JavaCompatiblePartitioner.
const { createInterface } = require('node:readline')
const load = require('node:module').createRequire(`${process.cwd()}/`)
const { Partitioners } = load('kafkajs')
const groupMessages = load('kafkajs/src/producer/groupMessagesPerPartition')
const createEosManager = load('kafkajs/src/producer/eosManager')

const java = process.argv[2] === 'java'
const murmur2 = load(`kafkajs/src/producer/partitioners/${java ? 'defaultJava' : 'default'}/murmur2`)
const bytes = hex => (hex === null ? null : Buffer.from(hex, 'hex'))
const goesRound = { unsupported: 'a record without a key goes round, from a start that is random' }

const choose = (partitionMetadata, message, plugged) => {
  const named = java ? Partitioners.JavaCompatiblePartitioner : Partitioners.DefaultPartitioner
  const partitioner = plugged ? () => plugged.returns : named()
  const [partition] = Object.keys(groupMessages({ topic: 't', partitionMetadata, messages: [message], partitioner }))
  if (partition === undefined) return { unsupported: 'no partitioner is asked about a topic without partitions' }
  return Number.isInteger(+partition) ? { answer: { partition: +partition } } : { failed: `partition ${partition}` }
}

const rules = {
  murmur2: q => (q.key === null ? { unsupported: 'its partitioner hashes no null' } : { answer: { hash: murmur2(bytes(q.key)) } }),

  'partition-for-key': ({ key, partitions }) => {
    if (key === null) return goesRound
    if (partitions < 0 || partitions > 10000) return { unsupported: 'it lists all partitions: 0 to 10,000 of them' }
    return choose(Array(partitions).fill({ leader: 0 }), { key: bytes(key) })
  },

  'producer-partition': ({ record: { partition, key }, config, cluster }) => {
    const asked = partition === null && !config.partitioner
    if (asked && config.ignore_keys) return { unsupported: 'there is no partitioner.ignore.keys' }
    if (asked && key === null) return goesRound
    if (partition !== null && config.partitioner) return { unsupported: 'a custom partitioner reads message.partition itself' }
    const metadata = cluster.partitions.map(p => ({ partitionId: p.id, leader: p.leader ?? -1 }))
    return choose(metadata, { key: bytes(key), partition }, config.partitioner)
  },

  'sequence-increment': async ({ sequence, by }) => {
    const broker = { initProducerId: async () => ({ producerId: 1, producerEpoch: 0 }) }
    const cluster = { retry: {}, refreshMetadataIfNecessary() {}, findControllerBroker: async () => broker }
    const manager = createEosManager({ logger: { debug() {} }, cluster, transactional: false })
    await manager.initProducerId()
    manager.updateSequence('t', 0, sequence)
    manager.updateSequence('t', 0, by)
    return { answer: { sequence: manager.getSequence('t', 0) } }
  },
}

const { version } = load('kafkajs/package.json')
const hello = { protocol: 1, name: 'kafkajs', version, language: 'javascript', rules: Object.keys(rules) }
const ask = async line => (line.hello ? { hello } : { id: line.id, ...(await rules[line.rule](line.question)) })
createInterface({ input: process.stdin }).on('line', text => {
  const line = JSON.parse(text)
  ask(line).catch(error => ({ id: line.id, failed: String(error) })).then(said => console.log(JSON.stringify(said)))
})
