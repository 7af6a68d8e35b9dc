package train

import (
	"fmt"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rollout"
)

// A batch is what one iteration collected.
type batch struct {
	trajectories []rl.Trajectory
	final        [][]int       // per trajectory: the context after the last turn
	rows         []rl.Sequence // one per turn, trajectories one after another
	turns        []*rl.Turn    // the turn of each row
	// offset[i] is the number of trainable tokens before row i, one entry more than rows; place[offset[i]+k] is where token k of row i is in
	// its response.
	offset, place []int
}

// newBatch lays out the turns of episodes.
func newBatch(episodes []rollout.Episode) *batch {
	b := &batch{trajectories: rollout.Trajectories(episodes), offset: []int{0}}
	for _, e := range episodes {
		b.final = append(b.final, e.Final)
	}
	b.rows = rl.Sequences(nil, b.trajectories)
	for i := range b.trajectories {
		for k := range b.trajectories[i].Turns {
			turn := &b.trajectories[i].Turns[k]
			start := b.rows[len(b.turns)].Start
			b.turns = append(b.turns, turn)
			for j := range turn.Tokens {
				if turn.Tokens[j].Trainable {
					b.place = append(b.place, j-start)
				}
			}
			b.offset = append(b.offset, len(b.place))
		}
	}
	return b
}

// places returns where the trainable tokens of row i are in its response.
func (b *batch) places(i int) []int { return b.place[b.offset[i]:b.offset[i+1]] }

// tokens returns the trainable token k of row i.
func (b *batch) token(i, k int) *rl.Token {
	return &b.turns[i].Tokens[b.rows[i].Start+b.place[b.offset[i]+k]]
}

// readable returns the rows that a model can read: those with a context. Others are turns whose player noted no tokens.
func (b *batch) readable() []int {
	var at []int
	for i := range b.rows {
		if b.rows[i].Start > 0 {
			at = append(at, i)
		}
	}
	return at
}

// take returns the rows at the given places.
func take(rows []rl.Sequence, at []int) []rl.Sequence {
	out := make([]rl.Sequence, len(at))
	for k, i := range at {
		out[k] = rows[i]
	}
	return out
}

// shape checks what a backbone returned: one number for each token of each response.
func shape(what string, got [][]float64, rows []rl.Sequence) error {
	if len(got) != len(rows) {
		return fmt.Errorf("train: %s of %d sequences, want %d: %w", what, len(got), len(rows), rl.ErrShape)
	}
	for i := range got {
		if n := len(rows[i].Tokens) - rows[i].Start; len(got[i]) != n {
			return fmt.Errorf("train: %s of %d tokens for sequence %d, want %d: %w", what, len(got[i]), i, n, rl.ErrShape)
		}
	}
	return nil
}
