package components_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// A scene is a world whose answers are a function of the actions so far, with "stop" as its end. It checks that what it handed out comes
// back to it unchanged.
type scene struct {
	tools  []envharness.Tool
	answer func(past []envharness.Action) (envharness.Observation, *envharness.ActionError)
	past   []envharness.Action
}

func (s *scene) Reset(context.Context, envharness.ResetOptions) (envharness.Observation, error) {
	s.past = nil
	o, _ := s.answer(nil)
	return o, nil
}

func (s *scene) Step(_ context.Context, a envharness.Action) (envharness.Transition, error) {
	s.past = append(s.past, envharness.Action{Name: a.Name, Args: slices.Clone(a.Args)})
	o, refused := s.answer(s.past)
	return envharness.Transition{Observation: o, Error: refused, Terminated: a.Name == "stop"}, nil
}

func (s *scene) Close() error { return nil }

func (s *scene) Describe() envharness.Description { return envharness.Description{Tools: s.tools} }

func reads(names ...string) []envharness.Tool {
	var tools []envharness.Tool
	for _, n := range names {
		tools = append(tools, envharness.Tool{Name: n, ReadOnly: true})
	}
	return tools
}

// still is a scene that always shows the same.
func still(o envharness.Observation) *scene {
	return &scene{tools: reads("get"), answer: func([]envharness.Action) (envharness.Observation, *envharness.ActionError) { return o, nil }}
}

func text(s string) envharness.Observation { return envharness.Observation{Text: s} }

func data(raw string) map[string]any {
	var d map[string]any
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		panic(err)
	}
	return d
}

// counter shows the number of actions so far, in Text and in Data, and lists "work" as a write.
func counter() *scene {
	return &scene{
		tools: append(reads("get", "look"), envharness.Tool{Name: "work"}, envharness.Tool{Name: "stop", Submits: true}),
		answer: func(past []envharness.Action) (envharness.Observation, *envharness.ActionError) {
			n := len(past)
			return envharness.Observation{Text: fmt.Sprint("o", n), Data: map[string]any{"n": float64(n)}}, nil
		},
	}
}

// on makes a harness around a scene.
func on(t testing.TB, s *scene, stack ...envharness.Component) *envharness.Harness {
	t.Helper()
	h, err := envharness.New(envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return s, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{Status: envharness.Fail}, nil
		}),
	}, stack...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// withID gives a component an id, so that its stream of draws does not depend on its place.
func withID(c envharness.Component, id string) envharness.Component {
	s := c.Spec()
	s.ID = id
	return envharness.Rules(s, c.Begin)
}

func actions(calls string) []envharness.Action {
	var out []envharness.Action
	for c := range strings.FieldsSeq(calls) {
		name, args, _ := strings.Cut(c, "{")
		a := envharness.Action{Name: name}
		if args != "" {
			a.Args = json.RawMessage("{" + args)
		}
		out = append(out, a)
	}
	return out
}

// watch plays the calls and returns everything that was shown, the first observation included.
func watch(t testing.TB, h *envharness.Harness, calls string) (shown []envharness.Observation, refused []string) {
	t.Helper()
	o, err := h.Reset(t.Context(), envharness.ResetOptions{Seed: new(uint64(7))})
	if err != nil {
		t.Fatal(err)
	}
	shown = append(shown, o)
	for _, a := range actions(calls) {
		tr, err := h.Step(t.Context(), a)
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		shown = append(shown, tr.Observation)
		class := ""
		if tr.Error != nil {
			class = string(tr.Error.Class)
		}
		refused = append(refused, class)
	}
	return shown, refused
}

func texts(shown []envharness.Observation) string {
	var out []string
	for _, o := range shown {
		out = append(out, o.Text)
	}
	return strings.Join(out, "|")
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	raw, err := envharness.CanonicalJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestObsDelay(t *testing.T) {
	tests := []struct {
		name, calls, want string
		c                 components.ObsDelay
		reason            string
	}{
		{"two", "a b c stop", "o0|o0|o0|o1|o4", components.ObsDelay{Delay: new(2)}, "worked example 13"},
		{"default", "a b c stop", "o0|o0|o1|o2|o4", components.ObsDelay{}, "nil means 1"},
		{"none", "a b c stop", "o0|o1|o2|o3|o4", components.ObsDelay{Delay: new(0)}, "zero is the identity"},
		{"long", "a b c stop", "o0|o0|o0|o0|o4", components.ObsDelay{Delay: new(1 << 40)}, "the first one until the end"},
		{"window", "a b c d e", "o0|o1|o1|o2|o4|o5", components.ObsDelay{Window: window{From: 1, Until: 3}},
			"turns 1 and 2 show the turn before"},
	}
	for _, tt := range tests {
		h := on(t, counter(), tt.c)
		for range 2 {
			if shown, _ := watch(t, h, tt.calls); texts(shown) != tt.want {
				t.Errorf("%s: %s, want %s (%s)", tt.name, texts(shown), tt.want, tt.reason)
			}
		}
	}
	shown, _ := watch(t, on(t, counter(), components.ObsDelay{}, components.Block{Tools: []string{"b"}}), "a b c")
	if got, want := texts(shown), "o0|o0|[blocked] not available\n\no1|o1"; got != want {
		t.Errorf("with a block outside: %q, want %q: the refused turn counts and shows o1 once more", got, want)
	}
	shown, _ = watch(t, on(t, counter(), components.ObsDelay{}, components.StepBudget{Turns: 2}), "a b")
	if got, want := texts(shown), "o0|o0|o2"; got != want {
		t.Errorf("truncated: %q, want %q: the last result is shown at once", got, want)
	}
}

// A delay of d shows in turn t what a world without it showed in turn max(0, t-d), and the end at once.
func TestObsDelayOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, n := rapid.IntRange(0, 5).Draw(rt, "d"), rapid.IntRange(0, 12).Draw(rt, "turns")
		shown, _ := watch(t, on(t, counter(), components.ObsDelay{Delay: &d}), strings.Repeat("a ", n)+"stop")
		for i, o := range shown {
			want := max(0, i-d)
			if i == n+1 {
				want = i
			}
			if o.Text != fmt.Sprint("o", want) {
				rt.Fatalf("turn %d shows %s, want o%d", i, o.Text, want)
			}
		}
	})
}

