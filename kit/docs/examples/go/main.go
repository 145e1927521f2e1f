// A driver for kafka-conformance: the hash of a key, and its partition. Standard library only.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
)

type object = map[string]any

type asked struct {
	Hello    any
	ID, Rule string
	Question struct {
		Key        *string // hexadecimal; null is Java's null
		Partitions int32
	}
}

func murmur2(key []byte) int32 {
	const m = 0x5bd1e995
	h := 0x9747b28c ^ uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		k := binary.LittleEndian.Uint32(key) * m
		h = h*m ^ (k^k>>24)*m
	}
	if len(key) > 0 {
		h = (h ^ binary.LittleEndian.Uint32(append(key[:len(key):len(key)], 0, 0, 0))) * m
	}
	h = (h ^ h>>13) * m
	return int32(h ^ h>>15)
}

func answer(q asked) object {
	if q.Question.Key == nil {
		return object{"raises": "NullPointerException"}
	}
	key, err := hex.DecodeString(*q.Question.Key)
	if err != nil {
		panic(err)
	}
	hash := murmur2(key)
	if q.Rule == "murmur2" {
		return object{"hash": hash}
	}
	if q.Question.Partitions == 0 {
		return object{"raises": "ArithmeticException"}
	}
	return object{"partition": (hash & 0x7fffffff) % q.Question.Partitions}
}

func main() {
	rules := []string{"murmur2", "partition-for-key"}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for q := (asked{}); in.Decode(&q) == nil; q = (asked{}) {
		if q.Hello != nil {
			out.Encode(object{"hello": object{"protocol": 1, "name": "example", "version": "1", "language": "go", "rules": rules}})
		} else {
			out.Encode(object{"id": q.ID, "answer": answer(q)})
		}
	}
}
