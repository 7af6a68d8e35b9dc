package train

import (
	"context"
	"fmt"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/rl"
)

// readOld notes what credit and losses need of the model as it is, by the path that the learner takes: log-probabilities, those of the
// reference, and values.
func (t *Trainer) readOld(ctx context.Context, b *batch, times *Seconds) error {
	done := t.timer()
	at := b.readable()
	rows := take(b.rows, at)
	if t.algorithm.Values == SharedValues {
		if err := t.readShared(ctx, b, rows, at); err != nil {
			return err
		}
	} else {
		logp, err := t.model.LogProbs(ctx, rows)
		if err != nil {
			return err
		}
		if err := shape("log-probabilities", logp, rows); err != nil {
			return err
		}
		for k, i := range at {
			for n, j := range b.places(i) {
				b.token(i, n).LogProb = logp[k][j]
			}
		}
	}
	if t.s.klWeight > 0 || t.s.KLTarget > 0 {
		logp, err := t.reference.LogProbs(ctx, rows)
		if err != nil {
			return fmt.Errorf("train: reference: %w", err)
		}
		if err := shape("log-probabilities of the reference", logp, rows); err != nil {
			return err
		}
		for k, i := range at {
			for n, j := range b.places(i) {
				b.token(i, n).RefLogProb = logp[k][j]
			}
		}
	}
	done(&times.LogProbs)
	done = t.timer()
	if err := t.readCritic(ctx, b, at); err != nil {
		return err
	}
	if err := t.readFinal(ctx, b); err != nil {
		return err
	}
	done(&times.Values)
	return nil
}

// readShared notes log-probabilities, V and Q from one pass over all turns.
func (t *Trainer) readShared(ctx context.Context, b *batch, rows []rl.Sequence, at []int) error {
	return t.model.(rl.LogitModel).Forward(ctx, rows, func(k int, out [][]float64) error {
		i := at[k]
		for n, j := range b.places(i) {
			v := look(t.s.Head, &rows[k], j, out[j], nil)
			logp, err := v.head.LogProb(nil, v.z, v.action, 0)
			if err != nil {
				return err
			}
			b.token(i, n).LogProb = logp
		}
		p, _, err := t.s.Head.Value(nil, out[0], 0)
		if err != nil {
			return err
		}
		b.turns[i].Value = t.s.RMax * p
		if t.algorithm.NoQ {
			return nil
		}
		if p, _, err = t.s.Head.Value(nil, out[len(out)-1], 0); err != nil {
			return err
		}
		b.turns[i].QValue = t.s.RMax * p
		return nil
	})
}

// contexts cuts the responses off.
func contexts(rows []rl.Sequence) []rl.Sequence {
	out := make([]rl.Sequence, len(rows))
	for k, r := range rows {
		out[k] = rl.Sequence{Tokens: r.Tokens[:r.Start], Start: r.Start}
	}
	return out
}

// readCritic notes the values of a critic apart.
func (t *Trainer) readCritic(ctx context.Context, b *batch, at []int) error {
	rows := take(b.rows, at)
	switch t.algorithm.Values {
	case TurnCritic:
		return t.critic.Forward(ctx, contexts(rows), func(k int, out [][]float64) error {
			if err := scalars(out, 0); err != nil {
				return err
			}
			b.turns[at[k]].Value = out[0][0]
			return nil
		})
	case TokenCritic:
		return t.critic.Forward(ctx, rows, func(k int, out [][]float64) error {
			if err := scalars(out, len(rows[k].Tokens)-rows[k].Start); err != nil {
				return err
			}
			for n, j := range b.places(at[k]) {
				b.token(at[k], n).Value = out[j][0]
			}
			return nil
		})
	}
	return nil
}

// scalars checks what a critic gives for a response of n tokens.
func scalars(out [][]float64, n int) error {
	if len(out) != n+1 {
		return fmt.Errorf("train: the critic gives %d vectors for a response of %d tokens, want %d: %w", len(out), n, n+1, rl.ErrShape)
	}
	for j := range out {
		if len(out[j]) != 1 {
			return fmt.Errorf("train: the critic gives a vector of %d numbers, want 1: %w", len(out[j]), rl.ErrShape)
		}
	}
	return nil
}

// readFinal notes the value of the state after each episode that a limit cut off.
func (t *Trainer) readFinal(ctx context.Context, b *batch) error {
	if !t.algorithm.Bootstraps {
		return nil
	}
	var at []int
	var rows []rl.Sequence
	for i := range b.trajectories {
		tr := &b.trajectories[i]
		if tr.Excluded == "" && tr.Turns[len(tr.Turns)-1].End == rl.Truncated {
			if len(b.final[i]) == 0 {
				return fmt.Errorf("train: episode %s was cut off, and its player has no context after it: %w", tr.ID, rl.ErrNoFinalValue)
			}
			at = append(at, i)
			rows = append(rows, rl.Sequence{Tokens: b.final[i], Start: len(b.final[i])})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if t.algorithm.Values == SharedValues {
		return t.model.(rl.LogitModel).Forward(ctx, rows, func(k int, out [][]float64) error {
			p, _, err := t.s.Head.Value(nil, out[0], 0)
			if err != nil {
				return err
			}
			b.trajectories[at[k]].FinalValue = new(t.s.RMax * p)
			return nil
		})
	}
	if t.critic == nil {
		return fmt.Errorf("train: algorithm %q reads the value after a cut, and has no values: %w", t.algorithm.Name, rl.ErrNoFinalValue)
	}
	return t.critic.Forward(ctx, rows, func(k int, out [][]float64) error {
		if err := scalars(out, 0); err != nil {
			return err
		}
		b.trajectories[at[k]].FinalValue = new(out[0][0])
		return nil
	})
}

// stream derives a generator for one purpose and number, from the seed alone.
func (t *Trainer) stream(purpose string, n uint64) uint64 {
	return envharness.RandStream(t.s.Seed, "train/"+purpose, n).Uint64()
}
