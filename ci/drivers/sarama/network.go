package main

import (
	"encoding/binary"
	"io"
	"net"

	. "drivers.test/protocol"
	"github.com/IBM/sarama"
)

// network is what the client dials: sarama's own mock broker, but for requests to fetch. The first is answered with the
// response of the question; the second says the position of the consumer, and remains without an answer.
type network struct {
	question  Object
	broker    *sarama.MockBroker
	fetches   int
	positions chan int64
	done      chan bool // closed when the outcome is known
}

func (its *network) Dial(_, _ string) (net.Conn, error) {
	behind, err := net.Dial("tcp", its.broker.Addr())
	if err != nil {
		return nil, err
	}
	client, before := net.Pipe()
	go io.Copy(before, behind)
	go its.serve(before, behind)
	return client, nil
}

func (its *network) serve(before, behind net.Conn) {
	defer behind.Close()
	defer before.Close()
	for size := make([]byte, 4); ; {
		if _, err := io.ReadFull(before, size); err != nil {
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(size))
		io.ReadFull(before, request)
		if binary.BigEndian.Uint16(request) != 1 { // Fetch
			behind.Write(append(size, request...))
			continue
		}
		if its.fetches++; its.fetches > 1 {
			topics := request[10+int(binary.BigEndian.Uint16(request[8:]))+25:] // behind the client's id and seven fields
			its.positions <- int64(binary.BigEndian.Uint64(topics[4+2+1+4+4+4:]))
			<-its.done
			return
		}
		body := FetchResponse(its.question)
		length := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
		before.Write(append(append(length, request[4:8]...), body...))
	}
}