// A delay and another hook on observations do not commute: a hook inside sees the turn that is shown late, one outside the present turn.
func TestObsDelayOrderMatters(t *testing.T) {
	window := components.HideKeys{Lines: []string{"o1"}, Window: window{Until: 1}}
	inside, _ := watch(t, on(t, counter(), window, components.ObsDelay{}), "a b")
	outside, _ := watch(t, on(t, counter(), components.ObsDelay{}, window), "a b")
	if texts(inside) != "o0|o0|" || texts(outside) != "o0|o0|o1" {
		t.Errorf("inside %q, outside %q", texts(inside), texts(outside))
	}
}

func TestHideKeys(t *testing.T) {
	o := envharness.Observation{
		Text:    `{"b":1.50,"a":{"x~/y":1,"z":[1,{"id":2}]}}`,
		Data:    data(`{"a":{"x~/y":1,"z":[1,{"id":2}]},"b":1.5}`),
		Actions: []envharness.Action{{Name: "get"}},
	}
	tests := []struct {
		name       string
		c          components.HideKeys
		text, data string
		reason     string
	}{
		{"nothing", components.HideKeys{}, o.Text, `{"a":{"x~/y":1,"z":[1,{"id":2}]},"b":1.5}`, "the identity"},
		{"top", components.HideKeys{Keys: []string{"/a"}}, `{"b":1.50}`, `{"b":1.5}`, "numbers keep their spelling"},
		{"escaped", components.HideKeys{Keys: []string{"/a/x~0~1y"}}, `{"b":1.50,"a":{"z":[1,{"id":2}]}}`, `{"a":{"z":[1,{"id":2}]},"b":1.5}`,
			"RFC 6901"},
		{"item", components.HideKeys{Keys: []string{"/a/z/0"}}, `{"b":1.50,"a":{"x~/y":1,"z":[null,{"id":2}]}}`,
			`{"a":{"x~/y":1,"z":[null,{"id":2}]},"b":1.5}`, "the others keep their places"},
		{"any", components.HideKeys{Keys: []string{"/a/z/*/id"}}, `{"b":1.50,"a":{"x~/y":1,"z":[1,{}]}}`, `{"a":{"x~/y":1,"z":[1,{}]},"b":1.5}`,
			"odd types are passed over"},
		{"all", components.HideKeys{Keys: []string{"/*"}}, `{}`, `{}`, "every field"},
		{"absent", components.HideKeys{Keys: []string{"/c", "/a/z/7", "/a/z/-", "/b/c", "/a/z/00"}}, o.Text,
			`{"a":{"x~/y":1,"z":[1,{"id":2}]},"b":1.5}`, "no error"},
		{"line", components.HideKeys{Lines: []string{"id"}}, o.Text, `{"a":{"x~/y":1,"z":[1,{"id":2}]},"b":1.5}`, "what is JSON has no lines"},
		{"past", components.HideKeys{Keys: []string{"/a"}, Window: window{From: 1}}, o.Text, `{"a":{"x~/y":1,"z":[1,{"id":2}]},"b":1.5}`,
			"not yet"},
	}
	for _, tt := range tests {
		h := on(t, still(o), tt.c)
		shown, _ := watch(t, h, "")
		if got := jsonOf(t, shown[0].Data); shown[0].Text != tt.text || got != tt.data {
			t.Errorf("%s: %s and %s, want %s and %s (%s)", tt.name, shown[0].Text, got, tt.text, tt.data, tt.reason)
		}
	}
	for _, s := range []string{`{"a":1} and more`, `{"a":1`, `[{"a":1}`, "a"} {
		if shown, _ := watch(t, on(t, still(text(s)), components.HideKeys{Keys: []string{"/a", "/0/a"}}), ""); shown[0].Text != s {
			t.Errorf("%s is no JSON document and becomes %s", s, shown[0].Text)
		}
	}
	shown, _ := watch(t, on(t, still(o), components.HideKeys{Actions: true}), "")
	if shown[0].Actions != nil {
		t.Errorf("actions %v are shown", shown[0].Actions)
	}
	shown, _ = watch(t, on(t, still(text("a\r\nb 1\nc\n")), components.HideKeys{Lines: []string{`\d`, "a$"}}), "")
	if shown[0].Text != "c\n" {
		t.Errorf("lines: %q", shown[0].Text)
	}
	shown, _ = watch(t, on(t, still(o), components.Block{}, components.HideKeys{Keys: []string{"/a"}}), "get")
	if want := "[blocked] not available\n\n{\"b\":1.50}"; shown[1].Text != want {
		t.Errorf("around a block: %q, want %q", shown[1].Text, want)
	}
}

