package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
	"net"
)

func number(size int, value int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(value))[8-size:]
}

func join(parts ...[]byte) (joined []byte) {
	for _, part := range parts {
		joined = append(joined, part...)
	}
	return joined
}

// FetchResponse is that to a Fetch request of version 10, for the partition 0 of the topic t, without an error. The watermark is
// beyond every offset; of an empty response it is the fetch offset.
func FetchResponse(q Object) []byte {
	records, _ := hex.DecodeString(q["records"].(string))
	listed, _ := q["aborted"].([]any)
	watermark := int64(math.MaxInt64)
	if offset, _ := q["fetch_offset"].(float64); len(records) == 0 {
		watermark = int64(offset)
	}
	before := join(number(4, 0), number(2, 0), number(4, 0), number(4, 1), number(2, 1), []byte("t"), number(4, 1))
	partition := join(number(4, 0), number(2, 0), number(8, watermark), number(8, watermark), number(8, 0))
	aborted := number(4, int64(len(listed)))
	for _, each := range listed {
		aborted = join(aborted, number(8, int64(each.([]any)[0].(float64))), number(8, int64(each.([]any)[1].(float64))))
	}
	return join(before, partition, aborted, number(4, int64(len(records))), records)
}

// ServeFetch is a broker with one connection: it answers requests for its versions, and one to fetch. Then it closes the
// connection: a client that reads on finds the end.
func ServeFetch(q Object, connection net.Conn) {
	defer connection.Close()
	for size, versions := make([]byte, 4), true; versions; {
		if _, err := io.ReadFull(connection, size); err != nil {
			return
		}
		request, body := make([]byte, binary.BigEndian.Uint32(size)), FetchResponse(q)
		io.ReadFull(connection, request)
		if versions = binary.BigEndian.Uint16(request) == 18; versions {
			body = join(number(2, 0), number(4, 1), number(2, 1), number(2, 0), number(2, 10))
		}
		connection.Write(join(number(4, int64(len(body)+4)), request[4:8], body))
	}
}
