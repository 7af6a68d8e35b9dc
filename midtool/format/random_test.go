package format

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"pgregory.net/rapid"
)

// pieces are what texts are made of: all that some form might take for its own.
var pieces = []string{
	"a", "Zürich", "日本語", "😀", "\u2028", "\u0085", "<", "&", "\\", `"`, "\n", "\n", "\r\n", "\t", " ", "  ", "\x00", "### ", "### User", "\n### User\n",
	"\n ### Call", "### Result x", "\n###  Tools", "#### System", "### Systematic", "### User\r", "```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
	`{"name": "f", "arguments": {}}`, `[1, 2]`, `["a"]`, "null", `"quoted"`, "\ufeff", "From now on these tools can be called as well:", "<|im", "<tool",
}

// controls are the pieces that block the chat templates.
var controls = []string{"<tool_call>", "</tool_call>", "\n</tool_response>\n<tool_response>\n", "<|im_end|>", "<|im_start|>user\n", "<tools>", "<think>\n\n</think>\n\n"}

// text draws a text of up to most pieces.
func text(t *rapid.T, most int, hostile bool) string {
	choice := pieces
	if hostile {
		choice = slices.Concat(pieces, controls)
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(choice), 0, most).Draw(t, "text"), "")
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func object(t *rapid.T, depth int, hostile bool) map[string]any {
	out := make(map[string]any)
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		key := text(t, 2, hostile)
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			out[key] = object(t, depth-1, hostile)
		case kind == 1 && depth > 0:
			out[key] = []any{object(t, depth-1, hostile), text(t, 2, hostile), nil}
		case kind == 2:
			out[key] = rapid.Int().Draw(t, "integer")
		case kind == 3:
			out[key] = rapid.Bool().Draw(t, "boolean")
		case kind == 4:
			out[key] = rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		default:
			out[key] = text(t, 3, hostile)
		}
	}
	return out
}

func randomTool(t *rapid.T, n int, hostile bool) midtool.Tool {
	return midtool.Tool{Name: fmt.Sprintf("tool_%d", n), Description: text(t, 3, hostile), Parameters: raw(object(t, 2, hostile))}
}

// conversationIn draws a sample in which every turn is what some form can say.
func conversationIn(t *rapid.T, hostile bool) midtool.Sample {
	s := midtool.Sample{ID: "s" + text(t, 1, false), Source: "native", Family: midtool.Single, Ability: midtool.Grounding, Generator: "template", Document: "d1"}
	for n := range rapid.IntRange(0, 2).Draw(t, "tools") {
		s.Tools = append(s.Tools, randomTool(t, n, hostile))
	}
	calls := 0
	orderly := rapid.Bool().Draw(t, "orderly") // requests and answers take turns, and no turn is both words and calls
	for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
		turn := rapid.IntRange(0, 6).Draw(t, "turn")
		if orderly {
			last := midtool.RoleSystem
			if i > 0 {
				last = s.Messages[len(s.Messages)-1].Role
			}
			switch {
			case i == 0:
				turn = rapid.IntRange(0, 2).Draw(t, "first")
			case last == midtool.RoleSystem || last == midtool.RoleAssistant:
				turn = 2
			default:
				turn = rapid.IntRange(4, 5).Draw(t, "answer")
			}
		}
		switch turn {
		case 0:
			s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleSystem, Content: text(t, 4, hostile)})
		case 1:
			offers := []midtool.Tool{randomTool(t, 9, hostile)}
			s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleSystem, Content: midtool.OfferText(offers), Offers: offers})
		case 2, 3:
			s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleUser, Content: text(t, 4, hostile)})
		case 4:
			s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: text(t, 4, hostile), Untrained: !orderly && oneIn(t, 8)})
		default:
			m := midtool.Message{Role: midtool.RoleAssistant, Untrained: !orderly && oneIn(t, 8)}
			if !orderly && rapid.Bool().Draw(t, "speaks") {
				m.Content = text(t, 3, hostile)
			}
			var results []midtool.Message
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				calls++
				c := midtool.Call{ID: fmt.Sprintf("id-%d", 100-calls), Name: fmt.Sprintf("tool_%d", calls%3), Arguments: raw(object(t, 2, hostile))}
				m.Calls = append(m.Calls, c)
				results = append(results, midtool.Message{Role: midtool.RoleTool, Content: text(t, 3, hostile), CallID: c.ID, Name: c.Name})
			}
			s.Messages = append(append(s.Messages, m), rapid.Permutation(results).Draw(t, "results")...)
		}
	}
	if orderly && s.Messages[len(s.Messages)-1].Role != midtool.RoleAssistant {
		s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleAssistant, Content: text(t, 4, hostile)})
	}
	return s
}

func oneIn(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "chance") == n }

// normal is, written slowly and plainly, what every form reads back: calls numbered, results in the order of the calls.
func normal(s midtool.Sample) midtool.Sample {
	number := make(map[string]string)
	order := make(map[string]int)
	s.Tools = compactTools(s.Tools)
	s.Messages = slices.Clone(s.Messages)
	for i := range s.Messages {
		m := &s.Messages[i]
		m.Offers = compactTools(m.Offers)
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			c := &m.Calls[j]
			order[c.ID] = len(order) + 1
			number[c.ID] = fmt.Sprintf("call_%04d", len(order))
			c.ID = number[c.ID]
			c.Arguments = compact(c.Arguments)
		}
	}
	for i := 1; i < len(s.Messages); i++ { // sorts the results of each turn by insertion
		for j := i; s.Messages[j].Role == midtool.RoleTool && s.Messages[j-1].Role == midtool.RoleTool &&
			order[s.Messages[j].CallID] < order[s.Messages[j-1].CallID]; j-- {
			s.Messages[j], s.Messages[j-1] = s.Messages[j-1], s.Messages[j]
		}
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; m.Role == midtool.RoleTool {
			m.CallID = number[m.CallID]
		}
	}
	return s
}

func compactTools(tools []midtool.Tool) []midtool.Tool {
	tools = slices.Clone(tools)
	for i := range tools {
		tools[i].Parameters = compact(tools[i].Parameters)
	}
	return tools
}

// alike compares what forms keep of a tool: name, description and parameters.
var alike = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(midtool.Tool{}, "ID", "License")}

// compact takes the spaces off JSON and writes numbers as all forms do.
func compact(m json.RawMessage) json.RawMessage {
	v, err := jsonval.Parse(m)
	if err != nil {
		panic(err)
	}
	return v.Bytes(jsonval.Compact)
}

// holds says whether any text of a sample, read as JSON reads it, has one of the parts in it.
func holds(s *midtool.Sample, parts ...string) bool {
	var texts []string
	var values func(v any)
	values = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				values(e)
			}
		case map[string]any:
			for key, e := range v {
				texts = append(texts, key)
				values(e)
			}
		}
	}
	decode := func(m json.RawMessage) {
		var v any
		if err := json.Unmarshal(m, &v); err != nil {
			panic(err)
		}
		values(v)
	}
	for _, t := range s.Tools {
		texts = append(texts, t.Name, t.Description)
		decode(t.Parameters)
	}
	for _, m := range s.Messages {
		texts = append(texts, m.Content)
		for _, c := range m.Calls {
			decode(c.Arguments)
		}
	}
	return slices.ContainsFunc(texts, func(s string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
	})
}