// Two hide_keys commute, whatever they hide.
func TestHideKeysCommute(t *testing.T) {
	path := rapid.SampledFrom([]string{"/a", "/a/0", "/a/1", "/a/*", "/a/*/b", "/a/1/b", "/c", "/*", "/c/b"})
	line := rapid.SampledFrom([]string{"^$", "a", "b", "."})
	hide := rapid.Custom(func(rt *rapid.T) components.HideKeys {
		return components.HideKeys{
			Keys:    rapid.SliceOfN(path, 0, 3).Draw(rt, "keys"),
			Lines:   rapid.SliceOfN(line, 0, 2).Draw(rt, "lines"),
			Actions: rapid.Bool().Draw(rt, "actions"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		o := envharness.Observation{
			Text:    rapid.SampledFrom([]string{"a\nb\n", "", "\n\nab", `{"a":[{"b":1},{"b":2}],"c":{"b":1}}`}).Draw(rt, "text"),
			Data:    data(`{"a":[{"b":1},{"b":2}],"c":{"b":1}}`),
			Actions: []envharness.Action{{Name: "get"}},
		}
		a, b := hide.Draw(rt, "a"), hide.Draw(rt, "b")
		one, _ := watch(t, on(t, still(o), a, b), "get")
		two, _ := watch(t, on(t, still(o), b, a), "get")
		if d := cmp.Diff(one, two); d != "" {
			rt.Fatalf("(-a inside +b inside):\n%s", d)
		}
	})
}

func TestObsNoise(t *testing.T) {
	o := envharness.Observation{Text: `{"x":10,"s":"a"}`, Data: data(`{"x":10,"s":"a","l":[1,2],"b":true}`)}
	tests := []struct {
		name   string
		c      components.ObsNoise
		want   string
		reason string
	}{
		{"p 0", components.ObsNoise{Fields: []string{"/x", "text"}, P: new(0.0)}, `{"x":10,"s":"a"} {"b":true,"l":[1,2],"s":"a","x":10}`,
			"the identity"},
		{"sigma 0", components.ObsNoise{Fields: []string{"/*"}, Kind: "gauss", Sigma: new(0.0)},
			`{"x":10,"s":"a"} {"b":true,"l":[1,2],"s":"a","x":10}`, "the identity"},
		{"drop", components.ObsNoise{Fields: []string{"/s", "/l/0"}, P: new(1.0)}, `{"x":10} {"b":true,"l":[null,2],"x":10}`,
			"p 1 hits every field"},
		{"text", components.ObsNoise{Fields: []string{"text"}, P: new(1.0)}, ` {"b":true,"l":[1,2],"s":"a","x":10}`, "the whole text"},
		{"odd", components.ObsNoise{Fields: []string{"/s", "/l", "/b", "/none"}, Kind: "gauss", Sigma: new(3.0)},
			`{"x":10,"s":"a"} {"b":true,"l":[1,2],"s":"a","x":10}`, "only numbers are disturbed"},
	}
	for _, tt := range tests {
		shown, _ := watch(t, on(t, still(o), tt.c), "get")
		for _, s := range shown {
			if got := s.Text + " " + jsonOf(t, s.Data); got != tt.want {
				t.Errorf("%s: %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
			}
		}
	}
	shown, _ := watch(t, on(t, counter(), components.ObsNoise{Fields: []string{"/n"}, Kind: "stuck", P: new(1.0)}), "a b stop")
	var n []any
	for _, s := range shown {
		n = append(n, s.Data["n"])
	}
	if d := cmp.Diff([]any{0.0, 0.0, 0.0, 3.0}, n); d != "" {
		t.Errorf("stuck: the first value stays until the end (-want +got):\n%s", d)
	}
}

// Gauss adds draws of mean 0 and deviation sigma, the same in Data and in Text, and the same again in an episode with the same seed.
func TestObsNoiseGauss(t *testing.T) {
	s := still(envharness.Observation{Text: `{"x":10}`, Data: data(`{"x":10}`)})
	h := on(t, s, components.ObsNoise{Fields: []string{"/x"}, Kind: "gauss", Sigma: new(2.0)})
	const turns = 4000
	shown, _ := watch(t, h, strings.Repeat("get ", turns-1))
	again, _ := watch(t, h, strings.Repeat("get ", turns-1))
	if d := cmp.Diff(shown, again); d != "" {
		t.Errorf("not repeatable:\n%s", d)
	}
	sum, squares := 0.0, 0.0
	for _, o := range shown {
		if want := jsonOf(t, o.Data); o.Text != want {
			t.Fatalf("text %s, data %s", o.Text, want)
		}
		x := o.Data["x"].(float64) - 10
		sum, squares = sum+x, squares+x*x
	}
	// Five standard errors: 5*2/sqrt(4000) = 0.158 of the mean, 5*2/sqrt(2*4000) = 0.112 of the deviation.
	if mean, deviation := sum/turns, math.Sqrt(squares/turns); math.Abs(mean) > 0.158 || math.Abs(deviation-2) > 0.112 {
		t.Errorf("mean %v, deviation %v, want 0 and 2", mean, deviation)
	}
}

// The share of turns that drop and stuck hit is p.
func TestObsNoiseRate(t *testing.T) {
	h := on(t, counter(), components.ObsNoise{Fields: []string{"/n"}, P: new(0.2)})
	shown, _ := watch(t, h, strings.Repeat("get ", 3999))
	hit := 0
	for _, o := range shown {
		if _, ok := o.Data["n"]; !ok {
			hit++
		}
	}
	if hit < 673 || hit > 927 { // 800 with five standard deviations of sqrt(4000*.2*.8) = 25.3
		t.Errorf("dropped in %d of 4000 turns, want about 800", hit)
	}
}

// Two obs_noise on disjoint fields commute.
func TestObsNoiseCommutes(t *testing.T) {
	kind := func(field string) *rapid.Generator[components.ObsNoise] {
		return rapid.Custom(func(rt *rapid.T) components.ObsNoise {
			n := components.ObsNoise{Fields: []string{field}, Kind: rapid.SampledFrom([]string{"gauss", "drop", "stuck"}).Draw(rt, "kind")}
			if n.Kind == "gauss" {
				n.Sigma = new(1.0)
			} else {
				n.P = new(0.5)
			}
			return n
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := &scene{tools: reads("get"), answer: func(past []envharness.Action) (envharness.Observation, *envharness.ActionError) {
			raw := fmt.Sprintf(`{"x":%d,"l":[%d,1]}`, len(past), len(past)+5)
			return envharness.Observation{Text: raw, Data: data(raw)}, nil
		}}
		a, b := withID(kind("/x").Draw(rt, "a"), "a"), withID(kind("/l/0").Draw(rt, "b"), "b")
		one, _ := watch(t, on(t, s, a, b), "get get get get")
		two, _ := watch(t, on(t, s, b, a), "get get get get")
		if d := cmp.Diff(one, two); d != "" {
			rt.Fatalf("(-a inside +b inside):\n%s", d)
		}
	})
}

func TestCorruptRead(t *testing.T) {
	s := &scene{
		tools: append(reads("get", "other"), envharness.Tool{Name: "set"}),
		answer: func(past []envharness.Action) (envharness.Observation, *envharness.ActionError) {
			o := envharness.Observation{Text: `{"id":"O-12","total":12}`, Data: data(`{"id":"O-12","total":12}`)}
			if n := len(past); n > 0 && past[n-1].Name == "bad" {
				return text("Error"), &envharness.ActionError{Class: envharness.ClassUnknownTool}
			}
			return o, nil
		},
	}
	truth, swapped, blank := `{"id":"O-12","total":12}`, `{"id":"O-12","total":21}`, `{"id":"O-12","total":null}`
	tests := []struct {
		name, calls string
		c           components.CorruptRead
		want        string
		reason      string
	}{
		{"swap", "get set get", components.CorruptRead{Field: "/total", P: new(1.0)}, strings.Join([]string{truth, swapped, truth, swapped},
			"|"), "never of a write"},
		{"text", "get", components.CorruptRead{Field: "/id", P: new(1.0)}, truth + `|{"id":"O-21","total":12}`,
			"digits of a string change places"},
		{"blank", "get", components.CorruptRead{Field: "/total", P: new(1.0), Kind: "blank"}, truth + "|" + blank, "a number becomes null"},
		{"blank text", "get", components.CorruptRead{Field: "/id", P: new(1.0), Kind: "blank"}, truth + `|{"id":"","total":12}`,
			"a string becomes empty"},
		{"p 0", "get get set", components.CorruptRead{Field: "/total", P: new(0.0)}, strings.Join([]string{truth, truth, truth, truth}, "|"),
			"the identity"},
		{"tools", "other get", components.CorruptRead{Tools: []string{"g*"}, Field: "/total", P: new(1.0)}, strings.Join([]string{truth, truth,
			swapped}, "|"), "of get alone"},
		{"refused", "get bad", components.CorruptRead{Field: "/total", P: new(1.0)}, strings.Join([]string{truth, swapped, "Error"}, "|"),
			"there is no field in a refusal"},
		{"window", "get get get", components.CorruptRead{Field: "/total", P: new(1.0), Window: window{From: 1, Until: 2}},
			strings.Join([]string{truth, truth, swapped, truth}, "|"), "turn 1 alone"},
		{"absent", "get", components.CorruptRead{Field: "/none/0", P: new(1.0)}, truth + "|" + truth, "no such place"},
		{"offset of a string", "get", components.CorruptRead{Field: "/id", P: new(1.0), Kind: "offset"}, truth + "|" + truth,
			"only numbers move"},
	}
	for _, tt := range tests {
		h := on(t, s, tt.c)
		for range 2 {
			shown, _ := watch(t, h, tt.calls)
			if got := texts(shown); got != tt.want {
				t.Errorf("%s: %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
			}
			for _, o := range shown {
				if o.Data != nil && jsonOf(t, o.Data) != o.Text {
					t.Errorf("%s: data %v and text %s differ", tt.name, o.Data, o.Text)
				}
			}
		}
	}
	stack := []envharness.Component{components.CorruptRead{Field: "/total", P: new(1.0)}, components.Block{Tools: []string{"set"}}}
	shown, _ := watch(t, on(t, s, stack...), "get set")
	if want := "[blocked] not available\n\n" + swapped; shown[2].Text != want {
		t.Errorf("a blocked turn shows %q, want %q: the wrong value is still there", shown[2].Text, want)
	}
	stack = []envharness.Component{components.ToolFail{Tools: []string{"other"}}, components.CorruptRead{Tools: []string{"get"},
		Field: "/total", P: new(1.0)}}
	shown, _ = watch(t, on(t, s, stack...), "get other")
	if shown[1].Data["total"] != 21.0 || shown[2].Data["total"] != 21.0 {
		t.Errorf("around a refusal: %v", shown)
	}
}

// The share of reads that are corrupted is p.
func TestCorruptReadRate(t *testing.T) {
	s := still(envharness.Observation{Data: data(`{"x":12}`)})
	shown, _ := watch(t, on(t, s, components.CorruptRead{Field: "/x"}), strings.Repeat("get ", 4000))
	hit := 0
	for _, o := range shown {
		if o.Data["x"] != 12.0 {
			hit++
		}
	}
	if hit < 1055 || hit > 1345 { // 1200 with five standard deviations of sqrt(4000*.3*.7) = 29
		t.Errorf("%d of 4000 reads, want about 1200", hit)
	}
}

// A wrong number is another one. An offset is within a tenth, or one of the last place, with no more decimals.
func TestCorruptReadNumbers(t *testing.T) {
	numbers := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-100000, 100000), func(n int) float64 { return float64(n) / 100 }),
		rapid.SampledFrom([]float64{0, 0, 0, 1, -1, 7, 112, 19.99, 1 << 53, math.MaxFloat64, 5e-324, 1e300}))
	rapid.Check(t, func(rt *rapid.T) {
		x := numbers.Draw(rt, "x")
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "name") // each has draws of its own
		c := components.CorruptRead{Field: "/" + name, P: new(1.0), Kind: rapid.SampledFrom([]string{"swap", "offset"}).Draw(rt, "kind")}
		shown, _ := watch(t, on(t, still(envharness.Observation{Data: map[string]any{name: x}}), c), "get")
		y := shown[1].Data[name].(float64)
		if y == x && math.Abs(x) > 1e-300 || x == 0 && y != 1 {
			rt.Fatalf("%v becomes %v", x, y)
		}
		if c.Kind == "swap" {
			return
		}
		if math.Abs(y-x) > math.Abs(x)*0.100001 && math.Abs(y-x) > 1 {
			rt.Fatalf("%v becomes %v: too far", x, y)
		}
		if cents := math.Round(x * 100); math.Abs(x) < 1e6 && x == cents/100 && y != math.Round(y*100)/100 {
			rt.Fatalf("%v becomes %v: more decimals", x, y)
		}
	})
}

func TestCorruptReadRefusesWrites(t *testing.T) {
	for _, tt := range []struct {
		c      envharness.Component
		ok     bool
		reason string
	}{
		{components.CorruptRead{Field: "/n"}, true, "all read-only tools"},
		{components.CorruptRead{Field: "/n", Tools: []string{"get"}}, true, "read-only"},
		{components.CorruptRead{Field: "/n", Tools: []string{"w*"}}, false, "work is a write"},
		{components.StaleRead{Tools: []string{"*"}}, false, "work is a write"},
		{components.StaleRead{}, true, "all read-only tools"},
	} {
		h := on(t, counter(), tt.c)
		_, err := h.Reset(t.Context(), envharness.ResetOptions{})
		if (err == nil) != tt.ok {
			t.Errorf("%+v: %v (%s)", tt.c, err, tt.reason)
		}
	}
}

func TestStaleRead(t *testing.T) {
	s := &scene{
		tools: append(reads("get", "other"), envharness.Tool{Name: "work"}),
		answer: func(past []envharness.Action) (envharness.Observation, *envharness.ActionError) {
			n, last := 0, ""
			for _, a := range past {
				if last = a.Name; last == "work" {
					n++
				}
			}
			if last == "bad" {
				return text("E"), &envharness.ActionError{Class: envharness.ClassUnknownTool}
			}
			return envharness.Observation{Text: fmt.Sprint(n), Data: map[string]any{"n": float64(n)},
				Actions: []envharness.Action{{Name: fmt.Sprint(n)}}}, nil
		},
	}
	tests := []struct {
		name, calls, want string
		c                 components.StaleRead
		reason            string
	}{
		{"age 1", "get work get work get", "0|0|1|0|2|1", components.StaleRead{}, "one write behind"},
		{"age 2", "get work get work get work get", "0|0|1|1|2|0|3|1", components.StaleRead{Age: 2},
			"two writes behind; no result that old at first"},
		{"first call", "work get get", "0|1|1|1", components.StaleRead{}, "the first call is fresh, and nothing was written since"},
		{"gap", "get work work work get", "0|0|1|2|3|0", components.StaleRead{}, "the newest that is old enough"},
		{"calls", `get{"id":1} work get{"id":2} get{"id":1} get{"id":1.0}`, "0|0|1|1|0|0", components.StaleRead{},
			"by call; equal JSON is the same call"},
		{"tools", "get other work get other get", "0|0|0|1|1|0|1", components.StaleRead{Tools: []string{"o*"}}, "of other alone"},
		{"refused", "get work get bad bad get", "0|0|1|0|E|E|0", components.StaleRead{}, "a refused action is no write"},
		{"window", "get work get work get", "0|0|1|1|2|1", components.StaleRead{Window: window{From: 3}},
			"what was seen before the window counts"},
		{"write", "get work", "0|0|1", components.StaleRead{}, "what a write answers is fresh"},
	}
	for _, tt := range tests {
		h := on(t, s, tt.c)
		for range 2 {
			shown, _ := watch(t, h, tt.calls)
			if got := texts(shown); got != tt.want {
				t.Errorf("%s: %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
			}
			for _, o := range shown {
				if o.Data != nil && fmt.Sprint(o.Data["n"]) != o.Text {
					t.Errorf("%s: data %v, text %s", tt.name, o.Data, o.Text)
				}
			}
		}
	}
	shown, _ := watch(t, on(t, s, components.StaleRead{}, components.Block{Tools: []string{"no"}}), "get work get no")
	if got := shown[4].Text; got != "[blocked] not available\n\n0" {
		t.Errorf("a blocked turn shows %q: the old result is still there", got)
	}
	if got := shown[3].Actions[0].Name; got != "1" {
		t.Errorf("the list of actions is of %s writes, want the present one", got)
	}
}

// truncated pages a text and returns the pages.
func truncated(t testing.TB, o envharness.Observation, maxBytes int) []string {
	h := on(t, still(o), components.Paginate{MaxBytes: maxBytes})
	first, err := h.Reset(t.Context(), envharness.ResetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{first.Text}
	for more := first.Data["has_more"]; more == true; {
		tr, err := h.Step(t.Context(), envharness.Action{Name: "next"})
		if err != nil || tr.Error != nil {
			t.Fatal(err, tr.Error)
		}
		pages, more = append(pages, tr.Observation.Text), tr.Observation.Data["has_more"]
		if len(pages) > len(o.Text)+1 {
			t.Fatalf("no end of pages: %.99q", pages)
		}
	}
	tr, err := h.Step(t.Context(), envharness.Action{Name: "next"})
	if err != nil || tr.Error == nil || tr.Error.Class != envharness.ClassPrecondition {
		t.Fatalf("after the last page: %v, %v", tr.Error, err)
	}
	return pages
}

func TestPaginateText(t *testing.T) {
	cafe := "naïve café – done"
	if len(cafe) != 21 {
		t.Fatal("worked example 17 has 21 bytes")
	}
	tests := []struct {
		text     string
		maxBytes int
		want     []string
		reason   string
	}{
		{cafe, 3, []string{"na", "ïv", "e c", "af", "é ", "–", " do", "ne"}, "worked example 17: na"},
		{cafe, 4, []string{"naï", "ve c", "afé", " –", " don", "e"}, "worked example 17: naï; the dash has three bytes"},
		{cafe, 10, []string{"naïve caf", "é – don", "e"}, "worked example 17: naïve caf"},
		{cafe, 21, []string{cafe}, "fits"},
		{"", 3, []string{""}, "empty"},
		{"a😀b", 3, []string{"a", "\uFFFD", "b"}, "a character that cannot fit"},
		{"a😀b", 4, []string{"a", "😀", "b"}, "a character that just fits"},
		{"\xff\xfe\xc3ab", 4, []string{"\uFFFDa", "b"}, "a run of invalid bytes is one U+FFFD"},
	}
	for _, tt := range tests {
		if got := truncated(t, text(tt.text), tt.maxBytes); !slices.Equal(got, tt.want) {
			t.Errorf("%q by %d: %q, want %q (%s)", tt.text, tt.maxBytes, got, tt.want, tt.reason)
		}
	}
	big := truncated(t, text(strings.Repeat("ä", 1<<19)), 1<<18+1)
	if len(big) != 4 || strings.Join(big, "") != strings.Repeat("ä", 1<<19) {
		t.Errorf("1 MiB: %d pages, want 4: 2^18 of the 2^18+1 bytes are used", len(big))
	}
}

// Pages are valid UTF-8 of at most max_bytes bytes, and together they are the text.
func TestPaginateTextLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, maxBytes := rapid.String().Draw(rt, "text"), rapid.IntRange(4, 20).Draw(rt, "max_bytes")
		if rapid.Bool().Draw(rt, "bytes") {
			s = string(rapid.SliceOf(rapid.Byte()).Draw(rt, "raw"))
		}
		pages := truncated(t, text(s), maxBytes)
		if len(s) <= maxBytes {
			if !slices.Equal(pages, []string{s}) {
				rt.Fatalf("%q", pages)
			}
			return
		}
		for _, p := range pages {
			if len(p) > maxBytes || !utf8.ValidString(p) || p == "" {
				rt.Fatalf("page %q of %q", p, pages)
			}
		}
		if strings.Join(pages, "") != strings.ToValidUTF8(s, "\uFFFD") {
			rt.Fatalf("%q is not %q", pages, s)
		}
	})
}

