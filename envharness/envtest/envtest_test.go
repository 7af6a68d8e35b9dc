package envtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// Ids are a letter and a number that counts from 1; no two texts are the same.
func TestRules(t *testing.T) {
	texts := map[string]bool{}
	count := map[byte]int{}
	for _, r := range Rules() {
		count[r.ID[0]]++
		if want := fmt.Sprintf("%c%02d", r.ID[0], count[r.ID[0]]); r.ID != want {
			t.Errorf("rule %s, want %s", r.ID, want)
		}
		if texts[r.Text] || r.Text == "" || strings.HasSuffix(r.Text, ".") {
			t.Errorf("%s: %q, want words without a full stop that no other rule has", r.ID, r.Text)
		}
		texts[r.Text] = true
	}
	if count['E'] != 31 || count['V'] != 11 {
		t.Errorf("%d rules of environments and %d of verifiers, want 31 and 11", count['E'], count['V'])
	}
}

var errFound = errors.New("found")

// A check is joined under the rule to blame, once for each rule, in the order of the table.
func TestCheckAll(t *testing.T) {
	fine := func(context.Context, int) error { return nil }
	find := func(context.Context, int) error { return errFound }
	for _, tt := range []struct {
		name   string
		checks [3]func(context.Context, int) error
		want   []string
		reason string
	}{
		{"fine", [3]func(context.Context, int) error{fine, fine, fine}, nil, "nothing is found"},
		{"each", [3]func(context.Context, int) error{find, fine, find}, []string{"T1", "T3"}, "both in order"},
		{"skip", [3]func(context.Context, int) error{
			func(context.Context, int) error { return fmt.Errorf("deeper: %w", skip("absent")) }, find, fine,
		}, []string{"T2"}, "a skip is no violation"},
		{"blame", [3]func(context.Context, int) error{
			func(context.Context, int) error { return fmt.Errorf("deeper: %w", blame("T3", "x: %w", errFound)) }, fine, find,
		}, []string{"T3"}, "once, though the third check finds it too"},
		{"blame backwards", [3]func(context.Context, int) error{
			find, fine, func(context.Context, int) error { return blame("T2", "x: %w", errFound) },
		}, []string{"T1", "T2"}, "in the order of the rules"},
		{"panic", [3]func(context.Context, int) error{
			fine, func(context.Context, int) error { panic(errFound) }, fine,
		}, []string{"T2"}, "a panic is a violation of the rule being checked"},
		{"joined skip", [3]func(context.Context, int) error{
			fine, fine, func(context.Context, int) error { return errors.Join(errFound) },
		}, []string{"T3"}, "what was found may be joined"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			var table []rule[int]
			for i, c := range tt.checks {
				table = append(table, rule[int]{fmt.Sprintf("T%d", i+1), "text", func(ctx context.Context, subject int) error {
					if subject != 7 {
						t.Errorf("subject %d, want 7", subject)
					}
					return c(ctx, subject)
				}})
			}
			err := checkAll(t.Context(), 7, table)
			if diff := cmp.Diff(tt.want, ids(err)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%v", diff, err)
			}
			if len(tt.want) > 0 && tt.name != "panic" && !errors.Is(err, errFound) {
				t.Errorf("%v does not wrap what was found", err)
			}
		})
	}
}

// ids returns the rules in a joined error; of an error that is no violation its text.
func ids(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var out []string
	for _, e := range joined.Unwrap() {
		if v, ok := e.(Violation); ok {
			out = append(out, v.Rule)
		} else {
			out = append(out, e.Error())
		}
	}
	return out
}

