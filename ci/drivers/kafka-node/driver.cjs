// kafka-node, by its producer up to the requests that it builds for a leader. default: no partitionerType, which is
// partition 0 for every message; keyed: partitionerType 3; cyclic: partitionerType 2.
const { createInterface } = require('node:readline')
const BaseProducer = require('kafka-node/lib/baseProducer')

const setting = process.argv[2]
const type = BaseProducer.PARTITIONER_TYPES[setting]
const bytes = hex => (hex === null ? null : Buffer.from(hex, 'hex'))
const goesRound = { unsupported: 'partitions in turn for every message, keyed or not' }

const producer = (type, custom) => {
  const made = Object.create(BaseProducer.prototype)
  BaseProducer.call(made, { on() {}, ready: false, connect() {}, options: {} }, { partitionerType: type }, 0, custom)
  return made
}

const choose = (made, ids, key, partition) => {
  made.client.topicMetadata = { t: ids.map(id => ({ partition: id })) }
  const message = { topic: 't', messages: ['x'], ...(key !== null && { key }), ...(partition !== null && { partition }) }
  const chosen = made.buildPayloads([message], made.client.topicMetadata)[0].partition
  return Number.isInteger(chosen) ? { answer: { partition: chosen } } : { failed: `partition ${chosen}` }
}

const rules = {
  'partition-for-key': ({ key, partitions }) => {
    if (setting === 'cyclic') return goesRound
    if (partitions < 0 || partitions > 10000) return { unsupported: 'it lists all partitions: 0 to 10,000 of them' }
    return choose(producer(type), [...Array(partitions).keys()], bytes(key), null)
  },

  'producer-partition': ({ record: { partition, key }, config, cluster }) => {
    if (config.ignore_keys) return { unsupported: 'there is no partitioner.ignore.keys' }
    const ids = cluster.partitions.map(p => p.id)
    if (config.partitioner) return choose(producer(4, () => config.partitioner.returns), ids, bytes(key), partition)
    if (setting === 'cyclic' && partition === null) return goesRound
    return choose(producer(type), ids, bytes(key), partition)
  },

  'round-robin-partitioner': ({ cluster, steps }) => {
    const made = producer(type)
    const done = steps.map(step => {
      if (step.op === 'cluster') cluster = step.cluster
      return step.op === 'partition' ? choose(made, cluster.partitions.map(p => p.id), null, null).answer : {}
    })
    return { answer: { steps: done } }
  }
}

const { version } = require('kafka-node/package.json')
const asked = Object.keys(rules).filter(rule => (rule === 'round-robin-partitioner') === (setting === 'cyclic'))
const hello = { protocol: 1, name: 'kafka-node', version, language: 'javascript', rules: asked }
createInterface({ input: process.stdin }).on('line', text => {
  const line = JSON.parse(text)
  let said = { hello }
  try { if (!line.hello) said = { id: line.id, ...rules[line.rule](line.question) } }
  catch (error) { said = { id: line.id, failed: String(error) } }
  console.log(JSON.stringify(said))
})
