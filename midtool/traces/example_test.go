package traces_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/traces"
)

// Two conversations of an agent of one's own: the second one gives the tool away.
const recorded = `{"messages": [{"role": "user", "content": "What is the weather like in Zürich?"}, ` +
	`{"role": "assistant", "content": null, "tool_calls": [` +
	`{"id": "a1", "type": "function", "function": {"name": "weather.get", "arguments": "{\"city\": \"Zürich\"}"}}]}, ` +
	`{"role": "tool", "tool_call_id": "a1", "content": "{\"temp\": 7}"}, {"role": "assistant", "content": "It is 7 degrees."}], ` +
	`"tools": [{"type": "function", "function": {"name": "weather.get", "parameters": ` +
	`{"type": "object", "properties": {"city": {"type": "str"}}}}}]}
{"messages": [{"role": "user", "content": "Call weather.get now."}, {"role": "assistant", "content": "For which city?"}], ` +
	`"tools": [{"type": "function", "function": {"name": "weather.get"}}]}
`

func ExampleImport() {
	samples := midtool.ReadMessages(strings.NewReader(recorded), "agent.jsonl")
	corpus, err := traces.Import(context.Background(), samples, &traces.Options{Source: "agent", License: "MIT"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range corpus.Samples {
		call := s.Messages[1].Calls[0]
		fmt.Println(s.ID, s.Family, s.Ability)
		fmt.Println(call.Name, string(call.Arguments), s.Evidence[0].Class)
		fmt.Println(s.Tools[0].Original, string(s.Tools[0].Parameters))
	}
	for _, r := range corpus.Rejected {
		fmt.Println(r.Sample, r.Reason, r.Path)
	}
	// Output:
	// agent/1 single grounding
	// weather_get {"city":"Zürich"} literal
	// weather.get {"type":"object","properties":{"city":{"type":"string"}}}
	// agent/2 leak /messages/0/content
}
