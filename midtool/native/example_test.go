package native_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/native"
)

// Definitions as an MCP server lists them.
const desk = `{"server": "desk", "license": "MIT", "tools": [` +
	`{"name": "list_orders", "description": "Lists the orders of a customer.", "inputSchema": {"type": "object",` +
	` "properties": {"customer": {"type": "string", "description": "Name of the customer."}}, "required": ["customer"]}},` +
	`{"name": "delete_order", "description": "Deletes an order.", "inputSchema": {"type": "object",` +
	` "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}]}`

// Tool definitions in, a training sample out: a request that takes two calls, of which the second needs the answer of
// the first.
func Example() {
	ctx := context.Background()
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(desk)), nil }
	tools, err := midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "desk.jsonl", Open: open})
	if err != nil {
		log.Fatal(err)
	}
	corpus, err := native.Generate(ctx, tools, &native.Options{
		Samples: 1, Shares: map[midtool.Family]int{midtool.Sequential: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range corpus.Samples[0].Messages {
		fmt.Println(strings.TrimSpace(string(m.Role) + " " + m.Content))
		for _, c := range m.Calls {
			fmt.Printf("  %s %s\n", c.Name, c.Arguments)
		}
	}
	for _, e := range corpus.Samples[0].Evidence {
		fmt.Println(e.CallID, e.Path, e.Class, e.Text)
	}
	// Output:
	// user I'd appreciate it if you could bring up the orders of a customer with the name of the customer set to "Tariq Holm". With what comes back, remove an order with the ID it gives you. That would help a lot.
	// assistant
	//   list_orders {"customer":"Tariq Holm"}
	// tool {"items": [{"id": "order_0003", "customer": "Tariq Holm"}], "total": 1}
	// assistant
	//   delete_order {"order_id":"order_0003"}
	// tool {"status": "ok", "order_id": "order_0003"}
	// assistant That worked out. There were no problems with the request to delete an order: the status is ok.
	// call_0001 /customer literal Tariq Holm
	// call_0002 /order_id tool_result
}

func ExampleGenerate() {
	tools := []midtool.Tool{
		{Name: "get_weather", Description: "Returns the weather in a city.", License: "MIT",
			Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`)},
		{Name: "convert_file", Description: "Converts a file to another format.", License: "MIT",
			Parameters: []byte(`{"type": "object", "properties": {"file": {"type": "file"}}, "required": ["file"]}`)},
		{Name: "send_mail", Description: "Sends a mail to someone.", License: "GPL-3.0-only"},
	}
	corpus, err := native.Generate(context.Background(), tools, &native.Options{
		Samples: 2, Shares: map[midtool.Family]int{midtool.Single: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range corpus.Samples {
		fmt.Printf("%s\n%s %s\n", s.Messages[0].Content, s.Messages[1].Calls[0].Name, s.Messages[1].Calls[0].Arguments)
	}
	for _, r := range corpus.Rejected {
		fmt.Println(r.Error())
	}
	fmt.Println(corpus.Reasons())
	// Output:
	// I'd like you to retrieve the weather with the city set to Utrecht.
	// get_weather {"city":"Utrecht"}
	// midtool: tool "send_mail": license: GPL-3.0-only
	// midtool: tool "convert_file", sample "single//1": no_value: no valid arguments found for "convert_file"
	// map[license:1 no_value:1]
}

// A large corpus is made in runs: each makes a part of the samples, here two.
func ExamplePlan() {
	tools := []midtool.Tool{
		{Name: "get_weather", Description: "Returns the weather in a city.", License: "MIT",
			Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`)},
		{Name: "send_mail", Description: "Sends a mail to someone.", License: "GPL-3.0-only"},
	}
	ctx := context.Background()
	plan, err := native.NewPlan(ctx, tools, &native.Options{Samples: 5, Shares: map[midtool.Family]int{midtool.Single: 1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Tools(), "tool,", len(plan.Rejected()), "left out")
	const size = 2
	for from := 0; from < plan.Len(); from += size {
		run, err := plan.Generate(ctx, from, min(from+size, plan.Len()))
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range run.Samples {
			fmt.Printf("from %d: %s %s\n", from, s.ID, s.Messages[1].Calls[0].Arguments)
		}
	}
	// Output:
	// 1 tool, 1 left out
	// from 0: single//1 {"city":"Leipzig"}
	// from 0: single//2 {"city":"Utrecht"}
	// from 2: single//3 {"city":"Zürich"}
	// from 2: single//4 {"city":"Cusco"}
	// from 4: single//5 {"city":"Graz"}
}
