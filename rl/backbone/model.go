package backbone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// A Model is an autoregressive policy over tokens, with its optimiser: a trunk, which is a transformer or a GRU, and a linear head for the
// logits. It is an [rl.LogitModel] and an [rl.Sampler]. Make one with [NewTransformer], [NewGRU] or [Load]; methods of others return
// errors, but UnmarshalBinary, and numbers are 0.
//
// Methods that only read (LogProbs, Forward, Sample, sessions, Clone, Freeze, MarshalBinary) may run at the same time, as long as none
// runs that writes (AddGrad, ForwardBackward, Step, ZeroGrad, SetWorkers, UnmarshalBinary).
//
// The methods that take a batch check all of it first: sequences that are empty, longer than MaxLen or without a context, tokens outside
// the vocabulary, and reserved ones, for which the error is [loss.ErrReservedToken], change nothing. They look at the context between
// chunks of 256 tokens or more. If the context ends, or a callback fails, in the middle of AddGrad or ForwardBackward, the gradients of
// some chunks have been added: call ZeroGrad then. Equal input gives equal bits, whatever the number of workers.
type Model struct{ net *network }

var (
	_ rl.LogitModel = (*Model)(nil)
	_ rl.Sampler    = (*Model)(nil)
	_ rl.Critic     = (*Critic)(nil)
)

// NewTransformer returns a causal transformer with learned positions, norms before each part, and the GELU (arXiv:1706.03762, 2002.04745).
// Weights are drawn from normal distributions by Config.Seed (ours: their standard deviation is one over the root of the number of inputs,
// and a tenth of that in the head, so that the first policy is nearly uniform); biases begin at 0. The errors name the fields of Config
// that are out of range.
//
// A token costs about 24 Layers Dim² + 4 Layers Dim times its position operations forward, and twice that backward.
func NewTransformer(c Config) (*Model, error) { return newModel(transformerKind, c) }

// NewGRU returns a network with one layer of gated recurrent units (arXiv:1406.1078), which begins each sequence with zeros. It does not
// read Heads and Layers. The weights are drawn, and errors given, as by [NewTransformer]. A token costs about 12 Dim² operations forward,
// and twice that backward, at any position.
func NewGRU(c Config) (*Model, error) { return newModel(gruKind, c) }

func newModel(k kind, c Config) (*Model, error) {
	c, err := c.filled(k)
	if err != nil {
		return nil, err
	}
	return &Model{net: newNetwork(k, c, c.Vocab, c.Seed)}, nil
}

// ready returns an error for a model that was not made by a function of this package.
func (m *Model) ready() error {
	if m == nil || m.net == nil {
		return errZero
	}
	return nil
}

// Vocab returns the number of token ids, reserved entries included.
func (m *Model) Vocab() int {
	if m.ready() != nil {
		return 0
	}
	return m.net.config.Vocab
}

// MaxLen returns the number of tokens of the longest sequence.
func (m *Model) MaxLen() int {
	if m.ready() != nil {
		return 0
	}
	return m.net.config.MaxLen
}

// NumParams returns the number of parameters. Each is kept with its gradient and, once there has been a Step, two numbers of the optimiser.
func (m *Model) NumParams() int {
	if m.ready() != nil {
		return 0
	}
	return m.net.numParams()
}

// Params returns the parameters in a fixed order, the head last. They are those of the model, not copies.
func (m *Model) Params() []*Param {
	if m.ready() != nil {
		return nil
	}
	return slices.Clone(m.net.params)
}

// ZeroGrad drops the gradient collected since the last Step.
func (m *Model) ZeroGrad() {
	if m.ready() == nil {
		m.net.zeroGrad()
	}
}

// SetWorkers sets the number of goroutines of one call; below 1 means 1.
func (m *Model) SetWorkers(n int) {
	if m.ready() == nil {
		m.net.config.Workers = max(1, n)
	}
}

