// Command corpus is the README's program on training data: samples from the definitions of two tools.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
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

func main() {
	ctx := context.Background()
	tools, err := midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "desk.jsonl", Open: desk})
	if err != nil {
		log.Fatal(err)
	}
	corpus, err := native.Generate(ctx, tools, nil) // a group of two tools gets 14 samples
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range corpus.Samples {
		if s.Family != midtool.Sequential {
			continue
		}
		for _, m := range s.Messages {
			fmt.Println(strings.TrimSpace(string(m.Role) + ": " + m.Content))
			for _, c := range m.Calls {
				fmt.Printf("  calls %s %s\n", c.Name, c.Arguments)
			}
		}
		fmt.Println("evidence:", s.Evidence[0].Class, s.Evidence[1].Class)
		break
	}
}
