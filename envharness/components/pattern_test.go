package components_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func TestMatchFits(t *testing.T) {
	args := func(pairs ...any) map[string]any {
		m := make(map[string]any)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	tests := []struct {
		match  components.Match
		name   string
		args   string
		want   bool
		reason string
	}{
		{components.Match{}, "open", `{"a":1}`, true, "all are of the empty pattern"},
		{components.Match{}, "", ``, true, "whatever they are"},
		{components.Match{}, "open", `nonsense`, true, "arguments are not looked at"},
		{components.Match{Tool: "open"}, "open", ``, true, "the name"},
		{components.Match{Tool: "open"}, "opens", ``, false, "all of it"},
		{components.Match{Tool: "open"}, "", ``, false, "no name"},
		{components.Match{Tool: "op*"}, "opens", ``, true, "a pattern of names"},
		{components.Match{Tool: "["}, "[", ``, false, "a faulty pattern"},
		{components.Match{Tool: "op*", Args: args("a", 1)}, "open", `{"a":1,"b":2}`, true, "more arguments than the pattern has"},
		{components.Match{Args: args("a", 1)}, "open", `{"a":1.0}`, true, "numbers have one form"},
		{components.Match{Args: args("a", 1)}, "open", `{"a":"1"}`, false, "a text is no number"},
		{components.Match{Args: args("a", 1, "b", 2)}, "open", `{"a":1}`, false, "one is missing"},
		{components.Match{Args: args("a", 1, "b", 2)}, "open", `{"a":1,"b":3}`, false, "one is another"},
		{components.Match{Args: args("a", nil)}, "open", `{"a":null}`, true, "null"},
		{components.Match{Args: args("a", nil)}, "open", `{}`, false, "which is not the same as none"},
		{components.Match{Args: args("a", args("x", 1, "y", []any{true, "z"}))}, "open", `{"a":{"y":[true, "z"],"x":1}}`, true, "keys in any order"},
		{components.Match{Args: args("a", []any{1, 2})}, "open", `{"a":[2,1]}`, false, "items in theirs"},
		{components.Match{Args: args("a", json.RawMessage(`{ "x": 1 }`))}, "open", `{"a":{"x":1}}`, true, "raw JSON"},
		{components.Match{Args: args("a", 1)}, "open", ``, false, "no arguments"},
		{components.Match{Args: args("a", 1)}, "open", `[1]`, false, "no object"},
		{components.Match{Args: args("a", 1)}, "open", `{"a":1`, false, "no JSON"},
		{components.Match{Args: args("a", math.Inf(1))}, "open", `{"a":1}`, false, "a value that JSON has not"},
		{components.Match{Tool: "shut", Args: args("a", 1)}, "open", `{"a":1}`, false, "the name counts with arguments, too"},
	}
	for _, tt := range tests {
		if tt.reason == "" {
			t.Fatal("a row without a reason")
		}
		a := envharness.Action{Name: tt.name, Args: json.RawMessage(tt.args)}
		if got := tt.match.Fits(a); got != tt.want {
			t.Errorf("%+v fits %s %s: %v, want %v (%s)", tt.match, tt.name, tt.args, got, tt.want, tt.reason)
		}
	}
}
