package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/throughline-go/throughline/midtool"
)

// A hostileResult says what came of an input that nobody sends in good faith.
type hostileResult struct {
	Outcome string `json:"outcome"` // "reported": an error or a violation names it; "kept": it is legal and nothing is lost; else what went wrong
	Message string `json:"message"` // that error, or what was kept
}

// A hostileCase is such an input. It returns the error that reports it, or says what was kept.
type hostileCase struct {
	name string
	want string
	try  func(ctx context.Context) (kept string, reported error)
}

// hostile tries them all; each ends in bounded time and memory, or the program would not get to its end.
func (e *evidence) hostile(ctx context.Context) error {
	e.Hostile = make(map[string]hostileResult)
	for _, c := range hostileCases() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := c.run(ctx)
		e.Hostile[c.name] = r
		e.claim(r.Outcome == c.want, "hostile: %s is %s, want %s: %s", c.name, r.Outcome, c.want, r.Message)
	}
	return nil
}

func (c hostileCase) run(ctx context.Context) (r hostileResult) {
	defer func() {
		if p := recover(); p != nil {
			r = hostileResult{"panic", fmt.Sprint(p)}
		}
	}()
	kept, err := c.try(ctx)
	if err != nil {
		return hostileResult{"reported", shorten(err.Error())}
	}
	if kept == "" {
		return hostileResult{"passed over", ""}
	}
	return hostileResult{"kept", shorten(kept)}
}

// shorten keeps messages readable that quote what they are about.
func shorten(s string) string {
	if r := []rune(s); len(r) > 240 {
		return string(r[:240]) + " [cut]"
	}
	return s
}

