package native_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/native"
)

const weather = `{"name": "get_weather", "description": "Returns the current weather for a city.", "inputSchema": {"type": "object",
 "properties": {"city": {"type": "string", "description": "City name."}}, "required": ["city"]}}`

func open() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.ReplaceAll(weather, "\n", "") + "\n")), nil
}

// Tool definitions in, training file out.
func Example() {
	ctx := context.Background()
	tools, err := midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "weather.jsonl", Open: open})
	if err != nil {
		log.Fatal(err)
	}
	corpus, err := native.Generate(ctx, tools, &native.GenerateOptions{PerTool: 1, OwnTools: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := midtool.WriteMessages(os.Stdout, corpus.Samples, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"messages":[{"role":"user","content":"When you have a moment, give me the current weather taking \"Lisbon\" for the city name."},{"role":"assistant","content":"","tool_calls":[{"id":"call_0001","type":"function","function":{"name":"get_weather","arguments":{"city":"Lisbon"}}}]},{"role":"tool","content":"{\"status\": \"ok\", \"city\": \"Lisbon\"}","tool_call_id":"call_0001","name":"get_weather"},{"role":"assistant","content":"The status is ok, for city Lisbon."}],"tools":[{"type":"function","function":{"name":"get_weather","description":"Returns the current weather for a city.","parameters":{"type":"object","properties":{"city":{"type":"string","description":"City name."}},"required":["city"]}}}]}
}

func ExampleGenerate() {
	tools := []midtool.Tool{
		{Name: "get_weather", Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`), License: "MIT"},
		{Name: "convert_file", Parameters: []byte(`{"type": "object", "properties": {"file": {"type": "file"}}, "required": ["file"]}`), License: "MIT"},
		{Name: "send_mail", License: "GPL-3.0-only"},
	}
	corpus, err := native.Generate(context.Background(), tools, &native.GenerateOptions{PerTool: 1})
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
	// Please look up the weather in Valparaíso.
	// get_weather {"city":"Valparaíso"}
	// /city literal Valparaíso
	// midtool: tool "send_mail": license: GPL-3.0-only
	// midtool: tool "convert_file", sample 1: no_value: no valid arguments found
	// map[license:1 no_value:1]
}
