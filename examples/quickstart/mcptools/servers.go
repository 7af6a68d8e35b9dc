package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve is the argument that makes this program a server. Its name follows.
const serve = "serve-tools"

// A definition is a tool whose arguments are strings.
type definition struct {
	name, about string
	arguments   []string
}

// ownServers lists the names of the servers that this program can be.
func ownServers() []string { return []string{"travel", "office", "money"} }

func definitions(server string) []definition {
	switch server {
	case "travel":
		return []definition{
			{"search_flights", "Flights between two cities on a day, with their prices.", []string{"from", "to", "day"}},
			{"book_flight", "Book a flight that was found.", []string{"flight", "passenger"}},
			{"cancel_flight", "Cancel a booking of a flight.", []string{"booking"}},
			{"search_hotels", "Hotels in a city with a free room.", []string{"city", "arrival", "departure"}},
			{"book_hotel", "Book a room in a hotel.", []string{"hotel", "guest"}},
			{"get_weather", "Forecast for a city.", []string{"city"}},
		}
	case "office":
		return []definition{
			{"list_events", "Events in the calendar between two days.", []string{"first", "last"}},
			{"create_event", "Put an event into the calendar.", []string{"title", "start", "end"}},
			{"delete_event", "Take an event out of the calendar.", []string{"event"}},
			{"search_mail", "Messages that hold a text.", []string{"text"}},
			{"send_mail", "Mail a text or a file to an address.", []string{"to", "subject", "body"}},
			{"read_file", "The text of a file.", []string{"path"}},
			{"write_file", "Write a text into a file.", []string{"path", "text"}},
		}
	case "money":
		return []definition{
			{"list_invoices", "Invoices of a month.", []string{"month"}},
			{"get_invoice", "The file of an invoice.", []string{"invoice"}},
			{"pay_invoice", "Pay an invoice from an account.", []string{"invoice", "account"}},
			{"convert_currency", "Convert an amount of money.", []string{"amount", "from", "to"}},
			{"get_balance", "Balance of an account.", []string{"account"}},
		}
	}
	return nil
}

// serveTools lists the tools of a server on the standard streams. Nothing comes of calling them.
func serveTools(ctx context.Context, name string) error {
	if !slices.Contains(ownServers(), name) {
		return fmt.Errorf("no server %q, want one of %v", name, ownServers())
	}
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	for _, d := range definitions(name) {
		properties := map[string]any{}
		for _, a := range d.arguments {
			properties[a] = map[string]string{"type": "string"}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": d.arguments})
		if err != nil {
			return err
		}
		s.AddTool(&mcp.Tool{Name: d.name, Description: d.about, InputSchema: json.RawMessage(schema)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	return s.Run(ctx, &mcp.StdioTransport{})
}
