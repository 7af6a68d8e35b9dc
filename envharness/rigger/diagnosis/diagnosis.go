package diagnosis

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
)

// Context is what is known of the task besides the traces. All of it may be left zero; rules that need what is missing stay silent.
type Context struct {
	// World describes the base. A tool counts as one that reads if it is ReadOnly, and as one that writes if it is neither that nor Submits.
	// Unless there are both kinds, every tool counts as one that reads and writes, and rules that have to tell them apart stay silent.
	World envharness.Description
	Plan  []envharness.Action // a solution from the start, as its oracle makes it; nil without one
	Edges []components.Edge   // orders that the rules of the world ask for, in the world's own names
}

// A Flaw is one that was found.
type Flaw struct {
	ID      ID        `json:"id"`
	Support float64   `json:"support"` // share of the valid episodes that show it
	Lift    float64   `json:"lift"`    // share of the failed ones less that of the passed ones; a side that is missing counts 0
	Found   []Finding `json:"found"`   // in the order of the traces
}

// A Finding is where one episode shows a flaw.
type Finding struct {
	Slot  int    `json:"slot"`            // of the trace
	Turns []int  `json:"turns,omitempty"` // counted from 0, ascending
	Note  string `json:"note,omitempty"`  // what was seen there, in words
}

// Options adjusts [Diagnose] and [Summarize]. A nil *Options equals &Options{}.
type Options struct {
	// Support is the least support of a flaw that is reported, in (0, 1]; nil means 0.4. A very small one reports whatever any episode shows.
	Support *float64
	Most    int // flaws in the report; zero means 3, negative means all
}

const (
	defaultSupport = 0.4
	defaultMost    = 3
	tolerance      = 1e-9 // shares such as 2/5 are compared with it
)

func (o *Options) withDefaults() (support float64, most int, err error) {
	if o == nil {
		o = &Options{}
	}
	support, most = defaultSupport, cmp.Or(o.Most, defaultMost)
	if o.Support != nil {
		support = *o.Support
	}
	if !(support > 0 && support <= 1) {
		err = fmt.Errorf("support %v must be in (0, 1]", support)
	}
	return support, most, err
}

func (c *Context) check() error {
	var errs []error
	for i, e := range c.Edges {
		for _, side := range []struct {
			name string
			m    components.Match
		}{{"before", e.Before}, {"after", e.After}} {
			if _, err := path.Match(side.m.Tool, ""); err != nil {
				errs = append(errs, fmt.Errorf("edge %d: %s: tool pattern %q: %w", i, side.name, side.m.Tool, err))
			}
			if _, err := envharness.CanonicalJSON(side.m.Args); err != nil {
				errs = append(errs, fmt.Errorf("edge %d: %s: arguments: %w", i, side.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Diagnose returns the flaws of the episodes of one task, ranked: by lift, then by support, both from high to low, then by id; if no
// episode failed by support alone. Episodes that could not be judged are left out and change nothing; without any other there are no flaws.
//
// The error reports options out of range, an edge that is no pattern, and judged traces of different tasks (by their ids). Whatever else
// is in a trace is data: what cannot be read counts as nothing.
//
// The result is a function of the arguments, and apart from the order of the Found does not depend on the order of the traces. Time and
// memory are about linear in the size of the traces; each is read once, its words only where a rule asks for them.
func Diagnose(traces []envharness.Trace, c Context, o *Options) ([]Flaw, error) {
	flaws, err := diagnose(traces, c, o)
	if err != nil {
		return nil, fmt.Errorf("diagnosis: %w", err)
	}
	return flaws, nil
}

func diagnose(traces []envharness.Trace, c Context, o *Options) ([]Flaw, error) {
	support, most, err := o.withDefaults()
	if err := errors.Join(err, c.check()); err != nil {
		return nil, err
	}
	episodes, err := read(traces, c)
	if err != nil || len(episodes) == 0 {
		return nil, err
	}
	var flaws []Flaw
	for _, r := range rules() {
		if f := r.apply(episodes); f.Support > 0 && f.Support >= support-tolerance {
			flaws = append(flaws, f)
		}
	}
	failures := slices.ContainsFunc(episodes, func(e *episode) bool { return e.failed })
	slices.SortFunc(flaws, func(a, b Flaw) int { return rank(failures, a.ID, b.ID, a.Lift, b.Lift, a.Support, b.Support) })
	if most >= 0 && len(flaws) > most {
		flaws = slices.Clip(flaws[:most])
	}
	return flaws, nil
}

// apply looks for the flaw in each episode.
func (r *rule) apply(episodes []*episode) Flaw {
	f := Flaw{ID: r.id}
	var all, shown [2]float64 // of passed and of failed episodes
	for _, e := range episodes {
		side := 0
		if e.failed {
			side = 1
		}
		all[side]++
		if s := r.find(e); s.note != "" {
			shown[side]++
			slices.Sort(s.turns)
			f.Found = append(f.Found, Finding{Slot: e.trace.Slot, Turns: slices.Compact(s.turns), Note: s.note})
		}
	}
	share := func(n, of float64) float64 {
		if of == 0 {
			return 0
		}
		return n / of
	}
	f.Support = share(shown[0]+shown[1], all[0]+all[1])
	f.Lift = share(shown[1], all[1]) - share(shown[0], all[0])
	return f
}

// rank orders flaws a and b: the lift counts only if there were failures.
func rank(failures bool, a, b ID, liftA, liftB, supportA, supportB float64) int {
	byLift := 0
	if failures {
		byLift = cmp.Compare(liftB, liftA)
	}
	return cmp.Or(byLift, cmp.Compare(supportB, supportA), cmp.Compare(a, b))
}

// A sign is what a rule sees in an episode. One without a note is none.
type sign struct {
	turns []int // indexes into Trace.Turns
	note  string
}

// at makes a sign of the turns of an episode, by their positions in episode.turns.
func (e *episode) at(positions []int, format string, args ...any) sign {
	var turns []int
	if len(positions) > 0 {
		turns = make([]int, len(positions))
	}
	for i, p := range positions {
		turns[i] = e.turns[p].at
	}
	return sign{turns, fmt.Sprintf(format, args...)}
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
