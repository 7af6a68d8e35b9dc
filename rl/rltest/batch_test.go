package rltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/rl"
)

// Batches are valid, the same for the same generator, and have every special case often enough.
func TestRandomBatch(t *testing.T) {
	const n = 2000
	rng, again := rand.New(rand.NewPCG(9, 9)), rand.New(rand.NewPCG(9, 9))
	seen := map[string]int{} // batches that have a case
	for range n {
		batch := RandomBatch(rng)
		if err := rl.Validate(batch); err != nil {
			t.Fatal(err)
		}
		if other := RandomBatch(again); len(other) != len(batch) || unchanged(other, batch) != nil {
			t.Fatalf("the same generator gives another batch:\n%s", cmp.Diff(batch, other))
		}
		has := map[string]bool{"one trajectory": len(batch) == 1, "eight trajectories": len(batch) == 8}
		type place struct{ group, state string }
		visits := map[place]int{}
		size, score := map[string]int{}, map[float64]int{}
		for i := range batch {
			b := &batch[i]
			last := b.Turns[len(b.Turns)-1]
			size[b.Group]++
			score[b.Score()]++
			own := map[string]bool{}
			for k := range b.Turns {
				u := &b.Turns[k]
				trainable := 0
				for _, x := range u.Tokens {
					if x.Trainable {
						trainable++
					} else {
						has["masked token"] = true
					}
				}
				has["several trainable tokens"] = has["several trainable tokens"] || trainable > 1
				has["no tokens"] = has["no tokens"] || len(u.Tokens) == 0
				has["no trainable token"] = has["no trainable token"] || len(u.Tokens) > 0 && trainable == 0
				has["invalid"] = has["invalid"] || u.Invalid
				has["excluded turn"] = has["excluded turn"] || u.Excluded
				has["unknown state"] = has["unknown state"] || u.State == ""
				visits[place{b.Group, u.State}]++
				has["second visit"] = has["second visit"] || u.State != "" && own[u.State]
				own[u.State] = true
			}
			has["one turn"] = has["one turn"] || len(b.Turns) == 1
			has["five turns"] = has["five turns"] || len(b.Turns) == 5
			has["truncated"] = has["truncated"] || last.End == rl.Truncated
			has["terminated with a value"] = has["terminated with a value"] || last.End == rl.Terminated && b.FinalValue != nil
			has["terminated without"] = has["terminated without"] || last.End == rl.Terminated && b.FinalValue == nil
			has["success"] = has["success"] || b.Success != nil && *b.Success
			has["failure"] = has["failure"] || b.Success != nil && !*b.Success
			has["no verdict"] = has["no verdict"] || b.Success == nil
			has["excluded"] = has["excluded"] || b.Excluded != ""
			has["no voter"] = has["no voter"] || b.Excluded == "" && !voter(b)
			if last.End == rl.Truncated && b.FinalValue == nil {
				t.Fatal("a truncated trajectory has no final value")
			}
		}
		for p, v := range visits {
			has["shared state"] = has["shared state"] || p.state != "" && v > 1
		}
		for g, v := range size {
			has["empty group key"] = has["empty group key"] || g == ""
			has["group of one"] = has["group of one"] || v == 1
			has["group of several"] = has["group of several"] || v > 2
		}
		for s, v := range score {
			has["tie"] = has["tie"] || s != 0 && v > 1
		}
		for name, ok := range has {
			if ok {
				seen[name]++
			} else {
				seen[name] += 0
			}
		}
	}
	for name, v := range seen {
		if v < n/100 {
			t.Errorf("%s: in %d of %d batches, want 1 %% or more", name, v, n)
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d cases were counted, want 25", len(seen))
	}
	if diff := cmp.Diff(RandomBatch(nil), RandomBatch(rand.New(rand.NewPCG(1, 2)))); diff != "" {
		t.Errorf("without a generator the batch is not that of seed (1, 2):\n%s", diff)
	}
}

// A copy is equal and shares nothing, and each field of a batch that changes is seen.
func TestUnchanged(t *testing.T) {
	batch := []rl.Trajectory{{}, {
		ID: "1", Group: "g", Task: "t", Split: "s", FinalState: "f", FinalValue: new(1.0), Success: new(true), Excluded: "x",
		Turns: []rl.Turn{{}, {State: "s", Reward: math.NaN(), Value: 2, QValue: 3, End: rl.Truncated, Tokens: []rl.Token{{}, {ID: 1, LogProb: math.NaN()}}}},
	}}
	changes := map[string]func(t *rl.Trajectory){
		"ID":                func(t *rl.Trajectory) { t.ID = "" },
		"Group":             func(t *rl.Trajectory) { t.Group = "" },
		"Task":              func(t *rl.Trajectory) { t.Task = "" },
		"Split":             func(t *rl.Trajectory) { t.Split = "" },
		"FinalState":        func(t *rl.Trajectory) { t.FinalState = "" },
		"FinalValue":        func(t *rl.Trajectory) { *t.FinalValue = 2 },
		"FinalValue nil":    func(t *rl.Trajectory) { t.FinalValue = nil },
		"Success":           func(t *rl.Trajectory) { *t.Success = false },
		"Success nil":       func(t *rl.Trajectory) { t.Success = nil },
		"Excluded":          func(t *rl.Trajectory) { t.Excluded = "" },
		"turns":             func(t *rl.Trajectory) { t.Turns = t.Turns[:1] },
		"State":             func(t *rl.Trajectory) { t.Turns[1].State = "" },
		"Reward":            func(t *rl.Trajectory) { t.Turns[1].Reward = 0 },
		"sign of 0":         func(t *rl.Trajectory) { t.Turns[0].Reward = math.Copysign(0, -1) },
		"Value":             func(t *rl.Trajectory) { t.Turns[1].Value = 0 },
		"QValue":            func(t *rl.Trajectory) { t.Turns[1].QValue = 0 },
		"End":               func(t *rl.Trajectory) { t.Turns[1].End = rl.Terminated },
		"Invalid":           func(t *rl.Trajectory) { t.Turns[1].Invalid = true },
		"turn excluded":     func(t *rl.Trajectory) { t.Turns[1].Excluded = true },
		"tokens":            func(t *rl.Trajectory) { t.Turns[1].Tokens = t.Turns[1].Tokens[:1] },
		"Token.ID":          func(t *rl.Trajectory) { t.Turns[1].Tokens[1].ID = 2 },
		"Token.Trainable":   func(t *rl.Trajectory) { t.Turns[1].Tokens[1].Trainable = true },
		"Token.LogProb":     func(t *rl.Trajectory) { t.Turns[1].Tokens[1].LogProb = 2 },
		"Token.RefLogProb":  func(t *rl.Trajectory) { t.Turns[1].Tokens[1].RefLogProb = 2 },
		"Token.Value":       func(t *rl.Trajectory) { t.Turns[1].Tokens[1].Value = 2 },
		"an earlier token":  func(t *rl.Trajectory) { t.Turns[1].Tokens[0].Value = 2 },
		"appending a token": func(t *rl.Trajectory) { t.Turns[0].Tokens = append(t.Turns[0].Tokens, rl.Token{}) },
	}
	if err := unchanged(clone(batch), batch); err != nil {
		t.Errorf("a copy: %v", err)
	}
	for name, change := range changes {
		c := clone(batch)
		change(&c[1])
		if unchanged(c, batch) == nil {
			t.Errorf("%s: the change is not seen", name)
		}
		if err := unchanged(batch, clone(batch)); err != nil {
			t.Errorf("%s: a change of the copy changed the original: %v", name, err)
		}
	}
}
