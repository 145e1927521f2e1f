package main

import (
	"os"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

var (
	cluster   *kafka.MockCluster
	producer  *kafka.Producer
	created   map[int]bool
	delivered = make(chan kafka.Event, 1)
)

// A new cluster for every 30 topics: with many large ones, metadata take long.
func connect() {
	if producer != nil {
		producer.Close()
		cluster.Close()
	}
	cluster, _ = kafka.NewMockCluster(1)
	settings := kafka.ConfigMap{"bootstrap.servers": cluster.BootstrapServers(), "linger.ms": 0, "topic.metadata.refresh.fast.interval.ms": 1}
	if os.Args[1] == "java" {
		settings["partitioner"] = "murmur2_random"
	}
	producer, _ = kafka.NewProducer(&settings)
	created = map[int]bool{}
}
