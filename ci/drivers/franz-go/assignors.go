package main

import (
	"slices"
	"strings"

	. "drivers.test/protocol"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var balancers = map[string]kgo.GroupBalancer{
	"range-assignor": kgo.RangeBalancer(), "round-robin-assignor": kgo.RoundRobinBalancer(),
	"sticky-assignor": kgo.StickyBalancer(), "cooperative-sticky-assignor": kgo.CooperativeStickyBalancer(),
}

// assignment is what the leader of a group gives each member, with metadata that the members' own balancer writes.
func assignment(rule string, q Object) Object {
	balancer, members := balancers[rule], []kmsg.JoinGroupResponseMember{}
	for _, each := range q["members"].([]any) {
		asked, member := each.(Object), kmsg.NewJoinGroupResponseMember()
		if asked["rack"] != nil && q["racks"] != nil && rule != "round-robin-assignor" {
			return Object{"unsupported": "with BalanceRacks it looks at the racks of leaders, which its client finds, not at replicas'"}
		}
		if strings.Contains(rule, "sticky") && len(asked["owned"].([]any)) > 0 && asked["generation"] == nil {
			return Object{"unsupported": "a member that owns partitions has a generation"}
		}
		member.MemberID = asked["id"].(string)
		if instance, static := asked["instance"].(string); static {
			member.InstanceID = &instance
		}
		member.ProtocolMetadata = metadata(balancer, asked)
		members = append(members, member)
	}
	slices.SortFunc(members, inOrder)
	leader, subscribed, err := balancer.MemberBalancer(members)
	if err != nil {
		return Object{"failed": err.Error()}
	}
	counts := map[string]int32{}
	for topic, count := range q["topics"].(Object) {
		if _, any := subscribed[topic]; any {
			counts[topic] = int32(count.(float64))
		}
	}
	plan, err := leader.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
	if err != nil {
		return Object{"failed": err.Error()}
	}
	assigned := Object{}
	for _, member := range plan.IntoSyncAssignment() {
		assigned[member.MemberID] = partitions(member.MemberAssignment)
	}
	return Object{"answer": Object{"assignment": assigned}}
}
