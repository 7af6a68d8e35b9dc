package forkbench

import (
	"math/rand/v2"
	"slices"
)

// Sizes of a bench.
const (
	heldOutNeeds = 5 // of the 20 combinations of capabilities, that no task to learn from has
	TrainTasks   = 90
	UnseenTasks  = 80
)

// A Bench is all that one seed gives.
type Bench struct {
	Train, Unseen           *Library
	TrainTasks, UnseenTasks []*Task
	Drawn                   int // tasks that were drawn, those not admitted and repeated texts included
}

// New draws a bench. The tasks to judge by need all combinations of capabilities equally often, those to learn from all but a few; no
// two tasks have the same text.
func New(seed uint64) (*Bench, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	private := drawRules(r)
	var wrong [2][kinds][lookAlikes]any // the rules of the look-alikes of both libraries
	var all []definition
	for k := range kinds {
		known := []any{private.get(k), standardRules().get(k)}
		for set := range wrong {
			for i := range lookAlikes {
				rule := drawOther(r, k, known)
				known = append(known, rule)
				wrong[set][k][i] = rule
				all = append(all, definition{k, rule})
			}
		}
	}
	names := offices()
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	b := &Bench{
		Train:  newLibrary(r, 0, private, wrong[0], names),
		Unseen: newLibrary(r, 1, private, wrong[1], names),
	}

	combinations := needs()
	r.Shuffle(len(combinations), func(i, j int) { combinations[i], combinations[j] = combinations[j], combinations[i] })
	texts := map[string]bool{}
	draw := func(n int, combinations []Set, unseen bool) ([]*Task, error) {
		var tasks []*Task
		for len(tasks) < n {
			t, drawn, err := drawTask(r, combinations[len(tasks)%len(combinations)], private, all, unseen)
			b.Drawn += drawn
			if err != nil {
				return nil, err
			}
			if !texts[t.Text] {
				texts[t.Text] = true
				tasks = append(tasks, t)
			}
		}
		return tasks, nil
	}
	var err error
	if b.TrainTasks, err = draw(TrainTasks, combinations[heldOutNeeds:], false); err != nil {
		return nil, err
	}
	b.UnseenTasks, err = draw(UnseenTasks, combinations, true)
	return b, err
}

// drawOther draws a rule that is none of the known ones.
func drawOther(r *rand.Rand, k Kind, known []any) any {
	for {
		if rule := drawRules(r).get(k); !slices.Contains(known, rule) {
			return rule
		}
	}
}
