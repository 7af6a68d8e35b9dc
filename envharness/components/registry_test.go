package components_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// required are the parameters without which a kind of the catalogue cannot be built.
var required = map[string]string{
	"corrupt_read": `{"field":"/data/total"}`,
	"permission":   `{"grant":{"tool":"get"}}`,
	"obs_noise":    `{"fields":["/total"]}`,
	"step_budget":  `{"turns":3}`,
	"submit_gate":  `{"require":[{"tool":"get"}]}`,
	"distractor": `{"pool":[{"name":"search_0"},{"name":"search_1"},{"name":"search_2"},{"name":"search_3"},` +
		`{"name":"search_4"},{"name":"search_5"},{"name":"search_6"},{"name":"search_7"},{"name":"search_8"},{"name":"search_9"}]}`,
	"order_lock": `{"edges":[{"before":{"tool":"get"},"after":{"tool":"stop"}}]}`,
}

// more are further parameters, beyond the ladders.
var more = map[string][]string{
	"start_replay": {`{"actions":[{"name":"add","args":{"n":2}},{"name":"get"}]}`, `{"actions":[{"name":"stop"}],"aid":true}`},
	"start_patch":  {`{"set":{"/total":2}}`},
	"block":        {`{"tools":["get"]}`, `{"tools":["a*","stop"],"args":{"n":2},"reason":"<no> & \u00e9"}`},
	"rename":       {`{"tools":{"get":"show"}}`, `{"tools":{"add":"plus"},"args":{"add":{"n":"amount"}}}`},
	"sticky":       {`{"p":1,"duration":2}`},
	"tool_fail":    {`{"tools":["get"],"nth":2,"count":2}`, `{"mode":"rate","p":0.5}`},
	"tool_down":    {`{"tools":["get"],"from":2,"until":5}`},
	"rate_limit":   {`{"calls":2,"window":4}`},
	"hide_keys":    {`{"keys":["/total"]}`},
	"obs_noise":    {`{"kind":"gauss","sigma":0.5}`},
	"paginate":     {`{"tools":["get"],"list":"/items","page_size":2}`},
	"call_cap":     {`{"tools":["get"],"max":1,"cooldown":2}`},
}

