package components

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/throughline-go/throughline/envharness"
)

// Errors of a [Registry] that a caller may branch on with errors.Is.
var (
	ErrUnknownTag      = errors.New("components: unknown tag")
	ErrUnknownParam    = errors.New("components: unknown parameter")
	ErrVersion         = errors.New("components: unsupported version")
	ErrNotSerialisable = errors.New("components: not in the registry")
)

// A Kind is one entry of a [Registry]: all that is known of a component before it is built.
type Kind struct {
	Tag       string
	Version   int // of the parameters, at least 1; 1 for all that are built in
	Axis      envharness.Axis
	Direction Direction
	About     string            // what it does, in one sentence, for [Registry.Words]; empty means that nobody said
	Sound     string            // the condition under which a task that could be solved still can
	Schema    json.RawMessage   // JSON Schema of the parameters, without additional properties; nil if there is none
	Ladder    []json.RawMessage // parameters from mild to strong, to be merged over the required ones; nil where they depend on the task
	// New builds the component; nil and empty parameters are the empty object. It refuses unknown parameters with [ErrUnknownParam], as
	// [DecodeParams] does and encoding/json doesn't, and values out of range. It must be a pure function: the same parameters give the same
	// component.
	New func(params json.RawMessage) (envharness.Component, error)
}

// A Registry knows components and worlds by their tags, and so reads and writes a [Spec]. The zero value is empty and ready for use.
// It is safe for concurrent use once nothing more is added.
type Registry struct {
	kinds  []Kind
	worlds map[string]worldKind
}

type worldKind struct {
	version int
	open    func(params json.RawMessage) (envharness.World, error)
}

// NewRegistry returns an empty registry, for a set of components of one's own. [Catalogue] returns a filled one.
func NewRegistry() *Registry { return &Registry{} }

// Add adds a kind of component. A tag that is there already is an error, even for an equal kind; so are an empty tag, a version below 1,
// an axis that there is not, a schema or a rung of the ladder that is not JSON, and no New. The tag "chain" is for the catalogue's own
// entry, and the link axis for this tag.
func (r *Registry) Add(k Kind) error {
	var fault string
	switch {
	case k.Tag == "":
		fault = "no tag"
	case k.New == nil:
		fault = "no New"
	case k.Version < 1:
		fault = fmt.Sprintf("version %d is below 1", k.Version)
	case !slices.Contains(axes, k.Axis):
		fault = fmt.Sprintf("axis %q is none", k.Axis)
	case (k.Tag == chainTag) != (k.Axis == envharness.AxisLink):
		fault = fmt.Sprintf("axis %s goes with tag %q and no other", envharness.AxisLink, chainTag)
	case k.Schema != nil && !json.Valid(k.Schema):
		fault = "the schema is not JSON"
	case slices.ContainsFunc(k.Ladder, func(rung json.RawMessage) bool { return !json.Valid(rung) }):
		fault = "a rung of the ladder is not JSON"
	}
	if _, used := r.find(k.Tag); used {
		fault = "the tag is in use"
	}
	if fault != "" {
		return fmt.Errorf("components: add kind %q: %s", k.Tag, fault)
	}
	r.kinds = append(r.kinds, k.clone())
	return nil
}

var axes = []envharness.Axis{
	envharness.AxisStart, envharness.AxisAction, envharness.AxisTransition, envharness.AxisObservation, envharness.AxisBudget,
	envharness.AxisLink,
}

// AddWorld adds a kind of world, under a tag that no other world has. The tag "chain", an empty tag, a version below 1 and a nil open are
// errors. Open gets a JSON object. It should refuse parameters that it does not know, as [DecodeParams] does, and leave what is costly to
// the World's New, for it is called to check a specification as well as to build one.
func (r *Registry) AddWorld(tag string, version int, open func(params json.RawMessage) (envharness.World, error)) error {
	var fault string
	switch _, used := r.worlds[tag]; {
	case tag == "":
		fault = "no tag"
	case tag == chainTag:
		fault = "the tag is that of linked worlds"
	case used:
		fault = "the tag is in use"
	case version < 1:
		fault = fmt.Sprintf("version %d is below 1", version)
	case open == nil:
		fault = "no function to open it"
	}
	if fault != "" {
		return fmt.Errorf("components: add world %q: %s", tag, fault)
	}
	if r.worlds == nil {
		r.worlds = make(map[string]worldKind)
	}
	r.worlds[tag] = worldKind{version, open}
	return nil
}

