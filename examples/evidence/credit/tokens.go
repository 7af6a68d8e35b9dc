package main

import (
	"math"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/token"
)

// masked returns one turn with these token values, of which those of mask 0 are not trained on, and the reward.
func masked(reward float64, mask []int, values ...float64) []rl.Trajectory {
	t := rl.Trajectory{Turns: []rl.Turn{{Reward: reward, Tokens: trained(values...), End: rl.Terminated}}}
	for j, m := range mask {
		t.Turns[0].Tokens[j].Trainable = m == 1
	}
	return []rl.Trajectory{t}
}

// tokenCases are about tokens as time steps: E4, E5, E8 and E9.
func tokenCases() []worked {
	mask := []int{1, 1, 0, 0, 1, 1}
	e4, nan := masked(1, mask, .5, .6, 9, 9, .7, .8), masked(1, mask, .5, .6, math.NaN(), math.Inf(1), .7, .8)
	e5 := []rl.Trajectory{{Turns: []rl.Turn{
		{Reward: .5, Tokens: trained(.1, .2)},
		{Reward: 1, Tokens: trained(.3, .4), End: rl.Terminated},
	}}}
	e8 := scored("", 1, 0)
	e8[0].Turns[0].Tokens, e8[1].Turns[0].Tokens = trained(0, 0), trained(0, 0, 0)
	pairs := append(scored("a", 1, 3), scored("b", 5, 5)...)
	e9 := []rl.Trajectory{
		{Turns: []rl.Turn{{Tokens: trained(2, 4)}, {Reward: 10, Invalid: true, Tokens: trained(6, 8), End: rl.Terminated}}},
		{Turns: []rl.Turn{{Tokens: trained(1, 3), End: rl.Terminated}}},
	}
	gae := &token.GAEOptions{Lambda: new(.95), Norm: rl.Norm{Std: rl.StdOff}}
	population := &token.ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdPopulation}}
	return []worked{
		{"E4", []float64{.456725, .3755, .29, .2}, 6, estimate(token.GAE, e4, gae, tokenAdvantage)},
		{"E4 whatever the masked values are", []float64{.456725, .3755, .29, .2}, 6, estimate(token.GAE, nan, gae, tokenAdvantage)},
		{"E5", []float64{.899931, 1.01226, .546, .6}, 6,
			estimate(token.GAE, e5, &token.GAEOptions{Gamma: new(.9), Lambda: new(.9), Norm: rl.Norm{Std: rl.StdOff}}, tokenAdvantage)},
		{"E8 sample", []float64{1.095445, 1.095445, -.730297, -.730297, -.730297}, 6, estimate(token.ReinforcePP, e8, nil, tokenAdvantage)},
		{"E8 population", []float64{1.224745, 1.224745, -.816497, -.816497, -.816497}, 6, estimate(token.ReinforcePP, e8, population, tokenAdvantage)},
		{"E8 -baseline", []float64{-1.224745, 1.224745, 0, 0}, 6,
			estimate(token.ReinforcePP, pairs, &token.ReinforcePPOptions{GroupBaseline: true}, tokenAdvantage)},
		{"E9 raw A", []float64{8, 6, 3.9, 1.9, -1, -3}, exact,
			estimate(token.PPOPublished, e9, &token.PPOPublishedOptions{Norm: rl.Norm{Std: rl.StdOff}}, tokenAdvantage)},
		{"E9 returns", []float64{10, 10, 9.9, 9.9, 0, 0}, exact, estimate(token.PPOPublished, e9, nil, tokenTarget)},
		{"E9 whitened", []float64{1.284985, .806109, .303288, -.175588, -.869959, -1.348836}, 6, estimate(token.PPOPublished, e9, nil, tokenAdvantage)},
	}
}
