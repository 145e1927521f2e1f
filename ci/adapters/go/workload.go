// What adapters for Go have in common: they read WORKLOAD, and write RESULTS.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// A line of WORKLOAD.
type line struct {
	Send, Consume *int
	Key           *string
	Value         string
	Partition     *int
}

// A producer sends without waiting, and waits for all that was sent.
type producer interface {
	send(one line)
	flush()
}

var env, delivered, lock = os.Getenv, 0, sync.Mutex{}

func number(name string) int           { n, _ := strconv.Atoi(env(name)); return n }
func millis(name string) time.Duration { return time.Duration(number(name)) * time.Millisecond }

func (l line) keyBytes() []byte {
	if l.Key == nil {
		return nil
	}
	return append([]byte{}, *l.Key...)
}

func report(values map[string]any) {
	lock.Lock()
	defer lock.Unlock()
	file, _ := os.OpenFile(env("RESULTS"), os.O_APPEND|os.O_WRONLY, 0)
	defer file.Close()
	json.NewEncoder(file).Encode(values)
}

func sent(record, partition int, offset int64, err error) {
	if err != nil {
		report(map[string]any{"record": record, "error": err.Error()})
	} else {
		report(map[string]any{"record": record, "partition": partition, "offset": offset})
	}
}

func received(partition int, offset int64, value []byte) {
	delivered++
	report(map[string]any{"partition": partition, "offset": offset, "value": string(value)})
}

func check(err error) {
	if err != nil {
		report(map[string]any{"error": err.Error()})
	}
}

func refuse(why string) {
	fmt.Println(why)
	os.Exit(77)
}

// run does what WORKLOAD says; longest is that of its lines, in bytes.
func run(start func(longest int) producer, consume func(until int)) {
	var to producer
	text, _ := os.ReadFile(env("WORKLOAD"))
	lines, longest := bytes.Split(bytes.TrimSpace(text), []byte("\n")), 0
	for _, one := range lines {
		longest = max(longest, len(one))
	}
	for _, one := range lines {
		var l line
		if err := json.Unmarshal(one, &l); err != nil {
			panic(err)
		}
		if to == nil && l.Consume == nil {
			to = start(longest)
		}
		switch {
		case l.Consume != nil:
			consume(*l.Consume)
		case l.Send != nil:
			to.send(l)
		default:
			to.flush()
		}
	}
}