// Kinds returns the kinds of component in the order in which they were added, as a copy.
func (r *Registry) Kinds() []Kind {
	out := make([]Kind, len(r.kinds))
	for i, k := range r.kinds {
		out[i] = k.clone()
	}
	return out
}

// Kind returns a copy of the kind with the tag.
func (r *Registry) Kind(tag string) (Kind, bool) {
	k, known := r.find(tag)
	return k.clone(), known
}

// find returns the kind that the registry keeps, which is not to be changed.
func (r *Registry) find(tag string) (Kind, bool) {
	i := slices.IndexFunc(r.kinds, func(k Kind) bool { return k.Tag == tag })
	if i < 0 {
		return Kind{}, false
	}
	return r.kinds[i], true
}

func (k Kind) clone() Kind {
	k.Schema = bytes.Clone(k.Schema)
	k.Ladder = slices.Clone(k.Ladder)
	for i, rung := range k.Ladder {
		k.Ladder[i] = bytes.Clone(rung)
	}
	return k
}

// Entries writes a stack, innermost first, for the Stack of a [Spec], with all ids filled in. A component of which the registry cannot
// build the same again is an [ErrNotSerialisable]: its tag must be known, and what the kind builds from its parameters must be of the same
// type, with the same axis and the same parameters. Parameters are written in canonical form, the arguments of actions in them too.
func (r *Registry) Entries(components ...envharness.Component) ([]Entry, error) {
	entries := make([]Entry, len(components))
	var ids naming
	for i, c := range components {
		e, id, err := r.entry(c)
		if err != nil {
			return nil, fmt.Errorf("%w: component %d: %w", ErrNotSerialisable, i, err)
		}
		e.ID = ids.name(e.Tag, id)
		entries[i] = e
	}
	return entries, nil
}

// Stack builds a stack from entries, innermost first: the counterpart of Entries. It is strict: what [Registry.Build] refuses in the Stack
// of a [Spec] is refused here with the same errors, the place being a JSON pointer into the list of entries. Only whether the stack can
// stand around a chain is left to [envharness.New]. Every call makes new components; no entries make an empty stack.
//
// A component under an id of its own has the methods Outward and Requires, if its kind has them, as one under its default id.
func (r *Registry) Stack(entries ...Entry) ([]envharness.Component, error) {
	filled, err := filledStack(entries)
	if err != nil {
		return nil, fmt.Errorf("components: stack: %w", err)
	}
	stack, err := r.stack(filled)
	if err != nil {
		return nil, fmt.Errorf("components: stack: %w", err)
	}
	if _, err := envharness.New(nowhere, stack...); err != nil {
		return nil, fmt.Errorf("components: stack: %w", err)
	}
	return stack, nil
}

// nowhere is a world to check a stack with. Nobody opens it.
var nowhere = envharness.World{
	New: func(context.Context) (envharness.Environment, error) {
		return nil, errors.New("components: there is no such world")
	},
	Verifier: envharness.VerifierFunc(func(context.Context, envharness.Evidence) (envharness.Verdict, error) {
		return envharness.Verdict{}, errors.New("components: there is no such world")
	}),
}