// built returns parameters that a kind can be built from: the required ones, and these with each rung of the ladder, and with more.
func built(t testing.TB, k components.Kind) []json.RawMessage {
	t.Helper()
	base := map[string]json.RawMessage{}
	if p, ok := required[k.Tag]; ok {
		if err := json.Unmarshal([]byte(p), &base); err != nil {
			t.Fatal(err)
		}
	}
	merged := func(over json.RawMessage) json.RawMessage {
		all := maps.Clone(base)
		if over != nil {
			if err := json.Unmarshal(over, &all); err != nil {
				t.Fatalf("%s: rung %s: %v", k.Tag, over, err)
			}
		}
		raw, err := envharness.CanonicalJSON(all)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	out := []json.RawMessage{merged(nil)}
	for _, rung := range k.Ladder {
		out = append(out, merged(rung))
	}
	for _, over := range more[k.Tag] {
		out = append(out, merged(json.RawMessage(over)))
	}
	return out
}

// kinds are the kinds of the catalogue that make components: all but the chain.
func kinds() []components.Kind {
	return slices.DeleteFunc(components.Catalogue().Kinds(), func(k components.Kind) bool { return k.Axis == envharness.AxisLink })
}

// The catalogue lists every tag once, in its order, and each entry is one that an empty registry accepts.
func TestCatalogue(t *testing.T) {
	r := components.NewRegistry()
	var got []string
	for _, k := range components.Catalogue().Kinds() {
		got = append(got, k.Tag)
		if k.Direction == 0 || k.Sound == "" || k.Version != 1 || k.Schema == nil {
			t.Errorf("%s: direction %d, sound %q, version %d, schema %s", k.Tag, k.Direction, k.Sound, k.Version, k.Schema)
		}
		if err := r.Add(k); err != nil {
			t.Error(err)
		}
	}
	want := strings.Fields(`start_replay start_patch block rename sticky tool_fail tool_down corrupt_read rate_limit permission stale_read
		paginate obs_noise obs_delay hide_keys distractor step_budget call_cap submit_gate order_lock chain schema_drift`)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, k := range components.Catalogue().Kinds() {
		if err := r.Add(k); err == nil {
			t.Errorf("%s: added twice", k.Tag)
		}
	}
}

// What a kind builds bears its tag and axis, and its parameters are complete: they build the same once more, and again.
func TestKindsBuild(t *testing.T) {
	for _, k := range kinds() {
		for _, params := range built(t, k) {
			c, err := k.New(params)
			if err != nil {
				t.Errorf("%s %s: %v", k.Tag, params, err)
				continue
			}
			first := c.Spec()
			if first.Tag != k.Tag || first.Axis != k.Axis {
				t.Errorf("%s on %s built %s on %s", k.Tag, k.Axis, first.Tag, first.Axis)
			}
			again, err := k.New(first.Params)
			if err != nil {
				t.Errorf("%s: its own parameters %s: %v", k.Tag, first.Params, err)
				continue
			}
			if d := cmp.Diff(first, again.Spec()); d != "" {
				t.Errorf("%s: no fixed point of %s (-first +again):\n%s", k.Tag, params, d)
			}
			if _, err := components.Catalogue().Entries(c); err != nil {
				t.Error(err)
			}
		}
	}
}

// Without parameters a kind builds, or says which parameter it needs; required says what is needed and no more.
func TestKindsWithoutParameters(t *testing.T) {
	for _, k := range kinds() {
		_, needs := required[k.Tag]
		for _, none := range []string{"", " ", "{}"} {
			_, err := k.New(json.RawMessage(none))
			if (err != nil) != needs {
				t.Errorf("%s with %q: %v, but required says %v", k.Tag, none, err, needs)
			}
			if err != nil && !namesParameter(k, err) {
				t.Errorf("%s with %q: %v names no parameter", k.Tag, none, err)
			}
		}
	}
}

func namesParameter(k components.Kind, err error) bool {
	var schema struct{ Properties map[string]any }
	if json.Unmarshal(k.Schema, &schema) != nil {
		return false
	}
	for name := range schema.Properties {
		if strings.Contains(err.Error(), name) {
			return true
		}
	}
	return false
}

// No kind takes a parameter that it does not know, a key twice, null, or what is no object.
func TestKindsAreStrict(t *testing.T) {
	for _, k := range kinds() {
		good := string(built(t, k)[0])
		rest := strings.TrimPrefix(good, "{")
		if rest != "}" {
			rest = "," + rest
		}
		for _, tt := range []struct {
			params, reason string
			unknown        bool
		}{
			{`{"no_such_parameter":1` + rest, "unknown", true},
			{`{"":1` + rest, "unknown", true},
			{`{"Window":{}` + rest, "the name of an embedded struct is none", true},
			{`null`, "no object", false},
			{`[]`, "no object", false},
			{good + `}`, "something follows", false},
			{good + good, "two values", false},
			{"\xff", "not UTF-8", false},
		} {
			_, err := k.New(json.RawMessage(tt.params))
			if err == nil || errors.Is(err, components.ErrUnknownParam) != tt.unknown {
				t.Errorf("%s: %s: %v (%s)", k.Tag, tt.params, err, tt.reason)
			}
		}
		for name := range fieldsOf(t, k) {
			for _, bad := range []string{`{%q:null}`, `{%q:1e400}`} {
				if _, err := k.New(json.RawMessage(fmt.Sprintf(bad, name))); err == nil {
					t.Errorf("%s: accepts "+bad, k.Tag, name)
				}
			}
			upper := fmt.Sprintf(`{%q:1}`, strings.ToUpper(name))
			if _, err := k.New(json.RawMessage(upper)); !errors.Is(err, components.ErrUnknownParam) {
				t.Errorf("%s: %s: %v, want an unknown parameter: names have a case", k.Tag, upper, err)
			}
		}
	}
}

// A number is read by its value, however it is written.
func TestKindsReadNumbers(t *testing.T) {
	k, _ := components.Catalogue().Kind("step_budget")
	for _, turns := range []string{"30", "30.0", "3e1", "300e-1"} {
		c, err := k.New(json.RawMessage(`{"turns":` + turns + `}`))
		if d := cmp.Diff(components.StepBudget{Turns: 30}, c); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", turns, err, d)
		}
	}
}

// fieldsOf returns the names that the component of a kind has in JSON, with their types.
func fieldsOf(t testing.TB, k components.Kind) map[string]reflect.Type {
	t.Helper()
	c, err := k.New(built(t, k)[0])
	if err != nil {
		t.Fatalf("%s: %v", k.Tag, err)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(c)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = f.Type
		} else if f.IsExported() && !f.Anonymous {
			t.Errorf("%s: field %s has no name in JSON", k.Tag, f.Name)
		}
	}
	return fields
}

