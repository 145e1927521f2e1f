// Adapter of the gate of clients for sarama.
package main

import (
	"context"
	"sync"

	"github.com/IBM/sarama"
)

var acks = map[string]sarama.RequiredAcks{"all": sarama.WaitForAll, "1": sarama.WaitForLocal, "0": sarama.NoResponse}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = env("CLIENT_ID")
	return config
}

// The partitioner, but for records that are sent to a partition.
type partitioner struct{ sarama.Partitioner }

func (p partitioner) Partition(one *sarama.ProducerMessage, count int32) (int32, error) {
	if to := one.Metadata.(line).Partition; to != nil {
		return int32(*to), nil
	}
	return p.Partitioner.Partition(one, count)
}

type sender struct {
	sarama.AsyncProducer
	waiting *sync.WaitGroup
}

func start(longest int) producer {
	config := settings()
	config.Producer.RequiredAcks, config.Producer.Idempotent = acks[env("ACKS")], env("IDEMPOTENCE") == "true"
	config.Net.MaxOpenRequests, config.Net.ReadTimeout = number("IN_FLIGHT"), millis("TIMEOUT_MS")/2
	if config.Producer.Idempotent {
		config.Net.MaxOpenRequests = 1 // required
	}
	if config.Producer.Flush.Frequency = millis("LINGER_MS"); config.Producer.Flush.Frequency > 0 {
		config.Producer.Flush.Bytes = number("BATCH_SIZE") // alone, it would wait for ever
	}
	config.Producer.Compression.UnmarshalText([]byte(env("COMPRESSION")))
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = func(topic string) sarama.Partitioner { return partitioner{sarama.NewMurmur2Partitioner(topic)} }
	made, err := sarama.NewAsyncProducer([]string{env("BOOTSTRAP")}, config)
	if err != nil {
		panic(err)
	}
	to := sender{made, &sync.WaitGroup{}}
	go func() {
		for one := range made.Successes() {
			sent(*one.Metadata.(line).Send, int(one.Partition), one.Offset, nil)
			to.waiting.Done()
		}
	}()
	go func() {
		for one := range made.Errors() {
			sent(*one.Msg.Metadata.(line).Send, 0, 0, one.Err)
			to.waiting.Done()
		}
	}()
	return to
}

func (s sender) send(l line) {
	s.waiting.Add(1)
	message := &sarama.ProducerMessage{Topic: env("TOPIC"), Value: sarama.StringEncoder(l.Value), Metadata: l}
	if l.Key != nil {
		message.Key = sarama.StringEncoder(*l.Key)
	}
	s.Input() <- message
}

func (s sender) flush() { s.waiting.Wait() }

type handler struct {
	until int
	lock  *sync.Mutex
	end   context.CancelFunc
}

func (handler) Setup(sarama.ConsumerGroupSession) error { return nil }
func (handler) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	return nil
}
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for one := range claim.Messages() {
		h.lock.Lock()
		if session.Context().Err() == nil && delivered < h.until {
			received(int(one.Partition), one.Offset, one.Value)
			session.MarkMessage(one, "")
		}
		if delivered >= h.until {
			h.end()
		}
		h.lock.Unlock()
	}
	return nil
}

func consume(until int) {
	config := settings()
	config.Consumer.Offsets.Initial, config.Consumer.Offsets.AutoCommit.Enable = sarama.OffsetOldest, false
	config.Consumer.Group.Session.Timeout, config.Consumer.Group.Heartbeat.Interval = millis("SESSION_MS"), millis("SESSION_MS")/3
	if env("ISOLATION") == "read_committed" {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	group, err := sarama.NewConsumerGroup([]string{env("BOOTSTRAP")}, env("GROUP"), config)
	if err != nil {
		panic(err)
	}
	ctx, end := context.WithCancel(context.Background())
	for ctx.Err() == nil {
		check(group.Consume(ctx, []string{env("TOPIC")}, handler{until, &sync.Mutex{}, end}))
	}
	check(group.Close())
}

func main() { run(start, consume) }
