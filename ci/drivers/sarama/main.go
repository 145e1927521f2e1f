// sarama, by the partitioner that it makes for a topic.
// default: NewHashPartitioner, which is FNV-1a; reference: NewReferenceHashPartitioner; java: NewMurmur2Partitioner.
package main

import (
	"encoding/hex"
	"os"

	"github.com/IBM/sarama"
)

var partitioners = map[string]sarama.PartitionerConstructor{
	"default": sarama.NewHashPartitioner, "reference": sarama.NewReferenceHashPartitioner, "java": sarama.NewMurmur2Partitioner,
}

func answer(rule string, q object) object {
	key, count := q["key"], q["partitions"]
	if rule == "producer-partition" {
		record, config := q["record"].(object), q["config"].(object)
		if record["partition"] != nil || config["partitioner"] != nil || config["ignore_keys"] == true {
			return object{"unsupported": "a partition is named by NewManualPartitioner alone; keys are not ignored"}
		}
		key, count = record["key"], float64(len(q["cluster"].(object)["partitions"].([]any)))
	}
	if key == nil {
		return object{"unsupported": "a record without a key is placed at random, at once"}
	}
	bytes, _ := hex.DecodeString(key.(string))
	message := &sarama.ProducerMessage{Topic: "t", Key: sarama.ByteEncoder(bytes)}
	partition, err := partitioners[os.Args[1]]("t").Partition(message, int32(count.(float64)))
	if err != nil {
		return object{"failed": err.Error()}
	}
	return object{"answer": object{"partition": partition}}
}

func main() {
	speak("sarama", "github.com/IBM/sarama", []string{"partition-for-key", "producer-partition"}, answer)
}