func TestPaginateList(t *testing.T) {
	list := func(n int) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprint(i)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	doc := `{"rows":` + list(5) + `,"few":[9],"has_more":true}`
	tests := []struct {
		name, calls, want string
		text              string
		data              map[string]any
		c                 components.Paginate
		reason            string
	}{
		{"text", "get next next next", `{"rows":[0,1],"few":[9],"has_more":true}|{"rows":[0,1],"few":[9],"has_more":true}|` +
			`{"rows":[2,3],"few":[9],"has_more":true}|{"rows":[4],"few":[9],"has_more":true}|Error: there is no further page`,
			doc, nil, components.Paginate{PageSize: 2}, "on the last page the base's own has_more shows again"},
		{"fits", "get next", doc + "|" + doc + "|Error: there is no further page", doc, nil, components.Paginate{PageSize: 5}, "stays as it is"},
		{"default", "get", `{"a":[0,1,2,3,4,5,6,7,8,9],"has_more":true}|{"a":[0,1,2,3,4,5,6,7,8,9],"has_more":true}`, `{"a":` + list(11) + `}`,
			nil,
			components.Paginate{}, "10 items"},
		{"tools", "get next look get next", `[0,1,2]|[0,1,2]|Error: there is no further page|[0,1]|[0,1,2]|Error: there is no further page`,
			list(3), nil,
			components.Paginate{Tools: []string{"look"}, PageSize: 2}, "results of look alone, and only until another result"},
		{"root", "next", `[0,1]|[2]`, list(3), nil, components.Paginate{PageSize: 2}, "a text that is a list"},
		{"place", "next", `{"rows":[0,1,2],"in":{"l":[0]},"has_more":true}|{"rows":[0,1,2],"in":{"l":[1]},"has_more":false}`,
			`{"rows":[0,1,2],"in":{"l":[0,1]}}`, nil,
			components.Paginate{PageSize: 1, List: "/in/l"}, "the declared list"},
		{"again", "get next get", `[0]|[0]|[1]|[0]`, list(2), nil, components.Paginate{PageSize: 1}, "a new result begins at its first page"},
		{"no list", "get", `{"rows":1}|{"rows":1}`, `{"rows":1}`, nil, components.Paginate{PageSize: 1, List: "/rows"}, "odd type at the place"},
		{"name", "more", `[0]|[1]`, list(2), nil, components.Paginate{PageSize: 1, Next: "more"}, "a name of its own"},
		{"window", "get get next", `[0,1]|[0]|[0,1]|Error: there is no further page`, list(2), nil,
			components.Paginate{PageSize: 1, Window: window{Until: 1}, Tools: []string{"*"}}, "turn 0 alone"},
	}
	for _, tt := range tests {
		s := still(envharness.Observation{Text: tt.text, Data: tt.data})
		s.tools = reads("get", "look")
		h := on(t, s, tt.c)
		for range 2 {
			shown, _ := watch(t, h, tt.calls)
			if got := texts(shown); got != tt.want {
				t.Errorf("%s:\n%s, want\n%s (%s)", tt.name, got, tt.want, tt.reason)
			}
		}
		if tt.name == "name" && s.past != nil {
			t.Errorf("the base was stepped: %v", s.past)
		}
	}
	h := on(t, still(text("")), components.Paginate{Next: "get"})
	if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err == nil {
		t.Error("a second tool named get is accepted")
	}
}