// The schema of a kind has exactly the fields of its struct, of the right JSON type, each object in it is closed, and what it requires
// is what New requires.
func TestSchemas(t *testing.T) {
	for _, k := range components.Catalogue().Kinds() {
		var schema map[string]any
		if err := json.Unmarshal(k.Schema, &schema); err != nil {
			t.Errorf("%s: %v", k.Tag, err)
			continue
		}
		if schema["type"] != "object" || schema["additionalProperties"] != false {
			t.Errorf("%s: the schema is not a closed object", k.Tag)
		}
		properties, _ := schema["properties"].(map[string]any)
		names := slices.Sorted(maps.Keys(properties))
		if k.Axis == envharness.AxisLink {
			want := []string{"carry", "max_turns", "no_context", "stop_on_fail", "until_end"}
			if d := cmp.Diff(want, names); d != "" {
				t.Errorf("%s (-want +got):\n%s", k.Tag, d)
			}
			continue
		}
		fields := fieldsOf(t, k)
		if d := cmp.Diff(slices.Sorted(maps.Keys(fields)), names); d != "" {
			t.Errorf("%s: struct and schema differ (-struct +schema):\n%s", k.Tag, d)
		}
		for name, typ := range fields {
			p, _ := properties[name].(map[string]any)
			if want := jsonType(typ); want != "" && p["type"] != want && p["enum"] == nil {
				t.Errorf("%s: %s has type %v in the schema, want %s", k.Tag, name, p["type"], want)
			}
		}
		need, _ := schema["required"].([]any)
		for _, name := range need {
			if !strings.Contains(required[k.Tag], fmt.Sprintf("%q", name)) {
				t.Errorf("%s: the schema requires %v, New does not", k.Tag, name)
			}
		}
	}
}

// What a schema says of a parameter is true: values beyond its bounds are refused, and its default is what it means to leave it out.
func TestSchemasTellTheTruth(t *testing.T) {
	bounds, defaults := 0, 0
	for _, k := range kinds() {
		var schema struct {
			Properties map[string]struct {
				Type             string
				Minimum, Maximum *float64
				Default          any
			}
		}
		if err := json.Unmarshal(k.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		base, err := k.New(built(t, k)[0])
		if err != nil {
			t.Fatal(err)
		}
		with := func(name string, value any) (envharness.Component, error) {
			var params map[string]any
			if err := json.Unmarshal(built(t, k)[0], &params); err != nil {
				t.Fatal(err)
			}
			params[name] = value
			raw, err := json.Marshal(params)
			if err != nil {
				t.Fatal(err)
			}
			return k.New(raw)
		}
		for name, p := range schema.Properties {
			if p.Minimum != nil {
				bounds++
				c, err := with(name, *p.Minimum-1)
				leftOut := *p.Minimum == 1 && err == nil && reflect.DeepEqual(c.Spec(), base.Spec()) // zero stands for the default
				if err == nil && !leftOut {
					t.Errorf("%s: %s may be below its minimum", k.Tag, name)
				}
			}
			if p.Maximum != nil {
				bounds++
				if _, err := with(name, *p.Maximum+1); err == nil {
					t.Errorf("%s: %s may be above its maximum", k.Tag, name)
				}
			}
			if p.Default != nil {
				defaults++
				c, err := with(name, p.Default)
				if err != nil {
					t.Errorf("%s: default of %s: %v", k.Tag, name, err)
				} else if d := cmp.Diff(base.Spec(), c.Spec()); d != "" {
					t.Errorf("%s: default of %s (-left out +given):\n%s", k.Tag, name, d)
				}
			}
		}
	}
	if bounds == 0 || defaults == 0 {
		t.Errorf("%d bounds and %d defaults were tried", bounds, defaults)
	}
}

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Slice:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return ""
}

// wait is a component of a user's own.
type wait struct {
	Turns int `json:"turns"`
}

func (w wait) Spec() envharness.ComponentSpec {
	params, _ := json.Marshal(w)
	return envharness.ComponentSpec{Tag: "wait", Axis: envharness.AxisBudget, Params: params}
}

func (w wait) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	return envharness.Hooks{MaxTurns: w.Turns}, nil
}

func waitKind() components.Kind {
	return components.Kind{Tag: "wait", Version: 1, Axis: envharness.AxisBudget, New: func(raw json.RawMessage) (envharness.Component, error) {
		var w wait
		if len(raw) == 0 {
			return w, nil
		}
		return w, json.Unmarshal(raw, &w)
	}}
}

