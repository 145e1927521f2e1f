package main

import (
	"errors"
	"io"
	"net"
	"time"

	. "drivers.test/protocol"
	"github.com/segmentio/kafka-go"
)

// fetched is what a connection of the client reads, as Reader uses it: a batch for each response, a message at a time. After
// an error a Reader connects again, and goes on behind the last message.
func fetched(q Object) Object {
	if q["check_crcs"] == false {
		return Object{"unsupported": "it has no setting to check CRCs"}
	}
	mine, other := net.Pipe()
	go ServeFetch(q, other)
	connection := kafka.NewConnWith(mine, kafka.ConnConfig{Topic: "t"})
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(5 * time.Second))
	start, _ := q["fetch_offset"].(float64)
	position := int64(start)
	connection.Seek(position, kafka.SeekAbsolute|kafka.SeekDontCheck)
	level := kafka.ReadUncommitted
	if q["read_committed"] == true {
		level = kafka.ReadCommitted
	}
	batch, delivered := connection.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: 1 << 20, IsolationLevel: level}), []any{}
	for {
		message, err := batch.ReadMessage()
		if errors.Is(err, io.EOF) || errors.Is(err, kafka.RequestTimedOut) { // Reader fetches again after either
			batch.Close()
			position, _ = connection.Offset()
			return Object{"answer": Object{"delivered": delivered, "position": Offset(position)}}
		}
		if err != nil {
			batch.Close()
			return Object{"answer": Object{"delivered": delivered, "position": Offset(position), "raises": "error"}}
		}
		delivered, position = append(delivered, Offset(message.Offset)), message.Offset+1
	}
}
