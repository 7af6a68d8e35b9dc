package rigger

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

func TestSecretIn(t *testing.T) {
	tests := []struct {
		secret, text string
		word         bool
		want         int
		reason       string
	}{
		{"oak 2", "it is oak 2.", true, 1, "a word ends with its letters and digits"},
		{"oak 2", "it is oak 23", true, 0, "another number"},
		{"oak 2", "it is soak 2", true, 0, "another word"},
		{"oak 2", "oak 2", true, 1, "all of the text"},
		{"oak 2", "oak 23, oak 2 and oak 2", true, 2, "after one that is none"},
		{"aa", "aaa", false, 1, "not as a word, without overlap"},
		{"ön", "schön", true, 0, "letters of more than a byte"},
		{"", "text", true, 0, "nothing is nowhere"},
	}
	for _, tt := range tests {
		if got := (secret{text: tt.secret, word: tt.word}).count(tt.text); got != tt.want {
			t.Errorf("%q in %q: %d, want %d (%s)", tt.secret, tt.text, got, tt.want, tt.reason)
		}
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		action string
		want   []string
		reason string
	}{
		{`go {"to":"the shop"}`, []string{`go {"to":"the shop"}`, `go{"to":"the shop"}`, `{"to":"the shop"}`, "go the shop", "the shop"},
			"a command alone counts"},
		{`go {"to":"shop"}`, []string{`go {"to":"shop"}`, `go{"to":"shop"}`, `{"to":"shop"}`, "go shop"}, "a word is no command"},
		{`set {"b":1, "a":2}`, []string{`set {"b":1, "a":2}`, `{"a":2,"b":1}`, "set 2 1"}, "the canonical form counts"},
	}
	for _, tt := range tests {
		got := forms(act(tt.action)[0])
		for _, w := range tt.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q lacks %q (%s)", tt.action, got, w, tt.reason)
			}
		}
		if tt.action == `go {"to":"shop"}` && slices.Contains(got, "shop") {
			t.Errorf("%s: %q has too much", tt.action, got)
		}
	}
}

func TestValuesIn(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", mostJSON) + `","b":{"c":1}}`
	tests := []struct {
		text   string
		want   []string
		reason string
	}{
		{`say {"a":{"b":[1]}} and [2] or {"c":3}.`, []string{`{"a":{"b":[1]}}`, `[2]`, `{"c":3}`}, "those within others are not named"},
		{"[blocked] {x} {", nil, "braces of no JSON"},
		{`{{"a":1}`, []string{`{"a":1}`}, "a brace before one"},
		{long, []string{`{"c":1}`}, "too long to be read as one"},
	}
	for _, tt := range tests {
		if got := valuesIn(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%.40s: %q, want %q (%s)", tt.text, got, tt.want, tt.reason)
		}
	}
}

// TestPage: what is on a page in one form is on it in the other ones.
func TestPage(t *testing.T) {
	in := newTestInspector(t, gateWorlds["tooldesk"](), gateTasks["tooldesk"], components.Catalogue())
	in.plan = act(`set {"b":"Elm 8","a":1}`)
	in.about.Graded = nil
	state := envharness.State(`{"field":{"y":"a longer text","x":1}}`)
	tests := []struct {
		text   string
		want   bool
		reason string
	}{
		{`{"b":"Elm 8","a":1}`, true, "as it is"},
		{`{"a":1,"b":"Elm 8"}`, true, "another order"},
		{`{ "A" : 1.0, "B" : "elm 8" }`, true, "another way to write it, in other letters"},
		{`{"a":1,"b":"\u0045lm 8"}`, true, "letters as numbers"},
		{`do {"name":"set","args":{"a":1,"b":"Elm 8"}}`, true, "in another one"},
		{`do {"arguments":"{\"a\":1, \"b\":\"Elm 8\"}"}`, true, "in a string of another one"},
		{`[{"a":1,"b":"Elm 8"}]`, true, "in a list"},
		{`{"a":2,"b":"Elm 8"}`, false, "another value"},
		{`{"a":1,"b":"Elm"}`, false, "likewise"},
		{`{"x":1, "y":"a longer text"}`, true, "a field of the state in another order"},
	}
	for _, tt := range tests {
		var shown page
		shown.add(tt.text)
		got := slices.ContainsFunc(in.secrets(nil, []envharness.State{state}), func(s secret) bool { return s.on(&shown) })
		if got != tt.want {
			t.Errorf("%s: %v, want %v (%s)", tt.text, got, tt.want, tt.reason)
		}
		public := page{known: map[string]bool{tt.text: true}}
		beside := page{beside: &public}
		if beside.add(tt.text); beside.read() != "" {
			t.Errorf("%s: it is on a page beside one that has it", tt.text)
		}
	}
}

// TestHint has components that say what to do next where actions have no arguments.
func TestHint(t *testing.T) {
	w := gateWorlds["keydoor"]()
	bare := newTestInspector(t, w, gateTasks["keydoor"], components.Catalogue())
	tests := []struct {
		text   func(v view) string
		want   Result
		reason string
	}{
		{func(v view) string { return "next: " + bare.plan[min(v.Turn+1, len(bare.plan)-1)].Name }, Failed, "the next action in every turn"},
		{func(view) string { return "tools: left, right, pickup, use" }, Passed, "all of them say nothing"},
		{func(view) string { return "you have no right to complain" }, Passed, "a word that happens to be an action"},
	}
	for _, tt := range tests {
		begin := func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			first := true
			return envharness.Hooks{Observe: func(_ context.Context, v view, o envharness.Observation) (envharness.Observation, error) {
				if first {
					v.Turn = -1
				}
				first = false
				o.Text += "\n" + tt.text(v)
				return o, nil
			}}, nil
		}
		in := newTestInspector(t, w, gateTasks["keydoor"], registryWith(t, kindOf("sign", envharness.AxisObservation, begin)))
		found, err := in.inspect(t.Context(), 1, harder(part("sign", `{}`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := found.steps[1]; got.Result != tt.want {
			t.Errorf("%s: %v", tt.reason, got)
		}
	}
}

// TestCanaryIsReversible: what the verifier sees is the state as the base gave it.
func TestCanaryIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Just("}"), rapid.String())).Draw(t, "fields")
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Skip(err)
		}
		space := rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "space")
		state := append([]byte(space), raw...)
		state = append(state[:len(state)-1], append([]byte(space), "}"...)...)
		c := newCanary(envharness.Task{ID: "t", Seed: new(rapid.Uint64().Draw(t, "seed"))}, 1)
		with := c.with(state)
		var read map[string]string
		if err := json.Unmarshal(with, &read); err != nil {
			t.Fatalf("%s is no state: %v", with, err)
		}
		if len(read) != len(fields)+2 || read[c.fields[0]] != c.public || read[c.fields[1]] != c.graded {
			t.Fatalf("%s lacks the canary", with)
		}
		if !c.sings(strings.ToUpper(string(with))) || c.sings(string(state)) {
			t.Fatal("it sings at the wrong time")
		}
		if got := c.without(with); sameJSON(json.RawMessage(got), json.RawMessage(state)) != nil {
			t.Fatalf("%q comes back as %q", state, got)
		}
	})
}
