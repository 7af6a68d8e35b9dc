package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
)

// reference is a model behind an endpoint, which is not trained.
type reference struct {
	Endpoint endpoint.Usage   `json:"endpoint"`
	Worlds   []worldReference `json:"worlds"`
}

// worldReference is its success on the first validation tasks of a world.
type worldReference struct {
	World string `json:"world"`
	endpoint.Tally
}

// refer lets the model play in all worlds; without a model there is no reference.
func refer(ctx context.Context, m *endpoint.Model, s settings) (*reference, error) {
	if m == nil {
		return nil, nil
	}
	if err := m.Reach(ctx); err != nil {
		return nil, err
	}
	r := &reference{}
	for _, setting := range s.Worlds {
		w, err := worlds.Find(setting.Name)
		if err != nil {
			return nil, err
		}
		tasks, err := w.Tasks(ctx, "validation")
		if err != nil {
			return nil, err
		}
		traces, err := m.Play(ctx, endpoint.Play{World: w, Tasks: tasks[:min(m.Tasks, len(tasks))], Seed: 1})
		if err != nil {
			return nil, err
		}
		t := endpoint.Count(traces)
		if err := t.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		m.Finished(w.Name, t)
		r.Worlds = append(r.Worlds, worldReference{w.Name, t})
	}
	r.Endpoint = m.Usage()
	return r, nil
}

func (r *reference) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nfor comparison, not trained\tvalidation success of %s\n", r.Endpoint.Model)
	for _, in := range r.Worlds {
		fmt.Fprintf(t, "%s\t%v\n", in.World, in.Tally)
	}
	for _, in := range r.Worlds {
		if in.Cause != "" {
			fmt.Fprintf(t, "first invalid episode in %s: %s\n", in.World, in.Cause)
		}
	}
	fmt.Fprintln(t, r.Endpoint)
	return t.Flush()
}
