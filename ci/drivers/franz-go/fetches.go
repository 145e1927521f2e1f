package main

import (
	"encoding/hex"

	. "drivers.test/protocol"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetched is what the client makes of a partition of a fetch response: the records of a poll, their error, and the offset
// of its next fetch.
func fetched(q Object) Object {
	response, given := kmsg.NewFetchResponseTopicPartition(), kgo.ReadUncommitted()
	response.RecordBatches, _ = hex.DecodeString(q["records"].(string))
	if q["read_committed"] == true {
		given = kgo.ReadCommitted()
	}
	listed, _ := q["aborted"].([]any)
	for _, each := range listed {
		aborted := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
		aborted.ProducerID, aborted.FirstOffset = int64(each.([]any)[0].(float64)), int64(each.([]any)[1].(float64))
		response.AbortedTransactions = append(response.AbortedTransactions, aborted)
	}
	offset, _ := q["fetch_offset"].(float64)
	options := kgo.ProcessFetchPartitionOpts{
		Topic: "t", Offset: int64(offset), IsolationLevel: given, DisableCRCValidation: q["check_crcs"] == false,
	}
	partition, position := kgo.ProcessFetchPartition(options, &response, kgo.DefaultDecompressor(), nil)
	delivered := []int64{}
	for _, record := range partition.Records {
		delivered = append(delivered, record.Offset)
	}
	found := Object{"delivered": delivered, "position": position}
	if partition.Err != nil {
		found["raises"] = "error"
	}
	return Object{"answer": found}
}
