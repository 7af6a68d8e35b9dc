package token_test

import (
	"testing"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rltest"
	"github.com/throughline-go/throughline/rl/token"
)

func bind[O any](f func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error), o *O) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return f(dst, batch, o) }
}

// Every estimator of the package keeps the laws, with what it promises.
func TestLaws(t *testing.T) {
	white := rltest.Promises{Renamable: true, Centred: rltest.BatchTokens}
	apart := rltest.Promises{Renamable: true, ApartByGroup: true, Apart: true}
	excluding := white
	excluding.ExcludesNonFinite = true
	for _, tt := range []struct {
		name string
		e    rl.Estimator
		p    rltest.Promises
	}{
		{"GAE", bind(token.GAE, nil), white},
		{"GAE, not whitened", bind(token.GAE, &token.GAEOptions{Norm: rl.Norm{Std: rl.StdOff}, Gamma: new(.9), Lambda: new(.8), KLPenalty: .1}), apart},
		{"GAE, rows of turns", bind(token.GAE, &token.GAEOptions{TurnRows: true, ExcludeNonFinite: true}), excluding},
		{"REINFORCE++", bind(token.ReinforcePP, nil), white},
		{"REINFORCE++, not whitened", bind(token.ReinforcePP, &token.ReinforcePPOptions{Norm: rl.Norm{Std: rl.StdOff}, KLPenalty: .1}), apart},
		{"REINFORCE++-baseline", bind(token.ReinforcePP, &token.ReinforcePPOptions{GroupBaseline: true, ExcludeNonFinite: true}), excluding},
		{"REINFORCE++-baseline, not whitened", bind(token.ReinforcePP, &token.ReinforcePPOptions{GroupBaseline: true, Norm: rl.Norm{Std: rl.StdOff}}),
			rltest.Promises{TurnLevel: true, Renamable: true, ShiftFree: true, ApartByGroup: true, SingletonZero: true, Centred: rltest.GroupTrajectories}},
		{"PPO as published", bind(token.PPOPublished, nil), white},
		{"PPO as published, not whitened", bind(token.PPOPublished, &token.PPOPublishedOptions{Norm: rl.Norm{Std: rl.StdOff}}), apart},
	} {
		t.Run(tt.name, func(t *testing.T) { rltest.Run(t, tt.e, tt.p) })
	}
}
