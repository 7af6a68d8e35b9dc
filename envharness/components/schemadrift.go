package components

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// SchemaDrift changes the arguments of tools as a new version of an API does. The schemas shown and the arguments accepted change
// together: a call in the new form reaches the base in the old one, and a call with an argument or value that the new form does not know
// is refused with class [envharness.ClassBadArgs] and does not step the base. Listed admissible actions are shown in the new form; those
// that it cannot express are left out.
//
// An episode begins only if every new form can be mapped back to the old one: new names are distinct, what is removed exists and is not
// required, the new values of an enumeration are distinct. The new form knows no arguments but those in its schema. Schemas that say more
// about arguments than properties, required and additionalProperties, and tools that are not there, are refused.
//
// Tag schema_drift, axis A; the params are the struct. It is sound if a solution can do without the removed arguments.
type SchemaDrift struct {
	Tools map[string]Drift `json:"tools,omitempty"` // by exact name; none changes nothing
}

// A Drift is what changes in the arguments of one tool. The zero value changes nothing. All names are those before the change.
type Drift struct {
	Rename  map[string]string            `json:"rename,omitempty"`  // new names of arguments
	Add     map[string]json.RawMessage   `json:"add,omitempty"`     // JSON object schemas of new optional arguments, which the base never sees
	Remove  []string                     `json:"remove,omitempty"`  // optional arguments that are no longer accepted
	Enum    map[string]map[string]string `json:"enum,omitempty"`    // by argument, new values of an enumeration of strings; others stay
	Version string                       `json:"version,omitempty"` // put before the description, in brackets
}

// Spec implements [envharness.Component].
func (s SchemaDrift) Spec() envharness.ComponentSpec {
	return spec("schema_drift", envharness.AxisAction, s)
}

// Check reports empty names, two arguments with one new name, arguments both removed and changed, and added schemas that are no objects.
func (s SchemaDrift) Check() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		if err := s.Tools[name].check(); err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (d Drift) check() error {
	var errs []error
	taken := make(map[string]bool)
	take := func(name string) {
		if name == "" || taken[name] {
			errs = append(errs, fmt.Errorf("new argument name %q is empty or used twice", name))
		}
		taken[name] = true
	}
	for _, old := range slices.Sorted(maps.Keys(d.Rename)) {
		take(d.Rename[old])
	}
	for _, name := range slices.Sorted(maps.Keys(d.Add)) {
		take(name)
		if doc, _ := readDocument(string(d.Add[name])); !isObject(doc) {
			errs = append(errs, fmt.Errorf("schema of added argument %q is no JSON object", name))
		}
	}
	for i, name := range d.Remove {
		_, renamed := d.Rename[name]
		_, mapped := d.Enum[name]
		if renamed || mapped || slices.Contains(d.Remove[:i], name) {
			errs = append(errs, fmt.Errorf("removed argument %q is changed otherwise too", name))
		}
	}
	return errors.Join(errs...)
}

func isObject(doc any) bool {
	_, ok := doc.(*members)
	return ok
}

// String says in words what the component does with its parameters.
func (s SchemaDrift) String() string {
	var changes []string
	for _, tool := range slices.Sorted(maps.Keys(s.Tools)) {
		changes = append(changes, s.Tools[tool].words(word(tool))...)
	}
	if len(changes) == 0 {
		return unchanged
	}
	return list("and", changes)
}

