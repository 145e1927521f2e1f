// KafkaJS's own transaction manager, which counts sequence numbers.
const createEosManager = require('kafkajs/src/producer/eosManager')

exports.increment = async ({ sequence, by }) => {
  const broker = { initProducerId: async () => ({ producerId: 1, producerEpoch: 0 }) }
  const cluster = { retry: {}, refreshMetadataIfNecessary() {}, findControllerBroker: async () => broker }
  const manager = createEosManager({ logger: { debug() {} }, cluster, transactional: false })
  await manager.initProducerId()
  manager.updateSequence('t', 0, sequence)
  if (manager.getSequence('t', 0) !== sequence) return { unsupported: `its sequence is never ${sequence}` }
  manager.updateSequence('t', 0, by)
  return { answer: { sequence: manager.getSequence('t', 0) } }
}
