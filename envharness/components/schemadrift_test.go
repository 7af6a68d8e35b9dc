package components_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// An api is a scene with one tool that accepts exactly what its schema says.
func api(schema string, offers ...string) *scene {
	s := &scene{tools: []envharness.Tool{{Name: "call", Description: "Calls.", Schema: json.RawMessage(schema)}, {Name: "other",
		Schema: json.RawMessage(schema)}}}
	var offered []envharness.Action
	for _, args := range offers {
		offered = append(offered, envharness.Action{Name: "call", Args: json.RawMessage(args)})
	}
	s.answer = func(past []envharness.Action) (envharness.Observation, *envharness.ActionError) {
		o := envharness.Observation{Text: "ok", Actions: offered}
		if n := len(past); n > 0 && !valid(schema, past[n-1].Args) {
			return text("refused"), &envharness.ActionError{Class: envharness.ClassBadArgs, Message: "by the base"}
		}
		return o, nil
	}
	return s
}

// valid is the part of JSON Schema that the tests need: closed objects of strings, integers and enumerations.
func valid(schema string, args json.RawMessage) bool {
	var s struct {
		Properties map[string]struct {
			Type string
			Enum []string
		}
		Required             []string
		AdditionalProperties *bool
	}
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		panic(err)
	}
	in := map[string]any{}
	if len(args) > 0 && json.Unmarshal(args, &in) != nil {
		return false
	}
	for _, name := range s.Required {
		if _, ok := in[name]; !ok {
			return false
		}
	}
	for name, v := range in {
		p, ok := s.Properties[name]
		text, isText := v.(string)
		number, isNumber := v.(float64)
		switch {
		case !ok:
			if s.AdditionalProperties != nil {
				return false
			}
		case p.Enum != nil:
			if !isText || !slices.Contains(p.Enum, text) {
				return false
			}
		case p.Type == "string" && !isText, p.Type == "integer" && (!isNumber || number != float64(int(number))):
			return false
		}
	}
	return true
}

const orderSchema = `{"type":"object","properties":{"order_id":{"type":"string"},"page":{"type":"integer"},` +
	`"status":{"type":"string","enum":["open","closed"],"default":"open","examples":["open"]}},` +
	`"required":["order_id"],"additionalProperties":false}`

