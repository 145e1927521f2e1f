package main

import (
	"time"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

// outcome is that of a response, once the consumer fetches again; then the consumer is closed.
func outcome(partition sarama.PartitionConsumer, connections *network) Object {
	found := Object{}
	defer close(connections.done)
	defer partition.AsyncClose()
	select {
	case position := <-connections.positions:
		found["position"] = Offset(position)
	case <-time.After(10 * time.Second):
		return Object{"failed": "the client does not fetch again within 10 s"}
	}
	delivered := []any{}
	for len(partition.Messages()) > 0 {
		delivered = append(delivered, Offset((<-partition.Messages()).Offset))
	}
	found["delivered"] = delivered
	if len(partition.Errors()) > 0 {
		found["raises"] = "error"
	}
	return Object{"answer": found}
}
