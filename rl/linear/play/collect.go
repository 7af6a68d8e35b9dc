package play

import (
	"context"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl/linear"
	"github.com/throughline-go/throughline/rl/rollout"
)

// Options adjusts [Collect]. A nil *Options equals &Options{}.
type Options struct {
	Features    Features // nil means CallFeatures of the policy's dimension
	Temperature *float64 // not negative; nil means 1, 0 is greedy
	// Procedures returns the skills given to the player of a task. It is called once for each entry of tasks, in order; nil means none.
	Procedures func(t envharness.Task) [][]string
	// Plan makes the player follow a plan instead of choosing: supervised data. Log-probabilities are those of the policy all the same.
	Plan func(ctx context.Context, t envharness.Task) ([]envharness.Action, error)
	// Rollout adjusts the collection; its Seed fixes the players' draws too. Nil means the defaults.
	Rollout *rollout.Options
}

// Collect plays one episode of every task with the policy, as [rollout.Collect] does. The choices of episode i are choices[i], one for each of its
// turns; slices.Concat(choices...) puts them in the order in which an estimator's Credit has the turns.
func Collect(ctx context.Context, w envharness.World, components []envharness.Component, policy *linear.Policy, tasks []envharness.Task,
	o *Options) (episodes []rollout.Episode, choices [][]Choice, err error) {
	if o == nil {
		o = &Options{}
	}
	if policy == nil {
		return nil, nil, fmt.Errorf("play: no policy")
	}
	temperature := 1.0
	if o.Temperature != nil {
		temperature = *o.Temperature
	}
	if !(temperature >= 0) || math.IsInf(temperature, 1) {
		return nil, nil, fmt.Errorf("play: temperature %v is not a finite number of at least 0", temperature)
	}
	var seed uint64
	if o.Rollout != nil {
		seed = o.Rollout.Seed
	}
	players := make([]*Player, len(tasks))
	for i, t := range tasks {
		var procedures [][]string
		if o.Procedures != nil {
			procedures = o.Procedures(t)
		}
		players[i] = NewPlayer(policy, o.Features, temperature, envharness.RandStream(seed, "policy", uint64(i)), procedures)
		if o.Plan == nil {
			continue
		}
		players[i].planned = true
		if players[i].plan, err = o.Plan(ctx, t); err != nil {
			return nil, nil, fmt.Errorf("play: plan of task %d (%s): %w", i, t.ID, err)
		}
	}
	episodes, err = rollout.Collect(ctx, w, components, func(slot int) (rollout.Player, error) { return players[slot], nil }, tasks, o.Rollout)
	if err != nil {
		return nil, nil, err
	}
	choices = make([][]Choice, len(episodes))
	for i, e := range episodes {
		// A choice that failed the episode is no turn.
		choices[i] = players[i].choices[:len(e.Trajectory.Turns)]
	}
	return episodes, choices, nil
}
