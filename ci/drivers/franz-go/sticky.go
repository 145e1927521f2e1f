package main

import (
	. "drivers.test/protocol"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The client does not send larger batches, unless it is configured to.
const largest = 1000012

// records answers a script of records without a key, with one partitioner for all of them, as a producer has it.
func records(_ string, q Object) Object {
	if q["rack_aware"] == true {
		return Object{"unsupported": "the client knows no racks"}
	}
	limit := int(q["batch_size"].(float64))
	if limit < 1 {
		return Object{"unsupported": "the client's limit is a number of bytes above 0"}
	}
	writable := []any{}
	for _, each := range q["cluster"].(Object)["partitions"].([]any) {
		if partition := each.(Object); partition["leader"] != nil {
			writable = append(writable, partition["id"])
		}
	}
	if len(writable) == 0 {
		return Object{"unsupported": "the client fails records while no partition has a leader"}
	}
	partitioner := kgo.UniformBytesPartitioner(limit, false, false, nil).ForTopic("t").(kgo.TopicBackupPartitioner)
	placed := []any{}
	for _, each := range q["steps"].([]any) {
		step := each.(Object)
		if step["op"] != "send" || step["enable_switch"] == false {
			return Object{"unsupported": "the partitioner has records alone, and switches by their bytes alone"}
		}
		record := recordOf(int(step["bytes"].(float64)))
		if record == nil {
			return Object{"unsupported": "the client cannot make a record of this size"}
		}
		placed = append(placed, Object{"partition": writable[partitioner.PartitionByBackup(record, len(writable), nil)]})
	}
	return Object{"answer": Object{"steps": placed}}
}

// recordOf is a record that the client counts as the given number of bytes: five fields of one byte each, the value's length as a
// varint, and the value. A key of one byte, which the partitioner ignores, fills the gaps where that length grows.
func recordOf(bytes int) *kgo.Record {
	for key := 0; key < 2; key++ {
		for length := 1; length < 4; length++ {
			value := bytes - 5 - length - key
			if value >= 0 && bytes <= largest && kbin.VarintLen(int32(value)) == length {
				return &kgo.Record{Key: make([]byte, key), Value: make([]byte, value)}
			}
		}
	}
	return nil
}
