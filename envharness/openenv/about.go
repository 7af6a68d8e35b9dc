package openenv

import (
	"context"
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// An about is what is known of the environments of a server; it is the same for all of them. Our client finds it in the answer to
// tools/list, under aboutKey in _meta, where the protocol of tools has room for what others do not know.
type about struct {
	Description *envharness.Description `json:"description,omitempty"` // without what only the verifier and its makers need to know
	ToolsChange bool                    `json:"tools_change,omitempty"`
	State       bool                    `json:"state,omitempty"` // the message "state" is answered
}

const aboutKey = "throughline-go/envharness"

// learn remembers what the first environment says of itself. One that fails at it is taken to say nothing.
func (s *Server) learn(ctx context.Context, in *instance) {
	s.mu.Lock()
	known := s.about != nil
	s.mu.Unlock()
	if known {
		return
	}
	a, err := guarded(ctx, in, "describe", func(context.Context) (*about, error) {
		a := new(about)
		if d, ok := envharness.As[envharness.Describer](in.env); ok {
			desc := d.Describe()
			desc.About, desc.Mutable = "", nil // nothing at the other end can make use of what is mutable
			if !s.o.ExposeState {
				desc.Graded = nil
			}
			a.Description = &desc
		}
		_, a.ToolsChange = envharness.As[envharness.ToolLister](in.env)
		_, stater := envharness.As[envharness.Stater](in.env)
		a.State = stater && s.o.ExposeState
		return a, nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return // it was not let finish
		}
		a = new(about)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about = a
}

// known returns what is known of the environments, and opens one for it if none was open before.
func (s *Server) known(ctx context.Context) (*about, error) {
	s.mu.Lock()
	a := s.about
	s.mu.Unlock()
	if a != nil {
		return a, nil
	}
	in, err := s.instance(ctx)
	if err != nil {
		return nil, err
	}
	in.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return orNothing(s.about), nil
}

// orNothing is what is known, or that nothing is.
func orNothing(a *about) *about {
	if a == nil {
		return new(about)
	}
	return a
}

// A metadata is what /metadata tells.
type metadata struct {
	Name          string  `json:"name"`
	Description   string  `json:"description"`
	Readme        *string `json:"readme_content"`
	Version       *string `json:"version"`
	Author        *string `json:"author"`
	Documentation *string `json:"documentation_url"`
}

func (s *Server) metadata(a *about) metadata {
	name := s.o.Name
	if name == "" && a.Description != nil {
		name = a.Description.Name
	}
	name = or(name, "environment")
	return metadata{
		Name: name, Description: or(s.o.Description, name),
		Readme: orNull(s.o.Readme), Version: orNull(s.o.Version), Author: orNull(s.o.Author), Documentation: orNull(s.o.URL),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// schemas are what /schema tells.
func schemas(a *about) map[string]any {
	return map[string]any{"action": actionSchema(a), "observation": json.RawMessage(observationSchema), "state": json.RawMessage(stateSchema)}
}

// actionSchema describes actions: one of the tools with its arguments, where the tools do not change.
func actionSchema(a *about) any {
	action := map[string]any{
		"type": "object", "title": "Action", "additionalProperties": false, "required": []string{"name"},
		"properties": map[string]any{
			"name":     map[string]any{"type": "string"},
			"args":     map[string]any{"type": "object", "default": map[string]any{}},
			"metadata": map[string]any{"type": "object", "description": "ignored"},
		},
	}
	if a.Description == nil || a.ToolsChange || len(a.Description.Tools) == 0 {
		return action
	}
	var tools []any
	for _, t := range a.Description.Tools {
		tools = append(tools, map[string]any{
			"description": t.Description,
			"properties":  map[string]any{"name": map[string]any{"const": t.Name}, "args": inputSchema(t)},
		})
	}
	action["oneOf"] = tools
	return action
}

// inputSchema is the schema of a tool's arguments, which the protocol of tools cannot do without.
func inputSchema(t envharness.Tool) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

const observationSchema = `{
 "type":"object","title":"Observation",
 "required":["text","data","terminated","truncated","reason"],
 "properties":{
  "text":{"type":"string"},
  "data":{"type":["object","null"]},
  "terminated":{"type":"boolean","description":"the state of the task ended the episode"},
  "truncated":{"type":"boolean","description":"a limit ended the episode"},
  "reason":{"type":"string","description":"who truncated and why"},
  "error":{"type":"object","description":"the action was refused","required":["class","message"],
   "properties":{"class":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"}}},
  "actions":{"type":"array","description":"admissible actions, where they can be listed",
   "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"args":{"type":"object"}}}},
  "info":{"type":"object"},
  "tools":{"type":"array","description":"the tools from now on, where they change","items":{"type":"object"}},
  "turn_limit":{"type":"integer","description":"turns after which this episode is truncated, told by a reset"}
 }
}`

const stateSchema = `{
 "type":"object","title":"State",
 "required":["episode_id","step_count"],
 "properties":{
  "episode_id":{"type":["string","null"]},
  "step_count":{"type":"integer","minimum":0},
  "state":{"type":"object","description":"the state of the world, where the server exposes it"}
 }
}`
