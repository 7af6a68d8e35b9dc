package components

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Rename shows tools and their arguments under other names: in the list of tools, with the properties and the required ones of
// their schemas, and in the admissible actions. Calls are translated back. A present name that was given up is refused, a tool as
// [envharness.ClassUnknownTool] and an argument as [envharness.ClassBadArgs], and so are arguments of a tool with renamed ones that are
// no JSON object. Names may be swapped. Texts, data and other parts of a schema are not searched for names.
//
// Tag rename, axis A; the params are the struct. It is sound if the names stay distinct, which is checked as far as the tools are
// listed: a new name that another tool or argument has makes the episode invalid, as does an argument that the tool's schema lacks.
//
// It does not commute with components that choose calls by name: one around it sees the new names, one inside the present ones.
type Rename struct {
	Tools map[string]string            `json:"tools,omitempty"` // new name of a tool by its present one
	Args  map[string]map[string]string `json:"args,omitempty"`  // by the tool's present name: new name of an argument by its present one
}

// Spec implements [envharness.Component].
func (r Rename) Spec() envharness.ComponentSpec { return spec("rename", envharness.AxisAction, r) }

// Check reports an empty name, a new name given twice, and one that no tool may have.
func (r Rename) Check() error {
	errs := []error{checkNames("tool", r.Tools)}
	for _, old := range slices.Sorted(maps.Keys(r.Tools)) {
		// The names that the harness refuses in a list of tools; an environment need not have one.
		if envharness.ReservedTool(r.Tools[old]) {
			errs = append(errs, fmt.Errorf("tool %q: %w %q", old, envharness.ErrReservedName, r.Tools[old]))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(r.Args)) {
		if err := checkNames("argument", r.Args[tool]); err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", tool, err))
		}
	}
	return errors.Join(errs...)
}

func checkNames(what string, names map[string]string) error {
	from := make(map[string]string, len(names))
	for _, old := range slices.Sorted(maps.Keys(names)) {
		name := names[old]
		if old == "" || name == "" {
			return fmt.Errorf("%s %q becomes %q: a name must not be empty", what, old, name)
		}
		if other, used := from[name]; used {
			return fmt.Errorf("%ss %q and %q both become %q", what, other, old, name)
		}
		from[name] = old
	}
	return nil
}

