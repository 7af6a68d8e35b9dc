package yardstick_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

func act(name, args string) envharness.Action {
	return envharness.Action{Name: name, Args: json.RawMessage(args)}
}

// null returns the null policy of a name.
func null(t testing.TB, name string) yardstick.Null {
	t.Helper()
	for _, n := range yardstick.Nulls() {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("there is no %q", name)
	return yardstick.Null{}
}

// plays returns what a policy does when it is shown one turn after the other, in words.
func plays(t testing.TB, p envharness.Policy, turns ...envharness.Turn) string {
	t.Helper()
	var got []string
	for _, shown := range turns {
		a, err := p.Act(t.Context(), shown)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a.Text())
	}
	return strings.Join(got, ", ")
}

// What each null policy does, turn by turn.
func TestNulls(t *testing.T) {
	a, b, end := act("go", `{"to":"a"}`), act("go", `{"to":"b"}`), act("end", `{"how":"well"}`)
	tools := []envharness.Tool{{Name: "go"}, {Name: "end", Submits: true}, {Name: "leave", Submits: true}}
	turn := func(actions ...envharness.Action) envharness.Turn {
		return envharness.Turn{Tools: tools, Shown: envharness.Observation{Actions: actions}}
	}
	bare := envharness.Turn{} // of a world that does not describe itself
	for _, tt := range []struct {
		null   string
		draws  bool
		turns  []envharness.Turn
		want   string
		reason string
	}{
		{"noop", false, []envharness.Turn{turn(a, b), bare}, "noop, noop", "whatever is shown"},
		{"random", true, []envharness.Turn{turn(b), turn(), bare}, "go b, noop, noop", "the only one there is, and none"},
		{"submit", false, []envharness.Turn{turn(a, end), turn(end, a), turn(a), bare}, "end well, end well, end , submit",
			"as it is offered; with arguments made up; nothing is known to submit"},
		{"repeat", true, []envharness.Turn{turn(b), turn(a), turn(), bare}, "go b, go b, go b, go b", "its first one, offered or not"},
		{"repeat", true, []envharness.Turn{turn(), turn(a)}, "noop, noop", "nothing was offered at first"},
	} {
		tools[1].Schema = json.RawMessage(`{"properties":{"how":{"type":"string"}},"required":["how"]}`)
		n := null(t, tt.null)
		if n.Draws != tt.draws {
			t.Errorf("%s: draws %t", n.Name, n.Draws)
		}
		for _, rng := range []*rand.Rand{rand.New(rand.NewPCG(1, 2)), nil} {
			if got := plays(t, n.New(rng), tt.turns...); got != tt.want {
				t.Errorf("%s: %s, want %s (%s)", n.Name, got, tt.want, tt.reason)
			}
		}
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.null)
		}
	}
	var names []string
	for _, n := range yardstick.Nulls() {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "noop random submit repeat" {
		t.Errorf("%s: the order is fixed", got)
	}
}

// The policies that draw take each admissible action about as often, equal streams give equal episodes, and the others never look at
// their stream.
func TestNullsDraw(t *testing.T) {
	shown := envharness.Turn{}
	for _, to := range []string{"a", "b", "c", "d"} {
		shown.Shown.Actions = append(shown.Shown.Actions, act("go", `{"to":"`+to+`"}`))
	}
	for _, n := range yardstick.Nulls() {
		times := make(map[string]int)
		for slot := range uint64(400) {
			first := plays(t, n.New(envharness.RandStream(1, "policy", slot)), shown, shown, shown)
			if again := plays(t, n.New(envharness.RandStream(1, "policy", slot)), shown, shown, shown); again != first {
				t.Fatalf("%s: %s, then %s", n.Name, first, again)
			}
			did, _, _ := strings.Cut(first, ",")
			times[did]++
		}
		if !n.Draws {
			if len(times) != 1 {
				t.Errorf("%s says that it does not draw, and did %v", n.Name, times)
			}
			continue
		}
		for _, a := range shown.Shown.Actions {
			if k := times[a.Text()]; k < 60 || k > 140 { // 100, with a standard deviation of 8.7
				t.Errorf("%s took %s %d times of 400", n.Name, a.Text(), k)
			}
		}
	}
}

// The arguments that "submit" makes up.
func TestLeastArgs(t *testing.T) {
	for _, tt := range []struct{ schema, want, reason string }{
		{``, `{}`, "no schema"},
		{`{"properties":{},"type":"object"}`, `{}`, "no arguments"},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"minimum":3,"type":"number"},"d":{"enum":["x","y"]},` +
			`"e":{"type":"string"}},"required":["a","b","c","d"]}`,
			`{"a":"","b":0,"c":3,"d":"x"}`, "the required ones, each the least of its kind"},
		{`{"required":["z"]}`, `{"z":""}`, "required and not described"},
		{`no schema`, `{}`, "no JSON"},
	} {
		turn := envharness.Turn{Tools: []envharness.Tool{{Name: "end", Submits: true, Schema: json.RawMessage(tt.schema)}}}
		a, err := null(t, "submit").New(nil).Act(t.Context(), turn)
		if err != nil || a.Name != "end" || string(a.Args) != tt.want {
			t.Errorf("%s: %s, %v, want %s (%s)", tt.schema, a, err, tt.want, tt.reason)
		}
		if tt.reason == "" {
			t.Errorf("%s: no reason", tt.schema)
		}
	}
}
