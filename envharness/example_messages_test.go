package envharness_test

import (
	"fmt"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// The log of another agent becomes a trace: with what was called and shown, and without a verdict.
func ExampleReadMessages() {
	log := `{"id": "weather-1", "messages": [
		{"role": "user", "content": "Weather in Rome?"},
		{"role": "assistant", "content": "I look it up.", "tool_calls": [
			{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]},
		{"role": "tool", "tool_call_id": "c1", "content": "sunny"},
		{"role": "assistant", "content": "It is sunny."}]}`
	log = strings.ReplaceAll(log, "\n", " ") // one line a conversation
	for t, err := range envharness.ReadMessages(strings.NewReader(log)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %q, %s, %s\n", t.Task.ID, t.Shown.Text, t.Verdict.Status, t.End)
		for _, turn := range t.Turns {
			fmt.Printf("said %q", turn.Said)
			if turn.Applied != nil {
				fmt.Printf(", did %s%s", turn.Applied.Name, turn.Applied.Args)
			}
			fmt.Printf(", was shown %q\n", turn.Shown.Observation.Text)
		}
	}
	// Output:
	// weather-1: "Weather in Rome?", invalid, agent_stop
	// said "I look it up.", did weather{"city":"Rome"}, was shown "sunny"
	// said "It is sunny.", was shown ""
}