// String says in words what the component does with its parameters.
func (r Rename) String() string {
	var changes []string
	for _, old := range slices.Sorted(maps.Keys(r.Tools)) {
		if name := r.Tools[old]; name != old {
			changes = append(changes, word(old)+" is called "+word(name))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(r.Args)) {
		for _, old := range slices.Sorted(maps.Keys(r.Args[tool])) {
			if name := r.Args[tool][old]; name != old {
				changes = append(changes, "the argument "+word(old)+" of "+word(tool)+" is called "+word(name))
			}
		}
	}
	if len(changes) == 0 {
		return unchanged
	}
	return list("and", changes)
}

// Outward returns the call that a policy has to make behind the component so that a comes out of it, up to spaces in the arguments. For an
// action that no call becomes, as its name was given to another tool, there is none, and the result is of no use.
func (r Rename) Outward(a envharness.Action) envharness.Action { return r.renaming().outward(a) }

// renaming returns the names that change.
func (r Rename) renaming() renaming {
	n := renaming{tools: newRenames(r.Tools), args: make(map[string]renames)}
	for tool, names := range r.Args {
		if args := newRenames(names); len(args.shown) > 0 {
			n.args[tool] = args
		}
	}
	return n
}

// Begin implements [envharness.Component].
func (r Rename) Begin(context.Context, envharness.EpisodeInfo) (envharness.Hooks, error) {
	n := r.renaming()
	if len(n.tools.shown) == 0 && len(n.args) == 0 {
		return envharness.Hooks{}, nil
	}
	return envharness.Hooks{Tools: n.list, Action: n.action, Observe: n.observe}, nil
}

// A renames holds the names of one kind that change, both ways.
type renames struct{ shown, present map[string]string }

// newRenames leaves out the names that stay as they are.
func newRenames(names map[string]string) renames {
	n := renames{make(map[string]string), make(map[string]string)}
	for old, name := range names {
		if old != name {
			n.shown[old], n.present[name] = name, old
		}
	}
	return n
}

func (n renames) outward(name string) string {
	if shown, ok := n.shown[name]; ok {
		return shown
	}
	return name
}

// inward returns the present name, and false for one that was given up.
func (n renames) inward(name string) (string, bool) {
	if present, ok := n.present[name]; ok {
		return present, true
	}
	_, gone := n.shown[name]
	return name, !gone
}

// A renaming holds the names of a [Rename] that change.
type renaming struct {
	tools renames
	args  map[string]renames // by the tool's present name
}

func (r renaming) action(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
	name, ok := r.tools.inward(a.Name)
	if !ok {
		return refuse(envharness.ClassUnknownTool, fmt.Sprintf("no tool named %q", a.Name), false), nil
	}
	names, ok := r.args[name]
	if !ok || noArgs(a.Args) {
		if name == a.Name {
			return envharness.PassAction(), nil
		}
		return envharness.ReplaceAction(envharness.Action{Name: name, Args: a.Args}), nil
	}
	args, err := rewriteObject(a.Args, func(key string, value json.RawMessage) (string, json.RawMessage, error) {
		present, ok := names.inward(key)
		if !ok {
			return "", nil, fmt.Errorf("no argument named %q", key)
		}
		return present, value, nil
	})
	if err != nil {
		return refuse(envharness.ClassBadArgs, err.Error(), false), nil
	}
	return envharness.ReplaceAction(envharness.Action{Name: name, Args: args}), nil
}

// noArgs reports whether the arguments are none: absent or null.
func noArgs(args json.RawMessage) bool {
	args = bytes.TrimSpace(args)
	return len(args) == 0 || string(args) == "null"
}

// outward leaves arguments that are no object as they are.
func (r renaming) outward(a envharness.Action) envharness.Action {
	out, err := r.show(a)
	if err != nil {
		out.Args = bytes.Clone(a.Args)
	}
	return out
}

// show returns an action of the base under the names that are shown.
func (r renaming) show(a envharness.Action) (envharness.Action, error) {
	out := envharness.Action{Name: r.tools.outward(a.Name), Args: a.Args}
	names, ok := r.args[a.Name]
	if !ok || noArgs(a.Args) {
		return out, nil
	}
	var err error
	out.Args, err = rewriteObject(a.Args, func(key string, value json.RawMessage) (string, json.RawMessage, error) {
		return names.outward(key), value, nil
	})
	return out, err
}

func (r renaming) observe(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
	for i, a := range o.Actions {
		var err error
		if o.Actions[i], err = r.show(a); err != nil {
			return o, fmt.Errorf("admissible action %d: %w", i, err)
		}
	}
	return o, nil
}

func (r renaming) list(_ context.Context, tools []envharness.Tool) ([]envharness.Tool, error) {
	for i := range tools {
		t := &tools[i]
		if names, ok := r.args[t.Name]; ok && len(t.Schema) > 0 {
			schema, err := names.schema(t.Schema)
			if err != nil {
				return nil, fmt.Errorf("schema of tool %q: %w", t.Name, err)
			}
			t.Schema = schema
		}
		t.Name = r.tools.outward(t.Name)
	}
	return tools, nil
}

// schema renames the properties of an object schema and what it requires.
func (n renames) schema(schema json.RawMessage) (json.RawMessage, error) {
	return rewriteObject(schema, func(key string, value json.RawMessage) (string, json.RawMessage, error) {
		var err error
		switch key {
		case "properties":
			value, err = n.properties(value)
		case "required":
			var required []string
			if err = json.Unmarshal(value, &required); err == nil {
				for i, name := range required {
					required[i] = n.outward(name)
				}
				value, err = json.Marshal(required)
			}
		}
		return key, value, err
	})
}

func (n renames) properties(properties json.RawMessage) (json.RawMessage, error) {
	seen, renamed := make(map[string]bool), 0
	out, err := rewriteObject(properties, func(key string, value json.RawMessage) (string, json.RawMessage, error) {
		name := n.outward(key)
		if name != key {
			renamed++
		}
		if seen[name] {
			return "", nil, fmt.Errorf("two arguments named %q", name)
		}
		seen[name] = true
		return name, value, nil
	})
	if err == nil && renamed < len(n.shown) {
		err = fmt.Errorf("of the %d arguments to rename only %d are there", len(n.shown), renamed)
	}
	return out, err
}

// A rewriting is what becomes of a field of a JSON object.
type rewriting func(key string, value json.RawMessage) (string, json.RawMessage, error)

// rewriteObject rewrites the fields of a JSON object and keeps their order.
func rewriteObject(object json.RawMessage, f rewriting) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') || !json.Valid(object) {
		return nil, errNoObject
	}
	out := append(make([]byte, 0, len(object)), '{')
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if key, value, err = f(key, value); err != nil {
			return nil, err
		}
		name, err := envharness.CanonicalJSON(key)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

func renameKind() Kind {
	return Kind{
		Tag: "rename", Version: 1, Axis: envharness.AxisAction, Direction: Neutral | Harder,
		About:  "shows tools and arguments under other names",
		Sound:  "the new names are distinct from one another and from all names that stay, and none is reserved",
		Schema: objectSchema("", `"tools":`+namesSchema, `"args":{"type":"object","additionalProperties":`+namesSchema+`}`),
		New:    build[Rename],
	}
}
