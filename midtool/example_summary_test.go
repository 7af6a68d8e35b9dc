package midtool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool"
)

// What a corpus consists of, sample by sample.
func ExampleSummary() {
	sample := midtool.Sample{
		ID: "single/1", Family: midtool.Single, Ability: midtool.Grounding, Source: "native", Generator: "template",
		Tools: []midtool.Tool{{ID: "t_1", Name: "get_weather", License: "MIT",
			Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "What is the weather like in Oslo?", Template: "What is {request}?"},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "call_0001", Name: "get_weather", Arguments: []byte(`{"city":"Oslo"}`)}}},
			{Role: midtool.RoleTool, Content: `{"temp": 7}`, CallID: "call_0001", Name: "get_weather"},
			{Role: midtool.RoleAssistant, Content: "It is 7 degrees.", Template: "It is {fact}."},
		},
	}
	var checker midtool.Checker
	found, err := checker.Check(context.Background(), &sample)
	if err != nil {
		log.Fatal(err)
	}
	sample.Evidence = found.Evidence
	var sum midtool.Summary
	sum.Add(&sample, found.Tokens)
	fmt.Println(sum.Samples, sum.Families, sum.Abilities, sum.Evidence, sum.Arguments)
	fmt.Printf("%d words, largest template %q in %.0f %%\n", sum.User.Words, sum.User.TopTemplate, 100*sum.User.TemplateShare)
	fmt.Println(sum.Warnings())
	// Output:
	// 1 map[single:1] map[grounding:1] map[literal:1] map[string:1]
	// 7 words, largest template "What is {request}?" in 100 %
	// [1 samples are too few for shares to say much]
}
