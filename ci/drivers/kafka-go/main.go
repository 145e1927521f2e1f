// segmentio/kafka-go, by its balancers, each given the partitions 0 to n-1 as Writer does.
// default: RoundRobin, one for all questions, as one writer has it; java: Murmur2Balancer; hash: Hash, which is sarama's
// default; reference-hash: ReferenceHash; crc32: CRC32Balancer; least-bytes: LeastBytes, one for each number of partitions.
package main

import (
	"encoding/hex"
	"os"

	. "drivers.test/protocol"
	"github.com/segmentio/kafka-go"
)

var ids = make([]int, 1<<20)
var made = map[string]kafka.Balancer{
	"java": kafka.Murmur2Balancer{}, "hash": &kafka.Hash{}, "reference-hash": &kafka.ReferenceHash{},
	"crc32": kafka.CRC32Balancer{}, "default": &kafka.RoundRobin{},
}
var leastBytes = map[int]kafka.Balancer{}

func answer(rule string, q Object) Object {
	if rule == "consumer-fetch" {
		return fetched(q)
	}
	if rule == "round-robin-partitioner" {
		return roundRobin(q)
	}
	key, count := q["key"], q["partitions"]
	if rule == "producer-partition" {
		record, config := q["record"].(Object), q["config"].(Object)
		if record["partition"] != nil || config["partitioner"] != nil || config["ignore_keys"] == true {
			return Object{"unsupported": "a message's partition must not be set to write it; keys are not ignored"}
		}
		key, count = record["key"], size(q["cluster"])
	}
	if n := count.(float64); key == nil || n < 0 || n > float64(len(ids)) {
		return Object{"unsupported": "a key, and a list of at most 2^20 partitions; what has no key is drawn"}
	}
	bytes, _ := hex.DecodeString(key.(string))
	balancer, partitions := made[os.Args[1]], ids[:int(count.(float64))]
	if balancer == nil && leastBytes[len(partitions)] == nil {
		leastBytes[len(partitions)] = &kafka.LeastBytes{}
	}
	if balancer == nil {
		balancer = leastBytes[len(partitions)]
	}
	return Object{"answer": Object{"partition": balancer.Balance(kafka.Message{Key: bytes, Value: []byte("x")}, partitions...)}}
}

func main() {
	for i := range ids {
		ids[i] = i
	}
	rules := []string{"partition-for-key", "producer-partition"}
	if os.Args[1] == "default" {
		rules = append(rules, "round-robin-partitioner", "consumer-fetch")
	}
	Speak("kafka-go", "github.com/segmentio/kafka-go", rules, answer)
}