// words says what changes, one sentence each.
func (d Drift) words(tool string) []string {
	var changes []string
	for _, old := range slices.Sorted(maps.Keys(d.Rename)) {
		changes = append(changes, "the argument "+word(old)+" of "+tool+" is called "+word(d.Rename[old]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Add)) {
		changes = append(changes, tool+" has a new argument "+word(name))
	}
	for _, name := range d.Remove {
		changes = append(changes, tool+" has no argument "+word(name))
	}
	for _, arg := range slices.Sorted(maps.Keys(d.Enum)) {
		for _, old := range slices.Sorted(maps.Keys(d.Enum[arg])) {
			changes = append(changes, "the value "+word(old)+" of the argument "+word(arg)+" of "+tool+" is called "+word(d.Enum[arg][old]))
		}
	}
	if d.Version != "" {
		changes = append(changes, tool+" is marked as "+strconv.Quote(shorten(d.Version)))
	}
	return changes
}

// Outward returns the call that a policy has to make behind the component so that a comes out of it, up to the order of the arguments and
// the spaces in them. Arguments that were removed are left out, as no call can have them: what comes out lacks them.
func (s SchemaDrift) Outward(a envharness.Action) envharness.Action {
	d := s.Tools[a.Name]
	if !d.closes() {
		return a
	}
	f := form{new: d.Rename, changed: d.Enum, removed: d.Remove}
	return envharness.Action{Name: a.Name, Args: f.outward(f.without(a))}
}

// without returns the arguments that were not removed.
func (f *form) without(a envharness.Action) json.RawMessage {
	var in map[string]json.RawMessage
	if f.sayable(a) || json.Unmarshal(a.Args, &in) != nil {
		return a.Args
	}
	for _, name := range f.removed {
		delete(in, name)
	}
	out, _ := json.Marshal(in) // of values that were decoded
	return out
}

// closes reports whether the accepted arguments change.
func (d Drift) closes() bool { return len(d.Rename)+len(d.Add)+len(d.Remove)+len(d.Enum) > 0 }

// Begin implements [envharness.Component].
func (s SchemaDrift) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		if !slices.ContainsFunc(e.Base().Tools, func(t envharness.Tool) bool { return t.Name == name }) {
			return envharness.Hooks{}, fmt.Errorf("there is no tool %q", name)
		}
	}
	forms := make(map[string]*form)
	return envharness.Hooks{
		Tools: func(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
			clear(forms)
			for i, t := range tools {
				d, ok := s.Tools[t.Name]
				if !ok {
					continue
				}
				f, schema, err := d.form(t.Schema)
				if err != nil {
					return nil, fmt.Errorf("tool %q: %w", t.Name, err)
				}
				if d.closes() {
					forms[t.Name], tools[i].Schema = f, schema
				}
				if d.Version != "" {
					tools[i].Description = "[" + d.Version + "] " + t.Description
				}
			}
			return tools, nil
		},
		Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			f := forms[a.Name]
			if f == nil || len(a.Args) == 0 {
				return envharness.PassAction(), nil
			}
			args, err := f.inward(a.Args)
			if err != nil {
				return refuse(envharness.ClassBadArgs, a.Name+": "+err.Error(), false), nil
			}
			return envharness.ReplaceAction(envharness.Action{Name: a.Name, Args: args}), nil
		},
		Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
			o.Actions = slices.DeleteFunc(o.Actions, func(a envharness.Action) bool { return forms[a.Name] != nil && !forms[a.Name].sayable(a) })
			for i, a := range o.Actions {
				if f := forms[a.Name]; f != nil {
					o.Actions[i].Args = f.outward(a.Args)
				}
			}
			return o, nil
		},
	}, nil
}

// A form maps the arguments of one tool.
type form struct {
	old     map[string]string            // by new name
	new     map[string]string            // by old name, without the removed
	added   map[string]bool              // by new name
	removed []string                     // old names
	values  map[string]map[string]string // by old name, old values by new ones, for the whole enumeration
	changed map[string]map[string]string // by old name, new values by old ones
}

// Keywords of a tool's schema that say nothing about single arguments, besides those that form rewrites.
var neutralKeywords = []string{"type", "title", "description", "$schema", "$id", "$comment", "$defs", "definitions"}

// form builds the new schema and the mapping; no schema is one without arguments.
func (d Drift) form(schema json.RawMessage) (*form, json.RawMessage, error) {
	if !d.closes() {
		return nil, schema, nil
	}
	root := &members{values: map[string]any{}}
	root.set("type", "object")
	if len(schema) > 0 {
		doc, _ := readDocument(string(schema))
		var ok bool
		if root, ok = doc.(*members); !ok {
			return nil, nil, errors.New("schema is no JSON object")
		}
	}
	required, err := checkRoot(root)
	if err != nil {
		return nil, nil, err
	}
	properties, ok := root.values["properties"].(*members)
	if !ok {
		properties = &members{}
	}
	f, shown, err := d.rewrite(properties, required)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range required {
		required[i] = f.new[name.(string)]
	}
	root.set("properties", shown)
	if len(required) > 0 {
		root.set("required", required)
	}
	root.set("additionalProperties", false)
	return f, writeDocument(nil, root), nil
}

// checkRoot refuses a schema whose arguments cannot be told one by one, and returns the required ones.
func checkRoot(root *members) ([]any, error) {
	for _, k := range root.keys {
		v, ok := root.values[k], true
		switch k {
		case "properties":
			ok = isObject(v)
		case "additionalProperties":
			_, ok = v.(bool)
		case "type":
			ok = v == "object"
		case "required":
			var list []any
			list, ok = v.([]any)
			for _, name := range list {
				_, is := name.(string)
				ok = ok && is
			}
		default:
			ok = slices.Contains(neutralKeywords, k)
		}
		if !ok {
			return nil, fmt.Errorf("schema: %q is more than can be rewritten", k)
		}
	}
	required, _ := root.values["required"].([]any)
	return required, nil
}

func (d Drift) rewrite(properties *members, required []any) (*form, *members, error) {
	f := &form{
		old: map[string]string{}, new: map[string]string{}, added: map[string]bool{}, removed: d.Remove,
		values: map[string]map[string]string{}, changed: d.Enum,
	}
	if err := d.known(properties, required); err != nil {
		return nil, nil, err
	}
	shown := &members{values: map[string]any{}}
	for _, old := range properties.keys {
		if slices.Contains(d.Remove, old) {
			continue
		}
		name, ok := d.Rename[old]
		if !ok {
			name = old
		}
		property, err := properties.values[old], error(nil)
		if d.Enum[old] != nil {
			if property, f.values[old], err = mapEnum(property, d.Enum[old]); err != nil {
				return nil, nil, fmt.Errorf("argument %q: %w", old, err)
			}
		}
		if _, twice := f.old[name]; twice {
			return nil, nil, fmt.Errorf("two arguments named %q", name)
		}
		f.old[name], f.new[old] = old, name
		shown.set(name, property)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Add)) {
		if _, twice := f.old[name]; twice {
			return nil, nil, fmt.Errorf("two arguments named %q", name)
		}
		f.added[name] = true
		property, _ := readDocument(string(d.Add[name]))
		shown.set(name, property)
	}
	return f, shown, nil
}

