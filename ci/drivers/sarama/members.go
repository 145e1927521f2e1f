package main

import (
	"maps"
	"slices"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

// metadata is what a member sends with JoinGroup. Its user data are those of its last assignment, which the sticky strategy
// wrote; those of the cooperative one are written again. A member that never had an assignment has none.
func metadata(strategy sarama.BalanceStrategy, member Object) sarama.ConsumerGroupMemberMetadata {
	sent, owned, generation := sarama.ConsumerGroupMemberMetadata{Version: 2}, map[string][]int32{}, int32(-1)
	for _, topic := range member["topics"].([]any) {
		sent.Topics = append(sent.Topics, topic.(string))
	}
	for _, each := range member["owned"].([]any) {
		topic, partition := each.([]any)[0].(string), int32(each.([]any)[1].(float64))
		owned[topic] = append(owned[topic], partition)
	}
	if member["generation"] != nil {
		generation = int32(member["generation"].(float64))
	}
	for _, topic := range slices.Sorted(maps.Keys(owned)) {
		partitions := slices.Sorted(slices.Values(owned[topic]))
		sent.OwnedPartitions = append(sent.OwnedPartitions, &sarama.OwnedPartition{Topic: topic, Partitions: partitions})
	}
	sent.GenerationID = generation
	if len(owned) > 0 || generation != -1 {
		sent.UserData, _ = strategy.AssignmentData(member["id"].(string), owned, generation)
	}
	if fresh, ok := strategy.(sarama.SubscriptionUserDataBalanceStrategy); ok {
		strategy.(sarama.OnAssignmentBalanceStrategy).OnAssignment(nil, generation)
		sent.UserData, _ = fresh.SubscriptionUserData(sent.Topics)
	}
	return sent
}
