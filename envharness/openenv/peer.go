package openenv

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// A peer is what a client found out about a server: how an action looks on the wire, and what is known of the environment.
type peer struct {
	form  form
	about *about // nil if nothing was told
}

// A form is one in which servers take actions.
type form byte

const (
	formNamed form = iota // {"name":..,"args":..}: ours
	formCall              // {"type":"call_tool","tool_name":..,"arguments":..}: of the reference, for environments made of tools
	formBare              // the arguments alone: of the reference, for environments with one kind of action
)

// bareTool is the name of the one action of a server that knows no names.
const bareTool = "act"

// encode writes the data of a step, or refuses an action that cannot be one.
func (p peer) encode(a envharness.Action) ([]byte, *envharness.ActionError) {
	args := []byte(a.Args)
	switch {
	case len(args) == 0:
		args = []byte("{}")
	case !json.Valid(args):
		args, _ = encode(string(args)) // as a string, which no environment takes for arguments: it is to refuse them
	}
	args = bytes.ToValidUTF8(args, []byte("\uFFFD"))
	name, _ := encode(a.Name) // a string
	switch {
	case p.form == formCall:
		return join(`{"type":"call_tool","tool_name":`+string(name)+`,"arguments":`, args, `}`), nil
	case p.form == formNamed && len(a.Args) == 0:
		return join(`{"name":`, name, `}`), nil
	case p.form == formNamed:
		return join(`{"name":`+string(name)+`,"args":`, args, `}`), nil
	case a.Name != bareTool:
		return nil, &envharness.ActionError{Class: envharness.ClassUnknownTool, Message: "the only tool is " + bareTool}
	}
	return args, nil
}

// meet finds out what the server is, and makes the environment that shows it.
func (c *client) meet(ctx context.Context, d dialer) (envharness.Environment, error) {
	tools, a, err := c.listTools(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case a != nil:
		c.peer = peer{about: a}
	case tools != nil:
		c.peer = peer{form: formCall, about: &about{Description: &envharness.Description{Name: "openenv", Tools: tools}}}
	default:
		c.peer = schemaPeer(d.get(ctx, "schema"))
	}
	return c.shape(), nil
}

// listTools asks for the tools of the session. All are nil where the server has none to tell.
func (c *client) listTools(ctx context.Context) ([]envharness.Tool, *about, error) {
	data, err := c.ask(ctx, []byte(`{"type":"mcp","data":{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}}`), "mcp")
	if e, ok := err.(*Error); ok && !e.fatal() { // a failure of the connection wraps one
		return nil, nil, nil // such as a server that does not know the message
	}
	if err != nil {
		return nil, nil, err
	}
	var answer struct {
		Result *struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Schema      json.RawMessage `json:"inputSchema"`
				OldSchema   json.RawMessage `json:"input_schema"`
				Annotations annotations     `json:"annotations"`
			} `json:"tools"`
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"result"`
	}
	if json.Unmarshal(data, &answer) != nil {
		return nil, nil, c.broke(errMalformed)
	}
	if answer.Result == nil {
		return nil, nil, nil
	}
	if raw, ok := present(answer.Result.Meta, aboutKey); ok {
		a := new(about)
		if json.Unmarshal(raw, a) != nil {
			return nil, nil, c.broke(errMalformed)
		}
		return nil, a, nil
	}
	tools := make([]envharness.Tool, 0, len(answer.Result.Tools))
	for _, t := range answer.Result.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = t.OldSchema
		}
		tools = append(tools, envharness.Tool{Name: t.Name, Description: t.Description, Schema: schema, ReadOnly: t.Annotations.ReadOnly})
	}
	return tools, nil, nil
}

// schemaPeer tells from what /schema says of actions how they are to be written.
func schemaPeer(document []byte) peer {
	var s struct {
		Action struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"action"`
	}
	if json.Unmarshal(document, &s) != nil || len(s.Action.Properties) == 0 {
		return peer{}
	}
	_, name := s.Action.Properties["name"]
	_, args := s.Action.Properties["args"]
	if name && args {
		return peer{}
	}
	fields, _ := object(document)
	return peer{form: formBare, about: &about{Description: &envharness.Description{
		Name: "openenv", Tools: []envharness.Tool{{Name: bareTool, Schema: fields["action"]}},
	}}}
}

// The wrappers below give the environment the abilities that the server has, and no others.

// shape puts those that apply around the client.
func (c *client) shape() envharness.Environment {
	var env envharness.Environment = c
	a := c.peer.about
	if a == nil {
		return env
	}
	if a.Description != nil {
		env = described{env, a.Description}
		env = limited{env, c}
	}
	if a.ToolsChange {
		env = toolful{env, c}
	}
	if a.State {
		env = stateful{env, c}
	}
	return env
}

type described struct {
	envharness.Environment
	desc *envharness.Description
}

func (d described) Unwrap() envharness.Environment { return d.Environment }

func (d described) Describe() envharness.Description { return *d.desc }

type limited struct {
	envharness.Environment
	c *client
}

func (l limited) Unwrap() envharness.Environment { return l.Environment }

func (l limited) TurnLimit() int {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.c.turnLimit
}

type toolful struct {
	envharness.Environment
	c *client
}

func (l toolful) Unwrap() envharness.Environment { return l.Environment }

func (l toolful) Tools() []envharness.Tool {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.c.tools
}

type stateful struct {
	envharness.Environment
	c *client
}

func (s stateful) Unwrap() envharness.Environment { return s.Environment }

func (s stateful) State(ctx context.Context) (envharness.State, error) { return s.c.state(ctx) }
