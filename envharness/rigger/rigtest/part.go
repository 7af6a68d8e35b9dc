package rigtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// A part is what is known of a task: how it is played well.
type part struct {
	task  envharness.Task
	about envharness.Description
	limit int
	plan  []envharness.Action
	texts []string // shown before each action of the plan
	first envharness.Observation
	clean []move
	// skippable are the reading tools of the plan that it passes without.
	skippable map[string]bool
}

// A move is what a policy does in a turn.
type move struct {
	action envharness.Action
	do     deed
	// at is the index of the first action of the plan that is not done before the move, or -1 for one on another way.
	at     int
	verify bool // looks at what was written
}

type deed uint8

const (
	act    deed = iota
	garble      // gives an answer that is no action
	stop
)

// readOnly reports whether the tool is declared to read.
func (p *part) readOnly(tool string) bool {
	return slices.ContainsFunc(p.about.Tools, func(t envharness.Tool) bool { return t.Name == tool && t.ReadOnly })
}

// inPlan reports whether the plan calls the tool.
func (p *part) inPlan(tool string) bool {
	return slices.ContainsFunc(p.plan, func(a envharness.Action) bool { return a.Name == tool })
}

// reads reports whether the plan reads at all: only then can reading be told from writing.
func (p *part) reads() bool {
	return slices.ContainsFunc(p.plan, func(a envharness.Action) bool { return p.readOnly(a.Name) })
}

// submits reports whether the plan ends with a call of a tool that it calls for that only.
func (p *part) submits() bool {
	last := p.plan[len(p.plan)-1].Name
	return p.submitting(last) && !slices.ContainsFunc(p.plan[:len(p.plan)-1], func(a envharness.Action) bool { return a.Name == last })
}

func (p *part) submitting(tool string) bool {
	return slices.ContainsFunc(p.about.Tools, func(t envharness.Tool) bool { return t.Name == tool && t.Submits })
}

// finished makes moves of a plan, with a look at what was written before it is submitted.
func (p *part) finished(plan []envharness.Action) []move {
	last := len(plan) - 1
	write := -1
	for i, a := range plan[:last] {
		if !p.readOnly(a.Name) {
			write = i
		}
	}
	read := -1
	if p.submits() && write >= 0 && write == last-1 {
		// The newest read about what was written, else the newest.
		for i, a := range plan[:last] {
			if p.readOnly(a.Name) && (read < 0 || !shareValue(plan[read], plan[write]) || shareValue(a, plan[write])) {
				read = i
			}
		}
	}
	var moves []move
	for i, a := range plan {
		if i == last && read >= 0 {
			moves = append(moves, move{action: plan[read], at: i, verify: true})
		}
		moves = append(moves, move{action: a, at: i})
	}
	return moves
}

// elsewhere marks moves as being on another way than the plan.
func elsewhere(moves []move) []move {
	moves = slices.Clone(moves)
	for i := range moves {
		moves[i].at = -1
	}
	return moves
}

// inserted puts moves before the one that does action k of the plan.
func inserted(moves []move, k int, more ...move) []move {
	for i := range more {
		more[i].at = k
	}
	i := slices.IndexFunc(moves, func(m move) bool { return m.at == k })
	return slices.Insert(slices.Clone(moves), i, more...)
}

// study finds out all that the policies need.
func study(ctx context.Context, w envharness.World, task envharness.Task) (*part, error) {
	l, err := openLab(ctx, w, task)
	if err != nil {
		return nil, err
	}
	defer l.env.Close()
	p := &part{task: task, about: l.about, limit: l.limit, skippable: make(map[string]bool)}
	if p.plan, err = l.plan(ctx); err != nil {
		return nil, err
	}
	v, err := l.play(ctx, p.plan)
	if err != nil {
		return nil, err
	}
	if v.end == nil || len(v.refused) < len(p.plan) {
		return nil, fmt.Errorf("rigtest: task %q: the episode does not end with the plan", task.ID)
	}
	p.first = v.shown[0]
	for _, o := range v.shown[:len(p.plan)] {
		p.texts = append(p.texts, o.Text)
	}
	p.clean = p.finished(p.plan)
	for _, t := range p.about.Tools {
		if t.ReadOnly && p.inPlan(t.Name) {
			if p.skippable[t.Name], err = passes(ctx, w, task, without(p.plan, t.Name)); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func without(plan []envharness.Action, tool string) []envharness.Action {
	return slices.DeleteFunc(slices.Clone(plan), func(a envharness.Action) bool { return a.Name == tool })
}

// passes reports whether the actions pass the task, none of them refused.
func passes(ctx context.Context, w envharness.World, task envharness.Task, actions []envharness.Action) (bool, error) {
	h, err := envharness.New(w)
	if err != nil {
		return false, err
	}
	defer h.Close()
	o := envharness.ResetOptions{Task: task.ID, Seed: task.Seed, Options: task.Options}
	if o.Seed == nil {
		o.Seed = new(uint64(1))
	}
	if _, err := h.Reset(ctx, o); err != nil {
		return false, err
	}
	for i, a := range actions {
		tr, err := h.Step(ctx, a)
		if err != nil || tr.Error != nil || tr.Ended() && i < len(actions)-1 {
			return false, err
		}
	}
	v, err := h.Verdict(ctx)
	return v.Status == envharness.Pass, err
}

// parts remembers what was found out.
type parts struct {
	world envharness.World
	known memo[*part]
}

func newParts(w envharness.World) *parts { return &parts{world: w} }

func (s *parts) of(ctx context.Context, task envharness.Task) (*part, error) {
	return s.known.of(task, func() (*part, error) { return study(ctx, s.world, task) })
}

// leaves returns the strings and numbers in the arguments of an action, as they are written.
func leaves(a envharness.Action) []string {
	var args any
	if json.Unmarshal(a.Args, &args) != nil {
		return nil
	}
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case float64:
			all = append(all, fmt.Sprint(v))
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(args)
	slices.Sort(all)
	return all
}

func shareValue(a, b envharness.Action) bool {
	in := leaves(b)
	return slices.ContainsFunc(leaves(a), func(s string) bool { return slices.Contains(in, s) })
}

// grounded reports whether every value in the arguments of the actions was shown before: in a text, the data or a listed action.
func grounded(shown []envharness.Observation, actions []envharness.Action) bool {
	var seen strings.Builder
	for i, a := range actions {
		o := shown[i]
		data, _ := json.Marshal(o.Data) // JSON values by contract
		seen.WriteString(strings.ToLower(o.Text) + "\n" + strings.ToLower(string(data)) + "\n")
		for _, l := range o.Actions {
			seen.WriteString(strings.ToLower(strings.Join(leaves(l), "\n")) + "\n")
		}
		for _, s := range leaves(a) {
			if !strings.Contains(seen.String(), strings.ToLower(s)) {
				return false
			}
		}
	}
	return true
}
