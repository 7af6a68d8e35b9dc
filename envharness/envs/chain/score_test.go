package chain

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/envharness"
)

// run plays a number of episodes of each setting: the oracle's, or drawn actions.
func run(t *testing.T, e Experiment, optimal bool, episodes int) []Result {
	r := envharness.RandStream(5, "test/run", 0)
	var results []Result
	for _, s := range e.Settings() {
		for k := range min(episodes, s.Episodes) {
			p := start(t, e, id(s.Number, k))
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			result := Result{Setting: s.Number}
			for _, a := range plan {
				if !optimal {
					a = p.world.actions[r.IntN(len(p.world.actions))]
				}
				result.Return += p.Step(a).Reward
			}
			result.Pass = p.Verdict().Status == envharness.Pass
			results = append(results, result)
		}
	}
	return results
}

// The optimal policy scores 1 everywhere, with the returns that the rules say. The random policy's pass rates and mean returns are those of
// the closed forms within 4 standard errors, and so is its score.
func TestScoreOfOptimalAndRandom(t *testing.T) {
	for _, e := range Experiments() {
		d, _ := e.design()
		if testing.Short() && !d.name.Short() {
			continue
		}
		episodes := 200
		if d.kind == discounting && !d.name.Short() {
			episodes = 1000
		}
		best := run(t, e, true, 20)
		if score, err := e.Score(best); err != nil || math.Abs(score-1) > 1e-12 {
			t.Errorf("%s: the optimal policy scores %v, %v, want 1", e, score, err)
		}
		for _, r := range best {
			want := map[kind]float64{discounting: 1.1, memory: 1, sea: 0.99}[d.kind]
			if !r.Pass || d.kind != umbrella && math.Abs(r.Return-want) > 1e-12 {
				t.Fatalf("%s: the optimal policy: %+v, want the return %v", e, r, want)
			}
		}

		random := run(t, e, false, episodes)
		score, err := e.Score(random)
		if err != nil {
			t.Fatal(err)
		}
		var pass, chance, chanceVar, sum, sum2, mean float64
		for _, r := range random {
			n := float64(r.Setting)
			if r.Pass {
				pass++
			}
			sum += r.Return
			sum2 += r.Return * r.Return
			p := 0.5
			switch d.kind {
			case umbrella, memory: // coins, and 1 or -1 at the end: 0 in the mean
			case discounting:
				p = 0.2
				mean += 1.02 // 1 and a tenth with a chance of a fifth
			case sea:
				p = math.Pow(2, -n)
				mean += p - 0.005 // half of all moves go right and cost 0.01/N
			}
			chance += p
			chanceVar += p * (1 - p)
		}
		count := float64(len(random))
		if d := math.Abs(pass - chance); d > 4*math.Sqrt(chanceVar)+1e-9 {
			t.Errorf("%s: drawn actions pass %v of %v episodes, want %v", e, pass, count, chance)
		}
		se := math.Sqrt((sum2/count-sum/count*sum/count)/count) + 1e-9
		if d.kind == sea { // too rare for the sample to show
			se += math.Sqrt(chanceVar) / count
		}
		if d := math.Abs(sum/count - mean/count); d > 4*se {
			t.Errorf("%s: drawn actions return %v in the mean, want %v, %v standard errors", e, sum/count, mean/count, d/se)
		}

		want, tolerance := 0., 0. // regret 1 an episode, and as many misses as a guess
		switch {
		case d.kind == discounting: // 1-10*(1.1-1.02); the return's deviation is 0.1*sqrt(0.2*0.8)
			want, tolerance = 0.2, 4*10*0.1*math.Sqrt(0.16/count)
		case d.kind == sea && d.name.Short():
			// A size is solved if, before episode 2^N+100, more than a fifth have passed: in the first 4 episodes at least one, or more.
			want, tolerance = shortSeaChance(), 4*math.Sqrt(0.25/float64(len(d.numbers)))
		case d.kind == sea:
			tolerance = 1. / 21 // 4 tries at 2^-10 + 2^-12 + ..., a chance of 0.5% that one size is hit early
		}
		if math.Abs(score-want) > tolerance {
			t.Errorf("%s: drawn actions score %v, want %v within %v", e, score, want, tolerance)
		}
	}
}

// shortSeaChance is the mean chance that one of the first four episodes passes.
func shortSeaChance() float64 {
	sum := 0.
	settings := DeepSeaShort.Settings()
	for _, s := range settings {
		sum += 1 - math.Pow(1-s.Chance, 4)
	}
	return sum / float64(len(settings))
}

