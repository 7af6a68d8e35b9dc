package native

import (
	"context"
	"slices"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// single is one request and one call.
func (d *draft) single(ctx context.Context) (miss, error) {
	t := d.pick()
	if err := d.open(ctx, []*tool{t}, nil, nil); err != nil {
		return miss{}, err
	}
	s, m, err := d.made(ctx, t)
	if err != nil || m.reason != "" {
		return m, err
	}
	d.sample.Ability = midtool.Grounding
	if len(s.task.Slots) == 0 {
		d.sample.Ability = midtool.Affordance // there is nothing to ground, only a tool to find
	} else if len(d.sample.Tools) > 2 {
		d.sample.SecondAbility = midtool.Affordance
	}
	d.user(d.words.Request(tasks([]*step{s}), false))
	d.calls(false, s)
	d.answer(s)
	return miss{}, nil
}

// parallel is one request and 2 to 4 calls in one turn, none of which needs another's answer.
func (d *draft) parallel(ctx context.Context) (miss, error) {
	first := d.pick()
	n := d.values.Between(2, 4)
	tools := []*tool{first}
	for _, t := range some(&d.values, d.group.tools) {
		if len(tools) == n || d.values.Chance(0.5) && len(first.params) > 0 {
			break // the rest repeats the first tool
		}
		if t != first && !t.linked(tools) && !slices.ContainsFunc(tools, func(o *tool) bool { return confusable(o, t) }) {
			tools = append(tools, t)
		}
	}
	if err := d.open(ctx, tools, nil, nil); err != nil {
		return miss{}, err
	}
	for len(tools) < n && len(first.params) > 0 {
		tools = append(tools, first)
	}
	if len(tools) < 2 {
		return miss{reason: "no_value", detail: "no second call for the same turn"}, nil
	}
	var steps []*step
	said := make(map[string]bool)
	for _, t := range tools {
		s, m, err := d.made(ctx, t)
		if err != nil {
			return m, err
		}
		if m.reason != "" {
			if len(steps) >= 2 {
				break
			}
			return m, nil
		}
		key := t.ID + s.args.Encode(jsonval.Canonical)
		if said[key] {
			return miss{reason: "no_value", detail: "two equal calls"}, nil
		}
		said[key] = true
		steps = append(steps, s)
	}
	d.sample.Ability = midtool.Grounding
	d.user(d.words.Request(tasks(steps), false))
	d.calls(false, steps...)
	d.answer(steps...)
	return miss{}, nil
}

// linked says whether one of the tools feeds t or is fed by it.
func (t *tool) linked(tools []*tool) bool {
	for _, o := range tools {
		for _, e := range o.feeds {
			if e.to == t {
				return true
			}
		}
		for _, e := range t.feeds {
			if e.to == o {
				return true
			}
		}
	}
	return false
}
