package dedup

import (
	"encoding/json"
	"testing"

	"github.com/throughline-go/throughline/midtool"
)

func TestToolContent(t *testing.T) {
	for _, tt := range []struct {
		name, description, parameters, want, reason string
	}{
		{"get", "Gets.", `{"type": "object", "properties": {"b": {"type": "string", "description": "Bee."}, "a": {"enum": ["x"]}},
			"required": ["a"]}`,
			"get\nGets.\nb\nBee.\na", "names and descriptions in the order of the schema, and none of its words"},
		{"get", "", `{"properties": {"o": {"description": "O.", "properties": {"description": {"description": "D."}, "properties": {}}}}}`,
			"get\no\nO.\ndescription\nD.\nproperties", "parameters that are called like keywords"},
		{"get", "", `{"properties": {"l": {"items": {"description": "I.", "properties": {"x": {}}}},
			"u": {"anyOf": [{"description": "U."}, true]}}}`,
			"get\nl\nI.\nx\nu\nU.", "in lists and alternatives"},
		{"get", "Gets.", `{"properties": {"a": true, "b": {"properties": 7, "items": []}}, "description": "All."}`, "get\nGets.\na\nb",
			"what is no schema has no words"},
		{"get", "Gets.", `{`, "get\nGets.", "a schema that cannot be read"},
		{"get", "", ``, "get", "no schema"},
	} {
		if tt.reason == "" {
			t.Error("no reason")
		}
		tool := midtool.Tool{Name: tt.name, Description: tt.description, Parameters: json.RawMessage(tt.parameters)}
		if got := ToolContent(&tool); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", tt.parameters, got, tt.want, tt.reason)
		}
	}
}

func TestSampleContent(t *testing.T) {
	s := midtool.Sample{
		Tools: []midtool.Tool{{Name: "get", Description: "Gets."}},
		Messages: []midtool.Message{
			{Role: midtool.RoleSystem, Content: "Be brief."},
			{Role: midtool.RoleUser, Content: "Get two."},
			{Role: midtool.RoleAssistant, Content: "Sure.", Calls: []midtool.Call{
				{Name: "get", Arguments: json.RawMessage(`{"n": 2.50, "all": true, "none": null, "of": ["a", {"b": "c d"}], "e": ""}`)},
				{Name: "get", Arguments: json.RawMessage(`{"n": `)},
			}},
			{Role: midtool.RoleTool, Content: "result"},
			{Role: midtool.RoleAssistant, Content: "Done."},
		},
	}
	if got, want := SampleContent(&s), "Get two.\nSure.\n2.5\ntrue\na\nc d\n{\"n\": \nDone."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := SampleContent(&midtool.Sample{}); got != "" {
		t.Errorf("%q", got)
	}
}
