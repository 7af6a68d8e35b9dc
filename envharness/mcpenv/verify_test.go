package mcpenv_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/mcpenv"
)

// evidence is that of an episode that ended in a state.
func evidence(world string, log ...envharness.LogEntry) envharness.Evidence {
	return envharness.Evidence{
		Task: "a", Log: append([]envharness.LogEntry{{Kind: envharness.LogReset}}, log...), End: json.RawMessage(`{"world":` + world + `}`),
	}
}

func goal(goal string, unordered []string) mcpenv.Config {
	return mcpenv.Config{
		Server: func(string) mcpenv.Server { return mcpenv.Server{} },
		Tasks:  []mcpenv.Task{{Task: envharness.Task{ID: "a"}, Goal: json.RawMessage(goal)}},
		Read:   act("read", ""), Unordered: unordered,
	}
}

func TestGoal(t *testing.T) {
	none := []string{}
	for _, c := range []struct {
		goal, end string
		unordered []string
		want      envharness.Status
		reason    string
	}{
		{`{"a":1,"b":[]}`, `{ "b":[], "a":1.0 }`, nil, envharness.Pass, "keys in any order, numbers by value"},
		{`[{"a":1},{"b":2}]`, `[{"b":2},{"a":1}]`, nil, envharness.Pass, "objects in any order"},
		{`[{"a":1},{"b":2}]`, `[{"b":2},{"a":1}]`, none, envharness.Fail, "not where no list is unordered"},
		{`[1,2]`, `[2,1]`, nil, envharness.Fail, "numbers have an order"},
		{`[{"a":1},2]`, `[2,{"a":1}]`, nil, envharness.Fail, "and so has a mixed list"},
		{`[{"a":1},{"a":1}]`, `[{"a":1}]`, nil, envharness.Fail, "how often counts"},
		{`{"x":[{"y":["p","q"]}]}`, `{"x":[{"y":["q","p"]}]}`, nil, envharness.Fail, "texts have an order"},
		{`{"x":[{"y":["p","q"]}]}`, `{"x":[{"y":["q","p"]}]}`, []string{"/x/*/y"}, envharness.Pass, "unless they have none"},
		{`{"x":[{"y":["p","q"]},{"y":[]}]}`, `{"x":[{"y":[]},{"y":["q","p"]}]}`, []string{"/x/*/y", "/x"}, envharness.Pass,
			"lists within lists"},
		{`{"x":[{"y":["p","q"]}]}`, `{"x":[{"y":["q","p"]}]}`, []string{"/x/1/y"}, envharness.Fail, "another place"},
		{`["p","q"]`, `["q","p"]`, []string{""}, envharness.Pass, "the whole"},
		{`{"a/b":[1,2]}`, `{"a/b":[2,1]}`, []string{"/a~1b"}, envharness.Pass, "an escaped key"},
		{`9007199254740993`, `9007199254740992`, nil, envharness.Fail, "integers are not rounded"},
		{`"done"`, `"done"`, nil, envharness.Pass, "a text is a state as well"},
		{`null`, `null`, nil, envharness.Pass, "and so is null"},
	} {
		w := world(t, goal(c.goal, c.unordered))
		v, err := w.Verifier.Verify(t.Context(), evidence(c.end))
		if err != nil || v.Status != c.want {
			t.Errorf("goal %s, end %s: %+v, %v: %s", c.goal, c.end, v, err, c.reason)
		}
	}
}

