package baseline_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/envs/game24"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/envharness/rigger/baseline"
	"github.com/throughline-go/throughline/envharness/rigger/plr"
	"github.com/throughline-go/throughline/envharness/yardstick"
)

// hasty is a policy for the game of 24 that wastes a turn, and gives up half of the time when its turns are cut.
func hasty(world envharness.World) rigger.Problem {
	return rigger.Problem{
		World: world, Fingerprint: "hasty",
		Tasks: []envharness.Task{{ID: "1,1,1,8"}, {ID: "3,3,8,8"}, {ID: "6,6,6,6"}},
		NewPolicy: func(task envharness.Task, rng *rand.Rand) (envharness.Policy, error) {
			oracle := yardstick.Oracle(world, task)
			calm := rng.Float64() < 0.5
			return envharness.PolicyFunc(func(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
				switch {
				case !calm && t.Index+t.Left < game24.MaxTurns:
					return envharness.Action{}, envharness.ErrStop
				case t.Index == 0:
					return envharness.Action{Name: "restart"}, nil
				}
				t.Index-- // the oracle's first
				return oracle.Act(ctx, t)
			}), nil
		},
	}
}

// What each procedure accepts, and how many rollouts it takes.
func ExampleProcedures() {
	p := hasty(game24.World(nil))
	o := &rigger.Options{Seed: 6, NullEpisodes: 2}
	for _, procedure := range baseline.Procedures() {
		r, err := procedure.Run(context.Background(), p, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-6s %d items, %3d rollouts. %s\n", procedure.Name, len(r.Items), r.Cost.Rollouts(), procedure.About)
	}
	// Output:
	// none   0 items,  15 rollouts. Leaves the tasks as they are.
	// random 3 items,   0 rollouts. Accepts every random component that can be built.
	// band   0 items,  90 rollouts. Accepts random components on a screening alone.
	// genenv 1 items,  90 rollouts. Perturbs the best components so far and keeps those with a success rate near one half.
	// plr    1 items,  90 rollouts. Plays random components, the ones with most to learn again and again, and keeps those.
	// rigged 3 items,  78 rollouts. Looks for components at the flaws of the policy and lets pass what the whole gate lets pass.
}

// A component that is drawn for a world that has one tool and no plan.
func ExampleRandomEntry() {
	b := rigger.Brief{
		World:     envharness.Description{Tools: []envharness.Tool{{Name: "look", ReadOnly: true}}, MaxTurns: 10},
		Direction: components.Harder,
		Rand:      rand.New(rand.NewPCG(1, 2)),
	}
	for range 3 {
		e, ok := baseline.RandomEntry(b)
		fmt.Println(ok, components.Catalogue().Words(e))
	}
	// Output:
	// true 5 tools of no use are offered, drawn from weather, translate, convert_units, horoscope, news and 5 more; a call shows "No results found."
	// true 10 tools of no use are offered: weather, translate, convert_units, horoscope, news and 5 more; a call shows "No results found."
	// true each call of look fails, with probability 0.3, and can be retried
}

// Two random components in one candidate, in a legal order, and the first step of a designer that perturbs what it has.
func ExampleRandom_Design() {
	b := rigger.Brief{
		World:     envharness.Description{Tools: []envharness.Tool{{Name: "look", ReadOnly: true}, {Name: "go"}}, MaxTurns: 10},
		Direction: components.Harder,
		Rand:      rand.New(rand.NewPCG(1, 2)),
	}
	for _, d := range []rigger.Designer{baseline.None{}, baseline.Random{Components: 2}, baseline.GenEnv{}} {
		c, err := d.Design(context.Background(), b)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d)
		for _, e := range c.Stack {
			fmt.Println(" ", components.Catalogue().Words(e))
		}
	}
	// Output:
	// none
	// random, 2 at once
	//   5 tools of no use are offered, drawn from weather, translate, convert_units, horoscope, news and 5 more; a call shows "No results found."
	//   each observation is shown 3 turns late
	// perturbs the best, up to 4
	//   the first 2 calls of go are refused with "not available"
}

// Of five rollouts two or three are near one half.
func ExampleNearHalf() {
	var o baseline.NearHalf
	fmt.Println(o)
	for pass := range 6 {
		m := rigger.Measure{Counts: rigger.Tally{Pass: pass, Valid: 5}}
		fmt.Printf("%v: %v, score %.2f\n", m.Counts, o.Place(m), o.Score(m))
	}
	// Output:
	// a success rate within 0.1 of one half
	// 0 of 5: too hard, score 0.61
	// 1 of 5: too hard, score 0.84
	// 2 of 5: within, score 0.98
	// 3 of 5: within, score 0.98
	// 4 of 5: too easy, score 0.84
	// 5 of 5: too easy, score 0.61
}

// Random components, of which the ones that there is most to learn on are played again; one of them for each task is kept.
func ExamplePLR_Run() {
	p := hasty(game24.World(nil))
	d := baseline.PLR{Buffer: &plr.Options{Beta: new(0.3), Rho: new(0.1)}}
	r, err := d.Run(context.Background(), p, &rigger.Options{Seed: 1, Attempts: 10})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range r.Items {
		fmt.Printf("%s, %v: %s\n", item.Task.ID, item.Counts, item.Words[0])
	}
	fmt.Println(r.Cost.Rollouts(), "rollouts")
	// Output:
	// 3,3,8,8, 3 of 5: the episode ends after 6 turns
	// 165 rollouts
}