func TestSchemaDrift(t *testing.T) {
	drift := components.Drift{
		Rename:  map[string]string{"order_id": "id"},
		Add:     map[string]json.RawMessage{"locale": json.RawMessage(`{"type":"string"}`)},
		Remove:  []string{"page"},
		Enum:    map[string]map[string]string{"status": {"open": "OPEN"}},
		Version: "v2",
	}
	swap := components.Drift{Rename: map[string]string{"order_id": "page", "page": "order_id"}}
	tests := []struct {
		name  string
		drift components.Drift
		args  string
		want  string // what reaches the base; empty if the component refuses the call
	}{
		{"new form", drift, `{"id":"O1","status":"OPEN"}`, `{"order_id":"O1","status":"open"}`},
		{"value that stays", drift, `{"id":"O1","status":"closed"}`, `{"order_id":"O1","status":"closed"}`},
		{"added", drift, `{"id":"O1","locale":"de"}`, `{"order_id":"O1"}`},
		{"large number", components.Drift{Rename: map[string]string{"page": "p"}}, `{"p":12345678901234567890}`, `{"page":12345678901234567890}`},
		{"old name", drift, `{"order_id":"O1"}`, ``},
		{"old name in other case", drift, `{"ORDER_ID":"O1"}`, ``},
		{"both names", drift, `{"id":"O1","order_id":"O2"}`, ``},
		{"removed", drift, `{"id":"O1","page":1}`, ``},
		{"old value", drift, `{"id":"O1","status":"open"}`, ``},
		{"odd value", drift, `{"id":"O1","status":null}`, `{"order_id":"O1","status":null}`},
		{"unknown", drift, `{"id":"O1","x":1}`, ``},
		{"no object", drift, `[1]`, `[1]`},
		{"no JSON", drift, `{`, `{`},
		{"null", drift, `null`, `null`},
		{"two names swapped", swap, `{"page":"O1","order_id":3}`, `{"order_id":"O1","page":3}`},
		{"version alone", components.Drift{Version: "v2"}, `{ "x" : 1 }`, `{ "x" : 1 }`},
		{"nothing", components.Drift{}, `{ "x" : 1 }`, `{ "x" : 1 }`},
	}
	for _, tt := range tests {
		s := api(orderSchema)
		h := on(t, s, components.SchemaDrift{Tools: map[string]components.Drift{"call": tt.drift}})
		for range 2 {
			if _, err := h.Reset(t.Context(), envharness.ResetOptions{}); err != nil {
				t.Fatal(err)
			}
			tr, err := h.Step(t.Context(), envharness.Action{Name: "call", Args: json.RawMessage(tt.args)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(s.past) > 0 {
				got = string(s.past[0].Args)
			} else if tr.Error == nil || tr.Error.Class != envharness.ClassBadArgs {
				t.Errorf("%s: %+v", tt.name, tr)
			}
			if got != tt.want {
				t.Errorf("%s: %s reached the base, want %q", tt.name, got, tt.want)
			}
		}
	}
	h := on(t, api(orderSchema), components.SchemaDrift{Tools: map[string]components.Drift{"call": drift}})
	mustBegin(t, h)
	want := []envharness.Tool{
		{Name: "call", Description: "[v2] Calls.", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},` +
			`"status":{"type":"string","enum":["OPEN","closed"],"default":"OPEN"},"locale":{"type":"string"}},` +
			`"required":["id"],"additionalProperties":false}`)},
		{Name: "other", Schema: json.RawMessage(orderSchema)},
	}
	if d := cmp.Diff(want, h.Tools()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func mustBegin(t *testing.T, h *envharness.Harness) envharness.Observation {
	t.Helper()
	o, err := h.Reset(t.Context(), envharness.ResetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSchemaDriftActions(t *testing.T) {
	s := api(orderSchema, `{"order_id":"O1"}`, `{"order_id":"O1","page":2}`, `{"status":"open","order_id":"O1"}`, `[1]`, `{"status":null}`)
	h := on(t, s, components.SchemaDrift{Tools: map[string]components.Drift{"call": {
		Rename: map[string]string{"order_id": "id"}, Remove: []string{"page"}, Enum: map[string]map[string]string{"status": {"open": "OPEN"}},
	}}})
	var got []string
	for _, a := range mustBegin(t, h).Actions {
		got = append(got, string(a.Args))
	}
	want := []string{`{"id":"O1"}`, `{"status":"OPEN","id":"O1"}`, `[1]`, `{"status":null}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the action with a removed argument is left out (-want +got):\n%s", d)
	}
}

func TestSchemaDriftRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		drift        components.Drift
		check        bool // refused by Check already
	}{
		{"empty name", orderSchema, components.Drift{Rename: map[string]string{"page": ""}}, true},
		{"one name for two", orderSchema, components.Drift{Rename: map[string]string{"page": "x", "status": "x"}}, true},
		{"added and renamed", orderSchema, components.Drift{Rename: map[string]string{"page": "x"},
			Add: map[string]json.RawMessage{"x": json.RawMessage("{}")}}, true},
		{"no schema", orderSchema, components.Drift{Add: map[string]json.RawMessage{"x": json.RawMessage("1")}}, true},
		{"removed and renamed", orderSchema, components.Drift{Rename: map[string]string{"page": "x"}, Remove: []string{"page"}}, true},
		{"removed and mapped", orderSchema, components.Drift{Enum: map[string]map[string]string{"status": {}}, Remove: []string{"status"}}, true},
		{"removed twice", orderSchema, components.Drift{Remove: []string{"page", "page"}}, true},
		{"name that stays", orderSchema, components.Drift{Rename: map[string]string{"page": "status"}}, false},
		{"added name that stays", orderSchema, components.Drift{Add: map[string]json.RawMessage{"page": json.RawMessage("{}")}}, false},
		{"renames nothing", orderSchema, components.Drift{Rename: map[string]string{"x": "y"}}, false},
		{"removes nothing", orderSchema, components.Drift{Remove: []string{"x"}}, false},
		{"removes required", orderSchema, components.Drift{Remove: []string{"order_id"}}, false},
		{"maps nothing", orderSchema, components.Drift{Enum: map[string]map[string]string{"x": {}}}, false},
		{"no enumeration", orderSchema, components.Drift{Enum: map[string]map[string]string{"page": {"1": "2"}}}, false},
		{"no such value", orderSchema, components.Drift{Enum: map[string]map[string]string{"status": {"x": "y"}}}, false},
		{"two values become one", orderSchema, components.Drift{Enum: map[string]map[string]string{"status": {"open": "closed"}}}, false},
		{"more than properties", `{"anyOf":[],"properties":{"a":{}}}`, components.Drift{Rename: map[string]string{"a": "b"}}, false},
		{"other arguments", `{"additionalProperties":{"type":"string"},"properties":{"a":{}}}`,
			components.Drift{Rename: map[string]string{"a": "b"}}, false},
		{"required without schema", `{"required":["z"],"properties":{"a":{}}}`, components.Drift{Rename: map[string]string{"a": "b"}}, false},
		{"odd required", `{"required":"a","properties":{"a":{}}}`, components.Drift{Rename: map[string]string{"a": "b"}}, false},
		{"odd properties", `{"properties":[]}`, components.Drift{Add: map[string]json.RawMessage{"x": json.RawMessage("{}")}}, false},
		{"boolean schema", `true`, components.Drift{Add: map[string]json.RawMessage{"x": json.RawMessage("{}")}}, false},
	} {
		c := components.SchemaDrift{Tools: map[string]components.Drift{"call": tt.drift}}
		if err := c.Check(); (err != nil) != tt.check {
			t.Errorf("%s: check: %v", tt.name, err)
		}
		if tt.check {
			continue
		}
		s := api(orderSchema)
		s.tools[0].Schema = json.RawMessage(tt.schema)
		if _, err := on(t, s, c).Reset(t.Context(), envharness.ResetOptions{}); err == nil {
			t.Errorf("%s: accepted", tt.name)
		}
	}
	c := components.SchemaDrift{Tools: map[string]components.Drift{"absent": {}}}
	if _, err := on(t, api(orderSchema), c).Reset(t.Context(), envharness.ResetOptions{}); err == nil {
		t.Error("a tool that is not there is accepted")
	}
}

// A tool without a schema can get optional arguments, and loses them on the way in.
func TestSchemaDriftWithoutSchema(t *testing.T) {
	s := api(`{"additionalProperties":false}`)
	s.tools[0].Schema = nil
	added := map[string]json.RawMessage{"x": json.RawMessage(`{"type":"string"}`)}
	h := on(t, s, components.SchemaDrift{Tools: map[string]components.Drift{"call": {Add: added}}})
	mustBegin(t, h)
	if got, want := string(h.Tools()[0].Schema),
		`{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false}`; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	if _, err := h.Step(t.Context(), envharness.Action{Name: "call",
		Args: json.RawMessage(`{"x":"y"}`)}); err != nil || string(s.past[0].Args) != "{}" {
		t.Errorf("%v, %v", s.past, err)
	}
}

// drawDrift draws a schema of up to five arguments and a drift that fits it.
func drawDrift(rt *rapid.T) (schema string, d components.Drift) {
	properties, required := map[string]any{}, []any{}
	d = components.Drift{Rename: map[string]string{}, Add: map[string]json.RawMessage{}, Enum: map[string]map[string]string{}}
	names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(0, 5).Draw(rt, "arguments")]
	fresh := rapid.Permutation([]string{"a", "b", "c", "d", "e", "v", "w", "x", "y", "z"}).Draw(rt, "names")
	taken := map[string]bool{}
	var unchanged []string
	for i, name := range names {
		isRequired := rapid.Bool().Draw(rt, "required")
		if isRequired {
			required = append(required, name)
		}
		isEnum := rapid.Bool().Draw(rt, "enum")
		properties[name] = map[string]any{"type": rapid.SampledFrom([]string{"string", "integer"}).Draw(rt, "type")}
		if isEnum {
			properties[name] = map[string]any{"enum": []any{"p", "q", "r"}}
		}
		switch rapid.IntRange(0, 3).Draw(rt, "change") {
		case 0:
			d.Rename[name] = fresh[i]
			taken[fresh[i]] = true
		case 1:
			if !isRequired {
				d.Remove = append(d.Remove, name)
				continue
			}
			unchanged = append(unchanged, name)
		default:
			unchanged = append(unchanged, name)
		}
		if isEnum && rapid.Bool().Draw(rt, "map") {
			d.Enum[name] = rapid.SampledFrom([]map[string]string{{"p": "P"}, {"p": "q", "q": "p"}, {"p": "q", "q": "r", "r": "p"}, {}}).Draw(rt,
				"values")
		}
	}
	for _, name := range unchanged {
		if taken[name] { // the name is in use: move out of the way
			name2 := name + "2"
			d.Rename[name] = name2
		} else {
			taken[name] = true
		}
	}
	for _, name := range fresh[5:rapid.IntRange(5, 7).Draw(rt, "added")] {
		if !taken[name] {
			d.Add[name] = json.RawMessage(`{"type":"string"}`)
		}
	}
	raw, _ := envharness.CanonicalJSON(map[string]any{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false})
	return string(raw), d
}