// Following the continuation shows every item exactly once, in order, in Data and in Text, and a blocked turn changes nothing.
func TestPaginateListLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, size := rapid.IntRange(0, 30).Draw(rt, "items"), rapid.IntRange(1, 12).Draw(rt, "page_size")
		items := make([]any, n)
		for i := range items {
			items[i] = float64(i)
		}
		all, c := map[string]any{"items": items, "about": "x"}, components.Paginate{PageSize: size}
		find := func(o envharness.Observation) []any { return o.Data["items"].([]any) }
		if rapid.Bool().Draw(rt, "deep") {
			all, c.List = map[string]any{"in": []any{items}}, "/in/0"
			find = func(o envharness.Observation) []any { return o.Data["in"].([]any)[0].([]any) }
		}
		shown := envharness.Observation{Text: jsonOf(t, all), Data: all}
		if rapid.Bool().Draw(rt, "plain text") {
			shown.Text = "all"
		}
		h := on(t, still(shown), c, components.Block{Tools: []string{"no"}})
		o, err := h.Reset(t.Context(), envharness.ResetOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		var got []any
		for {
			page := find(o)
			if len(page) > size {
				rt.Fatalf("page of %d", len(page))
			}
			if o.Text != "all" && jsonOf(t, json.RawMessage(o.Text)) != jsonOf(t, o.Data) {
				rt.Fatalf("text %s, data %v", o.Text, o.Data)
			}
			if got = append(got, page...); len(got) > n {
				rt.Fatalf("%d items of %d", len(got), n)
			}
			if rapid.Bool().Draw(rt, "block") {
				tr, err := h.Step(t.Context(), envharness.Action{Name: "no"})
				if err != nil || !strings.HasSuffix(tr.Observation.Text, o.Text) {
					rt.Fatalf("blocked: %q, %v", tr.Observation.Text, err)
				}
			}
			if o.Data["has_more"] != true {
				break
			}
			tr, err := h.Step(t.Context(), envharness.Action{Name: "next"})
			if err != nil || tr.Error != nil {
				rt.Fatal(err, tr.Error)
			}
			o = tr.Observation
		}
		if d := cmp.Diff(items, append([]any{}, got...)); d != "" {
			rt.Fatalf("(-want +got):\n%s", d)
		}
	})
}

