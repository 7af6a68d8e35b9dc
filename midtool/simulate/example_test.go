package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/simulate"
)

var tickets = []midtool.Tool{
	{Name: "create_ticket", Parameters: []byte(`{"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}`)},
	{Name: "get_ticket", Parameters: []byte(`{"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}`)},
	{Name: "delete_ticket", Parameters: []byte(`{"type": "object", "properties": {"ticket_id": {"type": "string"}}, "required": ["ticket_id"]}`)},
}

func execute(s midtool.Session, tool midtool.Tool, arguments string) {
	r, err := s.Execute(context.Background(), tool, json.RawMessage(arguments))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.IsError, string(r.Value))
}

// What a call changes, later calls see.
func ExampleNewWorld() {
	s, err := simulate.NewWorld(1).Open(context.Background(), "sample 1", tickets)
	if err != nil {
		log.Fatal(err)
	}
	execute(s, tickets[0], `{"title": "Door is stuck"}`)
	execute(s, tickets[1], `{"ticket_id": "ticket_0004"}`)
	execute(s, tickets[2], `{"ticket_id": "ticket_0004"}`)
	execute(s, tickets[1], `{"ticket_id": "ticket_0004"}`)
	// Output:
	// false {"id": "ticket_0004", "title": "Door is stuck"}
	// false {"id": "ticket_0004", "title": "Door is stuck"}
	// false {"status": "ok", "ticket_id": "ticket_0004"}
	// true {"error": {"type": "not_found", "message": "ticket ticket_0004 does not exist"}}
}

// The tickets that a call can speak of before any was created.
func ExampleWorld_Open() {
	s, err := simulate.NewWorld(1).Open(context.Background(), "sample 1", tickets)
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range s.(simulate.Knower).Known(tickets[1], "ticket_id") {
		fmt.Println(string(id))
	}
	// Output:
	// "ticket_0001"
	// "ticket_0002"
	// "ticket_0003"
}

// Without state: the answer repeats what was asked, and wrong arguments are refused.
func ExampleNewSchema() {
	weather := midtool.Tool{
		Name:       "get_weather",
		Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`),
		Returns:    []byte(`{"type": "object", "properties": {"city": {"type": "string"}, "sky": {"const": "clear"}}}`),
	}
	s, err := simulate.NewSchema(1).Open(context.Background(), "", nil)
	if err != nil {
		log.Fatal(err)
	}
	execute(s, weather, `{"city": "Oslo"}`)
	execute(s, weather, `{"town": "Oslo"}`)
	// Output:
	// false {"city": "Oslo", "sky": "clear"}
	// true {"error": {"type": "bad_argument", "message": "city: is required"}}
}
