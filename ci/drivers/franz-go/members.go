package main

import (
	"cmp"
	"slices"

	. "drivers.test/protocol"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata is what a member sends with JoinGroup, with topics and owned partitions in order, as the client has them.
func metadata(balancer kgo.GroupBalancer, member Object) []byte {
	topics, owned, generation := []string{}, map[string][]int32{}, int32(-1)
	for _, topic := range member["topics"].([]any) {
		topics = append(topics, topic.(string))
	}
	for _, each := range member["owned"].([]any) {
		topic, partition := each.([]any)[0].(string), int32(each.([]any)[1].(float64))
		owned[topic] = append(owned[topic], partition)
	}
	slices.Sort(topics)
	for _, partitions := range owned {
		slices.Sort(partitions)
	}
	if member["generation"] != nil {
		generation = int32(member["generation"].(float64))
	}
	return balancer.JoinGroupMetadata(topics, owned, generation)
}

// inOrder is the order in which the client gives members to a balancer: static ones by instance, then the others by id.
func inOrder(one, other kmsg.JoinGroupResponseMember) int {
	switch {
	case one.InstanceID != nil && other.InstanceID != nil:
		return cmp.Compare(*one.InstanceID, *other.InstanceID)
	case one.InstanceID == nil && other.InstanceID == nil:
		return cmp.Compare(one.MemberID, other.MemberID)
	case one.InstanceID != nil:
		return -1
	}
	return 1
}

// partitions is an assignment as the leader writes it into SyncGroup.
func partitions(written []byte) []any {
	assigned, read := []any{}, kmsg.NewConsumerMemberAssignment()
	read.ReadFrom(written)
	for _, topic := range read.Topics {
		for _, partition := range topic.Partitions {
			assigned = append(assigned, []any{topic.Topic, partition})
		}
	}
	return assigned
}