// LogProbs returns the log-probability of each token of each response, in nats, at the temperature of Config.Head, over all tokens that are
// not reserved or those that the sequence allows. Errors beside those of the input are [rl.ErrNonFinite] for logits that are not finite.
func (m *Model) LogProbs(ctx context.Context, batch []rl.Sequence) ([][]float64, error) {
	if err := m.ready(); err != nil {
		return nil, err
	}
	if err := m.net.check(batch); err != nil {
		return nil, err
	}
	out := make([][]float64, len(batch))
	for i, s := range batch {
		out[i] = make([]float64, len(s.Tokens)-s.Start)
	}
	err := m.net.each(ctx, task{batch: batch, f: func(w *worker, i int, _, rows [][]float64) error {
		for j := range out[i] {
			l, err := m.net.logProb(w, nil, rows[j], &batch[i], j, 0)
			if err != nil {
				return fmt.Errorf("backbone: batch[%d], token %d of the response: %w", i, j, err)
			}
			out[i][j] = l
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// AddGrad adds the gradient of sum weight[i][j]*LogProbs[i][j] to that collected since the last Step. Errors are those of LogProbs,
// [rl.ErrShape] for weights that differ from the responses in number, and [rl.ErrNonFinite] for weights that are not finite. A token of
// weight 0 adds nothing.
func (m *Model) AddGrad(ctx context.Context, batch []rl.Sequence, weight [][]float64) error {
	if err := m.ready(); err != nil {
		return err
	}
	if err := m.net.check(batch); err != nil {
		return err
	}
	if len(weight) != len(batch) {
		return wrong("weight", fmt.Sprintf("of length %d", len(weight)), fmt.Sprintf("length %d of the batch", len(batch)), rl.ErrShape)
	}
	for i, s := range batch {
		if got, want := len(weight[i]), len(s.Tokens)-s.Start; got != want {
			return wrong(fmt.Sprintf("weight[%d]", i), fmt.Sprintf("of length %d", got), fmt.Sprintf("length %d of the response", want), rl.ErrShape)
		}
		for j, x := range weight[i] {
			if x-x != 0 {
				return wrong(fmt.Sprintf("weight[%d][%d]", i, j), x, "a finite number", rl.ErrNonFinite)
			}
		}
	}
	return m.net.each(ctx, task{batch: batch, backward: true, f: func(w *worker, i int, grad, rows [][]float64) error {
		for j, x := range weight[i] {
			if x == 0 {
				continue
			}
			if _, err := m.net.logProb(w, grad[j], rows[j], &batch[i], j, x); err != nil {
				return fmt.Errorf("backbone: batch[%d], token %d of the response: %w", i, j, err)
			}
		}
		return nil
	}})
}

// logProb returns the log-probability of token j of the response of s, read off the logits z, and adds scale times its gradient to dz, if
// that is not nil.
func (n *network) logProb(w *worker, dz, z []float64, s *rl.Sequence, j int, scale float64) (float64, error) {
	action := s.Tokens[s.Start+j]
	if s.Allowed == nil || len(s.Allowed[j]) == 0 {
		return n.config.Head.LogProb(dz, z, action, scale)
	}
	allowed := s.Allowed[j]
	w.z = grow(w.z, len(allowed))
	for k, id := range allowed {
		w.z[k] = z[id]
	}
	head := loss.Head{Temperature: n.config.Head.Temperature}
	if dz == nil {
		return head.LogProb(nil, w.z, slices.Index(allowed, action), 0)
	}
	w.dz = grow(w.dz, len(allowed))
	clear(w.dz)
	l, err := head.LogProb(w.dz, w.z, slices.Index(allowed, action), scale)
	for k, id := range allowed {
		dz[id] += w.dz[k]
	}
	return l, err
}

// Forward is that of [rl.Network], the vectors being logits of all Vocab entries, reserved ones included, before any temperature.
func (m *Model) Forward(ctx context.Context, batch []rl.Sequence, f func(i int, out [][]float64) error) error {
	if err := m.ready(); err != nil {
		return err
	}
	return m.net.forward(ctx, batch, f)
}

// ForwardBackward is that of [rl.Network]. A gradient that is not finite shows in Step.
func (m *Model) ForwardBackward(ctx context.Context, batch []rl.Sequence, f func(i int, grad, out [][]float64) error) error {
	if err := m.ready(); err != nil {
		return err
	}
	return m.net.forwardBackward(ctx, batch, f)
}

// Step makes one step of [AdamW] at a learning rate, a finite number >= 0, drops the gradient, and returns its norm before clipping. Where
// that is not finite the gradient is dropped, nothing else changes, and the error is [rl.ErrNonFinite].
func (m *Model) Step(ctx context.Context, rate float64) (norm float64, err error) {
	if err := m.ready(); err != nil {
		return 0, err
	}
	return m.net.step(ctx, rate)
}

// Head returns how the model reads its logits: Config.Head.
func (m *Model) Head() loss.Head {
	if m.ready() != nil {
		return loss.Head{}
	}
	return m.net.config.Head
}

// Clone returns a model with the same parameters, gradient and state of the optimiser that shares nothing with m.
func (m *Model) Clone() *Model {
	if m.ready() != nil {
		return &Model{}
	}
	return &Model{net: m.net.clone()}
}

// Freeze returns a copy of m that cannot be trained: the reference of a divergence. Its AddGrad and Step return errors. It has no gradient
// and no state of an optimiser, and is an [rl.Network] as well, by type assertion.
func (m *Model) Freeze() rl.Backbone {
	c := m.Clone()
	if c.net != nil {
		c.net.drop()
	}
	return frozen{c}
}

// drop drops what only training needs.
func (n *network) drop() {
	n.adam = adam{AdamW: n.adam.AdamW}
	for _, p := range n.params {
		p.G = nil
	}
}

// frozen is a model without the methods that write.
type frozen struct{ m *Model }

var errFrozen = errors.New("backbone: a frozen model cannot be trained")

func (f frozen) LogProbs(ctx context.Context, batch []rl.Sequence) ([][]float64, error) {
	return f.m.LogProbs(ctx, batch)
}

func (f frozen) Forward(ctx context.Context, batch []rl.Sequence, g func(i int, out [][]float64) error) error {
	return f.m.Forward(ctx, batch, g)
}

func (f frozen) AddGrad(context.Context, []rl.Sequence, [][]float64) error { return errFrozen }

func (f frozen) ForwardBackward(context.Context, []rl.Sequence, func(i int, grad, out [][]float64) error) error {
	return errFrozen
}

func (f frozen) Step(context.Context, float64) (float64, error) { return 0, errFrozen }

// MarshalBinary is that of the model.
func (f frozen) MarshalBinary() ([]byte, error) { return f.m.MarshalBinary() }

// UnmarshalBinary is that of the model, without the state of the optimiser.
func (f frozen) UnmarshalBinary(data []byte) error {
	if err := f.m.UnmarshalBinary(data); err != nil {
		return err
	}
	f.m.net.drop()
	return nil
}
