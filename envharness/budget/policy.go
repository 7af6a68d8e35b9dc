package budget

import (
	"context"

	"github.com/throughline-go/throughline/envharness"
)

// Policy returns a policy that has the inner one act on the chosen tools alone. The chosen skills, if any, are above the text that it is
// shown, with an empty line between. Calls are noted as by [Chooser.Called]. It explains itself as inner does. For a policy that takes
// instructions apart from what is shown, such as that of envharness/openai, use [Chooser.Offer].
func (c *Chooser) Policy(inner envharness.Policy) envharness.Policy { return &policy{c, inner} }

type policy struct {
	chooser *Chooser
	inner   envharness.Policy
}

// Act implements envharness.Policy.
func (p *policy) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	instructions, tools, err := p.chooser.Offer(ctx, t)
	if err != nil {
		return envharness.Action{}, err
	}
	t.Tools = tools
	if instructions != "" {
		t.Shown.Text = instructions + "\n" + t.Shown.Text
	}
	a, err := p.inner.Act(ctx, t)
	if err == nil {
		p.chooser.Called(a.Name)
	}
	return a, err
}

// Explain implements envharness.Explainer.
func (p *policy) Explain() (text string, tokens int) {
	if e, ok := p.inner.(envharness.Explainer); ok {
		return e.Explain()
	}
	return "", 0
}
