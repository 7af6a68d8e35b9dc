package components

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
)

// Distractor mixes things of no use into what the policy is offered: tools into the list of tools, or documents into a list of the data.
// Which of the pool and where is drawn once an episode. A call of such a tool is answered with Result and does not step the base.
//
// Tag distractor, axis O; the params are the struct with its defaults filled in. It is sound if no solution needs what looks like a
// distractor, and no name of a tool collides, which makes the episode fail at the start.
type Distractor struct {
	N         *int              `json:"n"`                   // how many of the pool, at most all; nil means 3
	Pool      []envharness.Tool `json:"pool,omitempty"`      // tools to draw from; or else
	Documents []any             `json:"documents,omitempty"` // documents to draw from, JSON values
	// List is the place of the list that documents are put into, a JSON pointer into Data and into a Text that is JSON; an empty list stays
	// empty.
	List   string `json:"list,omitempty"`
	Result string `json:"result,omitempty"` // what a call of a distracting tool shows; empty means "No results found."
}

func (d Distractor) withDefaults() Distractor {
	if d.N == nil {
		d.N = new(3)
	}
	if len(d.Pool) > 0 {
		d.Result = cmp.Or(d.Result, "No results found.")
	}
	return d
}

// Spec implements [envharness.Component].
func (d Distractor) Spec() envharness.ComponentSpec {
	return spec("distractor", envharness.AxisObservation, d.withDefaults())
}

// Check reports a pool that is none, two or smaller than N, names used twice, and a List that is no pointer.
func (d Distractor) Check() error {
	d = d.withDefaults()
	errs := []error{d.checkPool()}
	if size := len(d.Pool) + len(d.Documents); *d.N < 0 || *d.N > size {
		errs = append(errs, fmt.Errorf("n %d must be 0 to %d, the size of the pool", *d.N, size))
	}
	seen := make(map[string]bool)
	for _, t := range d.Pool {
		if t.Name == "" || seen[t.Name] {
			errs = append(errs, fmt.Errorf("tool name %q is empty or used twice", t.Name))
		}
		seen[t.Name] = true
	}
	return errors.Join(errs...)
}

func (d Distractor) checkPool() error {
	if len(d.Documents) == 0 {
		if d.List != "" {
			return errors.New("a list, but no documents to put into it")
		}
		return nil
	}
	if len(d.Pool) > 0 || d.Result != "" {
		return errors.New("documents go with neither a pool of tools nor a result")
	}
	if _, err := envharness.CanonicalJSON(d.Documents); err != nil {
		return fmt.Errorf("documents: %w", err)
	}
	_, err := parsePath(d.List)
	return err
}

// String says in words what the component does with its parameters.
func (d Distractor) String() string {
	d = d.withDefaults()
	if *d.N == 0 {
		return unchanged
	}
	are := " are "
	if *d.N == 1 {
		are = " is "
	}
	if len(d.Documents) > 0 {
		return count(*d.N, "document") + " of no use" + are + "mixed into the list " + word(d.List)
	}
	names := make([]string, len(d.Pool))
	for i, t := range d.Pool {
		names[i] = word(t.Name)
	}
	from := ": "
	if *d.N < len(names) {
		from = ", drawn from "
	}
	return count(*d.N, "tool") + " of no use" + are + "offered" + from + list("and", names) + "; a call shows " +
		strconv.Quote(shorten(d.Result))
}

// Begin implements [envharness.Component].
func (d Distractor) Begin(_ context.Context, e envharness.EpisodeInfo) (envharness.Hooks, error) {
	d = d.withDefaults()
	if len(d.Documents) > 0 {
		return d.mixDocuments(e.Rand)
	}
	tools := drawMix(d.Pool, *d.N, e.Rand)
	return envharness.Hooks{
		Tools: func(_ context.Context, list []envharness.Tool) ([]envharness.Tool, error) {
			for _, t := range tools {
				if slices.ContainsFunc(list, func(u envharness.Tool) bool { return u.Name == t.item.Name }) {
					return nil, fmt.Errorf("there is a tool %q already", t.item.Name)
				}
			}
			return mix(list, tools), nil
		},
		Action: func(_ context.Context, _ envharness.View, a envharness.Action) (envharness.ActionEdit, error) {
			if slices.ContainsFunc(tools, func(t mixed[envharness.Tool]) bool { return t.item.Name == a.Name }) {
				return envharness.AnswerAction(d.Result, nil), nil
			}
			return envharness.PassAction(), nil
		},
	}, nil
}

func (d Distractor) mixDocuments(r *rand.Rand) (envharness.Hooks, error) {
	path, err := parsePath(d.List)
	if err != nil {
		return envharness.Hooks{}, err
	}
	raw, err := envharness.CanonicalJSON(d.Documents) // an int in a literal becomes a float64, as in all data
	if err != nil {
		return envharness.Hooks{}, err
	}
	var pool []any
	if err := json.Unmarshal(raw, &pool); err != nil {
		return envharness.Hooks{}, err
	}
	documents := drawMix(pool, *d.N, r)
	return envharness.Hooks{Observe: func(_ context.Context, _ envharness.View, o envharness.Observation) (envharness.Observation, error) {
		editFields(&o, []dataPath{path}, func(_ string, v any) (any, outcome) {
			list, ok := v.([]any)
			if !ok || len(list) == 0 || len(documents) == 0 {
				return v, kept
			}
			return mix(list, documents), replaced
		})
		return o, nil
	}}, nil
}

// A mixed item has its place in any list as a share of its length, so that the draw holds for lists of all lengths.
type mixed[T any] struct {
	item T
	at   float64
}

// drawMix draws n items of a pool, in the order in which they come in a list.
func drawMix[T any](pool []T, n int, r *rand.Rand) []mixed[T] {
	out := make([]mixed[T], n)
	for i, j := range r.Perm(len(pool))[:n] {
		out[i] = mixed[T]{pool[j], r.Float64()}
	}
	slices.SortStableFunc(out, func(a, b mixed[T]) int { return cmp.Compare(a.at, b.at) })
	return out
}

// mix returns a new list with the items in their places.
func mix[T any](list []T, items []mixed[T]) []T {
	out := make([]T, 0, len(list)+len(items))
	done := 0
	for _, m := range items {
		upTo := int(m.at * float64(len(list)+1))
		out = append(append(out, list[done:upTo]...), m.item)
		done = upTo
	}
	return append(out, list[done:]...)
}

func distractorKind() Kind {
	return Kind{
		Tag: "distractor", Version: 1, Axis: envharness.AxisObservation, Direction: Harder,
		About: "offers tools or documents that are of no use",
		Sound: "No solution needs what looks like a distractor, and no name of a tool collides with those that are there.",
		Schema: objectSchema("", `"n":{"type":"integer","minimum":0}`,
			`"pool":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name"],"properties":{`+
				`"name":{"type":"string","minLength":1},"description":{"type":"string"},"input_schema":{"type":"object"},`+
				`"read_only":{"type":"boolean"},"submits":{"type":"boolean"}}}}`,
			`"documents":{"type":"array"}`, `"list":{"type":"string","pattern":"^/"}`, `"result":{"type":"string"}`),
		Ladder: ladder(`{"n":2}`, `{"n":5}`, `{"n":10}`),
		New:    build[Distractor],
	}
}
