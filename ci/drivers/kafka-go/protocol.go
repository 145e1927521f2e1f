package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

type object = map[string]any

// Protocol 1 on standard input and output, with the version of the client that was built in.
func speak(name, module string, rules []string, answer func(rule string, q object) object) {
	info, _ := debug.ReadBuildInfo()
	hello := object{"protocol": 1, "name": name, "language": "go", "rules": rules}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			hello["version"] = dependency.Version[1:]
		}
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for line := (object{}); in.Decode(&line) == nil; line = (object{}) {
		if line["hello"] != nil {
			out.Encode(object{"hello": hello})
			continue
		}
		said := held(answer, line["rule"].(string), line["question"].(object))
		said["id"] = line["id"]
		out.Encode(said)
	}
}

// A panic of the client is no answer, but for a division by 0, which Java has a name for.
func held(answer func(rule string, q object) object, rule string, q object) (said object) {
	defer func() {
		if broken := fmt.Sprint(recover()); strings.HasSuffix(broken, "divide by zero") {
			said = object{"answer": object{"raises": "ArithmeticException"}}
		} else if said == nil {
			said = object{"failed": broken}
		}
	}()
	return answer(rule, q)
}