// entry writes one component, with the id that it has, if it has one.
func (r *Registry) entry(c envharness.Component) (e Entry, id string, err error) {
	defer func() {
		if p := recover(); p != nil { // a nil pointer, for example
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if c == nil {
		return e, "", errors.New("it is nil")
	}
	spec := c.Spec()
	k, known := r.find(spec.Tag)
	if !known {
		return e, "", fmt.Errorf("tag %q is unknown", spec.Tag)
	}
	if checked, ok := c.(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil { // its parameters may be none that can be written
			return e, "", fmt.Errorf("%s: %w", spec.Tag, err)
		}
	}
	params, err := k.rebuild(c)
	if err != nil {
		return e, "", fmt.Errorf("%s: %w", spec.Tag, err)
	}
	return Entry{Tag: k.Tag, Version: k.Version, Params: params}, spec.ID, nil
}

// rebuild returns the parameters of c in canonical form if the kind builds the same from them.
func (k Kind) rebuild(c envharness.Component) (json.RawMessage, error) {
	spec := c.Spec()
	twin, err := k.make(spec.Params)
	if err != nil {
		return nil, err
	}
	params, err := canonicalParams(spec.Params)
	if err != nil {
		return nil, err
	}
	rebuilt, err := canonicalParams(twin.Spec().Params)
	if err != nil {
		return nil, err
	}
	switch {
	case concrete(c) != concrete(twin):
		return nil, fmt.Errorf("the tag stands for a %s, not for a %s", concrete(twin), concrete(c))
	case spec.Axis != k.Axis:
		return nil, fmt.Errorf("it is on axis %s, not %s", spec.Axis, k.Axis)
	case !bytes.Equal(params, rebuilt):
		return nil, fmt.Errorf("its parameters %.200s are rebuilt as %.200s", params, rebuilt)
	}
	return params, nil
}

// make calls New, and checks that it made what the kind says.
func (k Kind) make(params json.RawMessage) (envharness.Component, error) {
	c, err := k.New(bytes.Clone(params))
	switch {
	case err != nil:
		return nil, under("params", err)
	case c == nil:
		return nil, under("tag", fmt.Errorf("the New of kind %q made nothing", k.Tag))
	}
	if s := c.Spec(); s.Tag != k.Tag || s.Axis != k.Axis {
		return nil, under("tag", fmt.Errorf("kind %q on axis %s made %q on axis %s", k.Tag, k.Axis, s.Tag, s.Axis))
	}
	return c, nil
}

// canonicalParams returns the parameters in their one byte form; nil and empty are the empty object.
func canonicalParams(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	return envharness.CanonicalJSON(raw)
}

// concrete returns the type of a component behind pointers and names.
func concrete(c envharness.Component) reflect.Type {
	if n, ok := c.(named); ok {
		c = n.Component
	}
	t := reflect.TypeOf(c)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// A naming gives the components of a stack their ids, as [envharness.New] does.
type naming struct{ uses map[string]int }

// name returns the id, or the default one if it is empty. It is called once a component, from inside to outside.
func (n *naming) name(tag, id string) string {
	if n.uses == nil {
		n.uses = make(map[string]int)
	}
	n.uses[tag]++
	switch uses := n.uses[tag]; {
	case id != "":
		return id
	case uses > 1:
		return fmt.Sprintf("%s#%d", tag, uses)
	}
	return tag
}

// named is a component under an id of the caller's choice.
type named struct {
	envharness.Component
	id string
}

// Spec implements [envharness.Component].
func (n named) Spec() envharness.ComponentSpec {
	s := n.Component.Spec()
	s.ID = n.id
	return s
}

// The methods below forward to the component, which would lose its own by being embedded. What it does not have is answered as one would
// answer that has no need of it.

func (n named) Check() error {
	if k, ok := n.Component.(interface{ Check() error }); ok {
		return k.Check()
	}
	return nil
}

func (n named) Outward(a envharness.Action) envharness.Action {
	if t, ok := n.Component.(interface {
		Outward(a envharness.Action) envharness.Action
	}); ok {
		return t.Outward(a)
	}
	return a
}

func (n named) Requires(a envharness.Action) []Match {
	if l, ok := n.Component.(interface {
		Requires(a envharness.Action) []Match
	}); ok {
		return l.Requires(a)
	}
	return nil
}

// build is the New of a Kind whose component is its own parameters.
func build[T envharness.Component](raw json.RawMessage) (envharness.Component, error) {
	c, err := DecodeParams[T](raw)
	if err != nil {
		return nil, err
	}
	if k, ok := any(c).(interface{ Check() error }); ok {
		if err := k.Check(); err != nil {
			return nil, err
		}
	}
	return c, nil
}
