// Package protocol is what the drivers in Go have in common: protocol 1 of kafka-conformance, one line after another.
package protocol

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Object is a JSON object.
type Object = map[string]any

// Grades names, by rule, how answers are compared that depend on random draws of the client's own.
var Grades = Object{}

// Speak is protocol 1 on standard input and output, with the version of the client that was built in.
func Speak(name, module string, rules []string, answer func(rule string, q Object) Object) {
	info, _ := debug.ReadBuildInfo()
	hello := Object{"protocol": 1, "name": name, "language": "go", "rules": rules, "grades": Grades}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			hello["version"] = dependency.Version[1:]
		}
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for line := (Object{}); in.Decode(&line) == nil; line = (Object{}) {
		if line["hello"] != nil {
			out.Encode(Object{"hello": hello})
			continue
		}
		response := Held(answer, line["rule"].(string), line["question"].(Object))
		response["id"] = line["id"]
		out.Encode(response)
	}
}

// Held is the answer. A panic of the client is no answer, but for a division by 0, which Java has a name for.
func Held(answer func(rule string, q Object) Object, rule string, q Object) (response Object) {
	defer func() {
		if broken := fmt.Sprint(recover()); strings.HasSuffix(broken, "divide by zero") {
			response = Object{"answer": Object{"raises": "ArithmeticException"}}
		} else if response == nil {
			response = Object{"failed": broken}
		}
	}()
	return answer(rule, q)
}

// Offset is an offset in an answer: a number, or beyond 2^53 a string.
func Offset(offset int64) any {
	if offset > 1<<53 || offset < -1<<53 {
		return strconv.FormatInt(offset, 10)
	}
	return offset
}
