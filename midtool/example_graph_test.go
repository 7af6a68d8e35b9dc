package midtool_test

import (
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool"
)

func ExampleDependencies() {
	tools := []midtool.Tool{
		{Name: "list_orders"},
		{Name: "get_order", Parameters: []byte(`{"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}`),
			Returns: []byte(`{"type": "object", "properties": {"id": {"type": "string"}, "city": {"type": "string"}}}`)},
		{Name: "get_weather", Parameters: []byte(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`)},
	}
	edges, err := midtool.Dependencies(tools, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range edges {
		fmt.Printf("%s feeds %s of %s (%s, %v)\n", tools[e.Producer].Name, e.Parameter, tools[e.Consumer].Name, e.Rule, e.Confidence)
	}
	// Output:
	// list_orders feeds order_id of get_order (identifier, 0.7)
	// get_order feeds city of get_weather (field, 0.6)
}