func pool(names ...string) []envharness.Tool {
	var out []envharness.Tool
	for _, n := range names {
		out = append(out, envharness.Tool{Name: n})
	}
	return out
}

func TestDistractorTools(t *testing.T) {
	s := counter()
	h := on(t, s, components.Distractor{N: new(2), Pool: pool("p", "q", "r", "s")})
	seen, ends := map[string]bool{}, 0
	for seed := range uint64(50) {
		if _, err := h.Reset(t.Context(), envharness.ResetOptions{Seed: &seed}); err != nil {
			t.Fatal(err)
		}
		var base, added []string
		for _, tool := range h.Tools() {
			if len(tool.Name) == 1 {
				added = append(added, tool.Name)
			} else {
				base = append(base, tool.Name)
			}
		}
		if d := cmp.Diff([]string{"get", "look", "work", "stop"}, base); d != "" || len(added) != 2 || added[0] == added[1] {
			t.Fatalf("%v", h.Tools())
		}
		seen[fmt.Sprint(h.Tools())] = true
		if len(h.Tools()[5].Name) == 1 {
			ends++
		}
		for _, name := range []string{"p", "q", "r", "s"} {
			s.past = nil
			tr, err := h.Step(t.Context(), envharness.Action{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			if hit := slices.Contains(added,
				name); hit != (tr.Observation.Text == "No results found.") || hit != (s.past == nil) || tr.Error != nil {
				t.Fatalf("%s of %v: %q, stepped %v", name, added, tr.Observation.Text, s.past)
			}
		}
	}
	if ends == 0 {
		t.Error("none of 50 lists ends with a distractor")
	}
	if len(seen) < 30 {
		t.Errorf("only %d different lists in 50 episodes", len(seen))
	}
	for _, stack := range [][]envharness.Component{
		{components.Distractor{N: new(1), Pool: pool("get")}},
		{components.Distractor{N: new(1), Pool: pool("p")}, components.Distractor{N: new(1), Pool: pool("p")}},
		{components.Distractor{N: new(1), Pool: pool("reset")}},
	} {
		if _, err := on(t, counter(), stack...).Reset(t.Context(), envharness.ResetOptions{}); err == nil {
			t.Errorf("%+v: a name that is taken is accepted", stack)
		}
	}
	none := on(t, counter(), components.Distractor{N: new(0), Pool: pool("p")})
	if shown, _ := watch(t, none, "p"); texts(shown) != "o0|o1" || len(none.Tools()) != 4 {
		t.Errorf("n 0: %s, %v", texts(shown), none.Tools())
	}
}

// Documents keep the order of those that were there, and each of the drawn ones comes once, in the same place every turn.
func TestDistractorDocuments(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, size := rapid.IntRange(0, 4).Draw(rt, "n"), rapid.IntRange(0, 6).Draw(rt, "size")
		items := make([]any, size)
		for i := range items {
			items[i] = float64(i)
		}
		all := map[string]any{"hits": items}
		h := on(t, still(envharness.Observation{Text: jsonOf(t, all), Data: all}),
			components.Distractor{N: &n, Documents: []any{"a", "b", map[string]any{"id": 1}, "d"}, List: "/hits"})
		shown, _ := watch(t, h, "get")
		if d := cmp.Diff(shown[0], shown[1]); d != "" {
			rt.Fatalf("the places change:\n%s", d)
		}
		list := shown[0].Data["hits"].([]any)
		var old []any
		extra := map[string]bool{}
		for _, v := range list {
			if _, ok := v.(float64); ok {
				old = append(old, v)
			} else {
				extra[jsonOf(t, v)] = true
			}
		}
		if size == 0 {
			n = 0
		}
		if len(extra) != n || !cmp.Equal(append([]any{}, old...), items) || shown[0].Text != jsonOf(t, shown[0].Data) {
			rt.Fatalf("%v", shown[0])
		}
	})
}

