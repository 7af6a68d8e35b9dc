package sim_test

import (
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/sim"
)

// Arguments are one object with exactly the fields that are named.
func ExampleArgs() {
	for _, raw := range []string{`{"from":"a","to":3}`, `{"from":"a"}`, `{"from":"a","to":3,"by":"car"}`, `[]`} {
		args, refusal := sim.Args([]byte(raw), "from", "to")
		if refusal != nil {
			fmt.Println(refusal.Class+":", refusal.Message)
			continue
		}
		fmt.Println(args["from"], args["to"])
	}
	// Output:
	// a 3
	// bad_args: missing argument to
	// bad_args: unknown argument "by"
	// bad_args: arguments must be one JSON object
}

// The most common call has one argument, a string.
func ExampleStringArg() {
	text, refusal := sim.StringArg([]byte(`{"text":"go to desk 1"}`), "text")
	fmt.Println(text, refusal == nil)
	_, refusal = sim.StringArg([]byte(`{"text":1}`), "text")
	fmt.Println(refusal.Message)
	// Output:
	// go to desk 1 true
	// argument text must be a string
}

// A refusal is data for the policy.
func ExampleRefuse() {
	r := sim.Refuse(envharness.ClassNotFound, "there is no drawer %d", 7)
	fmt.Println(r.Class, "-", r.Message)
	// Output: not_found - there is no drawer 7
}

// What a policy sent is cut before it is quoted.
func ExampleClip() {
	fmt.Println(sim.Clip("drawer"))
	fmt.Println(sim.Clip(strings.Repeat("ab", 1000)))
	// Output:
	// drawer
	// abababababababababababababababababababababababababababababababab...
}
