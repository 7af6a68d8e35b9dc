package main

import (
	"encoding/json"
	"fmt"

	"github.com/throughline-go/throughline/midtool"
)

// ownTools makes tools of a few services. Their descriptions are plain, so that requests can be made of them.
func ownTools() ([]midtool.Tool, error) {
	type property map[string]any
	text := func(description string) property { return property{"type": "string", "description": description} }
	object := func(required []string, properties map[string]property) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	var tools []midtool.Tool
	for _, s := range []struct{ noun, article, field, about string }{
		{"order", "an", "product", "Product that is ordered."}, {"invoice", "an", "customer", "Customer who pays."},
		{"ticket", "a", "topic", "What it is about."},
		{"room", "a", "building", "Building that it is in."},
		{"parcel", "a", "address", "Where it goes."}, {"recipe", "a", "dish", "Dish that it makes."},
		{"meeting", "a", "subject", "What is talked about."}, {"vehicle", "a", "model", "Model and maker."},
	} {
		id := s.noun + "_id"
		row := map[string]property{id: text("Id of the " + s.noun + "."), s.field: text(s.about),
			"status": {"type": "string", "enum": []string{"open", "closed", "late"}, "description": "State of the " + s.noun + "."}}
		for _, t := range []struct {
			name, description   string
			parameters, returns map[string]any
			reads               bool
		}{
			{"find_" + s.noun, "Finds " + s.article + " " + s.noun + " by its " + s.field + ".",
				object([]string{s.field}, map[string]property{s.field: text(s.about)}), object([]string{id}, row), true},
			{"create_" + s.noun, "Creates " + s.article + " " + s.noun + ".",
				object([]string{s.field}, map[string]property{s.field: text(s.about),
					"count": {"type": "integer", "minimum": 1, "maximum": 20, "description": "How many."}}), object([]string{id}, row), false},
			{"close_" + s.noun, "Closes " + s.article + " " + s.noun + " for good.",
				object([]string{id}, map[string]property{id: text("Id of the " + s.noun + "."), "reason": text("Why it is closed.")}),
				object([]string{id}, row), false},
		} {
			parameters, err := json.Marshal(t.parameters)
			if err != nil {
				return nil, err
			}
			returns, err := json.Marshal(t.returns)
			if err != nil {
				return nil, err
			}
			tool, err := midtool.Normalize(midtool.Tool{Name: t.name, Description: t.description, Parameters: parameters, Returns: returns,
				ReadOnly: t.reads, Group: s.noun + "s", License: "MIT"})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			tools = append(tools, tool)
		}
	}
	return tools, nil
}
