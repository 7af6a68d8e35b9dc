package mcpenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/mcpclient"
)

// submit is the tool of the adapter's own. Its schema asks for the one argument that submitted reads.
var submitTool = envharness.Tool{
	Name:        "submit",
	Description: "Submits the answer and ends the episode.",
	Schema: json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},` +
		`"required":["answer"],"additionalProperties":false}`),
	Submits: true,
}

// submitted reads the arguments of submit.
func submitted(args json.RawMessage) (answer string, err error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	var in struct {
		Answer *string `json:"answer"`
	}
	if !isObject(args) || len(args) > 0 && dec.Decode(&in) != nil || in.Answer == nil {
		return "", errors.New(`submit takes one argument, the string "answer"`)
	}
	return *in.Answer, nil
}

// What a server may list: far more than any does, and not enough to fill a memory.
const (
	maxTools     = 10_000
	maxToolBytes = 32 << 20
)

// A toolbox is what a server lists, under the names that are shown.
type toolbox struct {
	shown  []envharness.Tool
	server map[string]string // the server's name by the shown one
}

// listed reports whether the server has a tool of that name of its own.
func (b *toolbox) listed(name string) bool {
	for _, own := range b.server {
		if own == name {
			return true
		}
	}
	return false
}

// list lists the tools of the server, in its order, the adapter's own at the end.
func (w *world) list(ctx context.Context, s *mcpclient.Session) (*toolbox, error) {
	b := &toolbox{server: map[string]string{}}
	size := 0
	for page, err := range s.Pages(ctx) {
		if err != nil {
			return nil, infra(err)
		}
		if size += len(page); size > maxToolBytes {
			return nil, infra(fmt.Errorf("the list of tools is longer than %d bytes", maxToolBytes))
		}
		if err := w.addPage(b, page); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Rename)) {
		if !b.listed(name) {
			return nil, fmt.Errorf("mcpenv: Config.Rename: the server lists no tool %q", name)
		}
	}
	if w.Read.Name != "" && !b.listed(w.Read.Name) {
		return nil, fmt.Errorf("mcpenv: Config.Read: the server lists no tool %q", w.Read.Name)
	}
	if w.Answer {
		if _, taken := b.server[submitTool.Name]; taken {
			return nil, fmt.Errorf("mcpenv: the server has a tool %q of its own, give it another name by Config.Rename", submitTool.Name)
		}
		b.shown = append(b.shown, submitTool)
	}
	return b, nil
}

// addPage adds the tools of one result of tools/list.
func (w *world) addPage(b *toolbox, page json.RawMessage) error {
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
			Annotations struct {
				ReadOnlyHint bool `json:"readOnlyHint"`
			} `json:"annotations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(page, &list); err != nil {
		return infra(fmt.Errorf("list of tools: %w", err))
	}
	for _, t := range list.Tools {
		name := t.Name
		if to, ok := w.Rename[name]; ok {
			name = to
		}
		_, taken := b.server[name]
		switch {
		case t.Name == "":
			return infra(fmt.Errorf("list of tools: tool %d has no name", len(b.shown)))
		case taken:
			return infra(fmt.Errorf("list of tools: %.80q is there twice", name))
		case envharness.ReservedTool(name):
			return fmt.Errorf("mcpenv: %w: %q, give it another name by Config.Rename", envharness.ErrReservedName, name)
		case t.InputSchema != nil && !isObject(t.InputSchema):
			return infra(fmt.Errorf("list of tools: the schema of %.80q is no JSON object", name))
		case len(b.shown) == maxTools:
			return infra(fmt.Errorf("list of tools: there are more than %d", maxTools))
		}
		if t.Description == "" {
			t.Description = t.Title
		}
		b.server[name] = t.Name
		b.shown = append(b.shown, envharness.Tool{
			Name: name, Description: t.Description, Schema: t.InputSchema, ReadOnly: t.Annotations.ReadOnlyHint,
		})
	}
	return nil
}
