package rl_test

import (
	"testing"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/rltest"
)

// bind makes an estimator of a function and its options.
func bind[O any](f func(*rl.Credit, []rl.Trajectory, *O) (*rl.Credit, error), o *O) rl.Estimator {
	return func(dst *rl.Credit, batch []rl.Trajectory) (*rl.Credit, error) { return f(dst, batch, o) }
}

// Every estimator of the package keeps the laws, with what it promises.
func TestLaws(t *testing.T) {
	centred := rl.Norm{Std: rl.StdNone}
	turns := rltest.Promises{TurnLevel: true, Renamable: true, Centred: rltest.BatchTurns}
	apart := rltest.Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, Apart: true}
	scores := rltest.Promises{TurnLevel: true, Renamable: true, ShiftFree: true, ApartByGroup: true, SingletonZero: true, Centred: rltest.GroupTrajectories}
	with := func(p rltest.Promises, change func(*rltest.Promises)) rltest.Promises { change(&p); return p }
	states := with(scores, func(p *rltest.Promises) { p.Centred = rltest.NoRows })
	steps := with(states, func(p *rltest.Promises) { p.ShiftFree = false })
	excludes := func(p *rltest.Promises) { p.ExcludesNonFinite = true }
	webShop := rl.MileGPOWebShop()
	webShop.ExcludeNonFinite = true
	for _, tt := range []struct {
		name string
		e    rl.Estimator
		p    rltest.Promises
	}{
		{"TurnGAE", bind(rl.TurnGAE, nil), turns},
		{"TurnGAE, off", bind(rl.TurnGAE, &rl.TurnGAEOptions{Norm: rl.Norm{Std: rl.StdOff}}), apart},
		{"TurnGAE, drop", bind(rl.TurnGAE, &rl.TurnGAEOptions{Truncation: rl.TruncationDrop, ExcludeNonFinite: true}), with(turns, excludes)},
		{"SAPO", bind(rl.SAPO, nil), turns},
		{"SAPO, excluding", bind(rl.SAPO, &rl.TurnGAEOptions{ExcludeNonFinite: true}), with(turns, excludes)},
		{"GRPO", bind(rl.GRPO, nil), scores},
		{"GRPO, excluding", bind(rl.GRPO, &rl.GRPOOptions{ExcludeNonFinite: true}), with(scores, excludes)},
		{"Dr.GRPO", bind(rl.GRPO, &rl.GRPOOptions{Norm: centred}), scores},
		{"GRPO, per turn", bind(rl.GRPO, &rl.GRPOOptions{PerTurn: true}), with(scores, func(p *rltest.Promises) { p.Centred = rltest.GroupTurns })},
		{"GRPO, batch", bind(rl.GRPO, &rl.GRPOOptions{Scope: rl.ScopeBatch}),
			rltest.Promises{TurnLevel: true, Renamable: true, Centred: rltest.BatchTrajectories}},
		{"GRPO, group mean", bind(rl.GRPO, &rl.GRPOOptions{Scope: rl.ScopeGroupMeanBatchStd}),
			rltest.Promises{TurnLevel: true, Renamable: true, SingletonZero: true, Centred: rltest.GroupTrajectories}},
		{"RLOO", bind(rl.RLOO, nil), scores},
		{"RLOO, deviation of others", bind(rl.RLOO, &rl.RLOOOptions{OthersStd: true, ExcludeNonFinite: true}), with(states, excludes)},
		{"GiGPO", bind(rl.GiGPO, nil), steps},
		{"GiGPO, first visit", bind(rl.GiGPO, &rl.GiGPOOptions{FirstVisit: true, PerTurn: true, ExcludeNonFinite: true}), with(steps, excludes)},
		{"GAGPO", bind(rl.GAGPO, nil), rltest.Promises{TurnLevel: true, Renamable: true, ApartByGroup: true, Centred: rltest.GroupTurns}},
		{"GraphGPO", bind(rl.GraphGPO, nil), states},
		{"MileGPO", bind(rl.MileGPO, nil), states},
		{"MileGPO, WebShop", bind(rl.MileGPO, webShop), with(states, excludes)},
	} {
		t.Run(tt.name, func(t *testing.T) { rltest.Run(t, tt.e, tt.p) })
	}
}