// drawArgs draws arguments out of the names and values of both forms.
func drawArgs(rt *rapid.T, schemas ...string) json.RawMessage {
	args := map[string]any{}
	for _, schema := range schemas {
		var s struct {
			Properties map[string]struct {
				Type string
				Enum []string
			}
			Required []string
		}
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			rt.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			if !slices.Contains(s.Required, name) && rapid.Bool().Draw(rt, "leave out") {
				continue
			}
			switch {
			case p.Enum != nil:
				args[name] = rapid.SampledFrom(p.Enum).Draw(rt, "value")
			case p.Type == "string":
				args[name] = "s"
			default:
				args[name] = 1.0
			}
		}
	}
	raw, _ := envharness.CanonicalJSON(args)
	return raw
}

// A call is carried out exactly if it is valid under the schema that is shown; and an action that the base offers reaches it as it was.
func TestSchemaDriftLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schema, drift := drawDrift(rt)
		offer := drawArgs(rt, schema)
		s := api(schema, string(offer))
		c := components.SchemaDrift{Tools: map[string]components.Drift{"call": drift}}
		if err := c.Check(); err != nil {
			rt.Fatal(err)
		}
		h := on(t, s, c)
		o, err := h.Reset(t.Context(), envharness.ResetOptions{})
		if err != nil {
			rt.Fatalf("%+v of %s: %v", drift, schema, err)
		}
		shown := string(h.Tools()[0].Schema)
		forms := rapid.SampledFrom([][]string{{shown}, {schema}, {schema, shown}}).Draw(rt, "forms")
		args := drawArgs(rt, forms...)
		for name := range drift.Add { // of these the base sees nothing, so that nothing checks them
			var in map[string]any
			if json.Unmarshal(args, &in) == nil && in[name] != nil {
				in[name] = "s"
				args = json.RawMessage(jsonOf(t, in))
			}
		}
		tr, err := h.Step(t.Context(), envharness.Action{Name: "call", Args: args})
		if err != nil {
			rt.Fatal(err)
		}
		if want := valid(shown, args); (tr.Error == nil) != want {
			rt.Fatalf("%s of %s (was %s): valid %v, carried out %v, %+v", args, shown, schema, want, tr.Error == nil, s.past)
		}
		for _, a := range o.Actions {
			s.past = nil
			tr, err := h.Step(t.Context(), a)
			if err != nil || tr.Error != nil || jsonOf(t, s.past[0].Args) != string(offer) {
				rt.Fatalf("offer %s is shown as %s and comes back as %v: %v, %v", offer, a.Args, s.past, tr.Error, err)
			}
		}
	})
}

func ExampleSchemaDrift() {
	s := api(`{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`)
	show := observe(s, components.SchemaDrift{Tools: map[string]components.Drift{"call": {Rename: map[string]string{"order_id": "id"}}}})
	show(`call{"order_id":"O1"}`, `call{"id":"O1"}`)
	fmt.Printf("the base saw %s\n", s.past[0].Args)
	// Output:
	// reset: "ok"
	// call{"order_id":"O1"}: "Error: call: unknown argument \"order_id\""
	// call{"id":"O1"}: "ok"
	// the base saw {"order_id":"O1"}
}
