// sarama under its old name, by the partitioner that it makes for a topic.
// default: NewHashPartitioner, which is FNV-1a; reference: NewReferenceHashPartitioner; manual: NewManualPartitioner.
package main

import (
	"encoding/hex"
	"os"

	. "drivers.test/protocol"
	"github.com/Shopify/sarama"
)

var partitioners = map[string]sarama.PartitionerConstructor{
	"default": sarama.NewHashPartitioner, "reference": sarama.NewReferenceHashPartitioner, "manual": sarama.NewManualPartitioner,
}

func answer(rule string, q Object) Object {
	message, count := &sarama.ProducerMessage{Topic: "t"}, q["partitions"]
	key := q["key"]
	if rule == "producer-partition" {
		record, config := q["record"].(Object), q["config"].(Object)
		named := record["partition"] != nil
		if named != (os.Args[1] == "manual") || config["partitioner"] != nil || !named && config["ignore_keys"] == true {
			return Object{"unsupported": "a partition is named by NewManualPartitioner alone; keys are not ignored"}
		}
		if named {
			message.Partition = int32(record["partition"].(float64))
		}
		key, count = record["key"], float64(len(q["cluster"].(Object)["partitions"].([]any)))
	}
	if key == nil && os.Args[1] != "manual" {
		return Object{"unsupported": "a record without a key is placed at random, at once"}
	}
	if key != nil {
		bytes, _ := hex.DecodeString(key.(string))
		message.Key = sarama.ByteEncoder(bytes)
	}
	partition, err := partitioners[os.Args[1]]("t").Partition(message, int32(count.(float64)))
	if err != nil {
		return Object{"failed": err.Error()}
	}
	if partition < 0 || partition >= int32(count.(float64)) {
		return Object{"unsupported": "refused by its producer: ErrInvalidPartition"}
	}
	return Object{"answer": Object{"partition": partition}}
}

func main() {
	rules := []string{"partition-for-key", "producer-partition"}
	if os.Args[1] == "manual" {
		rules = rules[1:]
	}
	Speak("sarama", "github.com/Shopify/sarama", rules, answer)
}