// known reports changes of arguments that are not there, a required one that would be removed, and a required one without a property.
func (d Drift) known(properties *members, required []any) error {
	for _, r := range required {
		name, _ := r.(string)
		if slices.Contains(d.Remove, name) {
			return fmt.Errorf("argument %q is required and cannot be removed", name)
		}
		if !slices.Contains(properties.keys, name) {
			return fmt.Errorf("argument %q is required and has no schema", name)
		}
	}
	names := slices.Concat(slices.Sorted(maps.Keys(d.Rename)), d.Remove, slices.Sorted(maps.Keys(d.Enum)))
	for _, name := range names {
		if !slices.Contains(properties.keys, name) {
			return fmt.Errorf("there is no argument %q", name)
		}
	}
	return nil
}

// mapEnum gives the schema of an argument its new values, and returns the old ones by the new ones.
func mapEnum(property any, values map[string]string) (any, map[string]string, error) {
	object, _ := property.(*members)
	var enum []any
	if object != nil {
		enum, _ = object.values["enum"].([]any)
	}
	for _, old := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(enum, any(old)) {
			return nil, nil, fmt.Errorf("%q is no value of its enumeration", old)
		}
	}
	back := make(map[string]string, len(enum))
	renew := func(v any) any {
		if s, ok := v.(string); ok {
			if to, ok := values[s]; ok {
				return to
			}
		}
		return v
	}
	shown := make([]any, len(enum))
	for i, v := range enum {
		shown[i] = renew(v)
		old, isString := v.(string)
		if !isString {
			continue
		}
		to := shown[i].(string)
		if other, twice := back[to]; twice && other != old {
			return nil, nil, fmt.Errorf("two values become %q", to)
		}
		back[to] = old
	}
	out := &members{slices.Clone(object.keys), maps.Clone(object.values)}
	out.set("enum", shown)
	for _, k := range []string{"default", "const"} {
		if v, ok := out.values[k]; ok {
			out.set(k, renew(v))
		}
	}
	out.remove("examples") // in the old form
	return out, back, nil
}

// inward maps the arguments of a call to the old form. What is no object is left for the base to refuse.
func (f *form) inward(args json.RawMessage) (json.RawMessage, error) {
	var in map[string]json.RawMessage
	if json.Unmarshal(args, &in) != nil || in == nil {
		return args, nil
	}
	out := make(map[string]json.RawMessage, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if f.added[name] {
			continue
		}
		old, ok := f.old[name]
		if !ok {
			return nil, fmt.Errorf("unknown argument %q", name)
		}
		v := in[name]
		var s string
		if values := f.values[old]; values != nil && v[0] == '"' && json.Unmarshal(v, &s) == nil {
			was, ok := values[s]
			if !ok {
				return nil, fmt.Errorf("argument %q: unknown value %q", name, s)
			}
			v, _ = json.Marshal(was) // a string
		}
		out[old] = v
	}
	return json.Marshal(out)
}

// sayable reports whether an action of the base can be said in the new form.
func (f *form) sayable(a envharness.Action) bool {
	var in map[string]json.RawMessage
	if json.Unmarshal(a.Args, &in) != nil {
		return true
	}
	for _, name := range f.removed {
		if _, ok := in[name]; ok {
			return false
		}
	}
	return true
}

// outward maps the arguments of an action of the base to the new form.
func (f *form) outward(args json.RawMessage) json.RawMessage {
	out, err := rewriteObject(args, func(old string, v json.RawMessage) (string, json.RawMessage, error) {
		name, ok := f.new[old]
		if !ok {
			name = old
		}
		var s string
		if values := f.changed[old]; values != nil && v[0] == '"' && json.Unmarshal(v, &s) == nil {
			if to, ok := values[s]; ok {
				v, _ = json.Marshal(to)
			}
		}
		return name, v, nil
	})
	if err != nil {
		return args // no object: the base's own affair
	}
	return out
}

func schemaDriftKind() Kind {
	return Kind{
		Tag: "schema_drift", Version: 1, Axis: envharness.AxisAction, Direction: Harder,
		About: "changes tools as a new version of an API does",
		Sound: "Every new form can be mapped back, which the start of an episode checks, and a solution can do without the removed arguments.",
		Schema: objectSchema("", `"tools":{"type":"object","additionalProperties":{"type":"object","additionalProperties":false,"properties":{`+
			`"rename":`+namesSchema+`,"add":{"type":"object","additionalProperties":{"type":"object"}},"remove":`+patternsSchema+
			`,"enum":{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"string"}}},`+
			`"version":{"type":"string"}}}}`),
		New: build[SchemaDrift],
	}
}
