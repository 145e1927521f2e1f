package main

import "github.com/segmentio/kafka-go"

func size(cluster any) float64 { return float64(len(cluster.(object)["partitions"].([]any))) }

// One balancer for all topics of a writer, as Writer has it. It is not told of batches.
func roundRobin(q object) object {
	balancer, count, steps := &kafka.RoundRobin{}, size(q["cluster"]), []object{}
	for _, step := range q["steps"].([]any) {
		taken, done := step.(object), object{}
		if taken["op"] == "cluster" {
			count = size(taken["cluster"])
		} else if taken["op"] == "partition" {
			done["partition"] = balancer.Balance(kafka.Message{Topic: taken["topic"].(string)}, ids[:int(count)]...)
		}
		steps = append(steps, done)
	}
	return object{"answer": object{"steps": steps}}
}
