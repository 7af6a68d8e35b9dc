package components_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// comesIn steps the harness with the call and returns what reached the base, with its arguments in canonical form.
func comesIn(t rapid.TB, h *envharness.Harness, s *scene, a envharness.Action) string {
	t.Helper()
	s.past = nil
	tr, err := h.Step(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.past) != 1 {
		t.Fatalf("%s did not reach the base: %+v", a, tr.Error)
	}
	return said(t, s.past[0])
}

func said(t rapid.TB, a envharness.Action) string {
	t.Helper()
	if len(a.Args) == 0 {
		return a.Name
	}
	args, err := envharness.CanonicalJSON(a.Args)
	if err != nil {
		return a.Name + " " + string(a.Args)
	}
	return a.Name + " " + string(args)
}

// drawNames gives some of the names new ones, of which none is one that stays: they move among themselves, or to fresh ones.
func drawNames(rt *rapid.T, label string, names []string) map[string]string {
	moved := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(rt, label)
	to := rapid.Permutation(slices.Concat(moved, []string{"x", "y", "Z z"})).Draw(rt, label+" become")
	out := make(map[string]string)
	for i, name := range moved {
		out[name] = to[i]
	}
	return out
}

// For every action that a call can become, the call that Outward says becomes it: names may be swapped, move round or be new, of tools and
// of arguments.
func TestRenameOutward(t *testing.T) {
	tools, args := []string{"a", "b", "c"}, []string{"k", "l", "m", "n"}
	schema := json.RawMessage(`{"type":"object","properties":{"k":{},"l":{},"m":{},"n":{}},"required":["k"]}`)
	rapid.Check(t, func(rt *rapid.T) {
		s := still(text("ok"))
		s.tools = nil
		for _, name := range tools {
			s.tools = append(s.tools, envharness.Tool{Name: name, Schema: schema})
		}
		r := components.Rename{Tools: drawNames(rt, "tools", tools), Args: map[string]map[string]string{}}
		for _, tool := range tools {
			if rapid.Bool().Draw(rt, "args of "+tool) {
				r.Args[tool] = drawNames(rt, "args of "+tool, args)
			}
		}
		h := on(t, s, r)
		if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			rt.Fatal(err)
		}
		for _, tool := range tools {
			a := envharness.Action{Name: tool}
			switch rapid.IntRange(0, 3).Draw(rt, "kind of arguments") {
			case 0:
				a.Args = json.RawMessage(rapid.SampledFrom([]string{``, `null`, ` null `, `{}`}).Draw(rt, "none"))
			default:
				in := map[string]any{}
				for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom(append(args, "other")), rapid.ID).Draw(rt, "keys") {
					in[k] = rapid.SampledFrom([]any{"v", 1.5, nil, []any{"k"}, map[string]any{"k": "l"}}).Draw(rt, "value")
				}
				a.Args, _ = json.Marshal(in)
			}
			before := a.String()
			out := r.Outward(a)
			if a.String() != before {
				rt.Fatalf("%s was changed to %s", before, a)
			}
			if got := comesIn(rt, h, s, out); got != said(rt, a) {
				rt.Fatalf("%+v: to get %s call %s, which gives %s", r, said(rt, a), out, got)
			}
		}
	})
}

// For every action without removed arguments, the call that Outward says becomes it; of others all but these arguments comes in.
func TestSchemaDriftOutward(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schema, drift := drawDrift(rt)
		s := api(schema)
		c := components.SchemaDrift{Tools: map[string]components.Drift{"call": drift}}
		h := on(t, s, c)
		if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
			rt.Fatal(err)
		}
		a := envharness.Action{Name: rapid.SampledFrom([]string{"call", "other"}).Draw(rt, "tool"), Args: drawArgs(rt, schema)}
		want := a
		if a.Name == "call" {
			var in map[string]any
			if err := json.Unmarshal(a.Args, &in); err != nil {
				rt.Fatal(err)
			}
			maps.DeleteFunc(in, func(name string, _ any) bool { return slices.Contains(drift.Remove, name) })
			want.Args, _ = json.Marshal(in)
		}
		before := a.String()
		out := c.Outward(a)
		if got := comesIn(rt, h, s, out); got != said(rt, want) || a.String() != before {
			rt.Fatalf("%+v of %s: to get %s call %s, which gives %s", drift, schema, said(rt, want), out, got)
		}
	})
}

// What Outward does with arguments that are none, with numbers that no float64 holds, and with what nobody can call.
func TestOutwardOfOddActions(t *testing.T) {
	rename := components.Rename{Tools: map[string]string{"a": "b"}, Args: map[string]map[string]string{"a": {"x": "y"}}}
	drift := components.SchemaDrift{Tools: map[string]components.Drift{"a": {
		Rename: map[string]string{"x": "y"}, Remove: []string{"page"}, Enum: map[string]map[string]string{"s": {"p": "q"}},
	}, "v": {Version: "2"}}}
	for _, tt := range []struct {
		c interface {
			Outward(envharness.Action) envharness.Action
		}
		action, want envharness.Action
		reason       string
	}{
		{rename, call(`a`), call(`b`), "no arguments"},
		{rename, call(`a{"x":12345678901234567890,"z":1.0}`), call(`b{"y":12345678901234567890,"z":1.0}`), "numbers stay as they are written"},
		{rename, envharness.Action{Name: "a", Args: []byte(`[1]`)}, envharness.Action{Name: "b", Args: []byte(`[1]`)}, "no object"},
		{rename, call(`c{"x":1}`), call(`c{"x":1}`), "another tool"},
		{components.Rename{}, call(`a{ "x" : 1 }`), call(`a{ "x" : 1 }`), "no names"},
		{drift, call(`a`), call(`a`), "no arguments"},
		{drift, call(`a{"x":12345678901234567890}`), call(`a{"y":12345678901234567890}`), "numbers stay"},
		{drift, call(`a{"page":2,"x":1,"s":"p"}`), call(`a{"s":"q","y":1}`), "a removed argument is left out"},
		{drift, envharness.Action{Name: "a", Args: []byte(`[1]`)}, envharness.Action{Name: "a", Args: []byte(`[1]`)}, "no object"},
		{drift, call(`c{"x":1}`), call(`c{"x":1}`), "another tool"},
		{drift, call(`v{ "x" : 1 }`), call(`v{ "x" : 1 }`), "the version changes no call"},
		{components.SchemaDrift{}, call(`a{"x":1}`), call(`a{"x":1}`), "nothing drifts"},
	} {
		if got := tt.c.Outward(tt.action); got.String() != tt.want.String() {
			t.Errorf("%+v: %s becomes %s, want %s (%s)", tt.c, tt.action, got, tt.want, tt.reason)
		}
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.action)
		}
	}
}