// Evidence that cannot be judged is an error, never a failure of the policy.
func TestBadEvidence(t *testing.T) {
	w := world(t, goal(`{}`, nil))
	for name, e := range map[string]envharness.Evidence{
		"none":           {},
		"no log":         {Task: "a", End: json.RawMessage(`{"world":{}}`)},
		"no reset":       {Task: "a", End: json.RawMessage(`{"world":{}}`), Log: []envharness.LogEntry{{Kind: envharness.LogStep}}},
		"no state":       {Task: "a", Log: evidence(`{}`).Log},
		"empty state":    {Task: "a", Log: evidence(`{}`).Log, End: json.RawMessage(`{}`)},
		"another's":      {Task: "a", Log: evidence(`{}`).Log, End: json.RawMessage(`{"desk":{}}`)},
		"cut":            {Task: "a", Log: evidence(`{}`).Log, End: json.RawMessage(`{"world":{}`)},
		"no such task":   {Task: "b", Log: evidence(`{}`).Log, End: json.RawMessage(`{"world":{}}`)},
		"nested too far": evidence(strings.Repeat("[", 2000) + strings.Repeat("]", 2000)),
	} {
		if v, err := w.Verifier.Verify(t.Context(), e); err == nil || v.Status != envharness.Invalid {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// The judge is given the state in its one form and the answer of the log, and may do with both what it likes.
func TestJudge(t *testing.T) {
	c := goal(`{"goal":true}`, nil)
	c.Answer = true
	var state, answer string
	c.Judge = func(task mcpenv.Task, s json.RawMessage, a string) (envharness.Verdict, error) {
		state, answer = string(s), a
		clear(s)
		clear(task.Goal)
		if a == "error" {
			return envharness.Verdict{}, errors.New("no judgement")
		}
		return envharness.Verdict{Status: envharness.Fail, Score: 0.5}, nil
	}
	w := world(t, c)
	submit := func(answer string) envharness.LogEntry {
		return envharness.LogEntry{
			Kind: envharness.LogStep, Action: act("submit", `{"answer":"`+answer+`"}`), Transition: envharness.Transition{Terminated: true},
		}
	}
	refused := submit("refused")
	refused.Transition.Error = &envharness.ActionError{Class: envharness.ClassOther}
	for range 2 { // pure: what the judge has done to its arguments does not show
		e := evidence(`[{"b":1},{"a":1}]`, refused, submit("yes"))
		before := string(must(json.Marshal(e)))
		v, err := w.Verifier.Verify(t.Context(), e)
		if err != nil || v.Status != envharness.Fail || v.Score != 0.5 || state != `[{"a":1},{"b":1}]` || answer != "yes" {
			t.Errorf("%+v, %v, %s, %s", v, err, state, answer)
		}
		if string(must(json.Marshal(e))) != before {
			t.Error("the evidence was changed")
		}
	}
	if v, err := w.Verifier.Verify(t.Context(), evidence(`{}`, submit("error"))); err == nil || v.Status != envharness.Invalid {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := w.Verifier.Verify(t.Context(), evidence(`{}`, refused)); err != nil || v.Status != envharness.Fail || v.Score != 0 {
		t.Errorf("only refused: %+v, %v", v, err)
	}
}

// value draws a JSON value.
func value(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return float64(rapid.IntRange(0, 3).Draw(t, "n")) }),
		rapid.Custom(func(t *rapid.T) any { return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "s") }),
		rapid.Just[any](nil), rapid.Just[any](true),
	)
	if depth == 0 {
		return leaf
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
	object := rapid.Custom(func(t *rapid.T) any {
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), inner, 0, 3).Draw(t, "object")
	})
	return rapid.OneOf(leaf, object, object,
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(inner, 0, 3).Draw(t, "list") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(object, 0, 4).Draw(t, "objects") }))
}

// same is the slow oracle: lists of objects are equal if each element of one can be paired with one of the other.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		if !objectsAlone(a) || !objectsAlone(b) {
			for i := range a {
				if !same(a[i], b[i]) {
					return false
				}
			}
			return true
		}
		if len(a) == 0 {
			return true
		}
		for j := range b {
			rest := append(append([]any{}, b[:j]...), b[j+1:]...)
			if same(a[0], b[j]) && same(a[1:], rest) {
				return true
			}
		}
		return false
	}
	return reflect.DeepEqual(a, b)
}

func objectsAlone(list []any) bool {
	for _, v := range list {
		if _, ok := v.(map[string]any); !ok {
			return false
		}
	}
	return true
}

// shuffled is the value with the elements of each list of objects in another order.
func shuffled(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = shuffled(r, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shuffled(r, e)
		}
		if objectsAlone(v) {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// A state passes if and only if it is the goal with the elements of lists of objects in some order.
func TestGoalAgainstPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := value(3).Draw(t, "goal")
		end := value(3).Draw(t, "end")
		if rapid.Bool().Draw(t, "shuffle") {
			end = shuffled(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), want)
		}
		w, err := mcpenv.World(goal(string(must(json.Marshal(want))), nil))
		if err != nil {
			t.Fatal(err)
		}
		v, err := w.Verifier.Verify(t.Context(), evidence(string(must(json.Marshal(end)))))
		if err != nil || (v.Status == envharness.Pass) != same(want, end) {
			t.Errorf("goal %v, end %v: %+v, %v", want, end, v, err)
		}
	})
}

// What a judge is shown of a state is a form that stays as it is, and any JSON within the bounds has one.
func FuzzState(f *testing.F) {
	seeds := []string{
		`{}`, `[{"b":1},{"a":[3,{"c":null}]}]`, `"\u0000"`, `1e400`, `{"a":1,"a":2}`, "[[[[", `-0`, `{"x":[{"y":["q","p"]}]}`,
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	c := goal("null", nil)
	var shown json.RawMessage
	c.Judge = func(_ mcpenv.Task, state json.RawMessage, _ string) (envharness.Verdict, error) {
		shown = state
		return envharness.Verdict{}, nil
	}
	w := must(mcpenv.World(c))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		if _, err := w.Verifier.Verify(t.Context(), evidence(string(raw))); err != nil {
			return
		}
		once := bytes.Clone(shown)
		if !json.Valid(once) {
			t.Fatalf("%q", once)
		}
		if _, err := w.Verifier.Verify(t.Context(), evidence(string(once))); err != nil || !bytes.Equal(once, shown) {
			t.Errorf("%q, then %q, %v", once, shown, err)
		}
	})
}
