package main

import (
	"io"
	"log"
	"time"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

type quiet struct{}

func (quiet) Error(...any)          {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatal(...any)          {}
func (quiet) Fatalf(string, ...any) {}
func (quiet) Helper()               {}

// mockBroker is sarama's own: it answers everything but fetches, with one topic of which offsets up to 2^60 exist.
func mockBroker() *sarama.MockBroker {
	sarama.Logger = log.New(io.Discard, "", 0)
	broker := sarama.NewMockBroker(quiet{}, 1)
	offsets := sarama.NewMockOffsetResponse(quiet{}).SetOffset("t", 0, sarama.OffsetOldest, 0)
	broker.SetHandlerByMap(map[string]sarama.MockResponse{
		"MetadataRequest": sarama.NewMockMetadataResponse(quiet{}).SetBroker(broker.Addr(), 1).SetLeader("t", 0, 1),
		"OffsetRequest":   offsets.SetOffset("t", 0, sarama.OffsetNewest, 1<<60),
	})
	return broker
}

// fetched is what a partition consumer delivers until it fetches again, by that request's offset, and its errors.
func fetched(broker *sarama.MockBroker, q Object) Object {
	if q["check_crcs"] == false {
		return Object{"unsupported": "it has no setting to check CRCs"}
	}
	config, connections := sarama.NewConfig(), &network{q, broker, 0, make(chan int64, 9), make(chan bool)}
	config.Version, config.ApiVersionsRequest, config.ChannelBufferSize = sarama.V2_1_0_0, false, 1<<10
	config.Consumer.Return.Errors, config.Consumer.Retry.Backoff = true, time.Millisecond
	config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, connections
	if q["read_committed"] == true {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	consumer, err := sarama.NewConsumer([]string{broker.Addr()}, config)
	if err != nil {
		return Object{"failed": err.Error()}
	}
	offset, _ := q["fetch_offset"].(float64)
	partition, err := consumer.ConsumePartition("t", 0, int64(offset))
	if err != nil {
		return Object{"failed": err.Error()}
	}
	return outcome(partition, connections)
}
