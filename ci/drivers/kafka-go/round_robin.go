package main

import "github.com/segmentio/kafka-go"

type steps = []any

// One balancer for all topics of a writer, as Writer has it. It is told of no batches, and of no leaders.
func roundRobin(q object) object {
	balancer, cluster, done := &kafka.RoundRobin{}, q["cluster"], steps{}
	for _, step := range q["steps"].(steps) {
		taken, said := step.(object), object{}
		if taken["op"] == "cluster" {
			cluster = taken["cluster"]
		}
		if !inOrder(cluster) {
			return object{"unsupported": "a writer knows how many partitions there are, and takes them from 0 on"}
		}
		if taken["op"] == "partition" {
			said = held(func(string, object) object {
				message := kafka.Message{Topic: taken["topic"].(string)}
				return object{"answer": object{"partition": balancer.Balance(message, ids[:int(size(cluster))]...)}}
			}, "", nil)
			if said["failed"] != nil {
				return said
			}
			said = said["answer"].(object)
		}
		done = append(done, said)
	}
	return object{"answer": object{"steps": done}}
}

func size(cluster any) float64 { return float64(len(cluster.(object)["partitions"].(steps))) }

func inOrder(cluster any) bool {
	for at, partition := range cluster.(object)["partitions"].(steps) {
		if partition.(object)["id"] != float64(at) {
			return false
		}
	}
	return true
}
