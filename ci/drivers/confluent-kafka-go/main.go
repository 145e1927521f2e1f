// confluent-kafka-go, by its own producer, which sends to librdkafka's mock cluster; the delivery report has the partition.
// default: no partitioner named; java: partitioner=murmur2_random.
package main

import (
	"encoding/hex"
	"fmt"

	. "drivers.test/protocol"
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func answer(rule string, q Object) Object {
	record, count, partition := q, q["partitions"], kafka.PartitionAny
	if rule == "producer-partition" {
		record, count = q["record"].(Object), float64(len(q["cluster"].(Object)["partitions"].([]any)))
		if config := q["config"].(Object); config["partitioner"] != nil || config["ignore_keys"] == true {
			return Object{"unsupported": "it takes no partitioner in Go; keys are not ignored"}
		}
	}
	n := int(count.(float64))
	if named := record["partition"]; named != nil && rule == "producer-partition" {
		partition = int32(named.(float64))
	} else if record["key"] == nil {
		return Object{"unsupported": "what has no key is drawn, at once"}
	}
	if n < 1 || n > 10000 || partition >= int32(n) || partition < -1 || partition == -1 && record["partition"] == -1. {
		return Object{"unsupported": "a topic of 1 to 10,000 partitions, and one of these"}
	}
	topic, message := fmt.Sprint("t", n), &kafka.Message{}
	if !created[n] {
		if len(created)%30 == 0 {
			connect()
		}
		created[n] = cluster.CreateTopic(topic, n, 1) == nil
	}
	if record["key"] != nil {
		message.Key, _ = hex.DecodeString(record["key"].(string))
	}
	message.TopicPartition = kafka.TopicPartition{Topic: &topic, Partition: partition}
	if err := producer.Produce(message, delivered); err != nil {
		return Object{"unsupported": err.Error()} // larger than message.max.bytes
	}
	return Object{"answer": Object{"partition": (<-delivered).(*kafka.Message).TopicPartition.Partition}}
}

func main() {
	Speak("confluent-kafka-go", "github.com/confluentinc/confluent-kafka-go/v2", []string{"partition-for-key", "producer-partition"}, answer)
}
