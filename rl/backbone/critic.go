package backbone

import (
	"context"
	"errors"
	"slices"

	"github.com/throughline-go/throughline/rl"
)

// A Critic is an [rl.Critic]: a network like that of a [Model], with parameters and an optimiser of its own, whose head has width 1. Make
// one with [Model.NewCritic]. Which methods may run at the same time, errors and determinism are as for a Model.
type Critic struct{ net *network }

// NewCritic returns a critic of the same architecture and sizes, with initial parameters drawn by a seed, that is not otherwise tied to m.
func (m *Model) NewCritic(seed uint64) (*Critic, error) {
	if err := m.ready(); err != nil {
		return nil, err
	}
	c := m.net.config
	c.Seed = seed
	return &Critic{newNetwork(m.net.kind, c, 1, seed)}, nil
}

func (c *Critic) ready() error {
	if c == nil || c.net == nil {
		return errors.New("backbone: a critic that was not made by NewCritic or Clone")
	}
	return nil
}

// NumParams returns the number of parameters.
func (c *Critic) NumParams() int {
	if c.ready() != nil {
		return 0
	}
	return c.net.numParams()
}

// Params returns the parameters in a fixed order, the head last. They are those of the critic, not copies.
func (c *Critic) Params() []*Param {
	if c.ready() != nil {
		return nil
	}
	return slices.Clone(c.net.params)
}

// ZeroGrad drops the gradient collected since the last Step.
func (c *Critic) ZeroGrad() {
	if c.ready() == nil {
		c.net.zeroGrad()
	}
}

// Forward is that of [rl.Network]; the vectors have one number.
func (c *Critic) Forward(ctx context.Context, batch []rl.Sequence, f func(i int, out [][]float64) error) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.net.forward(ctx, batch, f)
}

// ForwardBackward is that of [rl.Network]. A gradient that is not finite shows in Step.
func (c *Critic) ForwardBackward(ctx context.Context, batch []rl.Sequence, f func(i int, grad, out [][]float64) error) error {
	if err := c.ready(); err != nil {
		return err
	}
	return c.net.forwardBackward(ctx, batch, f)
}

// Step is as [Model.Step].
func (c *Critic) Step(ctx context.Context, rate float64) (norm float64, err error) {
	if err := c.ready(); err != nil {
		return 0, err
	}
	return c.net.step(ctx, rate)
}

// Clone returns a critic with the same parameters, gradient and state of the optimiser that shares nothing with c.
func (c *Critic) Clone() *Critic {
	if c.ready() != nil {
		return &Critic{}
	}
	return &Critic{c.net.clone()}
}
