// Adapter of the gate of clients for franz-go.
package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
var acks = map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}
var isolation = map[string]kgo.IsolationLevel{"read_committed": kgo.ReadCommitted(), "read_uncommitted": kgo.ReadUncommitted()}
var common = []kgo.Opt{kgo.SeedBrokers(env("BOOTSTRAP")), kgo.ClientID(env("CLIENT_ID"))}

// Java's partitioner, but for records that are sent to a partition.
type partitioner struct{ kgo.TopicPartitioner }

func (partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return partitioner{kgo.StickyKeyPartitioner(nil).ForTopic(topic)}
}
func (p partitioner) OnNewBatch() { p.TopicPartitioner.(kgo.TopicPartitionerOnNewBatch).OnNewBatch() }
func (p partitioner) Partition(one *kgo.Record, count int) int {
	if one.Partition >= 0 {
		return int(one.Partition)
	}
	return p.TopicPartitioner.Partition(one, count)
}

func client(options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(common, options...)...)
	if err != nil {
		panic(err)
	}
	return made
}

type sender struct{ *kgo.Client }

func start(longest int) producer {
	options := []kgo.Opt{kgo.RequiredAcks(acks[env("ACKS")]), kgo.ProducerLinger(millis("LINGER_MS")),
		kgo.ProducerBatchMaxBytes(int32(max(number("BATCH_SIZE"), longest+100, 512))), kgo.RecordPartitioner(partitioner{}),
		kgo.ProducerBatchCompression(codecs[env("COMPRESSION")]), kgo.RecordDeliveryTimeout(millis("TIMEOUT_MS"))}
	if env("IDEMPOTENCE") == "false" {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(number("IN_FLIGHT")))
	}
	return sender{client(options...)}
}

func (s sender) send(l line) {
	record := &kgo.Record{Topic: env("TOPIC"), Key: l.keyBytes(), Value: []byte(l.Value), Partition: -1}
	if l.Partition != nil {
		record.Partition = int32(*l.Partition)
	}
	s.Produce(context.Background(), record, func(one *kgo.Record, err error) { sent(*l.Send, int(one.Partition), one.Offset, err) })
}

func (s sender) flush() { s.Flush(context.Background()) }

func consume(until int) {
	consumer := client(kgo.ConsumerGroup(env("GROUP")), kgo.ConsumeTopics(env("TOPIC")), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(millis("SESSION_MS")),
		kgo.FetchIsolationLevel(isolation[env("ISOLATION")]))
	for delivered < until {
		consumer.PollFetches(context.Background()).EachRecord(func(one *kgo.Record) {
			received(int(one.Partition), one.Offset, one.Value)
		})
	}
	check(consumer.CommitUncommittedOffsets(context.Background()))
	consumer.Close()
}

func main() { run(start, consume) }
