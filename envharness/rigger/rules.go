package rigger

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

// Rules is the default [Designer]. It needs no model and draws nothing: what it proposes follows from the brief alone, its earlier attempts
// among them, so that a run that is resumed proposes the same. The zero value is ready for use, and safe for concurrent use.
//
// A table names, for each flaw and direction, components in order of preference, and for each component rungs of parameters from mild to
// strong, made of what the brief tells: the tools of a solution, its length, the calls that a flaw points at, what results look like. A
// component for which that is not enough is left out, such as one for reading tools where no tool is declared to read. The candidates are
//
//  1. the mildest rung of each component, for the flaws in their order and then for F00, that there is none; then of the components of the
//     registry that are not in [components.Catalogue], have a ladder and work in the direction;
//  2. the other rungs of those that a screening placed within the objective, and that were rejected later;
//  3. the first two components of the gravest flaw that has two, together.
//
// A [Refinement] moves the last candidate to the next rung, and so does a candidate that changed nothing (StepStatic), to the next stronger
// one; without a rung that was not tried before, and in all other cases, the next candidate follows. After the last one there is none.
// A policy that runs into limits (F08) is never given a component of the budget axis to make a task harder.
//
// The kinds of the caller's own come after all of the catalogue's: with the usual five attempts they are seldom reached. To have them
// proposed use a registry of them alone; kinds of the catalogue that it has not are left out.
//
// The table, the ladders and the order are ours. Never proposed are start_patch, as which values a start may have is known to the world
// alone; obs_noise, as a policy can do nothing about it; the chain; and what has no ladder and is not in the table. For F19 a call_cap, which
// admits a write as often as a solution makes it, is in the place of a block.
type Rules struct{}

// String returns "rules".
func (Rules) String() string { return "rules" }

// Design implements [Designer]. The error is one of the context, or of a brief whose direction is neither Harder nor Easier.
func (Rules) Design(ctx context.Context, b Brief) (Candidate, error) {
	if err := ctx.Err(); err != nil {
		return Candidate{}, fmt.Errorf("rigger: rules: %w", err)
	}
	if b.Direction != components.Harder && b.Direction != components.Easier {
		return Candidate{}, fmt.Errorf("rigger: rules: direction %q of the brief is neither harder nor easier", b.Direction)
	}
	c := newClues(b)
	d := drafts{clues: c, recipes: c.recipes(), tried: make(map[string]bool)}
	for _, a := range b.Attempts {
		key := stackKey(a.Candidate.Stack)
		d.keys = append(d.keys, key)
		d.tried[key] = true
	}
	return d.next(), nil
}

// A treatment is one way to meet a flaw: rungs from mild to strong, each a stack.
type treatment struct {
	flaw    diagnosis.Flaw // the zero one for F00
	tags    []string
	rungs   [][]components.Entry
	keys    []string // of the rungs
	checked bool     // all rungs can be built
}

// drafts are the candidates that the rules can make of a brief.
type drafts struct {
	*clues
	recipes []func() *treatment // that were not followed yet
	made    []*treatment        // the pair is not among them
	keys    []string            // of the attempts
	tried   map[string]bool
}

// treatments are those that have rungs, without repetitions. They are made one by one: most are not needed.
func (d *drafts) treatments() iter.Seq[*treatment] {
	return func(yield func(*treatment) bool) {
		for i := 0; ; i++ {
			for i >= len(d.made) {
				if len(d.recipes) == 0 {
					return
				}
				t := d.recipes[0]()
				d.recipes = d.recipes[1:]
				if len(t.rungs) > 0 && !slices.ContainsFunc(d.made, func(o *treatment) bool { return slices.Equal(o.keys, t.keys) }) {
					d.made = append(d.made, t)
				}
			}
			if !yield(d.made[i]) {
				return
			}
		}
	}
}

// next returns the candidate that follows on the attempts.
func (d *drafts) next() Candidate {
	if c, ok := d.refined(); ok {
		return c
	}
	for t := range d.treatments() {
		if !d.used(t) && d.buildable(t) {
			return d.candidate(t, 0)
		}
	}
	for t := range d.treatments() {
		if !d.nearMiss(t) || !d.buildable(t) {
			continue
		}
		for i, key := range t.keys {
			if !d.tried[key] {
				return d.candidate(t, i)
			}
		}
	}
	if t := d.pair(); t != nil && !d.used(t) {
		return d.candidate(t, 0)
	}
	return Candidate{Direction: d.Direction}
}

// refined returns the next rung of the last attempt, if it is to be refined and there is one.
func (d *drafts) refined() (Candidate, bool) {
	if len(d.Attempts) == 0 {
		return Candidate{}, false
	}
	last := d.Attempts[len(d.Attempts)-1]
	step := 1
	switch {
	case d.Refine != nil && d.Refine.Harder != (d.Direction == components.Harder):
		step = -1
	case d.Refine == nil && (last.Decision != Reject || !failedAt(last, StepStatic)):
		return Candidate{}, false
	}
	t := d.find(last.Candidate, d.keys[len(d.keys)-1])
	if t == nil || !d.buildable(t) || d.Refine != nil && d.Refine.RelaxBudgets && !d.savesTurns(t) {
		return Candidate{}, false
	}
	i := slices.Index(t.keys, d.keys[len(d.keys)-1])
	if i < 0 || i+step < 0 || i+step >= len(t.rungs) || d.tried[t.keys[i+step]] {
		return Candidate{}, false
	}
	return d.candidate(t, i+step), true
}

