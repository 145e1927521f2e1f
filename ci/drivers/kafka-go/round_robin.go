package main

import (
	. "drivers.test/protocol"
	"github.com/segmentio/kafka-go"
)

type steps = []any

// One balancer for all topics of a writer, as Writer has it. It receives no batches and no leaders.
func roundRobin(q Object) Object {
	balancer, cluster, done := &kafka.RoundRobin{}, q["cluster"], steps{}
	for _, step := range q["steps"].(steps) {
		taken, response := step.(Object), Object{}
		if taken["op"] == "cluster" {
			cluster = taken["cluster"]
		}
		if !inOrder(cluster) {
			return Object{"unsupported": "a writer knows how many partitions there are, and takes them from 0 on"}
		}
		if taken["op"] == "partition" {
			response = Held(func(string, Object) Object {
				message := kafka.Message{Topic: taken["topic"].(string)}
				return Object{"answer": Object{"partition": balancer.Balance(message, ids[:int(size(cluster))]...)}}
			}, "", nil)
			if response["failed"] != nil {
				return response
			}
			response = response["answer"].(Object)
		}
		done = append(done, response)
	}
	return Object{"answer": Object{"steps": done}}
}

func size(cluster any) float64 { return float64(len(cluster.(Object)["partitions"].(steps))) }

func inOrder(cluster any) bool {
	for at, partition := range cluster.(Object)["partitions"].(steps) {
		if partition.(Object)["id"] != float64(at) {
			return false
		}
	}
	return true
}