func TestScore(t *testing.T) {
	repeat := func(n int, r Result) []Result {
		list := make([]Result, n)
		for i := range list {
			list[i] = r
		}
		return list
	}
	join := func(lists ...[]Result) (all []Result) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	pass := func(n, setting int) []Result { return repeat(n, Result{Setting: setting, Pass: true, Return: 1}) }
	miss := func(n, setting int) []Result { return repeat(n, Result{Setting: setting, Return: -1}) }
	paid := func(n, setting int, r float64) []Result { return repeat(n, Result{Setting: setting, Return: r}) }
	for _, tt := range []struct {
		experiment Experiment
		results    []Result
		want       float64
		reason     string
	}{
		{UmbrellaLength, miss(1, 3), 0, "regret 2 an episode, the specification's worked number"},
		{UmbrellaLength, join(pass(3, 3), miss(1, 3)), 0, "regret 2/4, which is not below 0.5"},
		{UmbrellaLength, join(pass(4, 3), miss(1, 3)), 1, "regret 2/5"},
		{UmbrellaLength, join(pass(1, 3), miss(1, 100), pass(1, 1)), 2. / 3, "two settings of the three that were played"},
		{UmbrellaDistract, join(miss(2500, 100), pass(7500, 100)), 0, "regret 0.5"},
		{UmbrellaDistract, join(miss(2499, 100), pass(7501, 100)), 1, "regret 0.4998"},
		{UmbrellaDistract, join(miss(2500, 100), pass(9000, 100)), 0, "10,000 episodes count"},
		{DiscountingChain, join(paid(1, 0, 1.1), paid(1, 1, 1)), 0.5, "1-10*(1.1-1.05)"},
		{DiscountingChain, join(paid(3, 0, 1.1), paid(1, 1, 1)), 0.5, "settings weigh the same"},
		{DiscountingChain, paid(2, 0, 0.5), 0, "not below 0"},
		{DiscountingChain, paid(2, 0, 3), 1, "not above 1"},
		{MemoryLen, join(pass(5, 1), miss(3, 1)), 0, "3/8 misses, 0.75 of those of a guess"},
		{MemoryLen, join(pass(6, 1), miss(3, 1)), 1, "3/9 misses, 0.667 of those of a guess"},
		{DeepSea, join(miss(3, 10), pass(1, 10), miss(9000, 10)), 1, "after 4 episodes 3 were bad, less than 0.8"},
		{DeepSea, join(miss(4, 10), pass(1, 10), miss(9000, 10)), 0, "4 of 5 are not less"},
		{DeepSea, join(miss(899, 10), pass(225, 10)), 0, "899 of 1124 are less, and 1124 = 2^10+100 is too late"},
		{DeepSea, join(miss(898, 10), pass(225, 10)), 1, "898 of 1123 are less, in time"},
		{DeepSea, pass(2000, 10), 1, "from the first on; later episodes do not undo it"},
		{DeepSea, join(miss(899, 12), pass(225, 12)), 1, "in time for size 12"},
		{DeepSeaShort, join(pass(1, 4), miss(1000, 5)), 0.5, "one of two sizes"},
	} {
		if tt.reason == "" {
			t.Error("case without a reason")
		}
		got, err := tt.experiment.Score(tt.results)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s, %s: %v, %v, want %v", tt.experiment, tt.reason, got, err, tt.want)
		}
	}
	for _, bad := range [][]Result{nil, {}, {{Setting: 11}}, {{Setting: 1, Return: math.NaN()}}, {{Setting: 1, Return: math.Inf(-1)}}, {{Setting: 1, Return: 1e308}}} {
		if got, err := UmbrellaLength.Score(bad); err == nil {
			t.Errorf("%v scores %v, want an error", bad, got)
		}
	}
}

// The order of settings has no say, a pass in place of a miss never lowers a score, and a score is in [0, 1].
func TestScoreLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := rapid.SampledFrom(Experiments()).Draw(rt, "experiment")
		settings := e.Settings()
		lists := make([][]Result, len(settings))
		var mixed []Result
		for range rapid.IntRange(1, 60).Draw(rt, "results") {
			i := rapid.IntRange(0, len(settings)-1).Draw(rt, "setting")
			r := Result{Setting: settings[i].Number, Pass: rapid.Bool().Draw(rt, "pass"), Return: rapid.Float64Range(-2, 2).Draw(rt, "return")}
			lists[i] = append(lists[i], r)
			mixed = append(mixed, r)
		}
		got, err := e.Score(mixed)
		if err != nil || got < 0 || got > 1 {
			rt.Fatalf("score %v, %v", got, err)
		}
		var sorted []Result
		for i := len(lists) - 1; i >= 0; i-- {
			sorted = append(sorted, lists[i]...)
		}
		if other, err := e.Score(sorted); err != nil || other != got {
			rt.Fatalf("%v by settings and %v mixed, %v", other, got, err)
		}
		i := rapid.IntRange(0, len(mixed)-1).Draw(rt, "better")
		mixed[i].Pass = true
		mixed[i].Return = 2
		if better, err := e.Score(mixed); err != nil || better < got {
			rt.Fatalf("%v after result %d became a pass, %v before, %v", better, i, got, err)
		}
	})
}
