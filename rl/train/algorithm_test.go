package train

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Every algorithm trains: two iterations move the model, and the critic where there is one, and all numbers are finite.
func TestEveryAlgorithmTrains(t *testing.T) {
	for _, a := range Algorithms() {
		for _, candidates := range []bool{true, false} {
			t.Run(a.Name, func(t *testing.T) {
				p, o := tiny(t, a.Name)
				o.Agent.Candidates = candidates
				o.Iterations = 2
				if a.Values != SharedValues {
					o.Rollouts = 4
				}
				m := p.Model.(interface{ NumParams() int })
				tr := newTrainer(t, p, o)
				before := bytesOf(t, tr)
				its := run(t, tr, 0)
				if len(its) != 3 || its[0].Number != 0 || its[2].Number != 2 || its[2].Done != "iterations" || its[2].Algorithm != a.Name {
					t.Fatalf("iterations %+v", its)
				}
				if string(before) == string(bytesOf(t, tr)) || m.NumParams() == 0 {
					t.Error("training changed nothing")
				}
				for _, it := range its[1:] {
					for name, x := range map[string]float64{
						"policy loss": it.PolicyLoss, "value loss": it.ValueLoss, "q loss": it.QLoss, "kl": it.KL, "entropy": it.Entropy,
						"gradient": it.GradNorm, "critic's gradient": it.CriticGradNorm, "approx kl": it.ApproxKL,
					} {
						if math.IsNaN(x) || math.IsInf(x, 0) {
							t.Errorf("iteration %d: %s is %v", it.Number, name, x)
						}
					}
					if it.Episodes != o.Tasks*o.Rollouts || it.Turns == 0 || it.Tokens < it.Turns || it.Context == 0 || it.Excluded != 0 || it.Steps == 0 {
						t.Errorf("iteration %d: %+v", it.Number, it)
					}
					if critic := p.Critic != nil; critic != (it.CriticGradNorm > 0) {
						t.Errorf("iteration %d: a critic is %v, the norm of its gradient %v", it.Number, critic, it.CriticGradNorm)
					}
					if values := a.Values != NoValues; values != (it.ValueLoss > 0) {
						t.Errorf("iteration %d: values %d, their loss %v", it.Number, a.Values, it.ValueLoss)
					}
					if q := a.Values == SharedValues && !a.NoQ; q != (it.QLoss > 0) {
						t.Errorf("iteration %d: Q is %v, its loss %v", it.Number, q, it.QLoss)
					}
					if !candidates && (it.Invalid == 0 || it.Tokens <= it.Turns) {
						t.Errorf("iteration %d: free responses of %d tokens, %v invalid", it.Number, it.Tokens, it.Invalid)
					}
				}
				if its[1].EnvSteps+its[2].Turns != its[2].EnvSteps || its[1].EnvSteps != its[1].Turns {
					t.Errorf("env steps %d and %d", its[1].EnvSteps, its[2].EnvSteps)
				}
			})
		}
	}
}

// gagpo has one ratio a turn, and each turn counts the same, however long it is (arXiv:2605.13217); in grpo each token does.
func TestTurnsCountTheSame(t *testing.T) {
	for name, same := range map[string]bool{"gagpo": true, "grpo": false} {
		l := collected(t, name, false, nil)
		turns, longest := len(l.at), 0
		for _, i := range l.at {
			weights := l.tokens.Weight[l.b.offset[i]:l.b.offset[i+1]]
			longest = max(longest, len(weights))
			want := 1 / float64(turns)
			if !same {
				want = float64(len(weights)) / float64(len(l.tokens.Weight))
			}
			if got := total(weights); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: a turn of %d tokens has weight %v, want %v", name, len(weights), got, want)
			}
		}
		if longest < 2 {
			t.Fatal("all turns have one token")
		}
	}
}

// The penalty of invalid turns reaches the estimator of every algorithm; by default it is 0.1.
func TestInvalidPenalty(t *testing.T) {
	for _, a := range Algorithms() {
		advantages := func(penalty *float64) (out []float64) {
			l := collected(t, a.Name, false, func(o *Options) { o.InvalidPenalty, o.Tasks, o.Rollouts = penalty, 2, 4 })
			for i := range l.b.trajectories { // in a group some pass, some do not, and no two have as many invalid turns
				turns := l.b.trajectories[i].Turns
				for k := range turns {
					turns[k].Invalid = k < i%4
				}
				if i%2 == 0 {
					l.b.trajectories[i].Success, turns[len(turns)-1].Reward = new(true), 10
				}
			}
			c, err := l.tr.algorithm.Credit(nil, l.b.trajectories)
			if err != nil {
				t.Fatal(err)
			}
			return c.TokenAdvantages(nil, l.b.trajectories)
		}
		byDefault := advantages(nil)
		if d := farthest(t, byDefault, advantages(new(.1))); d != 0 {
			t.Errorf("%s: the default is not 0.1: advantages differ by %v", a.Name, d)
		}
		if d := farthest(t, byDefault, advantages(new(0.))); d == 0 {
			t.Errorf("%s: a penalty of 0 changes nothing", a.Name)
		}
	}
}

// The list is the one that the documentation names, and Find finds all of it and nothing else.
func TestFind(t *testing.T) {
	var names []string
	for _, a := range Algorithms() {
		names = append(names, a.Name)
		got, err := Find(a.Name)
		if err != nil || got.About != a.About || a.About == "" || a.Credit == nil || a.Tasks*a.Rollouts != 128 {
			t.Errorf("%s: %+v, %v", a.Name, got, err)
		}
	}
	want := []string{"sapo", "ppo", "ppo-published", "ppo-shared", "grpo", "drgrpo", "rloo", "reinforce++", "gigpo", "graphgpo", "milegpo",
		"milegpo-webshop", "gagpo"}
	if !slices.Equal(names, want) {
		t.Errorf("algorithms %q, want %q", names, want)
	}
	for _, bad := range []string{"", "SAPO", "sapo "} {
		if _, err := Find(bad); err == nil || !strings.Contains(err.Error(), "milegpo-webshop") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}
