package main

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// A worked is one worked example of the specification: the numbers that it prints, and a calculation of them by the library.
type worked struct {
	id     string
	want   []float64
	digits int // decimals that are printed, or exact
	got    calculation
}

type calculation func() ([]float64, error)

// exact is for numbers that are printed with all their decimals, and for those that must be 0.
const exact = -1

// workedResult is what became of the worked examples.
type workedResult struct {
	Cases    int             `json:"cases"`
	Numbers  int             `json:"numbers"`
	Failed   int             `json:"failed"`
	Failures []workedFailure `json:"failures"`
	Groups   []workedGroup   `json:"groups"`
}

// A workedGroup is the examples of one file.
type workedGroup struct {
	Name  string   `json:"name"`
	Cases []string `json:"cases"`
}

// A workedFailure is an example with its numbers side by side, or the error in their place.
type workedFailure struct {
	ID    string    `json:"id"`
	Want  []float64 `json:"want"`
	Got   []float64 `json:"got,omitempty"`
	Error string    `json:"error,omitempty"`
}

// A group is the worked examples about one matter.
type group struct {
	name  string
	cases []worked
}

// groups returns all worked examples, those of section 5 of the specification first.
func groups() []group {
	return []group{
		{"turns", turnCases()},
		{"tokens", tokenCases()},
		{"groups", groupCases()},
		{"graphs", graphCases()},
		{"losses", lossCases()},
		{"peers", peerCases()},
	}
}

func runWorked(all []group) workedResult {
	r := workedResult{Failures: []workedFailure{}}
	for _, g := range all {
		row := workedGroup{Name: g.name}
		for _, w := range g.cases {
			r.Cases++
			r.Numbers += len(w.want)
			row.Cases = append(row.Cases, w.id)
			if got, err := w.check(); err != nil {
				r.Failed++
				r.Failures = append(r.Failures, workedFailure{w.id, w.want, got, err.Error()})
			}
		}
		r.Groups = append(r.Groups, row)
	}
	return r
}

// check returns the numbers of the library, where they can be written as JSON, and an error unless they are those of the example.
func (w *worked) check() ([]float64, error) {
	got, err := w.got()
	if err != nil {
		return nil, err
	}
	if len(got) != len(w.want) {
		return nil, fmt.Errorf("%d numbers, want %d", len(got), len(w.want))
	}
	for i, x := range w.want {
		tolerance := 1e-12 * max(1, math.Abs(x))
		if w.digits != exact {
			tolerance = 0.500001 * math.Pow10(-w.digits) // half of the last digit, and what rounding a number in the middle needs
		}
		if d := math.Abs(got[i] - x); !(d <= tolerance) {
			err := fmt.Errorf("number %d is %v, want %v", i, got[i], x)
			if d-d != 0 {
				return nil, err
			}
			return got, err
		}
	}
	return got, nil
}

// estimate is the calculation of an estimator with options, of which one field is looked at.
func estimate[O any](f func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error), batch []rl.Trajectory, o *O, field func(*rl.Credit) []float64) calculation {
	return func() ([]float64, error) {
		c, err := f(nil, batch, o)
		if err != nil {
			return nil, err
		}
		return field(c), nil
	}
}

// The fields of a credit.
func advantage(c *rl.Credit) []float64      { return c.Advantage }
func valueTarget(c *rl.Credit) []float64    { return c.ValueTarget }
func qTarget(c *rl.Credit) []float64        { return c.QTarget }
func tokenAdvantage(c *rl.Credit) []float64 { return c.TokenAdvantage }
func tokenTarget(c *rl.Credit) []float64    { return c.TokenTarget }

// join puts the numbers of several calculations into one row.
func join(of ...calculation) calculation {
	return func() ([]float64, error) {
		var all []float64
		for _, f := range of {
			x, err := f()
			if err != nil {
				return nil, err
			}
			all = append(all, x...)
		}
		return all, nil
	}
}

// pick takes some numbers of a calculation.
func pick(f calculation, at ...int) calculation {
	return func() ([]float64, error) {
		x, err := f()
		if err != nil {
			return nil, err
		}
		var some []float64
		for _, i := range at {
			if i >= len(x) {
				return nil, fmt.Errorf("%d numbers, want more than %d", len(x), i)
			}
			some = append(some, x[i])
		}
		return some, nil
	}
}

// refused is 1 if a calculation gives the error that ok looks for.
func refused(f calculation, ok func(error) bool) calculation {
	return func() ([]float64, error) {
		if x, err := f(); err == nil {
			return nil, fmt.Errorf("no error, but %v", x)
		} else if !ok(err) {
			return nil, fmt.Errorf("another error: %w", err)
		}
		return []float64{1}, nil
	}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// trained returns tokens that are trained on, with these values.
func trained(values ...float64) []rl.Token {
	tokens := make([]rl.Token, len(values))
	for j, v := range values {
		tokens[j] = rl.Token{Trainable: true, Value: v}
	}
	return tokens
}

// rewarded returns a trajectory of turns of one token with these rewards.
func rewarded(group string, end rl.End, rewards ...float64) rl.Trajectory {
	t := rl.Trajectory{Group: group, Turns: make([]rl.Turn, len(rewards))}
	for k, r := range rewards {
		t.Turns[k] = rl.Turn{Reward: r, Tokens: trained(0)}
	}
	t.Turns[len(rewards)-1].End = end
	return t
}

// valued is rewarded with values.
func valued(end rl.End, rewards, values []float64) rl.Trajectory {
	t := rewarded("", end, rewards...)
	for k, v := range values {
		t.Turns[k].Value = v
	}
	return t
}

// scored returns a group of trajectories of one turn with these scores.
func scored(group string, scores ...float64) []rl.Trajectory {
	var batch []rl.Trajectory
	for _, s := range scores {
		batch = append(batch, rewarded(group, rl.Terminated, s))
	}
	return batch
}

// long returns a trajectory of so many turns, the last of which has the reward.
func long(group string, turns int, reward float64) rl.Trajectory {
	rewards := make([]float64, turns)
	rewards[turns-1] = reward
	return rewarded(group, rl.Terminated, rewards...)
}

// walk returns a trajectory through states, the last of which is the final one, with its reward at the end.
func walk(group string, reward float64, states ...string) rl.Trajectory {
	t := long(group, len(states)-1, reward)
	for k := range t.Turns {
		t.Turns[k].State = states[k]
	}
	t.FinalState = states[len(states)-1]
	return t
}
