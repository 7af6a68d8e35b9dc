package midtool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

const weather = `{"name": "get_weather", "description": "Returns the current weather for a city.", "inputSchema": {"type": "object",
 "properties": {"city": {"type": "string", "description": "City name."}}, "required": ["city"]}}`

func open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.ReplaceAll(weather, "\n", "") + "\n")), nil
}

func ExampleToolsJSONL() {
	source := midtool.ToolsJSONL{Locator: "weather.jsonl", Open: open}
	for t, err := range source.Tools(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, line %d: %s %s\n", t.Origin.Locator, t.Origin.Line, t.Name, t.Parameters)
	}
	// Output:
	// weather.jsonl, line 1: get_weather {"type":"object","properties":{"city":{"type":"string","description":"City name."}},"required":["city"]}
}

func ExampleReadTools() {
	mine := midtool.SourceFunc(func(context.Context) iter.Seq2[midtool.Tool, error] {
		return func(yield func(midtool.Tool, error) bool) {
			yield(midtool.Tool{Name: "send_mail"}, nil)
		}
	})
	tools, err := midtool.ReadTools(context.Background(), midtool.ToolsJSONL{Locator: "weather.jsonl", Open: open}, mine)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools {
		fmt.Println(t.Name)
	}
	// Output:
	// get_weather
	// send_mail
}

func ExampleNormalize() {
	t, err := midtool.Normalize(midtool.Tool{
		Name:       "book_table",
		Parameters: []byte(`{"properties": {"when": {"type": "date"}, "guests": {"type": "int, optional"}}, "required": ["when", "guests", "name"]}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.ID)
	fmt.Println(string(t.Parameters))
	fmt.Println(t.Lossy)
	// Output:
	// t_ff0abaaf52d1b0f5
	// {"type":"object","properties":{"when":{"type":"string","format":"date"},"guests":{"type":"integer"}},"required":["when"]}
	// [required_dropped:name]
}

func ExampleValidate() {
	sample := midtool.Sample{
		Tools: []midtool.Tool{{Name: "get_weather", Parameters: []byte(`{"type": "object",
			"properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}}, "required": ["city"]}`)}},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "What will the weather be in Oslo over the next 9 days?"},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{
				{ID: "call_0001", Name: "get_weather", Arguments: []byte(`{"city": "Bergen", "days": 9}`)}}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `{"status": "ok"}`},
			{Role: midtool.RoleAssistant, Content: "The status is ok."},
		},
	}
	for _, v := range midtool.Validate(sample) {
		fmt.Println(v)
	}
	// Output:
	// schema at /messages/1/calls/0/arguments/days: maximum: 9 against 7
	// ungrounded at /messages/1/calls/0/arguments/city: "Bergen" is in no earlier message, result or schema
}

func ExampleWriteMessages() {
	sample := midtool.Sample{Messages: []midtool.Message{
		{Role: midtool.RoleUser, Content: "Is 1 < 2 && 3 > 2?"},
		{Role: midtool.RoleAssistant, Content: "Ja, für alle 😀."},
	}}
	if err := midtool.WriteMessages(os.Stdout, []midtool.Sample{sample}, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"messages":[{"role":"user","content":"Is 1 < 2 && 3 > 2?"},{"role":"assistant","content":"Ja, für alle 😀."}]}
}

func ExampleReadMessages() {
	file := bytes.NewBufferString(`{"messages": [{"role": "user", "content": "Hello."}]}` + "\n" + `{"messages": 5}`)
	for s, err := range midtool.ReadMessages(file, "corpus.jsonl") {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(s.Messages[0].Role, s.Messages[0].Content)
	}
	// Output:
	// user Hello.
	// midtool: corpus.jsonl:2: byte 0: "messages": want list, got number
}

func ExampleApproxTokens() {
	fmt.Println(midtool.ApproxTokens(`{"city": "Oslo"}`))
	// Output:
	// 6
}

