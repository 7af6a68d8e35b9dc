package components

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

const (
	schemaVersion = 1
	maxSpecBytes  = 1 << 20 // as read, and in canonical form, which long exponents can make larger
	maxChains     = 8       // as many as envharness.Link allows; each opens the environments of all its legs
)

// A Spec is a specification: a world, the components around it and one of its tasks, as data. [Registry.Decode] reads one,
// [Registry.Build] builds what it describes, [Spec.Encode] writes it:
//
//	{"schema_version":1,
//	 "env":{"tag":"game24","version":1,"params":{}},
//	 "task":{"id":"3,3,8,8","seed":7},
//	 "stack":[{"tag":"block","version":1,"id":"block","params":{"tools":["stop"]}}],
//	 "meta":{}}
//
// In a file every field must be there, but seed, split and family of the task, meta, legs of the env, and version of a chain; text and
// lists that may be left out must not be empty. In Go a field may be left zero as its comment says; [Spec.Encode] fills it in.
//
// A file has at most 1 MiB, is nested at most 200 deep, and has at most 8 chains within one another.
type Spec struct {
	SchemaVersion int             `json:"schema_version"` // zero means 1, and there is no other
	Env           EnvSpec         `json:"env"`
	Task          envharness.Task `json:"task"`           // of a leg only the ID: its seed follows from that of the chain
	Stack         []Entry         `json:"stack"`          // innermost first
	Meta          json.RawMessage `json:"meta,omitempty"` // a JSON object that is kept and not read, or nil
}

// An EnvSpec says which world it is: one that [Registry.AddWorld] added, or a chain, which [envharness.Link] makes. The tag of a chain is
// "chain" and its params are, all optional, those of [envharness.LinkOptions]:
//
//	{"until_end":false,"stop_on_fail":false,"carry":1500,"no_context":false,"max_turns":0}
type EnvSpec struct {
	Tag     string          `json:"tag"`
	Version int             `json:"version,omitempty"` // zero means 1; in a file only a chain can do without
	Params  json.RawMessage `json:"params"`            // a JSON object; nil means the empty one
	Legs    []Spec          `json:"legs,omitempty"`    // of a chain, at least two; none otherwise
}

// An Entry is one component of a [Spec].
type Entry struct {
	Tag     string          `json:"tag"`
	Version int             `json:"version"` // of the parameters; zero means 1
	ID      string          `json:"id"`      // unique in the stack; empty means what [envharness.ComponentSpec] says
	Params  json.RawMessage `json:"params"`  // a JSON object; nil means the empty one
}

// Decode reads a specification. It is strict: a field, tag ([ErrUnknownTag]), parameter ([ErrUnknownParam]) or version ([ErrVersion])
// that is not known, a value out of range, an id or key given twice, a number that would be rounded, an order of components that
// [envharness.New] refuses ([envharness.ErrOrder]), anything after the object and anything beyond the bounds of a Spec are errors; the
// error has the JSON pointer of the place. What is accepted can be built, and Encode gives back its canonical form, byte for byte.
func (r *Registry) Decode(data []byte) (Spec, error) {
	s, err := decodeSpec(data)
	if err == nil {
		_, _, _, err = r.build(s)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("components: specification: %w", err)
	}
	return s, nil
}

func decodeSpec(data []byte) (Spec, error) {
	var s Spec
	if len(data) > maxSpecBytes {
		return s, errTooLarge(len(data))
	}
	v, err := parse(data)
	if err != nil {
		return s, err
	}
	if err := checkSchemaVersion(v); err != nil {
		return s, err
	}
	if err := (shape{unknown: errors.New("unknown field"), full: true}).check(v, reflect.TypeFor[Spec]()); err != nil {
		return s, err
	}
	raw, err := envharness.CanonicalJSON(v)
	if err != nil {
		return s, err
	}
	if len(raw) > maxSpecBytes {
		return s, errTooLarge(len(raw))
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, err
	}
	return s, s.checkWritten()
}

