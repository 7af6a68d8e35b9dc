package components_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// Stack refuses what Build refuses in the stack of a specification, with the same error at the same place, and nothing else; what both
// build is written as the same entries, which build the same traces.
func TestStackIsThatOfBuild(t *testing.T) {
	r := withTally(t, components.Catalogue())
	entries := allEntries(t)
	faults := []components.Entry{
		{Tag: "blocks"}, {Tag: "chain"}, {Tag: "block", Version: 2}, {Tag: "block", Params: []byte(`{"tool":"get"}`)}, {Tag: "block", Params: []byte(`[`)},
		{Tag: "step_budget", Params: []byte(`{"turns":0}`)}, {Tag: "block", ID: "step_budget"}, {Tag: "block", Params: []byte(`{"max":1,"max":2}`)},
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := components.Spec{
			Env:   components.EnvSpec{Tag: "tally"},
			Task:  envharness.Task{Seed: new(rapid.Uint64().Draw(rt, "seed"))},
			Stack: drawSpec(rt, entries, 0).Stack,
		}
		if rapid.IntRange(0, 3).Draw(rt, "faulty") == 0 {
			at := rapid.IntRange(0, len(s.Stack)).Draw(rt, "at")
			s.Stack = slices.Insert(s.Stack, at, rapid.SampledFrom(faults).Draw(rt, "fault"))
		}
		w, want, task, wantErr := r.Build(s)
		got, err := r.Stack(s.Stack...)
		if (err == nil) != (wantErr == nil) {
			rt.Fatalf("stack: %v, build: %v", err, wantErr)
		}
		if err != nil {
			text := strings.Replace(strings.Replace(wantErr.Error(), "specification: /stack/", "stack: /", 1), "specification: /stack: ", "stack: ", 1)
			if err.Error() != text || got != nil {
				rt.Fatalf("%v, want %s; %d components", err, text, len(got))
			}
			for _, is := range []error{
				components.ErrUnknownTag, components.ErrUnknownParam, components.ErrVersion, envharness.ErrOrder,
			} {
				if errors.Is(err, is) != errors.Is(wantErr, is) {
					rt.Fatalf("%v is one of %v, Build's is not, or the other way round", err, is)
				}
			}
			return
		}
		ours, err := r.Entries(got...)
		if err != nil {
			rt.Fatal(err)
		}
		theirs, err := r.Entries(want...)
		if err != nil {
			rt.Fatal(err)
		}
		if d := gocmp.Diff(theirs, ours); d != "" {
			rt.Fatalf("entries (-build +stack):\n%s", d)
		}
		for i, e := range s.Stack {
			if e.ID != "" && ours[i].ID != e.ID {
				rt.Fatalf("entry %d: id %q, want %q", i, ours[i].ID, e.ID)
			}
		}
		again, err := r.Stack(ours...)
		if err != nil {
			rt.Fatal(err)
		}
		first := tracesIn(t, w, got, task)
		if second := tracesIn(t, w, again, task); second != first {
			rt.Fatalf("from its own entries, the traces differ:\n%s", gocmp.Diff(first, second))
		}
	})
}

func TestStackRefuses(t *testing.T) {
	budget := components.Entry{Tag: "step_budget", Params: []byte(`{"turns":3}`)}
	for _, tt := range []struct {
		stack  []components.Entry
		is     error
		want   string
		reason string
	}{
		{nil, nil, "", "an empty stack is one"},
		{[]components.Entry{budget}, nil, "", "complete"},
		{[]components.Entry{{Tag: "block"}, {Tag: "blok"}}, components.ErrUnknownTag, `components: stack: /1/tag: components: unknown tag "blok"`,
			"unknown"},
		{[]components.Entry{{Tag: "chain"}}, nil, "/0/params: a chain is a world", "no component"},
		{[]components.Entry{{Tag: "block", Version: 2}}, components.ErrVersion, "/0/version", "versions"},
		{[]components.Entry{{Tag: "block", Params: []byte(`{"tool":"x"}`)}}, components.ErrUnknownParam, "/0/params/tool", "strict"},
		{[]components.Entry{{Tag: "step_budget"}}, nil, "/0/params: turns 0", "out of range"},
		{[]components.Entry{{Tag: "block", Params: []byte(`{"max":1,"max":2}`)}}, nil, "/0/params/max: the key is given twice",
			"the last would win"},
		{[]components.Entry{{Tag: "block"}, {Tag: "rename", ID: "block"}}, nil, `/1/id: "block" is also that of 0`, "an id has one stream"},
		{[]components.Entry{budget, {Tag: "block"}}, envharness.ErrOrder, `"block" (axis A) must not be around "step_budget" (axis B)`,
			"order"},
		{[]components.Entry{{Tag: "block"}, {Tag: "start_replay"}}, envharness.ErrOrder, "must not be around", "a start is innermost"},
	} {
		got, err := components.Catalogue().Stack(tt.stack...)
		if (err == nil) != (tt.want == "") || tt.is != nil && !errors.Is(err, tt.is) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q (%s)", tt.stack, err, tt.want, tt.reason)
		}
		if (got == nil) != (err != nil) || err == nil && len(got) != len(tt.stack) {
			t.Errorf("%+v: %d components, %v", tt.stack, len(got), err)
		}
		if tt.reason == "" {
			t.Errorf("%+v: no reason", tt.stack)
		}
	}
	if _, err := new(components.Registry).Stack(budget); !errors.Is(err, components.ErrUnknownTag) {
		t.Errorf("an empty registry: %v", err)
	}
}

// A component under an id of its own can do what it can do under the default one.
func TestNamedKeepsWhatItCanDo(t *testing.T) {
	stack, err := components.Catalogue().Stack(
		components.Entry{Tag: "rename", ID: "own", Params: []byte(`{"tools":{"get":"show"}}`)},
		components.Entry{Tag: "permission", ID: "mine", Params: []byte(`{"tools":["set"],"grant":{"tool":"get"}}`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"show []", "get [{get map[]}]"} {
		c := stack[i].(interface {
			Outward(envharness.Action) envharness.Action
			Requires(envharness.Action) []components.Match
		})
		got := fmt.Sprint(c.Outward(call("get")), " ", c.Requires(call("set")))
		if got != want {
			t.Errorf("%s: %q, want %q", stack[i].Spec().ID, got, want)
		}
	}
}