func ExampleChecker() {
	forecast := midtool.Tool{Name: "get_forecast", Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"},
		"from": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}`)}
	sample := midtool.Sample{
		Family: midtool.Single,
		Tools:  []midtool.Tool{forecast},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "How will it be in Oslo over five days, from 3 March 2027 on?"},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{
				{ID: "call_0001", Name: "get_forecast", Arguments: []byte(`{"city": "Oslo", "from": "2027-03-03", "days": 5}`)}}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `{"sky": "clear"}`},
			{Role: midtool.RoleAssistant, Content: "The sky will be clear."},
		},
	}
	checker := midtool.Checker{MaxTokens: 4096, Markers: []string{"<tool_call>"}}
	found, err := checker.Check(context.Background(), &sample)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Violations), "violations,", found.Tokens, "tokens")
	for _, e := range found.Evidence {
		fmt.Println(e.Path, e.Class, e.Text)
	}
	sample.Family = midtool.Parallel // its proof is missing
	if found, err = checker.Check(context.Background(), &sample); err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Violations)
	// Output:
	// 0 violations, 173 tokens
	// /city literal Oslo
	// /from derived 3 March 2027
	// /days normalized five
	// [proof at /messages: 1 calls together, want at least 2]
}

// What a caller's executor answers must be what the sample shows.
func ExampleChecker_replay() {
	sample := midtool.Sample{
		ID:    "tally/1",
		Tools: []midtool.Tool{{Name: "count_up", Parameters: []byte(`{"type": "object"}`)}},
		Messages: []midtool.Message{
			{Role: midtool.RoleUser, Content: "Count two guests, please."},
			{Role: midtool.RoleAssistant, Calls: []midtool.Call{
				{ID: "call_0001", Name: "count_up", Arguments: []byte(`{}`)}, {ID: "call_0002", Name: "count_up", Arguments: []byte(`{}`)}}},
			{Role: midtool.RoleTool, CallID: "call_0001", Content: `1`},
			{Role: midtool.RoleTool, CallID: "call_0002", Content: `1`},
			{Role: midtool.RoleAssistant, Content: "There are 2 guests."},
		},
	}
	tally := midtool.ExecutorFunc(func(context.Context, string, []midtool.Tool) (midtool.Session, error) {
		n := 0
		return midtool.SessionFunc(func(context.Context, midtool.Tool, json.RawMessage) (midtool.Result, error) {
			n++
			return midtool.Result{Value: fmt.Append(nil, n)}, nil
		}), nil
	})
	checker := midtool.Checker{Replay: tally}
	found, err := checker.Check(context.Background(), &sample)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Violations)
	// Output:
	// [response at /messages/3/content: replay: the result was 2]
}

func ExampleOfferText() {
	fmt.Println(midtool.OfferText([]midtool.Tool{{Name: "send_mail", Description: "Sends a mail.", Parameters: []byte(`{"type": "object"}`)}}))
	// Output:
	// From now on these tools can be called as well:
	// {"type":"function","function":{"name":"send_mail","description":"Sends a mail.","parameters":{"type":"object"}}}
}

func ExampleDefaultLicenses() {
	fmt.Println(slices.Contains(midtool.DefaultLicenses(), "MIT"), slices.Contains(midtool.DefaultLicenses(), "GPL-3.0-only"))
	// Output:
	// true false
}

// Real conversations seldom keep to the rules on wording; the others can still be checked.
func ExampleRules() {
	fmt.Println(midtool.Rules()[:3], len(midtool.Rules()))
	// Output:
	// [invalid_utf8 name bad_schema] 20
}

func ExampleExportNames() {
	tools := []*midtool.Tool{{ID: "t_1", Name: "orders.list"}, {ID: "t_2", Name: "orders list"}, {ID: "t_3", Name: "orders_list"}}
	midtool.ExportNames(tools)
	for _, t := range tools {
		fmt.Printf("%s was %q\n", t.Name, t.Original)
	}
	// Output:
	// orders_list_2 was "orders.list"
	// orders_list_3 was "orders list"
	// orders_list was ""
}
