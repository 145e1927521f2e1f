package main

import (
	"maps"
	"slices"
	"strings"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

var strategies = map[string]func() sarama.BalanceStrategy{
	"range-assignor": sarama.NewBalanceStrategyRange, "round-robin-assignor": sarama.NewBalanceStrategyRoundRobin,
	"sticky-assignor":             sarama.NewBalanceStrategySticky,
	"cooperative-sticky-assignor": sarama.NewBalanceStrategyCooperativeSticky,
}

// assignment is what the leader of a group gives each member. It is not told which members are static.
func assignment(rule string, q Object) Object {
	members, topics, assigned := map[string]sarama.ConsumerGroupMemberMetadata{}, map[string][]int32{}, Object{}
	for _, each := range q["members"].([]any) {
		member := each.(Object)
		if member["rack"] != nil && q["racks"] != nil && rule != "round-robin-assignor" {
			return Object{"unsupported": "it does not look at racks"}
		}
		if strings.Contains(rule, "sticky") && len(member["owned"].([]any)) > 0 && member["generation"] == nil {
			return Object{"unsupported": "a member that owns partitions has a generation"}
		}
		for _, topic := range member["topics"].([]any) {
			count, known := q["topics"].(Object)[topic.(string)]
			if !known {
				return Object{"unsupported": "the leader fails while a topic has no metadata"}
			}
			topics[topic.(string)] = make([]int32, int(count.(float64)))
			for partition := range topics[topic.(string)] {
				topics[topic.(string)][partition] = int32(partition)
			}
		}
		id := member["id"].(string)
		members[id], assigned[id] = metadata(strategies[rule](), member), []any{}
	}
	if len(topics) == 0 {
		return Object{"unsupported": "it refuses to subscribe to no topic"}
	}
	plan, err := strategies[rule]().Plan(members, topics)
	if err != nil {
		return Object{"failed": err.Error()}
	}
	for id, its := range plan {
		partitions := []any{}
		for _, topic := range slices.Sorted(maps.Keys(its)) {
			for _, partition := range its[topic] {
				partitions = append(partitions, []any{topic, partition})
			}
		}
		assigned[id] = partitions
	}
	return Object{"answer": Object{"assignment": assigned}}
}