// Whatever is shown, every component that changes observations gets along with it, and what the scene handed out stays as it was.
func TestOddObservations(t *testing.T) {
	all := map[string]envharness.Component{
		"corrupt":   components.CorruptRead{Field: "/a/b", P: new(1.0)},
		"blank":     components.CorruptRead{Field: "/*", P: new(1.0), Kind: "blank"},
		"stale":     components.StaleRead{},
		"pages":     components.Paginate{PageSize: 1},
		"list":      components.Paginate{PageSize: 1, List: "/a/b"},
		"cut":       components.Paginate{MaxBytes: 5},
		"gauss":     components.ObsNoise{Fields: []string{"/*", "/a/b"}, Kind: "gauss", Sigma: new(1e308)},
		"drop":      components.ObsNoise{Fields: []string{"/a", "/a/0", "text"}, P: new(0.5)},
		"stuck":     components.ObsNoise{Fields: []string{"/*", "/a/*"}, Kind: "stuck", P: new(1.0)},
		"delay":     components.ObsDelay{},
		"hide":      components.HideKeys{Keys: []string{"/a/b/c", "/a/0/b"}, Lines: []string{"x"}, Actions: true},
		"documents": components.Distractor{N: new(1), Documents: []any{1}, List: "/a"},
	}
	odd := []envharness.Observation{
		{},
		{Text: "{", Data: map[string]any{}},
		{Text: `{"a":{"b":[1,2,{"c":null}]}}`, Data: data(`{"a":{"b":[1,2,{"c":null}]}}`)},
		{Text: `{"a":1,"a":[1,2]}`, Data: data(`{"a":"x","n":1e308}`), Actions: []envharness.Action{}},
		{Text: "[[[]]]", Data: data(`{"a":[null,true,"",[],{}]}`)},
		{Text: `{"a":1e999}`, Data: map[string]any{"a": nil, "": []any{nil}}},
		{Text: strings.Repeat("\xff\n", 1<<19)},
		{Text: `{"a":"` + strings.Repeat("é", 1<<19) + `"}`, Data: map[string]any{"a": strings.Repeat("é", 1<<19)}},
		{Text: strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
	}
	before := jsonOf(t, odd)
	for _, c := range all {
		turn := 0
		s := &scene{tools: append(reads("get"), envharness.Tool{Name: "work"})}
		s.answer = func([]envharness.Action) (envharness.Observation, *envharness.ActionError) {
			turn++
			return odd[turn%len(odd)], nil
		}
		watch(t, on(t, s, c), strings.Repeat("get next work get ", len(odd)))
	}
	if jsonOf(t, odd) != before {
		t.Error("a component changed what the base showed")
	}
}

// A growing scene has one tool more after every action, a read.
type growing struct{ *scene }

func (g growing) Tools() []envharness.Tool {
	tools := slices.Clone(g.tools)
	for i := range g.past {
		tools = append(tools, envharness.Tool{Name: fmt.Sprint("new", i), ReadOnly: true, Schema: json.RawMessage(`{"properties":{"a":{}}}`)})
	}
	return tools
}

// Where the base's tools change in mid-episode, what was added stays in its order and is there once, and new tools are served too.
func TestToolsThatChange(t *testing.T) {
	s := counter()
	h, err := envharness.New(envharness.World{
		New: func(context.Context) (envharness.Environment, error) { return growing{s}, nil },
		Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
			return envharness.Verdict{},
				nil
		}),
	},
		components.Distractor{Pool: pool("p", "q", "r")},
		components.Paginate{},
		components.SchemaDrift{Tools: map[string]components.Drift{"get": {Version: "v2"}}},
		components.CorruptRead{Tools: []string{"new*"}, Field: "/n", P: new(1.0)},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	mustBegin(t, h)
	rank := func() (added string, all int) {
		for _, tool := range h.Tools() {
			if len(tool.Name) == 1 || tool.Name == "next" {
				added += tool.Name + " "
			}
			if tool.Name == "get" && tool.Description != "[v2] " {
				t.Errorf("get is described as %q", tool.Description)
			}
		}
		return added, len(h.Tools())
	}
	first, _ := rank()
	for i := range 10 {
		tr, err := h.Step(t.Context(), envharness.Action{Name: fmt.Sprint("new", i-1)})
		if err != nil {
			t.Fatal(err)
		}
		if wrong := tr.Observation.Data["n"] != float64(i+1); wrong != (i > 0) {
			t.Errorf("turn %d: corrupt %v", i, wrong)
		}
		if added, all := rank(); added != first || all != 4+3+1+i+1 {
			t.Errorf("turn %d: %s of %d, at first %s", i, added, all, first)
		}
	}
}

