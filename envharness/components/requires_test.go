package components_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A lock is a component that says what it waits for.
type lock interface {
	envharness.Component
	Requires(a envharness.Action) []components.Match
}

// unlocked opens an episode behind the lock, in which an action is refused exactly if it requires something; carries out what it requires,
// in this order; and tries again. It returns what was called, and "" or the first call after the first that was refused.
func unlocked(t rapid.TB, l lock, a envharness.Action) (called []string, refused string) {
	t.Helper()
	h, err := envharness.New(worldOf(&echo{}), l)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := h.Reset(context.Background(), envharness.ResetOptions{}); err != nil {
		t.Fatal(err)
	}
	passes := func(a envharness.Action) bool {
		called = append(called, a.String())
		tr, err := h.Step(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		return tr.Error == nil
	}
	needed := l.Requires(a)
	if first := passes(a); first != (len(needed) == 0) {
		t.Fatalf("%+v: %s is let through: %t, and requires %v", l, a, first, needed)
	}
	for _, m := range needed {
		if !passes(fitting(m)) {
			return called, called[len(called)-1]
		}
	}
	if len(needed) > 0 && !passes(a) {
		return called, a.String()
	}
	return called, ""
}

// fitting returns an action of a pattern: the stars of the tool stand for nothing.
func fitting(m components.Match) envharness.Action {
	a := envharness.Action{Name: strings.ReplaceAll(m.Tool, "*", "")}
	if a.Name == "" {
		a.Name = "anything"
	}
	if len(m.Args) > 0 {
		a.Args, _ = envharness.CanonicalJSON(m.Args)
	}
	return a
}

// Behind an order that can be kept to, doing what is required, in its order, lets any action through. Edges draw from few tools, so that
// they chain, meet and repeat; an order that forms a cycle is refused beforehand.
func TestOrderLockRequires(t *testing.T) {
	side := rapid.Custom(func(rt *rapid.T) components.Match {
		m := components.Match{Tool: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "tool")}
		if rapid.IntRange(0, 2).Draw(rt, "with arguments") == 0 {
			m.Args = map[string]any{"n": float64(rapid.IntRange(1, 2).Draw(rt, "n"))}
		}
		return m
	})
	rapid.Check(t, func(rt *rapid.T) {
		var l components.OrderLock
		for range rapid.IntRange(1, 6).Draw(rt, "edges") {
			l.Edges = append(l.Edges, components.Edge{Before: side.Draw(rt, "before"), After: side.Draw(rt, "after")})
		}
		if l.Check() != nil {
			l.Edges = l.Edges[:0] // a cycle: take edges that lead upwards alone
			for range rapid.IntRange(1, 6).Draw(rt, "more edges") {
				i := rapid.IntRange(0, 4).Draw(rt, "from")
				j := rapid.IntRange(i+1, 5).Draw(rt, "to")
				l.Edges = append(l.Edges, edge("abcdef"[i:i+1], "abcdef"[j:j+1]))
			}
		}
		a := fitting(side.Draw(rt, "action"))
		if called, refused := unlocked(rt, l, a); refused != "" {
			rt.Fatalf("%+v: %s of %v is refused", l.Edges, refused, called)
		}
	})
}

func TestRequires(t *testing.T) {
	login := components.Match{Tool: "login", Args: map[string]any{"as": "me"}}
	gate := components.SubmitGate{Submit: []string{"buy*"}, Require: []components.Match{need("read"), need("get*")}}
	order := func(edges ...components.Edge) components.OrderLock { return components.OrderLock{Edges: edges} }
	for _, tt := range []struct {
		l      lock
		action string
		want   string // what is called; empty if the action is not refused
		reason string
	}{
		{components.Permission{Tools: []string{"set*"}, Grant: login}, "set_a", `login {"as":"me"}`, "the grant"},
		{components.Permission{Tools: []string{"set*"}, Grant: login}, "get", "", "another tool is not refused"},
		{components.Permission{Grant: login}, `login{"as":"me"}`, "", "the grant is never refused"},
		{components.Permission{Grant: login}, `login{"as":"you"}`, `login {"as":"me"}`, "this one is none"},
		{components.Permission{Grant: need("login"), Expires: 1}, "set", "login", "right before it holds"},
		{gate, "buy_now", "read, get", "all that is required, in its order"},
		{gate, "read", "", "no submission"},
		{components.SubmitGate{Submit: []string{"buy"}, Require: []components.Match{need("read")}, MaxBlocks: new(0)}, "buy", "",
			"refuses nothing"},
		{order(edge("b", "c"), edge("a", "b")), "c", "a, b", "what locks the first step comes before it"},
		{order(edge("a", "c"), edge("b", "c"), edge("a", "b")), "c", "a, b", "each once"},
		{order(edge("a", "c"), edge("a", "c")), "c", "a", "the same edge twice"},
		{order(edge("login", "z"), components.Edge{Before: login, After: need("z")}), "z", `login, login {"as":"me"}`, "any login does not do"},
		{order(components.Edge{Before: login, After: need("z")}, edge("login", "z")), "z", `login {"as":"me"}`, "this one does for both"},
		{order(edge("a", "*")), "x", "", "a is locked until a was carried out"},
		{order(edge("a*", "z"), edge("q", "a1")), "z", "a", "of a* another one can be called"},
		{order(edge("a", "b"), edge("c", "d")), "b", "a", "the other edge does not matter"},
		{order(edge("a", "b")), "a", "", "not locked"},
	} {
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.action)
		}
		if c, ok := tt.l.(interface{ Check() error }); ok && c.Check() != nil {
			if tt.want != "" {
				t.Errorf("%+v: %v", tt.l, c.Check())
			}
			continue
		}
		a := call(tt.action)
		called, refused := unlocked(t, tt.l, a)
		want := a.String()
		if tt.want != "" {
			want = strings.Join([]string{want, tt.want, want}, ", ")
		}
		if got := strings.Join(called, ", "); refused != "" || got != want {
			t.Errorf("%+v: %s is called, %q refused, want %s (%s)", tt.l, got, refused, want, tt.reason)
		}
	}
}

// Without patterns the tools tell what submits, and the gate does not know them; edges in a circle, which Check refuses, end nevertheless;
// and what is returned is the caller's.
func TestRequiresBeyondCheck(t *testing.T) {
	gate := components.SubmitGate{Require: []components.Match{need("read")}}
	got := gate.Requires(call("anything"))
	if fmt.Sprint(got) != "[{read map[]}]" {
		t.Errorf("%v", got)
	}
	got[0].Tool = "changed"
	if gate.Require[0].Tool != "read" {
		t.Error("the gate was changed")
	}
	circle := components.OrderLock{Edges: []components.Edge{edge("a", "b"), edge("b", "a")}}
	if circle.Check() == nil {
		t.Fatal("a circle is in order")
	}
	if got := circle.Requires(call("b")); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