// find returns the treatment that a candidate was a rung of, one for the same flaw if there are several; nil if it was none.
func (d *drafts) find(c Candidate, key string) *treatment {
	if len(c.Stack) > 1 {
		if t := d.pair(); t != nil && slices.Contains(t.keys, key) {
			return t
		}
		return nil
	}
	var found *treatment
	for t := range d.treatments() {
		if !slices.Contains(t.keys, key) {
			continue
		}
		if t.flaw.ID == c.Flaw {
			return t
		}
		if found == nil {
			found = t
		}
	}
	return found
}

// savesTurns reports whether the easier rung of a treatment leaves a policy more turns.
func (d *drafts) savesTurns(t *treatment) bool {
	saving := []string{"block", "call_cap", "obs_delay", "paginate", "permission", "rate_limit", "step_budget", "sticky", "tool_fail"}
	if d.Direction == components.Easier {
		saving = []string{"start_replay"}
	}
	return slices.ContainsFunc(t.tags, func(tag string) bool { return slices.Contains(saving, tag) })
}

func (d *drafts) used(t *treatment) bool {
	return slices.ContainsFunc(t.keys, func(key string) bool { return d.tried[key] })
}

// nearMiss reports whether a screening placed a rung of the treatment within the objective, and it was rejected all the same.
func (d *drafts) nearMiss(t *treatment) bool {
	for i, a := range d.Attempts {
		screened := slices.ContainsFunc(a.Steps, func(s StepResult) bool { return s.Step == StepScreen && s.Result == Passed })
		if screened && a.Decision == Reject && slices.Contains(t.keys, d.keys[i]) {
			return true
		}
	}
	return false
}

func failedAt(a Attempt, step Step) bool {
	return slices.ContainsFunc(a.Steps, func(s StepResult) bool { return s.Step == step && s.Result == Failed })
}

// buildable reports whether rungs of the treatment can be built, and leaves out those that cannot. It is asked as late as can be, since it
// costs the most.
func (d *drafts) buildable(t *treatment) bool {
	if !t.checked {
		rungs := t.rungs
		t.rungs, t.keys, t.checked = nil, nil, true
		for _, stack := range rungs {
			if _, err := d.registry.Stack(stack...); err == nil {
				t.add(stack)
			}
		}
	}
	return len(t.rungs) > 0
}

// add adds a rung, unless it is there already.
func (t *treatment) add(stack []components.Entry) {
	if key := stackKey(stack); !slices.Contains(t.keys, key) {
		t.rungs, t.keys = append(t.rungs, stack), append(t.keys, key)
	}
}

// pair puts together the first two treatments of the first flaw that has two with different tags; nil if none has.
func (d *drafts) pair() *treatment {
	for one := range d.treatments() {
		after := false
		for two := range d.treatments() {
			if !after {
				after = one == two
				continue
			}
			if two.flaw.ID != one.flaw.ID || two.tags[0] == one.tags[0] || !d.buildable(one) || !d.buildable(two) {
				continue
			}
			t := &treatment{flaw: one.flaw, tags: []string{one.tags[0], two.tags[0]}}
			for k := range max(len(one.rungs), len(two.rungs)) {
				stack := []components.Entry{one.rungs[min(k, len(one.rungs)-1)][0], two.rungs[min(k, len(two.rungs)-1)][0]}
				slices.SortStableFunc(stack, func(a, b components.Entry) int { return cmp.Compare(d.class(a), d.class(b)) })
				t.add(stack)
			}
			if d.buildable(t) {
				return t
			}
		}
	}
	return nil
}

// class returns the place of a component in a stack, see [envharness.New].
func (d *drafts) class(e components.Entry) int {
	switch k, _ := d.registry.Kind(e.Tag); k.Axis {
	case envharness.AxisStart:
		return 0
	case envharness.AxisBudget:
		return 2
	}
	return 1
}

func (d *drafts) candidate(t *treatment, rung int) Candidate {
	why := "no flaw stands out"
	if t.flaw.ID != "" {
		why = fmt.Sprintf("%s in %.0f %% of the episodes", t.flaw.ID, 100*t.flaw.Support)
	}
	what := t.tags[0]
	if len(t.tags) > 1 {
		what += " and " + t.tags[1]
	}
	return Candidate{
		Stack:     t.rungs[rung],
		Direction: d.Direction,
		Flaw:      t.flaw.ID,
		Rationale: fmt.Sprintf("%s: %s, rung %d of %d", why, what, rung+1, len(t.rungs)),
	}
}

// stackKey tells stacks apart by their tags and parameters, however these are spelt.
func stackKey(stack []components.Entry) string {
	var key strings.Builder
	for _, e := range stack {
		params, err := envharness.CanonicalJSON(e.Params)
		if err != nil || len(e.Params) == 0 {
			params = []byte("{}") // of what cannot be built it does not matter
		}
		fmt.Fprintf(&key, "%q%s", e.Tag, params)
	}
	return key.String()
}