func hostileCases() []hostileCase {
	tools := func(name, want, line string, kept func([]midtool.Tool) (string, error)) hostileCase {
		return hostileCase{"tools: " + name, want, func(ctx context.Context) (string, error) {
			read, err := readTools(ctx, strings.NewReader(line))
			if err != nil {
				return "", err
			}
			return kept(read)
		}}
	}
	none := func([]midtool.Tool) (string, error) { return "", nil }
	schema := func(name, want, parameters string, kept func(t midtool.Tool, s *midtool.Schema) (string, error)) hostileCase {
		return hostileCase{"schema: " + name, want, func(context.Context) (string, error) {
			t, err := midtool.Normalize(midtool.Tool{Name: "f", Parameters: json.RawMessage(parameters)})
			if err != nil {
				return "", err
			}
			s, err := midtool.CompileSchema(t.Parameters)
			if err != nil {
				return "", err
			}
			return kept(t, s)
		}}
	}
	conversations := func(name, want, line string, kept func([]midtool.Sample) (string, error)) hostileCase {
		return hostileCase{"conversations: " + name, want, func(context.Context) (string, error) {
			var all []midtool.Sample
			for s, err := range midtool.ReadMessages(strings.NewReader(line), "hostile.jsonl") {
				if err != nil {
					return "", err
				}
				all = append(all, s)
			}
			return kept(all)
		}}
	}
	ignored := func([]midtool.Sample) (string, error) { return "", nil }
	with := func(parameters string) string { return `{"name":"f","parameters":` + parameters + `}` }
	call := func(arguments string) string {
		return `{"messages":[{"role":"user","content":"Take 5 please."},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":` +
			arguments + `}}]},{"role":"tool","tool_call_id":"c","content":"{}"},{"role":"assistant","content":"Done."}],` +
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}]}`
	}
	argumentsOf := func(all []midtool.Sample) (string, error) { return string(all[0].Messages[1].Calls[0].Arguments), nil }
	deep := strings.Repeat(`{"n":`, 1000) + "1" + strings.Repeat("}", 1000)
	return []hostileCase{
		tools("invalid UTF-8", "reported", "{\"name\":\"f\xff\"}", none),
		tools("lone surrogate", "reported", `{"name":"f\ud800"}`, none),
		{"tools: a line of 100 MB", "reported", func(ctx context.Context) (string, error) {
			_, err := readTools(ctx, io.MultiReader(strings.NewReader(`{"name":"`), io.LimitReader(letters{}, 100<<20), strings.NewReader(`"}`)))
			return "", err
		}},
		tools("1,000 levels of JSON", "reported", with(deep), none),
		tools("1,000,000 open brackets", "reported", strings.Repeat("[", 1_000_000), none),
		tools("NaN", "reported", with(`{"properties":{"n":{"default":NaN}}}`), none),
		tools("no JSON", "reported", `{'name': 'f'}`, none),
		tools("cut off", "reported", `{"name":"f","parameters":{"type":`, none),
		tools("duplicate keys: the last counts", "kept", `{"name":"first","name":"last"}`, func(read []midtool.Tool) (string, error) {
			return exactly(read[0].Name, "last")
		}),
		tools("a big integer stays exact", "kept", with(`{"properties":{"n":{"type":"integer","default":123456789012345678901234567890}}}`),
			func(read []midtool.Tool) (string, error) {
				t, err := midtool.Normalize(read[0])
				if err != nil {
					return "", err
				}
				return within(string(t.Parameters), "123456789012345678901234567890")
			}),
		tools("a name of control characters", "kept", `{"name":"a\u0000b"}`, func(read []midtool.Tool) (string, error) {
			return exactly(read[0].Name, "a\x00b")
		}),
		schema("a reference to itself", "kept", `{"properties":{"a":{"$ref":"#/properties/a"}},"required":["a"]}`, bounded),
		schema("references in a circle", "kept", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},`+
			`"properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}`, bounded),
		schema("an endless tree", "kept", `{"$defs":{"n":{"type":"object","properties":{"l":{"$ref":"#/$defs/n"},"r":{"$ref":"#/$defs/n"}},`+
			`"required":["l","r"]}},"properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"]}`, bounded),
		schema("doubling forty times", "kept", doubling(40), bounded),
		schema("a reference to another document", "reported", `{"properties":{"a":{"$ref":"https://example.com/x.json"}}}`, bounded),
		schema("a reference to nowhere", "reported", `{"properties":{"a":{"$ref":"#/$defs/a"}}}`, bounded),
		schema("100 levels", "reported", strings.Repeat(`{"properties":{"a":`, 100)+"{}"+strings.Repeat("}}", 100), bounded),
		schema("a pattern that backtracks", "kept", `{"properties":{"a":{"type":"string","pattern":"^(a+)+$"}},"required":["a"]}`,
			func(_ midtool.Tool, s *midtool.Schema) (string, error) {
				if found := s.Check(json.RawMessage(`{"a":"` + strings.Repeat("a", 10_000) + `!"}`)); len(found) != 1 {
					return "", fmt.Errorf("%d faults", len(found))
				}
				return "one fault found in linear time", nil
			}),
		schema("no value is possible", "reported", `{"properties":{"a":{"type":"integer","minimum":5,"maximum":4}},"required":["a"]}`,
			func(_ midtool.Tool, s *midtool.Schema) (string, error) {
				v, err := s.Instance(seed, "f")
				return string(v), err
			}),
		schema("5 and 5.0 are integers", "kept", `{"properties":{"n":{"type":"integer"}}}`, func(_ midtool.Tool, s *midtool.Schema) (string, error) {
			if found := append(s.Check(json.RawMessage(`{"n":5}`)), s.Check(json.RawMessage(`{"n":5.0}`))...); len(found) > 0 {
				return "", errors.New(found[0].String())
			}
			if len(s.Check(json.RawMessage(`{"n":5.5}`))) == 0 {
				return "", errors.New("5.5 is one too")
			}
			return "5 and 5.0 pass, 5.5 does not", nil
		}),
		conversations("invalid UTF-8", "reported", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xc3\"}]}", ignored),
		conversations("1,000 levels of arguments", "reported", call(deep), ignored),
		conversations("1,000 levels in a string of arguments", "reported", call(string(encode(deep))), ignored),
		conversations("NaN in a string of arguments", "reported", call(`"{\"n\": NaN}"`), ignored),
		conversations("messages of another kind", "reported", `{"messages":{"role":"user"}}`, ignored),
		conversations("duplicate keys: the last counts", "kept", call(`{"n":4,"n":5}`), func(all []midtool.Sample) (string, error) {
			got, _ := argumentsOf(all)
			return exactly(got, `{"n":5}`)
		}),
		conversations("5 and 5.0 stay apart", "kept", call(`{"n":5.0}`), func(all []midtool.Sample) (string, error) {
			got, _ := argumentsOf(all)
			return exactly(got, `{"n":5.0}`)
		}),
		conversations("a big integer stays exact and is no float", "reported", call(`{"n":9007199254740993}`), func(all []midtool.Sample) (string, error) {
			all[0].Messages[0].Content = "Take 9007199254740992 please."
			return "", firstFault(all[0])
		}),
		{"conversations: 100,000 messages", "reported", func(context.Context) (string, error) {
			s := midtool.Sample{ID: "long"}
			for range 100_000 {
				s.Messages = append(s.Messages, midtool.Message{Role: midtool.RoleUser, Content: "Hello out there, once more."})
			}
			return "", firstFault(s)
		}},
		{"conversations: 20,000 tools of one name", "reported", func(context.Context) (string, error) {
			s := midtool.Sample{ID: "wide", Messages: []midtool.Message{
				{Role: midtool.RoleUser, Content: "Hello out there, anybody?"},
				{Role: midtool.RoleAssistant, Content: "Yes."},
			}}
			for range 20_000 {
				s.Tools = append(s.Tools, midtool.Tool{Name: "get_all", Parameters: json.RawMessage(`{}`)})
			}
			return "", firstFault(s)
		}},
		{"conversations: a result of 1,000,000 numbers", "reported", func(context.Context) (string, error) {
			return "", firstFault(midtool.Sample{ID: "large", Messages: []midtool.Message{
				{Role: midtool.RoleUser, Content: "Take number 7 please."},
				{Role: midtool.RoleAssistant, Calls: []midtool.Call{{ID: "c", Name: "f", Arguments: json.RawMessage(`{"n":7}`)}}},
				{Role: midtool.RoleTool, CallID: "c", Content: "[" + strings.Repeat("1,", 999_999) + "1]"},
				{Role: midtool.RoleAssistant, Content: "All are 1."},
			}, Tools: []midtool.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}}})
		}},
	}
}

