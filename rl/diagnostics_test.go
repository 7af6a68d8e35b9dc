package rl

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainedVariance(t *testing.T) {
	tests := []struct {
		name   string
		y, v   []float64
		want   float64
		ok     bool
		reason string
	}{
		{"E21", []float64{1, 2, 3, 4}, []float64{1, 2, 2, 5}, .6, true, "1 - .5/1.25"},
		{"perfect", []float64{1, 2}, []float64{1, 2}, 1, true, "no residual"},
		{"offset", []float64{1, 2}, []float64{6, 7}, 1, true, "a constant has no variance"},
		{"constant critic", []float64{1, 2}, []float64{3, 3}, 0, true, "as good as a constant"},
		{"wrong", []float64{1, -1}, []float64{-1, 1}, -3, true, "residual doubled: 1 - 4"},
		{"constant target", []float64{.1, .1, .1}, []float64{1, 2, 3}, 0, false, "Var(y) is 0, and not -1.7e-18"},
		{"residue", []float64{.95, .95, math.Nextafter(.95, 1)}, []float64{0, 0, 0}, 0, false, "variance of rounding"},
		{"huge", []float64{1e300, -1e300}, []float64{1e300, -1e300}, 1, true, "squares overflow"},
		{"one", []float64{1}, []float64{1}, 0, false, "no variance"},
		{"none", nil, nil, 0, false, "nothing"},
		{"lengths", []float64{1, 2}, []float64{1}, 0, false, "no broadcasting"},
		{"NaN", []float64{1, 2}, []float64{1, math.NaN()}, 0, false, "not finite"},
	}
	for _, tt := range tests {
		got, ok := ExplainedVariance(tt.y, tt.v)
		if math.Abs(got-tt.want) > 1e-12 || ok != tt.ok {
			t.Errorf("%s: got %v, %v, want %v, %v (%s)", tt.name, got, ok, tt.want, tt.ok, tt.reason)
		}
	}
}

func TestDiagnose(t *testing.T) {
	state := func(u Turn, key string) Turn { u.State = key; return u }
	batch := []Trajectory{
		{Group: "a", Turns: []Turn{state(turn(0, 1), "s"), state(turn(0, 1), "x"), state(turn(10, 9), "")}},
		{Group: "a", Turns: []Turn{state(turn(0, 1), "s")}},
		{Group: "b", Turns: []Turn{state(turn(0, 1), "s")}},
		{Group: "c", Turns: []Turn{state(turn(1, 1), "s")}},
		{Group: "c", Turns: []Turn{state(turn(1, 1), "t"), state(turn(math.NaN(), 0), "")}, Excluded: "lost"},
		{Group: "c", Turns: []Turn{{Reward: 4}}},
		{Group: "c", Turns: []Turn{state(turn(1, 2), "u")}},
	}
	for i := range batch {
		batch[i].Turns[len(batch[i].Turns)-1].End = Terminated
	}
	batch[0].Turns[1].Excluded = true
	batch[2].Success = new(true)
	batch[6].Success = new(false)
	c := mustGRPO(t, batch, &GRPOOptions{Norm: Norm{Std: StdNone}})
	got, err := c.Diagnose(batch)
	if err != nil {
		t.Fatal(err)
	}
	// Voting turns: 0.0 and 0.2 (advantage 5), 1.0 (-5), 2.0 (alone in its group), 3.0 and 6.0 (equal scores).
	want := Diagnostics{
		Trajectories: 7, Voters: 5, Successes: 3, NoVote: map[string]int{"lost": 1, "no trainable token": 1}, Turns: 10, VotingTurns: 6,
		Groups: 2, Singletons: 1, ZeroVarianceShare: .5,
		SingletonShare: 4. / 6, // all but the two of group a in s
		EffectiveShare: .5, LargeShare: .5, Mean: 5. / 6, Std: math.Sqrt(75./6 - 25./36), Min: -5, Max: 5,
	}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// With a critic: targets of excluded turns and trajectories are left out, those of turns without a vote are not.
	sapo, err := SAPO(nil, batch, &TurnGAEOptions{Gamma: new(0.0)}) // targets are rewards, for V and Q
	if err != nil {
		t.Fatal(err)
	}
	if got, err = sapo.Diagnose(batch); err != nil {
		t.Fatal(err)
	}
	v, _ := ExplainedVariance([]float64{0, 10, 0, 0, 1, 4, 1}, []float64{1, 9, 1, 1, 1, 0, 2})
	q, _ := ExplainedVariance([]float64{0, 10, 0, 0, 1, 4, 1}, make([]float64, 7))
	if got.ExplainedV == nil || got.ExplainedQ == nil || math.Abs(*got.ExplainedV-v) > 1e-12 || math.Abs(*got.ExplainedQ-q) > 1e-12 || got.Groups != 0 {
		t.Errorf("got %+v, want %v and %v", got, v, q)
	}

	bounds, err := NewCredit(nil, []Trajectory{episode(Terminated, []float64{0, 0, 0, 0}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	copy(bounds.Advantage, []float64{1e-7, 1, -1, 1e-9})
	if got, err := bounds.Diagnose([]Trajectory{episode(Terminated, []float64{0, 0, 0, 0}, nil)}); err != nil || got.EffectiveShare != .75 || got.LargeShare != 0 {
		t.Errorf("on the bounds: %+v, %v", got, err)
	}

	if _, err := sapo.Diagnose(batch[1:]); !errors.Is(err, ErrShape) {
		t.Errorf("another batch: %v", err)
	}
	empty := mustGRPO(t, nil, nil)
	got, err = empty.Diagnose(nil)
	if diff := cmp.Diff(Diagnostics{NoVote: map[string]int{}}, got); diff != "" || err != nil {
		t.Errorf("empty batch: %v (-want +got):\n%s", err, diff)
	}
}

// E21: with the success probability of the spec, groups of 2, 4, 8 and 16 are expected to have no variance in these shares.
func TestZeroVarianceShare(t *testing.T) {
	const p = .1819
	for n, want := range map[int]float64{2: .702, 4: .449, 8: .201, 16: .040} {
		var batch []Trajectory
		var share float64 // all outcomes of one group, each in a group of its own
		for outcome := range 1 << n {
			if n > 8 {
				break
			}
			chance := 1.0
			for i := range n {
				score := float64(outcome >> i & 1)
				batch = append(batch, scored(string(rune('a'+outcome)), score))
				chance *= p*score + (1-p)*(1-score)
			}
			c := mustGRPO(t, batch[len(batch)-n:], nil)
			share += chance * float64(c.ZeroVariance)
		}
		if n > 8 { // too many outcomes to try
			share = math.Pow(p, float64(n)) + math.Pow(1-p, float64(n))
		}
		if math.Abs(share-want) > 5e-4 {
			t.Errorf("groups of %d: share %v, want %v", n, share, want)
		}
	}
}
