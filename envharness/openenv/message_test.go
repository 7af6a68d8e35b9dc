package openenv

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// Whatever comes is read or refused for one reason; what is read holds nothing but JSON; and every answer is a message again.
func FuzzMessage(f *testing.F) {
	b, err := os.ReadFile("testdata/sessions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, fault := readMessage(raw)
		if fault != nil {
			if fault.code == codeValidation != (len(fault.problems) > 0) {
				t.Errorf("%s with %d problems", fault.code, len(fault.problems))
			}
			answer := errorMessage(fault.code, fault.text, map[string]any{"errors": fault.problems})
			if len(answer) == 0 || wellFormed(answer) != nil {
				t.Errorf("answer %q", answer)
			}
			return
		}
		if !utf8.Valid(raw) || !json.Valid(raw) {
			t.Errorf("accepted what is no JSON: %q", raw)
		}
		switch m.kind {
		case "reset", "step", "state", "close", "mcp":
		default:
			t.Errorf("kind %q", m.kind)
		}
		for _, part := range [][]byte{m.reset.Options, m.step.action.Args, m.rpc} {
			if part != nil && !json.Valid(part) {
				t.Errorf("%q is no JSON", part)
			}
		}
		if m.kind == "mcp" {
			if c, fault := readCall(m.rpc); fault == nil && c.id != nil && !json.Valid(c.id) {
				t.Errorf("id %q", c.id)
			}
		}
		if m.kind == "step" && m.step.manner != listing { // what our client would write for it is read as the same
			data, _ := peer{form: map[manner]form{called: formCall}[m.step.manner]}.encode(m.step.action)
			if len(m.step.action.Args) == 0 && m.step.manner == called {
				m.step.action.Args = json.RawMessage("{}") // which that form always has
			}
			again, fault := readMessage(join(`{"type":"step","data":`, data, `}`))
			if fault != nil || !reflect.DeepEqual(again.step, m.step) {
				t.Errorf("%v comes back as %v %v", m.step, again.step, fault)
			}
		}
	})
}

// What our client writes our server reads as the same reset, whatever is asked for.
func TestResetComesThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := envharness.ResetOptions{Task: rapid.String().Draw(t, "task")}
		if rapid.Bool().Draw(t, "seeded") {
			o.Seed = new(rapid.Uint64().Draw(t, "seed"))
		}
		options := rapid.MapOfN(rapid.StringMatching(`[a-z<&]{1,6}`), rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Float64Range(-1e9, 1e9),
			func(x float64) any { return x }), rapid.Map(rapid.String(), func(s string) any { return s })), 0, 3).Draw(t, "options")
		for _, k := range []string{"seed", "task"} {
			delete(options, k)
		}
		if len(options) > 0 {
			b, err := encode(options)
			if err != nil {
				t.Fatal(err)
			}
			o.Options = b
		}
		raw, err := resetMessage(o)
		if err != nil {
			t.Fatal(err)
		}
		m, fault := readMessage(raw)
		if fault != nil {
			t.Fatalf("%s: %+v", raw, fault)
		}
		if !reflect.DeepEqual(m.reset, o) {
			t.Fatalf("%s\nread as %+v, want %+v", raw, m.reset, o)
		}
	})
}

// An action comes through with its arguments as they were written, if they are JSON in UTF-8; else as a string, which is no object either.
func TestActionComesThrough(t *testing.T) {
	for _, args := range []string{
		``, `{}`, `{"a":1.50,"b":"<&>"}`, ` { "a" : 1 } `, `[1]`, `"x"`, `5`, `{"a"`, `{"a":"` + "\xff" + `"}`, "\x00", `nul`,
	} {
		a := envharness.Action{Name: "näme<\">"}
		if args != "" {
			a.Args = json.RawMessage(args)
		}
		data, refusal := peer{}.encode(a)
		m, fault := readMessage(join(`{"type":"step","data":`, data, `}`))
		if refusal != nil || fault != nil {
			t.Errorf("%q: %v %v", args, refusal, fault)
			continue
		}
		want := args
		if args != "" && !json.Valid([]byte(args)) {
			b, _ := encode(args)
			want = string(b)
		}
		if got := string(m.step.action.Args); m.step.action.Name != a.Name || got != strings.ToValidUTF8(strings.TrimSpace(want), "\uFFFD") {
			t.Errorf("%q arrives as %q %q", args, m.step.action.Name, got)
		}
	}
}

// A refusal keeps its class and its message in the reference's form, as far as that has a word for it.
func TestCalledRefusal(t *testing.T) {
	for class, want := range map[envharness.ErrorClass]struct {
		word string
		back envharness.ErrorClass
	}{
		envharness.ClassBadArgs:     {"invalid_args", envharness.ClassBadArgs},
		envharness.ClassUnknownTool: {"tool_not_found", envharness.ClassUnknownTool},
		envharness.ClassTimeout:     {"timeout", envharness.ClassTimeout},
		envharness.ClassPermission:  {"execution_error", envharness.ClassOther},
	} {
		r := calledOf("go", stepResult(envharness.Transition{Error: &envharness.ActionError{Class: class, Message: "no"}}))
		if r.Observation.Error.Kind != want.word || r.Observation.Result != nil {
			t.Errorf("%s: %+v", class, r.Observation.Error)
		}
		raw, err := encode(r.Observation)
		if err != nil {
			t.Fatal(err)
		}
		fields, _ := object(raw)
		if e := toolError(fields); e == nil || e.Class != want.back || e.Message != "no" {
			t.Errorf("%s comes back as %v", class, e)
		}
	}
}

// Nesting is bounded before anything is decoded; brackets in strings do not count.
func TestWellFormed(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want string
	}{
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), fmt.Sprint("the message is nested deeper than ", maxDepth)},
		{`"` + strings.Repeat("[", 5000) + `"`, ""},
		{`"\"` + strings.Repeat("[", 5000) + `"`, ""},
		{`{"a":1}x`, "the message is not JSON"},
		{"\"\xff\"", "the message is not UTF-8"},
	} {
		got := ""
		if err := wellFormed([]byte(c.raw)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.20q: %q, want %q", c.raw, got, c.want)
		}
	}
}