func readTools(ctx context.Context, r io.Reader) ([]midtool.Tool, error) {
	return midtool.ReadTools(ctx, midtool.ToolsJSONL{Locator: "hostile.jsonl", Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }})
}

// bounded uses a schema in every way there is.
func bounded(_ midtool.Tool, s *midtool.Schema) (string, error) {
	found := s.Check(json.RawMessage(`{"a":{"l":{"l":{}},"r":{}}}`))
	_, err := s.Instance(seed, "f")
	return fmt.Sprintf("a check ends with %d faults, making a value with %v", len(found), err), nil
}

// doubling is a schema whose meaning is 2^n objects wide.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{"type":"string"}`)
	for i := range n {
		fmt.Fprintf(&b, `,"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	fmt.Fprintf(&b, `},"properties":{"a":{"$ref":"#/$defs/d%d"}},"required":["a"]}`, n)
	return b.String()
}

func firstFault(s midtool.Sample) error {
	if found := midtool.Validate(s); len(found) > 0 {
		return fmt.Errorf("%d violations, the first: %s", len(found), found[0])
	}
	return nil
}

func exactly(got, want string) (string, error) {
	if got != want {
		return "", fmt.Errorf("%q became %q", want, got)
	}
	return fmt.Sprintf("%q", got), nil
}

func within(text, want string) (string, error) {
	if !strings.Contains(text, want) {
		return "", fmt.Errorf("%s has lost %s", text, want)
	}
	return want, nil
}

// letters is an endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}