func TestAdd(t *testing.T) {
	tests := []struct {
		change func(*components.Kind)
		want   string
		reason string
	}{
		{func(k *components.Kind) {}, "", "complete"},
		{func(k *components.Kind) { k.Tag = "" }, "no tag", "nothing could name it"},
		{func(k *components.Kind) { k.New = nil }, "no New", "nothing could build it"},
		{func(k *components.Kind) { k.Version = 0 }, "version 0", "zero stands for 1 in a Spec"},
		{func(k *components.Kind) { k.Version = -1 }, "version -1", "versions count from 1"},
		{func(k *components.Kind) { k.Axis = "" }, "axis", "3.8: a registry holds the axis"},
		{func(k *components.Kind) { k.Axis = "R" }, "axis", "there is no reward axis"},
		{func(k *components.Kind) { k.Tag = "chain" }, "axis L", "a chain is a world"},
		{func(k *components.Kind) { k.Axis = "L" }, "axis L", "only the chain links"},
		{func(k *components.Kind) { k.Schema = json.RawMessage(`{`) }, "schema", "broken JSON"},
		{func(k *components.Kind) { k.Ladder = []json.RawMessage{[]byte(`{}`), []byte(``)} }, "ladder", "broken JSON"},
	}
	for _, tt := range tests {
		k, r := waitKind(), components.NewRegistry()
		tt.change(&k)
		err := r.Add(k)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v (%s)", tt.want, err, tt.reason)
		}
		if n := len(r.Kinds()); (n == 1) != (err == nil) {
			t.Errorf("%q: %d kinds afterwards", tt.want, n)
		}
	}
	var zero components.Registry
	if err := zero.Add(waitKind()); err != nil {
		t.Errorf("zero registry: %v", err)
	}
	if err := zero.Add(waitKind()); err == nil {
		t.Error("the same kind twice")
	}
}

func TestAddWorld(t *testing.T) {
	open := func(json.RawMessage) (envharness.World, error) { return envharness.World{}, nil }
	tests := []struct {
		tag     string
		version int
		open    func(json.RawMessage) (envharness.World, error)
		ok      bool
		reason  string
	}{
		{"tally", 1, open, true, "complete"},
		{"tally", 1, open, false, "there already"},
		{"tally", 2, open, false, "there already, in another version"},
		{"block", 1, open, true, "worlds and components have tags apart"},
		{"chain", 1, open, false, "taken by linked worlds"},
		{"", 1, open, false, "no tag"},
		{"b", 0, open, false, "versions count from 1"},
		{"b", 1, nil, false, "nothing to open"},
	}
	r := components.Catalogue()
	for _, tt := range tests {
		if err := r.AddWorld(tt.tag, tt.version, tt.open); (err == nil) != tt.ok {
			t.Errorf("%q version %d: %v (%s)", tt.tag, tt.version, err, tt.reason)
		}
	}
}

// A registry hands out copies and keeps copies.
func TestKindsAreCopies(t *testing.T) {
	k := waitKind()
	k.Schema, k.Ladder = json.RawMessage(`{}`), []json.RawMessage{json.RawMessage(`{}`)}
	r := components.NewRegistry()
	if err := r.Add(k); err != nil {
		t.Fatal(err)
	}
	spoil := func(k components.Kind) { k.Schema[0], k.Ladder[0][0] = 'x', 'x' }
	spoil(k)
	spoil(r.Kinds()[0])
	got, _ := r.Kind("wait")
	spoil(got)
	got, ok := r.Kind("wait")
	if !ok || !bytes.Equal(got.Schema, []byte(`{}`)) || !bytes.Equal(got.Ladder[0], []byte(`{}`)) {
		t.Errorf("kept: %s %s", got.Schema, got.Ladder)
	}
	if _, ok := r.Kind("Wait"); ok {
		t.Error("tags have a case")
	}
}

// Only what the registry can build again is written.
func TestEntries(t *testing.T) {
	own := func(s envharness.ComponentSpec) envharness.Component {
		return envharness.Rules(s, func(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
			return envharness.Hooks{MaxTurns: 1}, nil
		})
	}
	budget := components.StepBudget{Turns: 3}
	tests := []struct {
		name   string
		c      envharness.Component
		want   string // of the error; empty means that it is written
		reason string
	}{
		{"value", budget, "", "the type of the kind"},
		{"pointer", &budget, "", "the same type behind a pointer"},
		{"unregistered", own(envharness.ComponentSpec{Tag: "mine", Axis: "A"}), `tag "mine" is unknown`, "3.7"},
		{"impostor", own(budget.Spec()), "not for a", "a known tag, but other hooks"},
		{"axis", own(envharness.ComponentSpec{Tag: "step_budget", Axis: "A", Params: budget.Spec().Params}), "not for a", "another axis"},
		{"params", components.StepBudget{}, "turns 0", "its parameters are refused"},
		{"chain", own(envharness.ComponentSpec{Tag: "chain", Axis: "A"}), "is a world", "a chain is no component"},
		{"nil", nil, "is nil", "nothing there"},
	}
	r := components.Catalogue()
	for _, tt := range tests {
		got, err := r.Entries(tt.c)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v (%s)", tt.name, err, tt.reason)
		case tt.want == "":
			want := []components.Entry{{Tag: "step_budget", Version: 1, ID: "step_budget", Params: json.RawMessage(`{"turns":3}`)}}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
		case !errors.Is(err, components.ErrNotSerialisable) || !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %q (%s)", tt.name, err, tt.want, tt.reason)
		}
	}
}

