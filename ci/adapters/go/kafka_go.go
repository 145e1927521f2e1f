// Adapter of the gate of clients for segmentio/kafka-go.
package main

import (
	"context"
	"errors"
	"sync"

	"github.com/segmentio/kafka-go"
)

var acks = map[string]kafka.RequiredAcks{"all": kafka.RequireAll, "1": kafka.RequireOne, "0": kafka.RequireNone}
var levels = map[string]kafka.IsolationLevel{"read_committed": kafka.ReadCommitted, "read_uncommitted": kafka.ReadUncommitted}

type sender struct {
	*kafka.Writer
	waiting *sync.WaitGroup
}

func start(longest int) producer {
	if env("IDEMPOTENCE") == "true" {
		refuse("kafka-go has no idempotent producer")
	}
	to := sender{waiting: &sync.WaitGroup{}}
	to.Writer = &kafka.Writer{Addr: kafka.TCP(env("BOOTSTRAP")), Topic: env("TOPIC"), RequiredAcks: acks[env("ACKS")], Async: true,
		BatchBytes: int64(max(number("BATCH_SIZE"), longest+100)), BatchTimeout: millis("LINGER_MS") + 1, BatchSize: 1000,
		WriteTimeout: millis("TIMEOUT_MS") / 2, ReadTimeout: millis("TIMEOUT_MS") / 2,
		Transport: &kafka.Transport{ClientID: env("CLIENT_ID")},
		Balancer: kafka.BalancerFunc(func(one kafka.Message, partitions ...int) int {
			if to := one.WriterData.(line).Partition; to != nil {
				return *to
			}
			return kafka.Murmur2Balancer{}.Balance(one, partitions...)
		}),
		Completion: func(all []kafka.Message, err error) {
			for _, one := range all {
				sent(*one.WriterData.(line).Send, one.Partition, one.Offset, err)
				to.waiting.Done()
			}
		}}
	to.Compression.UnmarshalText([]byte(env("COMPRESSION")))
	return to
}

func (s sender) send(l line) {
	s.waiting.Add(1)
	err := s.WriteMessages(context.Background(), kafka.Message{Key: l.keyBytes(), Value: []byte(l.Value), WriterData: l})
	if err != nil {
		sent(*l.Send, 0, 0, err)
		s.waiting.Done()
	}
}

func (s sender) flush() { s.waiting.Wait() }

func consume(until int) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{env("BOOTSTRAP")}, GroupID: env("GROUP"), Topic: env("TOPIC"),
		StartOffset: kafka.FirstOffset, IsolationLevel: levels[env("ISOLATION")], SessionTimeout: millis("SESSION_MS"),
		HeartbeatInterval: millis("SESSION_MS") / 3, Dialer: &kafka.Dialer{ClientID: env("CLIENT_ID"), Timeout: millis("TIMEOUT_MS")}})
	var read []kafka.Message
	for delivered < until {
		one, err := reader.FetchMessage(context.Background())
		if errors.Is(err, context.Canceled) {
			break
		}
		if check(err); err == nil {
			received(one.Partition, one.Offset, one.Value)
			read = append(read, one)
		}
	}
	check(reader.CommitMessages(context.Background(), read...))
	check(reader.Close())
}

func main() { run(start, consume) }
