// KafkaJS, by its own partitioners, its own grouping of messages and its own transaction manager.
// `default`: DefaultPartitioner, which is meant to be Java's; `java`: its older name, JavaCompatiblePartitioner;
// `legacy`: LegacyPartitioner, which was the default up to 1.x.
const { createInterface } = require('node:readline')
const { Partitioners } = require('kafkajs')
const groupMessages = require('kafkajs/src/producer/groupMessagesPerPartition')
const { roundRobin } = require('./assigners.cjs')
const { fetched } = require('./fetches.cjs')
const { increment } = require('./sequences.cjs')

const setting = process.argv[2]
const names = { default: 'DefaultPartitioner', java: 'JavaCompatiblePartitioner', legacy: 'LegacyPartitioner' }
const murmur2 = require(`kafkajs/src/producer/partitioners/${setting === 'legacy' ? 'legacy' : 'default'}/murmur2`)
const bytes = hex => (hex === null ? null : Buffer.from(hex, 'hex'))
const goesRound = { unsupported: 'a record without a key goes round, from a start that is random' }

const choose = (partitionMetadata, message, plugged) => {
  const partitioner = plugged ? () => plugged.returns : Partitioners[names[setting]]()
  const [partition] = Object.keys(groupMessages({ topic: 't', partitionMetadata, messages: [message], partitioner }))
  if (partition === undefined) return { unsupported: 'no partitioner is asked about a topic without partitions' }
  return Number.isInteger(+partition) ? { answer: { partition: +partition } } : { failed: `partition ${partition}` }
}

const rules = {
  ...(setting === 'default' && { 'round-robin-assignor': roundRobin, 'consumer-fetch': fetched }),

  murmur2: q => ({ answer: { hash: murmur2(bytes(q.key)) } }),

  'partition-for-key': ({ key, partitions }) => {
    if (key === null) return goesRound
    if (partitions < 0) return { unsupported: 'a list cannot be shorter than empty' }
    // Only how long the list is matters to a key; lists of 2^31 take too long to make.
    const metadata = partitions > 1000 ? { length: partitions, filter: () => [] } : Array(partitions).fill({ leader: 0 })
    return choose(metadata, { key: bytes(key) })
  },

  'producer-partition': ({ record: { partition, key }, config, cluster }) => {
    const asked = partition === null && !config.partitioner
    if (asked && config.ignore_keys) return { unsupported: 'there is no partitioner.ignore.keys' }
    if (asked && key === null) return goesRound
    const metadata = cluster.partitions.map(p => ({ partitionId: p.id, leader: p.leader ?? -1 }))
    return choose(metadata, { key: bytes(key), partition }, config.partitioner)
  },

  'sequence-increment': increment,
}

const { version } = require('kafkajs/package.json')
const hello = { protocol: 1, name: 'kafkajs', version, language: 'javascript', rules: Object.keys(rules) }
const ask = async line => (line.hello ? { hello } : { id: line.id, ...(await rules[line.rule](line.question)) })
createInterface({ input: process.stdin }).on('line', text => {
  const line = JSON.parse(text)
  ask(line).catch(error => ({ id: line.id, failed: String(error) })).then(response => console.log(JSON.stringify(response)))
})