// A check that is canceled says so, after what it has found.
func TestCheckAllCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	table := []rule[int]{
		{"T1", "text", func(context.Context, int) error { cancel(errors.New("enough")); return errFound }},
		{"T2", "text", func(context.Context, int) error { t.Error("T2 was checked"); return nil }},
	}
	if diff := cmp.Diff([]string{"T1", "enough"}, ids(checkAll(ctx, 0, table))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Run reports in subtests: two fail, one is skipped, one passes. It runs in a process of its own, since it fails.
func TestRunAll(t *testing.T) {
	const inside = "ENVTEST_RUN_ALL"
	if os.Getenv(inside) != "" {
		runAll(t, 0, []rule[int]{
			{"T1", "first", func(context.Context, int) error { return nil }},
			{"T2", "second", func(context.Context, int) error { return skip("no ability") }},
			{"T3", "third", func(context.Context, int) error { return blame("T1", "x: %w", errFound) }},
			{"T4", "fourth", func(context.Context, int) error { return errFound }},
		})
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunAll$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the process did not fail")
	}
	for _, want := range []string{
		"--- PASS: TestRunAll/T1", "--- SKIP: TestRunAll/T2", "no ability", "--- FAIL: TestRunAll/T3", "first\n",
		"T1 (found while checking T3): x: found",
		"--- FAIL: TestRunAll/T4", "fourth\n", "T4: found",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// Without a Source the action is one of those listed, else a call of a tool, else one that nobody knows.
func TestSourceDraw(t *testing.T) {
	tools := []envharness.Tool{
		{Name: "a"}, {Name: "b", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"const":4}},"required":["n"]}`)},
	}
	listed := envharness.Observation{Actions: []envharness.Action{{Name: "x"}, {Name: "y", Args: json.RawMessage(`{"k":1}`)}}}
	for _, tt := range []struct {
		name   string
		source Source
		o      envharness.Observation
		tools  []envharness.Tool
		want   []string
		reason string
	}{
		{"listed", nil, listed, tools, []string{"x ", `y {"k":1}`}, "the tools are not looked at"},
		{"tools", nil, envharness.Observation{Actions: []envharness.Action{}}, tools, []string{"a ", `b {"n":4}`}, "nothing is listed"},
		{"nothing", nil, envharness.Observation{}, nil, []string{noTool.Name + " "}, "there is nothing to choose"},
		{"source", func(*rand.Rand, envharness.Observation, []envharness.Tool) envharness.Action {
			return envharness.Action{Name: "s"}
		},
			listed, tools, []string{"s "}, "the caller's source decides"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			r := generator()
			seen := map[string]bool{}
			for range 100 {
				a := tt.source.draw(r, tt.o, tt.tools)
				seen[a.Name+" "+string(a.Args)] = true
				for i := range a.Args {
					a.Args[i] = 'x' // the caller's own
				}
			}
			var got []string
			for s := range seen {
				got = append(got, s)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// fits is a second reading of the part of JSON Schema that values are drawn from.
func fits(s map[string]any, v any) bool {
	if c, ok := s["const"]; ok {
		return cmp.Equal(c, v)
	}
	if e, ok := s["enum"].([]any); ok {
		return slices.ContainsFunc(e, func(x any) bool { return cmp.Equal(x, v) })
	}
	switch s["type"] {
	case "integer", "number":
		f, ok := v.(float64)
		low, lok := s["minimum"].(float64)
		high, hok := s["maximum"].(float64)
		return ok && (!lok || f >= low) && (!hok || f <= high) && (s["type"] == "number" || f == math.Trunc(f))
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "null":
		return v == nil
	case "string":
		x, ok := v.(string)
		least, _ := s["minLength"].(float64)
		most, mok := s["maxLength"].(float64)
		return ok && float64(len(x)) >= least && (!mok || float64(len(x)) <= most)
	case "array":
		x, ok := v.([]any)
		least, _ := s["minItems"].(float64)
		most, mok := s["maxItems"].(float64)
		items, _ := s["items"].(map[string]any)
		return ok && float64(len(x)) >= least && (!mok || float64(len(x)) <= most) &&
			!slices.ContainsFunc(x, func(v any) bool { return !fits(items, v) })
	case "object":
		x, ok := v.(map[string]any)
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, has := x[name.(string)]; !has {
				return false
			}
		}
		for name, v := range x {
			p, known := properties[name].(map[string]any)
			if !known || !fits(p, v) {
				return false
			}
		}
		return ok
	}
	return false
}

// schemas draws schemas whose every value can be satisfied.
func schemas(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := []string{"integer", "number", "boolean", "null", "string", "const", "enum"}
		if depth > 0 {
			kinds = append(kinds, "array", "object", "object")
		}
		least := float64(rapid.IntRange(0, 4).Draw(t, "least"))
		most := least + float64(rapid.IntRange(0, 4).Draw(t, "most"))
		bounded := rapid.Bool().Draw(t, "bounded")
		s := map[string]any{}
		set := func(low, high string) {
			if s[low] = least; bounded {
				s[high] = most
			}
		}
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "const":
			s["const"] = "c"
		case "enum":
			s["enum"] = []any{"a", 1.0, nil, true}
		case "integer", "number":
			s["type"] = kind
			set("minimum", "maximum")
		case "string":
			s["type"] = kind
			set("minLength", "maxLength")
		case "array":
			s["type"] = kind
			set("minItems", "maxItems")
			s["items"] = schemas(depth-1).Draw(t, "items")
		case "object":
			s["type"] = kind
			properties := map[string]any{}
			for _, name := range []string{"p", "q"} {
				properties[name] = schemas(depth-1).Draw(t, name)
			}
			s["properties"] = properties
			s["required"] = []any{"p"}
		default:
			s["type"] = kind
		}
		return s
	})
}

// A value drawn from a schema satisfies it.
func TestSchemaValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := schemas(3).Draw(t, "schema")
		var s schema
		if err := json.Unmarshal([]byte(marshal(doc)), &s); err != nil {
			t.Fatal(err)
		}
		v := s.value(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), 0)
		var plain any
		if err := json.Unmarshal([]byte(marshal(v)), &plain); err != nil {
			t.Fatal(err)
		}
		if !fits(doc, plain) {
			t.Fatalf("%s does not satisfy %s", marshal(v), marshal(doc))
		}
	})
}

// A value ends, however a schema nests.
func TestSchemaDepth(t *testing.T) {
	s := schema{Type: oneOrMore{"array"}, MinItems: 1}
	s.Items = &s
	depth := 0
	for v := s.value(generator(), 0); v != nil; depth++ {
		v = v.([]any)[0]
	}
	if depth != deepest+1 {
		t.Errorf("depth %d, want %d", depth, deepest+1)
	}
}

// Malformed arguments are none that the tool's schema allows.
func TestMalformed(t *testing.T) {
	doc := `{"type":"object","properties":{"id":{"type":"string"},"n":{"type":["integer","object"]},"any":{}},"required":["id"]}`
	var s map[string]any
	if err := json.Unmarshal([]byte(doc), &s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range malformed(envharness.Tool{Name: "t", Schema: json.RawMessage(doc)}) {
		var args map[string]any
		if json.Unmarshal(a.Args, &args) != nil {
			got = append(got, string(a.Args))
			continue
		}
		id, ok := args["id"].(string)
		_, isBool := args["n"].(bool)
		_, isList := args["n"].([]any)
		switch {
		case args["id"] == nil:
			got = append(got, "no id")
		case !ok:
			got = append(got, "id is no string")
		case isBool || isList:
			got = append(got, "n is no number")
		default:
			t.Errorf("%s is allowed (id %q)", a.Args, id)
		}
	}
	want := []string{"{", "[1]", `"text"`, "7", "no id", "id is no string", "n is no number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := len(malformed(envharness.Tool{Name: "t"})); got != 4 {
		t.Errorf("%d malformed calls without a schema, want 4: those that are no object", got)
	}
}

// Each part of a result is compared, and what is volatile or ignored is not.
func TestDiff(t *testing.T) {
	base := func() envharness.Transition {
		return envharness.Transition{
			Observation: envharness.Observation{
				Text:    "t",
				Data:    map[string]any{"n": 1.0, "list": []any{"a", map[string]any{"x": true}}, "nil": nil},
				Actions: []envharness.Action{{Name: "a", Args: json.RawMessage("{}")}},
			},
			Reward: 1, Terminated: true, Truncated: true, Reason: "r",
			Error: &envharness.ActionError{Class: "other", Message: "m", Retryable: true},
			Info:  map[string]any{"id": "1", "a/b": 2.0},
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *envharness.Transition)
		b      bench
		want   string
		reason string
	}{
		{"nothing", func(*envharness.Transition) {}, bench{}, "", "equal"},
		{"text", func(t *envharness.Transition) { t.Observation.Text = "u" }, bench{}, `/observation/text is "u", want "t"`, "the text differs"},
		{"number", func(t *envharness.Transition) { t.Observation.Data["n"] = 1.5 }, bench{}, "/observation/data/n is 1.5, want 1", "by 0.5"},
		{"within tolerance", func(t *envharness.Transition) { t.Observation.Data["n"] = 1.5 },
			bench{c: Environment{Tolerance: 0.5}}, "", "by 0.5"},
		{"type", func(t *envharness.Transition) { t.Observation.Data["n"] = "1" }, bench{}, `/observation/data/n is "1", want 1`, "a string"},
		{"nested", func(t *envharness.Transition) { t.Observation.Data["list"].([]any)[1].(map[string]any)["x"] = false }, bench{},
			"/observation/data/list/1/x is false, want true", "deep inside"},
		{"shorter", func(t *envharness.Transition) { t.Observation.Data["list"] = []any{} },
			bench{}, "/observation/data/list has 0 items, want 2",
			"the length comes first"},
		{"missing", func(t *envharness.Transition) { delete(t.Observation.Data, "nil") },
			bench{}, "/observation/data/nil is missing", "null is something"},
		{"new", func(t *envharness.Transition) { t.Info["z"] = nil }, bench{}, "/info/z is new", "null is something"},
		{"actions", func(t *envharness.Transition) { t.Observation.Actions[0].Args = nil },
			bench{}, `/observation/actions/0 is "a ", want "a {}"`,
			"bytes count"},
		{"no actions", func(t *envharness.Transition) { t.Observation.Actions = nil },
			bench{}, "/observation/actions is missing", "nil is not empty"},
		{"reward", func(t *envharness.Transition) { t.Reward = 2 }, bench{}, "/reward is 2, want 1", "the reward differs"},
		{"NaN", func(t *envharness.Transition) { t.Reward = math.NaN() }, bench{}, "/reward is NaN, want 1", "NaN is no number"},
		{"terminated", func(t *envharness.Transition) { t.Terminated = false }, bench{}, "/terminated is false, want true", "a flag"},
		{"truncated", func(t *envharness.Transition) { t.Truncated = false }, bench{}, "/truncated is false, want true", "a flag"},
		{"reason", func(t *envharness.Transition) { t.Reason = "" }, bench{}, `/reason is "", want "r"`, "the reason differs"},
		{"error", func(t *envharness.Transition) { t.Error = nil }, bench{}, "/error is missing", "it was carried out"},
		{"class", func(t *envharness.Transition) { t.Error.Class = "x" }, bench{}, `/error/class is "x", want "other"`, "the class differs"},
		{"retryable", func(t *envharness.Transition) { t.Error.Retryable = false },
			bench{}, "/error/retryable is false, want true", "it differs"},
		{"info", func(t *envharness.Transition) { t.Info = nil }, bench{}, "/info is missing", "there is none"},
		{"ignored", func(t *envharness.Transition) { t.Info["a/b"] = 3.0 },
			bench{c: Environment{IgnoreInfo: []string{"a/b"}}}, "", "the key is escaped"},
		{"volatile", func(t *envharness.Transition) { t.Observation.Data["list"].([]any)[0] = "z" },
			bench{desc: envharness.Description{Volatile: []string{"/observation/data/list/0"}}}, "", "one item may differ"},
		{"beside the volatile", func(t *envharness.Transition) { t.Observation.Data["list"].([]any)[1] = "z" },
			bench{desc: envharness.Description{Volatile: []string{"/observation/data/list/0", "/state/x"}}},
			`/observation/data/list/1 is "z", want map[string]interface {}{"x":true}`, "another item may not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			got := base()
			tt.change(&got)
			if d := tt.b.diff(base(), got); d != tt.want {
				t.Errorf("%q, want %q (%s)", d, tt.want, tt.reason)
			}
		})
	}
}

// Removing leaves the original alone, and what is not there stays away.
func TestRemove(t *testing.T) {
	doc := func() any {
		return map[string]any{"a": map[string]any{"b~/": 1.0, "c": []any{1.0, map[string]any{"d": 2.0}}}, "e": "x"}
	}
	for _, tt := range []struct{ pointer, want, reason string }{
		{"/e", `{"a":{"b~/":1,"c":[1,{"d":2}]}}`, "a field"},
		{"/a/b~0~1", `{"a":{"c":[1,{"d":2}]},"e":"x"}`, "~ and / are escaped"},
		{"/a/c/0", `{"a":{"b~/":1,"c":[null,{"d":2}]},"e":"x"}`, "an item becomes null"},
		{"/a/c/1/d", `{"a":{"b~/":1,"c":[1,{}]},"e":"x"}`, "inside an item"},
		{"/a/c/7", marshal(doc()), "no such item"},
		{"/z/y", marshal(doc()), "no such field"},
		{"/e/y", marshal(doc()), "a string has no fields"},
		{"", "null", "all of it"},
	} {
		t.Run(tt.pointer, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			d := doc()
			if got := marshal(remove(d, tt.pointer)); got != tt.want {
				t.Errorf("%s, want %s (%s)", got, tt.want, tt.reason)
			}
			if diff := cmp.Diff(doc(), d); diff != "" {
				t.Errorf("the original changed (-want +got)\n%s", diff)
			}
		})
	}
}

// A copy of a result is equal to it and shares nothing.
func TestCopyTransition(t *testing.T) {
	make := func() envharness.Transition {
		return envharness.Transition{
			Observation: envharness.Observation{
				Data:    map[string]any{"l": []any{"a", map[string]any{"x": 1.0}}, "nil map": map[string]any(nil), "nil list": []any(nil), "int": 3},
				Actions: []envharness.Action{{Name: "a", Args: json.RawMessage("{}")}},
			},
			Error: &envharness.ActionError{Class: "other"},
			Info:  map[string]any{"i": "x"},
		}
	}
	from := make()
	to := copyTransition(from)
	if diff := cmp.Diff(from, to); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	to.Observation.Data["l"].([]any)[1].(map[string]any)["x"] = 2.0
	to.Observation.Data["l"].([]any)[0] = "b"
	to.Observation.Actions[0].Args[0] = 'x'
	to.Observation.Actions[0].Name = "b"
	to.Error.Class = "timeout"
	to.Info["i"] = "y"
	if diff := cmp.Diff(make(), from); diff != "" {
		t.Errorf("a change of the copy changed the original (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(envharness.Transition{}, copyTransition(envharness.Transition{})); diff != "" {
		t.Errorf("the zero result (-want +got)\n%s", diff)
	}
}

// What is no JSON value is named by its place.
func TestCheckJSON(t *testing.T) {
	data := func(v any) envharness.Transition {
		return envharness.Transition{Observation: envharness.Observation{Data: map[string]any{"k": v}}}
	}
	args := func(raw string) envharness.Transition {
		return envharness.Transition{Observation: envharness.Observation{Actions: []envharness.Action{{Name: "a", Args: json.RawMessage(raw)}}}}
	}
	for _, tt := range []struct {
		name   string
		t      envharness.Transition
		want   string // part of the error, empty for none
		reason string
	}{
		{"values", data([]any{nil, true, 1.5, "x", map[string]any{}}), "", "all are JSON"},
		{"int", data(1), "data/k has the type int", "it comes back as float64"},
		{"typed nil", data(map[string]string(nil)), "data/k has the type map[string]string", "it comes back as another map"},
		{"list of strings", data([]string{"a"}), "data/k has the type []string", "it comes back as []any"},
		{"nested", data([]any{map[string]any{"z": []byte("a")}}), "data/k/0/z has the type []uint8", "deep inside"},
		{"NaN", data(math.NaN()), "data/k is NaN", "JSON has no NaN"},
		{"infinity", data(math.Inf(-1)), "data/k is -Inf", "JSON has no infinity"},
		{"string", data("\xff"), "data/k is not UTF-8", "it comes back as another string"},
		{"text", envharness.Transition{Observation: envharness.Observation{Text: "\xff"}}, "text is not UTF-8", "likewise"},
		{"info", envharness.Transition{Info: map[string]any{"i": int64(1)}}, "info/i has the type int64", "Info too"},
		{"message", envharness.Transition{Error: &envharness.ActionError{Message: "\xff"}}, "message of the refusal", "an echo of bytes"},
		{"no arguments", args(""), "", "nil arguments are an empty object"},
		{"arguments", args(`{"a":1}`), "", "an object"},
		{"list as arguments", args("[]"), "admissible action 0", "not an object"},
		{"null as arguments", args("null"), "admissible action 0", "not an object"},
		{"cut arguments", args("{"), "admissible action 0", "not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := checkJSON(tt.t)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

// Each fault of a list of tools is named.
func TestCheckTools(t *testing.T) {
	tool := func(name, schema string) envharness.Tool {
		return envharness.Tool{Name: name, Schema: json.RawMessage(schema)}
	}
	for _, tt := range []struct {
		name   string
		tools  []envharness.Tool
		want   string // part of the error, empty for none
		reason string
	}{
		{"fine", []envharness.Tool{{Name: "a"}, tool("b", `{"type":"object"}`)}, "", "no schema means no arguments"},
		{"none", nil, "", "a ToolLister has them after Reset"},
		{"no name", []envharness.Tool{{Name: "a"}, {}}, "tool 1 has no name", "nobody could call it"},
		{"twice", []envharness.Tool{{Name: "a"}, {Name: "a"}}, `two tools are named "a"`, "nobody could tell them apart"},
		{"reserved", []envharness.Tool{{Name: "grade"}}, `reserved tool name "grade"`, "a call of the harness"},
		{"no JSON", []envharness.Tool{tool("a", "{")}, "schema", "it cannot be read"},
		{"no object", []envharness.Tool{tool("a", `{"type":"array"}`)}, `type ["array"]`, "arguments are an object"},
		{"no type", []envharness.Tool{tool("a", `{}`)}, "want object", "it allows what is no object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := checkTools(tt.tools)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
}

// What a verdict must not say is named.
func TestInRange(t *testing.T) {
	for _, tt := range []struct {
		name      string
		v         envharness.Verdict
		threshold float64
		want      string // part of the error, empty for none
		reason    string
	}{
		{"pass", envharness.Verdict{Status: envharness.Pass, Score: 1, Parts: map[string]float64{"a": 0, "b": 1}}, 0, "", "2.3: a pass scores 1"},
		{"partial", envharness.Verdict{Status: envharness.Fail, Score: 0.5}, 0, "", "2.3: a failure may have partial credit"},
		{"invalid", envharness.Verdict{}, 0, "", "the zero verdict"},
		{"threshold", envharness.Verdict{Status: envharness.Pass, Score: 0.8}, 0.8, "", "2.3: unless a threshold is declared"},
		{"below", envharness.Verdict{Status: envharness.Pass, Score: 0.7}, 0.8,
			"a pass has the score 0.7, want 0.8 or more", "below the threshold"},
		{"not 1", envharness.Verdict{Status: envharness.Pass, Score: 0.9}, 0, "want 1 or more", "no threshold is declared"},
		{"above", envharness.Verdict{Status: envharness.Pass, Score: 1.5}, 0, "the score is 1.5", "outside [0, 1]"},
		{"negative", envharness.Verdict{Status: envharness.Fail, Score: -0.1}, 0, "the score is -0.1", "outside [0, 1]"},
		{"NaN", envharness.Verdict{Status: envharness.Fail, Score: math.NaN()}, 0, "the score is NaN", "no number"},
		{"part", envharness.Verdict{Status: envharness.Fail, Parts: map[string]float64{"a": 1, "b": 2}}, 0, `part "b" is 2`, "outside [0, 1]"},
		{"credit for nothing", envharness.Verdict{Score: 0.1}, 0, "an invalid verdict has the score 0.1", "2.3: invalid scores 0"},
		{"status", envharness.Verdict{Status: 3}, 0, "status 3 is unknown", "there are three"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("case without a reason")
			}
			err := Verifier{Threshold: tt.threshold}.inRange(tt.v)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
}