// A component of the right type and with the right parameters may still stand on another axis.
func TestEntriesOnAnotherAxis(t *testing.T) {
	on := func(axis envharness.Axis) envharness.Component {
		return envharness.Rules(envharness.ComponentSpec{Tag: "mine", Axis: axis}, wait{}.Begin)
	}
	r := components.NewRegistry()
	build := func(json.RawMessage) (envharness.Component, error) { return on("B"), nil }
	err := r.Add(components.Kind{Tag: "mine", Version: 1, Axis: "B", New: build})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Entries(on("B")); err != nil {
		t.Error(err)
	}
	if _, err := r.Entries(on("A")); !errors.Is(err, components.ErrNotSerialisable) || !strings.Contains(err.Error(), "on axis A") {
		t.Errorf("written: %v", err)
	}
}

// A kind that does not make what it says is found out where it is used.
func TestKindsThatLie(t *testing.T) {
	lie := func(change func(*envharness.ComponentSpec)) func(json.RawMessage) (envharness.Component, error) {
		return func(params json.RawMessage) (envharness.Component, error) {
			s := wait{Turns: 1}.Spec()
			change(&s)
			return envharness.Rules(s, wait{}.Begin), nil
		}
	}
	for _, tt := range []struct {
		name, want string
		new        func(json.RawMessage) (envharness.Component, error)
	}{
		{"tag", `made "waits"`, lie(func(s *envharness.ComponentSpec) { s.Tag = "waits" })},
		{"axis", "on axis A", lie(func(s *envharness.ComponentSpec) { s.Axis = "A" })},
		{"nothing", "made nothing", func(json.RawMessage) (envharness.Component, error) { return nil, nil }},
		{"parameters", "rebuilt as", func(json.RawMessage) (envharness.Component, error) { return wait{Turns: 7}, nil }},
	} {
		r := withTally(t, components.NewRegistry())
		if err := r.Add(components.Kind{Tag: "wait", Version: 1, Axis: "B", New: tt.new}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Entries(wait{Turns: 1}); !errors.Is(err, components.ErrNotSerialisable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		s := components.Spec{Env: components.EnvSpec{Tag: "tally"}, Stack: []components.Entry{{Tag: "wait"}}}
		if _, _, _, err := r.Build(s); tt.name != "parameters" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: built: %v", tt.name, err)
		}
	}
}

// The table in the package comment says of every kind what the catalogue says, in the same order.
func TestPackageComment(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for line := range strings.Lines(string(src)) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok && !strings.HasPrefix(row, "tag ") {
			got = append(got, strings.Fields(row)[:4])
		}
	}
	var want [][]string
	for _, k := range components.Catalogue().Kinds() {
		typ, task := "EnvSpec", map[components.Direction]string{components.Harder: "harder", components.Harder | components.Easier: "both",
			components.Neutral | components.Harder: "other"}[k.Direction]
		if k.Axis != envharness.AxisLink {
			c, err := k.New(built(t, k)[0])
			if err != nil {
				t.Fatal(err)
			}
			typ = reflect.TypeOf(c).Name()
		}
		want = append(want, []string{k.Tag, typ, string(k.Axis), task})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-catalogue +comment):\n%s", d)
	}
}

// What cannot be written, or cannot be rebuilt as it is, is not in a file.
func TestEntriesRefusesWhatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]envharness.Component{
		"arguments that are no JSON": envharness.Setup{Actions: []envharness.Action{{Name: "x", Args: json.RawMessage("{")}}},
		"value that is no JSON":      components.StartPatch{Set: map[string]json.RawMessage{"/a": json.RawMessage("{")}},
		"pattern that is not UTF-8":  components.Block{Tools: []string{"\xff"}},
		"nil pointer":                (*components.Block)(nil),
	} {
		if entries, err := components.Catalogue().Entries(c); !errors.Is(err, components.ErrNotSerialisable) {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
	}
}
