package openenv

import (
	"context"
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// The codes of JSON-RPC 2.0 that are in use.
const (
	rpcParse    = -32700
	rpcRequest  = -32600
	rpcMethod   = -32601
	rpcParams   = -32602
	rpcInternal = -32603
	rpcServer   = -32000
)

// A response is an answer to a JSON-RPC request.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if there was none
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitempty"`
}

// A call is a request that was read.
type call struct {
	id     json.RawMessage
	method string
	params map[string]json.RawMessage
}

// readCall reads a request that is well-formed JSON.
func readCall(raw json.RawMessage) (c call, fault *rpcError) {
	fields, ok := object(raw)
	if !ok {
		return c, &rpcError{Code: rpcRequest, Message: "a request is an object"}
	}
	if id, ok := present(fields, "id"); ok {
		if id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
			return c, &rpcError{Code: rpcRequest, Message: "id is a string or a number"}
		}
		c.id = id
	}
	if len(extra(fields, nil, "jsonrpc", "id", "method", "params")) > 0 {
		return c, &rpcError{Code: rpcRequest, Message: "a request has jsonrpc, id, method and params alone"}
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return c, &rpcError{Code: rpcRequest, Message: `jsonrpc is "2.0"`}
	}
	if m := fields["method"]; len(m) == 0 || m[0] != '"' || json.Unmarshal(m, &c.method) != nil {
		return c, &rpcError{Code: rpcRequest, Message: "method is a string"}
	}
	if params, ok := present(fields, "params"); ok {
		if c.params, ok = object(params); !ok {
			return c, &rpcError{Code: rpcParams, Message: "params is an object"}
		}
	}
	return c, nil
}

// call answers tools/list and tools/call. The latter is a step whose reward is not told: it is for policies.
func (p *play) call(ctx context.Context, raw json.RawMessage, wrap func(response) any) []byte {
	c, fault := readCall(raw)
	if fault == nil {
		switch c.method {
		case "tools/list":
			var list any
			if list, fault = p.listTools(ctx); fault == nil {
				if b, err := encode(wrap(response{Version: "2.0", ID: c.id, Result: list})); err == nil && len(b) <= p.s.o.MaxMessage {
					return b
				}
				fault = &rpcError{Code: rpcInternal, Message: "the list of tools cannot be sent"}
			}
		case "tools/call":
			var b []byte
			if b, fault = p.callTool(ctx, c, wrap); fault == nil {
				return b
			}
		default:
			fault = &rpcError{Code: rpcMethod, Message: "the methods are tools/list and tools/call"}
		}
	}
	b, _ := encode(wrap(response{Version: "2.0", ID: c.id, Error: fault})) // parts of a document that is well-formed
	return b
}

// A listed is a tool in an answer to tools/list.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations *annotations    `json:"annotations,omitempty"`
}

type annotations struct {
	ReadOnly bool `json:"readOnlyHint"`
}

func (p *play) listTools(ctx context.Context) (any, *rpcError) {
	tools, err := p.tools(ctx)
	if err != nil {
		return nil, rpcFailure(err)
	}
	return toolList(p.s, tools), nil
}

func toolList(s *Server, tools []envharness.Tool) any {
	list := make([]listed, len(tools))
	for i, t := range tools {
		list[i] = listed{Name: t.Name, Description: t.Description, InputSchema: inputSchema(t)}
		if t.ReadOnly {
			list[i].Annotations = &annotations{ReadOnly: true}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{"tools": list, "_meta": map[string]any{aboutKey: orNothing(s.about)}}
}

func (p *play) callTool(ctx context.Context, c call, wrap func(response) any) ([]byte, *rpcError) {
	if len(extra(c.params, nil, "name", "arguments", "_meta")) > 0 {
		return nil, &rpcError{Code: rpcParams, Message: "params has name, arguments and _meta alone"}
	}
	var a envharness.Action
	if name := c.params["name"]; len(name) == 0 || name[0] != '"' || json.Unmarshal(name, &a.Name) != nil {
		return nil, &rpcError{Code: rpcParams, Message: "name is a string"}
	}
	if args, ok := present(c.params, "arguments"); ok {
		a.Args = args
	}
	b, err := p.step(ctx, a, func(r result) any {
		content := map[string]any{"type": "text", "text": r.Observation.Text}
		if e := r.Observation.Error; e != nil && r.Observation.Text == "" {
			content["text"] = e.Message
		}
		r.Observation.Info = nil // what a policy is shown has none
		return wrap(response{Version: "2.0", ID: c.id, Result: map[string]any{
			"content": []any{content}, "structuredContent": r.Observation, "isError": r.Observation.Error != nil,
		}})
	})
	if err != nil {
		return nil, rpcFailure(err)
	}
	return b, nil
}

func rpcFailure(err error) *rpcError {
	class, text := classify(err)
	code := rpcServer
	if class == "failed" {
		code = rpcInternal
	}
	return &rpcError{Code: code, Message: text, Data: map[string]any{"class": class}}
}