// checkWritten refuses the zero fields that Encode fills in: a file has one way to say what they mean.
func (s Spec) checkWritten() error {
	switch {
	case s.SchemaVersion == 0:
		return under("schema_version", fmt.Errorf("%w 0, not %d", ErrVersion, schemaVersion))
	case s.Env.Version == 0 && s.Env.Tag != chainTag:
		return under("env", under("version", fmt.Errorf("%w: missing", ErrVersion)))
	}
	for i, e := range s.Stack {
		switch {
		case e.Version == 0:
			return under("stack", under(strconv.Itoa(i), under("version", fmt.Errorf("%w 0", ErrVersion))))
		case e.ID == "":
			return under("stack", under(strconv.Itoa(i), under("id", errors.New("empty"))))
		}
	}
	for i, l := range s.Env.Legs {
		if err := l.checkWritten(); err != nil {
			return under("env", under("legs", under(strconv.Itoa(i), err)))
		}
	}
	return nil
}

// checkSchemaVersion comes before all else: a file of another version may have other fields.
func checkSchemaVersion(v any) error {
	object, _ := v.(map[string]any)
	n, ok := object["schema_version"].(json.Number)
	if f, err := n.Float64(); ok && (err != nil || f != schemaVersion) {
		return under("schema_version", fmt.Errorf("%w %s, not %d", ErrVersion, shorten(n.String()), schemaVersion))
	}
	return nil
}

func errTooLarge(n int) error { return fmt.Errorf("%d bytes, more than %d", n, maxSpecBytes) }

// Build builds what s describes, with the same checks as [Registry.Decode]. The world and the components are for [envharness.New] or
// [envharness.Rollouts], and every call makes new ones. The task has the Seed of s, nil if it has none.
func (r *Registry) Build(s Spec) (envharness.World, []envharness.Component, envharness.Task, error) {
	w, stack, task, err := r.build(s)
	if err != nil {
		return envharness.World{}, nil, envharness.Task{}, fmt.Errorf("components: specification: %w", err)
	}
	return w, stack, task, nil
}

func (r *Registry) build(s Spec) (envharness.World, []envharness.Component, envharness.Task, error) {
	s, err := s.filled(0)
	if err != nil {
		return envharness.World{}, nil, envharness.Task{}, err
	}
	w, stack, err := r.open(s)
	if s.Task.Seed != nil {
		s.Task.Seed = new(*s.Task.Seed) // not that of the caller
	}
	return w, stack, s.Task, err
}

// open builds a specification that was filled in.
func (r *Registry) open(s Spec) (envharness.World, []envharness.Component, error) {
	w, err := r.world(s.Env)
	if err != nil {
		return envharness.World{}, nil, under("env", err)
	}
	stack, err := r.stack(s.Stack)
	if err == nil {
		_, err = envharness.New(w, stack...)
	}
	if err != nil {
		return envharness.World{}, nil, under("stack", err)
	}
	return w, stack, nil
}

func (r *Registry) world(e EnvSpec) (envharness.World, error) {
	if e.Tag == chainTag {
		return r.chain(e)
	}
	k, known := r.worlds[e.Tag]
	if !known {
		return envharness.World{}, under("tag", fmt.Errorf("%w %q", ErrUnknownTag, shorten(e.Tag)))
	}
	if k.version != e.Version {
		return envharness.World{}, under("version", fmt.Errorf("%w %d of world %q, not %d", ErrVersion, e.Version, e.Tag, k.version))
	}
	w, err := k.open(bytes.Clone(e.Params))
	if err != nil {
		return envharness.World{}, under("params", err)
	}
	_, err = envharness.New(w) // so that the place of a faulty world is not that of the stack
	return w, err
}

// chainParams are the parameters of a chain.
type chainParams struct {
	UntilEnd   bool `json:"until_end,omitempty"`
	StopOnFail bool `json:"stop_on_fail,omitempty"`
	Carry      *int `json:"carry,omitempty"`
	NoContext  bool `json:"no_context,omitempty"`
	MaxTurns   int  `json:"max_turns,omitempty"`
}

func (r *Registry) chain(e EnvSpec) (envharness.World, error) {
	if e.Version > 1 || e.Version < 0 {
		return envharness.World{}, under("version", fmt.Errorf("%w %d of a chain, not 1", ErrVersion, e.Version))
	}
	params, err := DecodeParams[chainParams](e.Params)
	if err != nil {
		return envharness.World{}, under("params", err)
	}
	legs := make([]envharness.Leg, len(e.Legs))
	for i, l := range e.Legs {
		w, stack, err := r.open(l)
		if err != nil {
			return envharness.World{}, under("legs", under(strconv.Itoa(i), err))
		}
		legs[i] = envharness.Leg{World: w, Components: stack, Task: l.Task.ID}
	}
	o := envharness.LinkOptions(params)
	return envharness.Link(legs, &o)
}

