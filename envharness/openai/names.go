package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/internal/toolschema"
)

// maxName is how long the name of a tool may be on the wire.
const maxName = 64

// names maps the names of tools to those that the API takes, one to one and the same throughout an episode. The zero value is ready.
type names struct {
	wire  map[string]string // by name
	taken map[string]bool   // on the wire
}

// An offeredTool has the name that the model knows it by.
type offeredTool struct {
	wire string
	tool envharness.Tool
}

// offer names tools. Those whose names the API takes keep them, as far as no earlier one was given it.
func (n *names) offer(tools []envharness.Tool) ([]offeredTool, error) {
	if n.wire == nil {
		n.wire, n.taken = map[string]string{}, map[string]bool{}
	}
	for _, valid := range []bool{true, false} {
		for _, t := range tools {
			if n.wire[t.Name] == "" && validName(t.Name) == valid {
				n.name(t.Name)
			}
		}
	}
	offered := make([]offeredTool, 0, len(tools))
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.Name] {
			return nil, fmt.Errorf("openai: tool %q is offered twice", t.Name)
		}
		seen[t.Name] = true
		if len(t.Schema) > 0 && (!json.Valid(t.Schema) || deep(t.Schema)) {
			return nil, fmt.Errorf("openai: tool %q: the schema is not JSON, or nested deeper than %d", t.Name, maxDepth)
		}
		t.Schema = toolschema.Object(t.Schema)
		offered = append(offered, offeredTool{wire: n.wire[t.Name], tool: t})
	}
	return offered, nil
}

// name gives a tool the first name that is free.
func (n *names) name(tool string) {
	base := sanitize(tool)
	name := base
	for i := 2; n.taken[name]; i++ {
		suffix := "_" + strconv.Itoa(i)
		name = base[:min(len(base), maxName-len(suffix))] + suffix
	}
	n.wire[tool], n.taken[name] = name, true
}

// leftOut tells whether a name, on the wire or not, is that of a tool that is not offered.
func (n *names) leftOut(name string, offered []offeredTool, tools []envharness.Tool) bool {
	return name != "" && slices.ContainsFunc(tools, func(t envharness.Tool) bool {
		return (name == t.Name || name == n.wire[t.Name]) &&
			!slices.ContainsFunc(offered, func(o offeredTool) bool { return o.tool.Name == t.Name })
	})
}

// advice tells a model what it may call.
func (n *names) advice(offered []offeredTool) string {
	const most = 20
	if len(offered) == 0 {
		return "there are none now"
	}
	list := make([]string, 0, most)
	for _, o := range offered[:min(len(offered), most)] {
		list = append(list, o.wire)
	}
	if len(offered) > most {
		list = append(list, "and more")
	}
	return "call one of " + strings.Join(list, ", ")
}

func validName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return !nameRune(r) })
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// sanitize makes a name that the API takes.
func sanitize(s string) string {
	s = strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '_'
	}, s[:min(len(s), 4*maxName)])
	if s = s[:min(len(s), maxName)]; s == "" {
		return "_"
	}
	return s
}

// toolParams passes schemas on as they are written: a map would lose the order of the keys and the digits of numbers.
func toolParams(offered []offeredTool) []sdk.ChatCompletionToolUnionParam {
	var params []sdk.ChatCompletionToolUnionParam
	for _, o := range offered {
		f, _ := json.Marshal(struct { // checked by offer
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters"`
		}{o.wire, o.tool.Description, o.tool.Schema})
		params = append(params, sdk.ChatCompletionFunctionTool(param.Override[shared.FunctionDefinitionParam](json.RawMessage(f))))
	}
	return params
}
