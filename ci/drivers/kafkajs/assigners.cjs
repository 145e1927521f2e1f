// KafkaJS's only assigner, as the leader of a group calls it, which here is the member listed first: with its own topics.
const { PartitionAssigners } = require('kafkajs')
const { MemberAssignment } = require('kafkajs/src/consumer/assignerProtocol')

exports.roundRobin = async ({ topics, members }) => {
  if (members.some(({ instance }) => instance !== null)) return { unsupported: 'it has no static members' }
  if (members.length === 0) return { unsupported: 'the leader is a member' }
  const partitions = topic => Array.from({ length: topics[topic] ?? 0 }, (_, partitionId) => ({ partitionId }))
  const assigner = PartitionAssigners.roundRobin({ cluster: { findTopicPartitionMetadata: partitions } })
  const joined = members.map(({ id, topics }) => ({
    memberId: id,
    memberMetadata: assigner.protocol({ topics }).metadata,
  }))
  const assignment = Object.fromEntries(members.map(({ id }) => [id, []]))
  for (const each of await assigner.assign({ members: joined, topics: members[0].topics })) {
    const decoded = MemberAssignment.decode(each.memberAssignment).assignment
    const { topics: subscribed } = members.find(({ id }) => id === each.memberId)
    // A member leaves out what it did not subscribe to.
    const kept = Object.entries(decoded).filter(([topic]) => subscribed.includes(topic))
    assignment[each.memberId] = kept.flatMap(([topic, numbers]) => numbers.map(number => [topic, number]))
  }
  return { answer: { assignment } }
}
