// sarama, by the partitioner that it makes for a topic.
// default: NewHashPartitioner, which is FNV-1a; reference: NewReferenceHashPartitioner; java: NewMurmur2Partitioner;
// crc32: NewConsistentCRCHashPartitioner.
package main

import (
	"encoding/hex"
	"maps"
	"os"
	"slices"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

var partitioners = map[string]sarama.PartitionerConstructor{
	"default": sarama.NewHashPartitioner, "reference": sarama.NewReferenceHashPartitioner, "java": sarama.NewMurmur2Partitioner,
	"crc32": sarama.NewConsistentCRCHashPartitioner,
}

var broker *sarama.MockBroker

func answer(rule string, q Object) Object {
	if rule == "consumer-fetch" {
		return fetched(broker, q)
	}
	if strategies[rule] != nil {
		return assignment(rule, q)
	}
	key, count := q["key"], q["partitions"]
	if rule == "producer-partition" {
		record, config := q["record"].(Object), q["config"].(Object)
		if record["partition"] != nil || config["partitioner"] != nil || config["ignore_keys"] == true {
			return Object{"unsupported": "a partition is named by NewManualPartitioner alone; keys are not ignored"}
		}
		key, count = record["key"], float64(len(q["cluster"].(Object)["partitions"].([]any)))
	}
	if key == nil {
		return Object{"unsupported": "a record without a key is placed at random, at once"}
	}
	bytes, _ := hex.DecodeString(key.(string))
	message := &sarama.ProducerMessage{Topic: "t", Key: sarama.ByteEncoder(bytes)}
	partition, err := partitioners[os.Args[1]]("t").Partition(message, int32(count.(float64)))
	if err != nil {
		return Object{"failed": err.Error()}
	}
	return Object{"answer": Object{"partition": partition}}
}

func main() {
	rules := []string{"partition-for-key", "producer-partition"}
	if os.Args[1] == "default" {
		rules = slices.AppendSeq(rules, maps.Keys(strategies))
		Grades = Object{"sticky-assignor": "admissible", "cooperative-sticky-assignor": "admissible"}
		rules, broker = append(rules, "consumer-fetch"), mockBroker()
	}
	Speak("sarama", "github.com/IBM/sarama", rules, answer)
}
