package midtool_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

const weather = `{"name": "get_weather", "description": "Returns the current weather for a city.", "inputSchema": {"type": "object",
 "properties": {"city": {"type": "string", "description": "City name."}}, "required": ["city"]}}`

func open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.ReplaceAll(weather, "\n", "") + "\n")), nil
}

// Tool definitions in, training file out.
func Example() {
	ctx := context.Background()
	var tools []midtool.Tool
	for t, err := range (midtool.JSONL{Locator: "weather.jsonl", Open: open}).Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		tools = append(tools, t)
	}
	corpus, err := midtool.Generate(ctx, tools, &midtool.Options{PerTool: 1, OwnTools: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := midtool.WriteMessages(os.Stdout, corpus.Samples, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"messages":[{"role":"user","content":"Could you give me the current weather? The city name is Hobart."},{"role":"assistant","content":"","tool_calls":[{"id":"call_0001","type":"function","function":{"name":"get_weather","arguments":{"city":"Hobart"}}}]},{"role":"tool","content":"{\"status\": \"ok\", \"city\": \"Hobart\"}","tool_call_id":"call_0001","name":"get_weather"},{"role":"assistant","content":"All set, with city Hobart (status ok)."}],"tools":[{"type":"function","function":{"name":"get_weather","description":"Returns the current weather for a city.","parameters":{"type":"object","properties":{"city":{"type":"string","description":"City name."}},"required":["city"]}}}]}
}

func ExampleJSONL() {
	source := midtool.JSONL{Locator: "weather.jsonl", Open: open}
	for t, err := range source.Tools(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, line %d: %s %s\n", t.Origin.Locator, t.Origin.Line, t.Name, t.Parameters)
	}
	// Output:
	// weather.jsonl, line 1: get_weather {"type":"object","properties":{"city":{"type":"string","description":"City name."}},"required":["city"]}
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

func ExampleCanonical() {
	c, err := midtool.Canonical([]byte(`{"b": 5.0, "a": "<\u00e9>", "c": 1e2, "b": 5}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(c))
	// Output:
	// {"a":"<é>","b":5,"c":100.0}
}

func ExampleGenerate() {
	tools := []midtool.Tool{
		{Name: "get_weather", Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`), Licence: "MIT"},
		{Name: "convert_file", Parameters: []byte(`{"type": "object", "properties": {"file": {"type": "file"}}, "required": ["file"]}`), Licence: "MIT"},
		{Name: "send_mail", Licence: "GPL-3.0-only"},
	}
	corpus, err := midtool.Generate(context.Background(), tools, &midtool.Options{PerTool: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range corpus.Samples {
		fmt.Printf("%s\n%s %s\n", s.Messages[0].Content, s.Messages[1].Calls[0].Name, s.Messages[1].Calls[0].Arguments)
		for _, e := range s.Evidence {
			fmt.Println(e.Path, e.Class, e.Text)
		}
	}
	for _, r := range corpus.Rejected {
		fmt.Println(r.Error())
	}
	fmt.Println(corpus.Reasons())
	// Output:
	// Hi! Please show me the weather in Hobart. That is all I need.
	// get_weather {"city":"Hobart"}
	// /city literal Hobart
	// midtool: tool "send_mail": licence: GPL-3.0-only
	// midtool: tool "convert_file", sample 1: no_value: no valid arguments found
	// map[licence:1 no_value:1]
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