func (r *Registry) stack(entries []Entry) ([]envharness.Component, error) {
	stack := make([]envharness.Component, len(entries))
	var ids naming
	for i, e := range entries {
		c, err := r.component(e)
		if err != nil {
			return nil, under(strconv.Itoa(i), err)
		}
		if ids.name(e.Tag, c.Spec().ID) != e.ID {
			c = named{c, e.ID}
		}
		stack[i] = c
	}
	return stack, nil
}

func (r *Registry) component(e Entry) (envharness.Component, error) {
	k, known := r.find(e.Tag)
	if !known {
		return nil, under("tag", fmt.Errorf("%w %q", ErrUnknownTag, shorten(e.Tag)))
	}
	if k.Version != e.Version {
		return nil, under("version", fmt.Errorf("%w %d of %q, not %d", ErrVersion, e.Version, e.Tag, k.Version))
	}
	return k.make(e.Params)
}

// filled returns a copy in which zero fields have their meaning, checked for all that takes no registry.
func (s Spec) filled(chains int) (Spec, error) {
	s.SchemaVersion = cmp.Or(s.SchemaVersion, schemaVersion)
	if s.SchemaVersion != schemaVersion {
		return s, under("schema_version", fmt.Errorf("%w %d, not %d", ErrVersion, s.SchemaVersion, schemaVersion))
	}
	if len(s.Meta) > 0 {
		if err := checkObject(s.Meta); err != nil {
			return s, under("meta", err)
		}
	}
	var err error
	if s.Env, err = s.Env.filled(chains); err != nil {
		return s, under("env", err)
	}
	if s.Stack, err = filledStack(s.Stack); err != nil {
		return s, under("stack", err)
	}
	return s, nil
}

func (e EnvSpec) filled(chains int) (EnvSpec, error) {
	var err error
	if e.Params, err = filledParams(e.Params); err != nil {
		return e, under("params", err)
	}
	if e.Tag != chainTag {
		e.Version = cmp.Or(e.Version, 1)
		if len(e.Legs) > 0 {
			return e, under("legs", errors.New("only a chain has legs"))
		}
		return e, nil
	}
	if chains >= maxChains {
		return e, fmt.Errorf("more than %d chains within one another", maxChains)
	}
	e.Legs = slices.Clone(e.Legs)
	for i, l := range e.Legs {
		if l.Task.Seed != nil || l.Task.Split != "" || l.Task.Family != "" {
			err = under("task", errors.New("the task of a leg has an id and nothing else"))
		} else {
			e.Legs[i], err = l.filled(chains + 1)
		}
		if err != nil {
			return e, under("legs", under(strconv.Itoa(i), err))
		}
	}
	return e, nil
}

func filledStack(entries []Entry) ([]Entry, error) {
	filled := make([]Entry, len(entries))
	at := make(map[string]int)
	var ids naming
	for i, e := range entries {
		e.Version = cmp.Or(e.Version, 1)
		e.ID = ids.name(e.Tag, e.ID)
		if j, used := at[e.ID]; used {
			return nil, under(strconv.Itoa(i), under("id", fmt.Errorf("%q is also that of %d", shorten(e.ID), j)))
		}
		at[e.ID] = i
		var err error
		if e.Params, err = filledParams(e.Params); err != nil {
			return nil, under(strconv.Itoa(i), under("params", err))
		}
		filled[i] = e
	}
	return filled, nil
}

func filledParams(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	return raw, checkObject(raw)
}

func checkObject(raw json.RawMessage) error {
	v, err := parse(raw)
	if err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return errNoObject
	}
	return nil
}

// Encode writes the specification in canonical form ([envharness.CanonicalJSON]), with all that was left zero filled in. It refuses what
// takes no registry to see: more than the bounds of a [Spec], an id used twice, params or meta that are no object, legs without a chain.
func (s Spec) Encode() ([]byte, error) {
	s, err := s.filled(0)
	if err != nil {
		return nil, fmt.Errorf("components: specification: %w", err)
	}
	raw, err := envharness.CanonicalJSON(s)
	if err == nil {
		_, err = decodeSpec(raw) // for its bounds
	}
	if err != nil {
		return nil, fmt.Errorf("components: specification: %w", err)
	}
	return raw, nil
}

// Hash returns the SHA-256 of what [Spec.Encode] writes, in lower-case hex. Meta counts too.
func (s Spec) Hash() (string, error) {
	raw, err := s.Encode()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