// The parameters in a record build the same component again, with all that was set.
func TestParametersOfObservations(t *testing.T) {
	w := window{From: 2, Until: 5}
	all := []envharness.Component{
		components.StartPatch{Set: set("/a", "null", "/b/0", `{"x":[1.5]}`)},
		components.CorruptRead{Tools: []string{"get*"}, Field: "/a/*", P: new(0.0), Kind: "blank", Window: w},
		components.StaleRead{Tools: []string{"get*"}, Age: 3, Window: w},
		components.Paginate{Tools: []string{"get*"}, PageSize: 7, List: "/rows", Next: "more", Window: w},
		components.Paginate{MaxBytes: 7, Next: "next"},
		components.ObsNoise{Fields: []string{"/a"}, Kind: "gauss", Sigma: new(0.0), Window: w},
		components.ObsNoise{Fields: []string{"/a", "text"}, Kind: "drop", P: new(0.0), Window: w},
		components.ObsDelay{Delay: new(0), Window: w},
		components.HideKeys{Keys: []string{"/a"}, Actions: true, Lines: []string{"^x"}, Window: w},
		components.Distractor{N: new(0), Pool: []envharness.Tool{{Name: "p", Description: "d", Schema: json.RawMessage("{}"), ReadOnly: true}},
			Result: "none"},
		components.Distractor{N: new(1), Documents: []any{nil, "a", 1.0, map[string]any{"b": []any{true}}}, List: "/hits"},
		components.SchemaDrift{Tools: map[string]components.Drift{"get": {
			Rename: map[string]string{"a": "b"}, Add: set("c", `{"type":"string"}`), Remove: []string{"d"},
			Enum: map[string]map[string]string{"e": {"f": "g"}}, Version: "v2",
		}}},
	}
	for _, c := range all {
		tag := c.Spec().Tag
		for _, k := range components.Catalogue().Kinds() {
			if k.Tag != tag {
				continue
			}
			back, err := k.New(c.Spec().Params)
			if err != nil {
				t.Errorf("%s: %v", c.Spec().Params, err)
			} else if d := cmp.Diff(c, back); d != "" {
				t.Errorf("%s (-want +got):\n%s", tag, d)
			}
		}
	}
}

func TestChecksOfObservations(t *testing.T) {
	for name, c := range map[string]envharness.Component{
		"field":            components.CorruptRead{},
		"tilde":            components.CorruptRead{Field: "/a~2"},
		"corrupt p":        components.CorruptRead{Field: "/a", P: new(1.1)},
		"corrupt NaN":      components.CorruptRead{Field: "/a", P: new(math.NaN())},
		"corrupt kind":     components.CorruptRead{Field: "/a", Kind: "?"},
		"corrupt pattern":  components.CorruptRead{Field: "/a", Tools: []string{"["}},
		"corrupt window":   components.CorruptRead{Field: "/a", Window: window{From: -1}},
		"age":              components.StaleRead{Age: 4},
		"negative age":     components.StaleRead{Age: -1},
		"stale pattern":    components.StaleRead{Tools: []string{"["}},
		"stale window":     components.StaleRead{Window: window{From: 2, Until: 1}},
		"page size":        components.Paginate{PageSize: -1},
		"max bytes":        components.Paginate{MaxBytes: 2},
		"negative bytes":   components.Paginate{MaxBytes: -1},
		"both":             components.Paginate{MaxBytes: 9, PageSize: 1},
		"list of a text":   components.Paginate{MaxBytes: 9, List: "/a"},
		"list":             components.Paginate{List: "a"},
		"many lists":       components.Paginate{List: "/a/*"},
		"page pattern":     components.Paginate{Tools: []string{"["}},
		"page window":      components.Paginate{Window: window{Until: -1}},
		"no fields":        components.ObsNoise{},
		"noise field":      components.ObsNoise{Fields: []string{"x"}},
		"noise kind":       components.ObsNoise{Fields: []string{"/x"}, Kind: "?"},
		"noise p":          components.ObsNoise{Fields: []string{"/x"}, P: new(-0.1)},
		"no sigma":         components.ObsNoise{Fields: []string{"/x"}, Kind: "gauss"},
		"sigma":            components.ObsNoise{Fields: []string{"/x"}, Kind: "gauss", Sigma: new(-1.0)},
		"infinite sigma":   components.ObsNoise{Fields: []string{"/x"}, Kind: "gauss", Sigma: new(math.Inf(1))},
		"p of gauss":       components.ObsNoise{Fields: []string{"/x"}, Kind: "gauss", Sigma: new(1.0), P: new(0.5)},
		"sigma of drop":    components.ObsNoise{Fields: []string{"/x"}, Sigma: new(1.0)},
		"stuck text":       components.ObsNoise{Fields: []string{"text"}, Kind: "stuck"},
		"noise window":     components.ObsNoise{Fields: []string{"/x"}, Window: window{From: -1}},
		"delay":            components.ObsDelay{Delay: new(-1)},
		"delay window":     components.ObsDelay{Window: window{From: -1}},
		"hidden key":       components.HideKeys{Keys: []string{""}},
		"hidden line":      components.HideKeys{Lines: []string{"("}},
		"hide window":      components.HideKeys{Window: window{From: -1}},
		"no pool":          components.Distractor{},
		"small pool":       components.Distractor{Pool: pool("p", "q")},
		"negative n":       components.Distractor{N: new(-1), Pool: pool("p")},
		"pool twice":       components.Distractor{N: new(1), Pool: pool("p", "p")},
		"pool no name":     components.Distractor{N: new(1), Pool: pool("")},
		"two pools":        components.Distractor{N: new(1), Pool: pool("p"), Documents: []any{1}, List: "/a"},
		"no list":          components.Distractor{N: new(1), Documents: []any{1}},
		"list of no use":   components.Distractor{N: new(1), Pool: pool("p"), List: "/a"},
		"no JSON":          components.Distractor{N: new(1), Documents: []any{math.NaN()}, List: "/a"},
		"result of no use": components.Distractor{N: new(1), Documents: []any{1}, List: "/a", Result: "x"},
	} {
		if c.(interface{ Check() error }).Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
