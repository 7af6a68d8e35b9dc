// Package budget chooses what a policy is offered in each turn, tools and skills, under a token budget: it joins the packages envharness
// and bps.
package budget

import (
	"context"
	"errors"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
)

// A Chooser chooses for the turns of one episode after another. It serves one policy.
type Chooser struct{}

// New makes a chooser that spends at most tokens in each turn on tools and on skills together.
func New(tokens int, skills []bps.Text, o *bps.TextOptions) (*Chooser, error) {
	return nil, errors.New("budget: not implemented")
}

// Offer chooses for one turn: instructions with the chosen skills, and the chosen ones of the turn's tools in their order.
func (c *Chooser) Offer(ctx context.Context, t envharness.Turn) (instructions string, tools []envharness.Tool, err error) {
	return "", nil, errors.New("budget: not implemented")
}
