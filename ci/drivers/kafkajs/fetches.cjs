// A fetch response, given to KafkaJS's own consumer group and runner, which fetch until nothing moves any more. What is
// delivered is what eachBatch gets, with its offsets resolved by the runner, as by default.
const Encoder = require('kafkajs/src/protocol/encoder')
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')
const OffsetManager = require('kafkajs/src/consumer/offsetManager')
const Runner = require('kafkajs/src/consumer/runner')
const { decode, parse } = require('kafkajs/src/protocol/requests/fetch/v11/response')

const logger = { namespace: () => logger, debug() {}, info() {}, warn() {}, error() {} }
const quiet = { logger, instrumentationEmitter: { emit() {} }, autoCommit: false }

// Version 11 of the response, without an error, with a watermark beyond every offset.
const response = ({ records, aborted = [] }) => {
  const bytes = Buffer.from(records, 'hex')
  const transactions = aborted.map(([id, first]) => new Encoder().writeInt64(id).writeInt64(first))
  const partition = new Encoder().writeInt32(0).writeInt16(0).writeInt64(2 ** 53).writeInt64(2 ** 53).writeInt64(0)
  partition.writeArray(transactions).writeInt32(-1).writeInt32(bytes.length).writeBuffer(bytes)
  const topic = new Encoder().writeString('t').writeArray([partition])
  return new Encoder().writeInt32(0).writeInt16(0).writeInt32(0).writeArray([topic]).buffer
}

const consumer = (q, delivered) => {
  const broker = { fetch: async () => parse(await decode(response(q))) }
  const cluster = { findBroker: async () => broker, refreshMetadataIfNecessary() {}, committedOffsets: () => offsets }
  const offsets = { t: { 0: String(q.fetch_offset ?? 0) } }
  cluster.findTopicPartitionMetadata = () => [{ partitionId: 0, leader: 0 }]
  const group = new ConsumerGroup({ ...quiet, cluster, topics: ['t'], isolationLevel: q.read_committed ? 1 : 0 })
  group.subscriptionState.assign([{ topic: 't', partitions: [0] }])
  group.offsetManager = new OffsetManager({ ...quiet, cluster, memberAssignment: { t: [0] }, topicConfigurations: {} })
  group.offsetManager.committedOffsets = () => offsets
  group.partitionsPerSubscribedTopic = new Map([['t', [0]]])
  const eachBatch = async ({ batch }) => { delivered.push(...batch.messages.map(({ offset }) => Number(offset))) }
  const runner = new Runner({ ...quiet, consumerGroup: group, eachBatch })
  runner.running = true
  return { runner, position: () => Number(group.offsetManager.nextOffset('t', 0)) }
}

exports.fetched = async q => {
  if (q.check_crcs === false) return { unsupported: 'it has no setting to check CRCs' }
  const delivered = []
  const { runner, position } = consumer(q, delivered)
  try {
    for (const batch of await runner.fetch(0)) await runner.handleBatch(batch)
  } catch (error) {
    if (error.name === 'KafkaJSNotImplemented') return { unsupported: 'it has no codec but gzip' }
    return { answer: { delivered, position: position(), raises: error.name } }
  }
  return { answer: { delivered, position: position() } }
}
