package mcptest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The schemas are written out: they are what a client sees, and so part of the fixture.
const (
	textSchema  = `{"type":"string","minLength":1,"maxLength":80}`
	countSchema = `{"type":"integer","minimum":0,"maximum":1000000}`
	itemSchema  = `{"type":"object","properties":{"name":` + textSchema + `,"shelf":` + textSchema + `,"count":` + countSchema +
		`},"required":["name","shelf","count"],"additionalProperties":false}`
	itemsSchema = `{"type":"object","properties":{"items":{"type":"array","items":` + itemSchema +
		`}},"required":["items"],"additionalProperties":false}`
)

// addTools adds the seven tools.
func addTools(s *mcp.Server, st *stock) {
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	writes := func(destroys, idempotent bool) *mcp.ToolAnnotations {
		return &mcp.ToolAnnotations{DestructiveHint: &destroys, IdempotentHint: idempotent, OpenWorldHint: new(false)}
	}
	add(s, "list_items", "Lists all items in the order in which they were created, or those of one shelf.",
		`{"type":"object","properties":{"shelf":`+textSchema+`},"additionalProperties":false}`, itemsSchema, reads,
		func(in Item) (any, error) {
			return record{st.list(func(it Item) bool { return in.Shelf == "" || it.Shelf == in.Shelf })}, nil
		})
	add(s, "get_item", "Shows one item.", object(`"name"`, textSchema), itemSchema, reads,
		func(in Item) (any, error) { return st.get(in.Name) })
	add(s, "search_items", "Lists the items whose name or shelf contains the query, in any case of letters.",
		object(`"query"`, textSchema), itemsSchema, reads,
		func(in struct{ Query string }) (any, error) { return record{st.list(matching(in.Query))}, nil })
	add(s, "create_item", "Adds an item. The name must be new.", itemSchema, itemSchema, writes(false, false),
		func(in Item) (any, error) { return in, st.create(in) })
	add(s, "update_item", "Sets the count of an item.", object(`"name"`, textSchema, `"count"`, countSchema), itemSchema, writes(true, true),
		func(in Item) (any, error) {
			return st.change(in.Name, func(it *Item) { it.Count = in.Count })
		})
	add(s, "move_item", "Puts an item on another shelf.", object(`"name"`, textSchema, `"shelf"`, textSchema), itemSchema, writes(false, true),
		func(in Item) (any, error) {
			return st.change(in.Name, func(it *Item) { it.Shelf = in.Shelf })
		})
	add(s, "delete_item", "Removes an item for good, and shows what it was.", object(`"name"`, textSchema), itemSchema, writes(true, false),
		func(in Item) (any, error) { return st.remove(in.Name) })
}

// object is the schema of an object with the given keys, in quotes, and schemas, all of them required.
func object(keysAndSchemas ...string) string {
	properties, required := "", ""
	for i := 0; i < len(keysAndSchemas); i += 2 {
		if i > 0 {
			properties, required = properties+",", required+","
		}
		properties += keysAndSchemas[i] + ":" + keysAndSchemas[i+1]
		required += keysAndSchemas[i]
	}
	return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
}

// add adds a tool. The SDK's own way to add one answers bad arguments with a result; this server answers with the error of the
// protocol, as other servers do, so that both are met.
func add[In any](s *mcp.Server, name, about, input, output string, hints *mcp.ToolAnnotations, do func(In) (any, error)) {
	schema := mustResolve(input)
	tool := &mcp.Tool{
		Name: name, Description: about, Annotations: hints,
		InputSchema: json.RawMessage(input), OutputSchema: json.RawMessage(output),
	}
	s.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args := req.Params.Arguments
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		var plain any
		var in In
		err := json.Unmarshal(args, &plain)
		if err == nil {
			err = schema.Validate(plain)
		}
		if err == nil {
			err = json.Unmarshal(args, &in)
		}
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("arguments of %s: %v", name, err)}
		}
		out, err := do(in)
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
		}
		raw, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(raw), Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}, nil
	})
}

// mustResolve reads a schema of this file.
func mustResolve(text string) *jsonschema.Resolved {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		panic(err)
	}
	return r
}
