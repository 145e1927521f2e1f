// franz-go, by the partitioner that it makes for a topic.
// default: UniformBytesPartitioner, as kgo sets it; java: StickyKeyPartitioner, which matches Java's of 2.4 to 3.2;
// uniform-bytes: UniformBytesPartitioner without adaptive choice, with the batch size of each question (sticky.go).
package main

import (
	"encoding/hex"
	"maps"
	"os"
	"slices"

	. "drivers.test/protocol"
	"github.com/twmb/franz-go/pkg/kgo"
)

var partitioners = map[string]kgo.Partitioner{
	"default": kgo.UniformBytesPartitioner(64<<10, true, true, nil), "java": kgo.StickyKeyPartitioner(nil),
}

func answer(rule string, q Object) Object {
	if rule == "consumer-fetch" {
		return fetched(q)
	}
	if balancers[rule] != nil {
		return assignment(rule, q)
	}
	key, count := q["key"], q["partitions"]
	if rule == "producer-partition" {
		record, config := q["record"].(Object), q["config"].(Object)
		if record["partition"] != nil || config["partitioner"] != nil || config["ignore_keys"] == true {
			return Object{"unsupported": "a partition is named by ManualPartitioner alone; without keys it draws, at once"}
		}
		key, count = record["key"], float64(len(q["cluster"].(Object)["partitions"].([]any)))
	}
	if key == nil {
		return Object{"unsupported": "a record without a key is placed at random, at once"}
	}
	bytes, _ := hex.DecodeString(key.(string))
	partitioner, record := partitioners[os.Args[1]].ForTopic("t"), &kgo.Record{Key: bytes}
	if backup, ok := partitioner.(kgo.TopicBackupPartitioner); ok {
		return Object{"answer": Object{"partition": backup.PartitionByBackup(record, int(count.(float64)), nil)}}
	}
	return Object{"answer": Object{"partition": partitioner.Partition(record, int(count.(float64)))}}
}

func main() {
	if os.Args[1] == "uniform-bytes" {
		Grades = Object{"builtin-partitioner": "admissible"}
		Speak("franz-go", "github.com/twmb/franz-go", []string{"builtin-partitioner"}, records)
		return
	}
	rules := []string{"partition-for-key", "producer-partition"}
	if os.Args[1] == "default" {
		rules = slices.AppendSeq(append(rules, "consumer-fetch"), maps.Keys(balancers))
		Grades = Object{"sticky-assignor": "admissible", "cooperative-sticky-assignor": "admissible"}
	}
	Speak("franz-go", "github.com/twmb/franz-go", rules, answer)
}
