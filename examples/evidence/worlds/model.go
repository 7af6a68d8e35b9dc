package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// acting is a model behind an endpoint that plays some of the worlds.
type acting struct {
	*endpoint.Model
	worlds []string
}

// choose gives the model its worlds: those that are named, separated by commas, or all but the chains, whose many turns ask for little.
func choose(m *endpoint.Model, names string) (*acting, error) {
	if m == nil {
		if names != "" {
			return nil, fmt.Errorf("-worlds says what a model plays: it needs -endpoint and -model")
		}
		return nil, nil
	}
	a := &acting{Model: m}
	if names == "" {
		for _, w := range worlds.All() {
			if !w.Repeats || strings.HasPrefix(w.Name, "keydoor") {
				a.worlds = append(a.worlds, w.Name)
			}
		}
		return a, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		w, err := worlds.Find(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("-worlds: %w", err)
		}
		a.worlds = append(a.worlds, w.Name)
	}
	return a, nil
}

// act lets the model play test tasks, if it plays the world at all. That none of them can be judged is an error.
func (a *acting) act(ctx context.Context, w worlds.World, test []envharness.Task, r *worldResult) error {
	if a == nil || !slices.Contains(a.worlds, w.Name) {
		return nil
	}
	traces, err := a.Play(ctx, endpoint.Play{World: w, Tasks: sample(test, a.Tasks, false), Seed: 1})
	if err != nil {
		return err
	}
	got := endpoint.Count(traces)
	if got.Err() != nil { // nor could any of another world, most likely
		return fmt.Errorf("not judged: none of %d episodes; the first: %s", got.Invalid, got.Cause)
	}
	a.Finished(w.Name, got)
	r.Model = &got
	return nil
}

func (e *evidence) writeModel(line func(string, ...any)) {
	if e.Endpoint == nil {
		return
	}
	line("\nsuccess, of the model on test tasks\tmodel\tmean turns\toracle\tmean turns\tbest of those that know nothing")
	for _, name := range e.order {
		r := e.Worlds[name]
		if r.Model == nil {
			continue
		}
		null := 0.0
		for _, rate := range r.Null {
			null = max(null, rate)
		}
		turns := "-"
		if r.Model.Played > 0 {
			turns = fmt.Sprintf("%.2f", r.Model.Turns)
		}
		line("%s\t%v\t%s\t%s\t%.2f\t%s", name, r.Model, turns, percent(r.Oracle.Passed), r.Oracle.MeanTurns, percent(null))
	}
	for _, name := range e.order {
		if r := e.Worlds[name]; r.Model != nil && r.Model.Cause != "" {
			line("first invalid episode in %s: %s", name, r.Model.Cause)
		}
	}
	line("%v", e.Endpoint)
}
