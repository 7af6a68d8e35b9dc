// Command corpus is the README's program on training data: a sample that takes two calls, from the definitions of two tools.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/native"
)

// desk opens a file with two tools as an MCP server lists them.
func desk() (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(`{"server": "desk", "license": "MIT", "tools": [` +
		`{"name": "list_orders", "description": "Lists the orders of a customer.", "inputSchema": {"type": "object",` +
		` "properties": {"customer": {"type": "string"}}, "required": ["customer"]}},` +
		`{"name": "delete_order", "description": "Deletes an order.", "inputSchema": {"type": "object",` +
		` "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}]}`)), nil
}

// show prints a conversation, and where the arguments of its calls come from.
func show(s midtool.Sample) {
	for _, m := range s.Messages {
		fmt.Print(m.Role, ": ", m.Content)
		for _, c := range m.Calls {
			fmt.Print(c.Name, " ", string(c.Arguments))
		}
		fmt.Println()
	}
	var from []string
	for _, e := range s.Evidence {
		from = append(from, e.Path+": "+string(e.Class))
	}
	fmt.Println(strings.Join(from, ", "))
}

func main() {
	tools, err := midtool.ReadTools(context.Background(), midtool.ToolsJSONL{Locator: "desk.jsonl", Open: desk})
	if err != nil {
		log.Fatal(err)
	}
	corpus, err := native.Generate(context.Background(), tools, nil) // as many samples as two such tools are worth
	if err != nil {
		log.Fatal(err)
	}
	show(corpus.Samples[slices.IndexFunc(corpus.Samples, func(s midtool.Sample) bool { return s.Family == midtool.Sequential })])
}
