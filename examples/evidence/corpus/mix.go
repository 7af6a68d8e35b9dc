package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/midtool/mix"
)

// A mixResult says how far shares are off, each the largest difference over the sources.
type mixResult struct {
	Units      int     `json:"units"`
	ShareError float64 `json:"share_error"`        // with enough of everything
	Scaled     float64 `json:"scaled_share_error"` // where a source is scarce, so that the budget shrinks
	TierError  float64 `json:"tier_error"`         // between shares of documents by tier, where they are enforced
}

// mix chooses from units whose lengths differ as those of documents do.
func (e *evidence) mix(s effort) error {
	r := rand.New(rand.NewPCG(seed, 4))
	var units []mix.Unit
	total := 0
	for i := range s.units {
		source := []string{"web", "web", "code", "pdf", "native"}[i%5]
		u := mix.Unit{ID: fmt.Sprintf("%s/%d", source, i), Source: source, Tokens: int(min(20_000, math.Exp(6.5+r.NormFloat64())))}
		if source != "native" {
			u.Tier = []string{"source", "qa", "traj"}[r.IntN(3)]
		}
		units = append(units, u)
		total += u.Tokens
	}
	e.Mix.Units = len(units)
	enough, err := mix.Select(units, &mix.Options{Seed: seed, Budget: total / 3})
	if err != nil {
		return err
	}
	e.Mix.ShareError = enough.ShareError()
	scarce, err := mix.Select(units, &mix.Options{Seed: seed, Budget: total})
	if err != nil {
		return err
	}
	e.Mix.Scaled = scarce.ShareError()
	e.claim(scarce.Budget < total, "mix: nothing is scarce")
	tiers, err := mix.Select(units, &mix.Options{Seed: seed, Budget: total / 5, Tiers: mix.DefaultTiers()})
	if err != nil {
		return err
	}
	for _, source := range tiers.Sources {
		for _, t := range source.Tiers {
			e.Mix.TierError = max(e.Mix.TierError, math.Abs(t.Got-t.Want))
		}
	}
	e.claim(e.Mix.ShareError <= 0.01, "mix: shares are off by %.4f, want at most 0.01", e.Mix.ShareError)
	e.claim(e.Mix.Scaled <= 0.01, "mix: shares of a smaller budget are off by %.4f, want at most 0.01", e.Mix.Scaled)
	e.claim(e.Mix.TierError <= 0.01, "mix: tiers are off by %.4f, want at most 0.01", e.Mix.TierError)
	return nil
}
