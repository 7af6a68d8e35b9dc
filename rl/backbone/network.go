package backbone

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"

	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/loss"
)

// A network is a trunk with a linear head: what Model and Critic have in common.
type network struct {
	kind   kind
	config Config // filled
	width  int    // of the head
	trunk  trunk
	head   *Param   // Dim x width
	params []*Param // those of the trunk, then the head
	adam   adam

	mu       sync.Mutex // of scratch that later calls use again
	idle     []*worker
	samplers []*sampler
}

// newNetwork makes a network with initial parameters; c is filled.
func newNetwork(k kind, c Config, width int, seed uint64) *network {
	stream := uint64(0x6261636b626f6e65) // "backbone", so that equal seeds elsewhere mean other streams
	if width == 1 {
		stream++ // a critic must not begin as the policy of some seed
	}
	rng := rand.New(rand.NewPCG(seed, stream))
	n := &network{kind: k, config: c, width: width, trunk: c.newTrunk(k, rng), adam: adam{AdamW: c.AdamW.clone()}}
	// A small head makes the first policy nearly uniform, and the first values nearly 0.
	n.head = newParam("head", c.Dim, width).normal(rng, 0.1/math.Sqrt(float64(c.Dim)))
	n.params = append(append(n.params, n.trunk.params()...), n.head)
	return n
}

// clone returns a network with the same numbers that shares nothing with n.
func (n *network) clone() *network {
	c := newNetwork(n.kind, n.config, n.width, n.config.Seed)
	for i, p := range n.params {
		copy(c.params[i].W, p.W)
		copy(c.params[i].G, p.G)
	}
	c.adam = n.adam.clone()
	return c
}

func (n *network) numParams() int {
	var sum int
	for _, p := range n.params {
		sum += len(p.W)
	}
	return sum
}

func (n *network) zeroGrad() {
	for _, p := range n.params {
		clear(p.G)
	}
}

func (n *network) step(ctx context.Context, rate float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return n.adam.step(n.params, rate)
}

// A worker is the scratch of one goroutine of a call.
type worker struct {
	pass               pass
	grad               [][]float64 // by parameter, zeros between chunks; nil until there is a backward pass
	tokens, lens, from []int
	items              []int       // indices in the batch of the sequences in tokens
	out, dOut          []float64   // of the head, one row of width for each position asked for
	rows, dRows        [][]float64 // the same as slices
	dHidden            []float64
	z, dz              []float64 // of the tokens that are allowed
}

func (n *network) worker() *worker {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := len(n.idle) - 1; k >= 0 {
		w := n.idle[k]
		n.idle = n.idle[:k]
		return w
	}
	return &worker{pass: n.trunk.newPass()}
}

func (n *network) release(w *worker) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.idle = append(n.idle, w)
}

// chunkTokens is the size from which a chunk is full: small enough to give several workers something to do, large enough that adding up
// the gradients of all parameters, once a chunk, does not count.
const chunkTokens = 256

// task is one call of each.
type task struct {
	batch []rl.Sequence
	// last says that the vectors at the last tokens are wanted too. Without it a sequence whose response is empty is left out.
	last     bool
	backward bool
	// f gets the vectors of sequence i, and fills in their gradient in grad, which holds zeros, if backward is set.
	f func(w *worker, i int, grad, out [][]float64) error
}

// each runs t. The sequences are cut into chunks in an order that depends on the batch alone, each the work of one goroutine. With
// backward, the gradients of the chunks are added to those of the parameters in order. The error is that of the first chunk that has one.
func (n *network) each(ctx context.Context, t task) error {
	var chunks []int // ends
	size := 0
	for i := range t.batch {
		size += len(t.batch[i].Tokens)
		if size >= chunkTokens || i == len(t.batch)-1 {
			chunks = append(chunks, i+1)
			size = 0
		}
	}
	r := run{network: n, task: t, chunks: chunks}
	r.turn.L = &r.mu
	var group sync.WaitGroup
	for range min(n.config.Workers, len(chunks)) - 1 {
		group.Go(func() { r.work(ctx) })
	}
	r.work(ctx)
	group.Wait()
	if p, ok := r.err.(*panicked); ok {
		panic(p.Error())
	}
	return r.err
}

// panicked is a panic of a callback, which goes on in the goroutine of the caller once all workers have ended.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// guarded is chunk, with a panic as an error.
func (r *run) guarded(w *worker, from, to int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return r.chunk(w, from, to)
}

// run is the state of each.
type run struct {
	*network
	task
	chunks []int

	mu   sync.Mutex
	next int // chunk to begin
	done int // chunks that have ended, in order
	turn sync.Cond
	err  error // of the first chunk that has one
}

// work does chunks until there are no more. Chunks are begun in order, so that the first of those that fail is always among those that were
// begun, and end in order: neither the error nor the gradient depends on the number of goroutines.
func (r *run) work(ctx context.Context) {
	w := r.worker()
	defer r.release(w)
	for {
		r.mu.Lock()
		k := r.next
		if k >= len(r.chunks) || r.err != nil {
			r.mu.Unlock()
			return
		}
		r.next++
		r.mu.Unlock()

		err := ctx.Err()
		if err == nil {
			first := 0
			if k > 0 {
				first = r.chunks[k-1]
			}
			err = r.guarded(w, first, r.chunks[k])
		}

		r.mu.Lock()
		for r.done < k {
			r.turn.Wait()
		}
		if r.err == nil {
			r.err = err
		}
		if r.err == nil && r.backward {
			for i, g := range w.grad {
				addRows(r.params[i].G, g)
			}
		}
		r.done++
		r.turn.Broadcast()
		r.mu.Unlock()
	}
}

// chunk runs the sequences from first to end. It leaves the gradient in w.
func (r *run) chunk(w *worker, first, end int) error {
	w.tokens, w.lens, w.from, w.items = w.tokens[:0], w.lens[:0], w.from[:0], w.items[:0]
	rows := 0
	for i := first; i < end; i++ {
		s := &r.batch[i]
		tokens := s.Tokens
		if !r.last {
			tokens = tokens[:len(tokens)-1]
		}
		if len(tokens) < s.Start {
			continue
		}
		w.items = append(w.items, i)
		w.tokens = append(w.tokens, tokens...)
		w.lens = append(w.lens, len(tokens))
		w.from = append(w.from, s.Start-1)
		rows += len(tokens) - s.Start + 1
	}
	if r.backward {
		w.clearGrad(r.params)
	}
	if rows == 0 {
		return nil
	}
	d, width := r.config.Dim, r.width
	h := w.pass.forward(w.tokens, w.lens, w.from)
	w.out, w.rows = grow(w.out, rows*width), grow(w.rows, rows)
	multiply(w.out, h, r.head.W, d, width, 0)
	for k := range w.rows {
		w.rows[k] = w.out[k*width:][:width:width]
	}
	if r.backward {
		w.dOut, w.dRows = grow(w.dOut, rows*width), grow(w.dRows, rows)
		clear(w.dOut)
		for k := range w.dRows {
			w.dRows[k] = w.dOut[k*width:][:width:width]
		}
	}
	row := 0
	for k, i := range w.items {
		next := row + w.lens[k] - w.from[k]
		var grad [][]float64
		if r.backward {
			grad = w.dRows[row:next:next]
		}
		if err := r.f(w, i, grad, w.rows[row:next:next]); err != nil {
			return err
		}
		row = next
	}
	if r.backward {
		w.dHidden = grow(w.dHidden, rows*d)
		multiplyBack(w.dHidden, w.dOut, r.head.W, d, width)
		weightGrad(w.grad[len(w.grad)-1], h, w.dOut, d, width)
		w.pass.backward(w.dHidden, w.grad)
	}
	return nil
}

func (w *worker) clearGrad(params []*Param) {
	if w.grad == nil {
		w.grad = zerosLike(params)
		return
	}
	for _, g := range w.grad {
		clear(g)
	}
}

// forward is Forward of rl.Network.
func (n *network) forward(ctx context.Context, batch []rl.Sequence, f func(i int, out [][]float64) error) error {
	if err := n.check(batch); err != nil {
		return err
	}
	if f == nil {
		return errors.New("backbone: the callback is nil")
	}
	return n.each(ctx, task{batch: batch, last: true, f: func(_ *worker, i int, _, out [][]float64) error { return f(i, out) }})
}

// forwardBackward is ForwardBackward of rl.Network.
func (n *network) forwardBackward(ctx context.Context, batch []rl.Sequence, f func(i int, grad, out [][]float64) error) error {
	if err := n.check(batch); err != nil {
		return err
	}
	if f == nil {
		return errors.New("backbone: the callback is nil")
	}
	return n.each(ctx, task{batch, true, true, func(_ *worker, i int, grad, out [][]float64) error { return f(i, grad, out) }})
}

// check checks the sequences of a batch.
func (n *network) check(batch []rl.Sequence) error {
	var seen []int // by token: the last list, counted from 1, that has it
	lists := 0
	for i := range batch {
		s := &batch[i]
		at := func(field string) string { return fmt.Sprintf("batch[%d].%s", i, field) }
		switch size := len(s.Tokens); {
		case size == 0 || size > n.config.MaxLen:
			return wrong(at("Tokens"), fmt.Sprintf("of length %d", size), fmt.Sprintf("a length from 1 to %d", n.config.MaxLen), nil)
		case s.Start < 1 || s.Start > size:
			return wrong(at("Start"), s.Start, fmt.Sprintf("a position from 1 to the length %d", size), nil)
		case s.Allowed != nil && len(s.Allowed) != size-s.Start:
			return wrong(at("Allowed"), fmt.Sprintf("of length %d", len(s.Allowed)), fmt.Sprintf("length %d of the response", size-s.Start), rl.ErrShape)
		}
		for j, id := range s.Tokens {
			if !n.config.takes(id) {
				return n.config.wrongToken(at(fmt.Sprintf("Tokens[%d]", j)), id)
			}
		}
		for j, allowed := range s.Allowed {
			if len(allowed) == 0 {
				continue
			}
			if seen == nil {
				seen = make([]int, n.config.Vocab)
			}
			lists++
			for k, id := range allowed {
				switch {
				case !n.config.takes(id):
					return n.config.wrongToken(at(fmt.Sprintf("Allowed[%d][%d]", j, k)), id)
				case seen[id] == lists:
					return wrong(at(fmt.Sprintf("Allowed[%d][%d]", j, k)), id, "each token once", nil)
				}
				seen[id] = lists
			}
			if id := s.Tokens[s.Start+j]; seen[id] != lists {
				return wrong(at(fmt.Sprintf("Allowed[%d]", j)), allowed, fmt.Sprintf("the token %d of the response among them", id), nil)
			}
		}
	}
	return nil
}

// takes reports whether id may stand in a sequence.
func (c Config) takes(id int) bool { return id >= 0 && id < c.Vocab && !c.reserved(id) }

// wrongToken returns the error for an id that takes refuses.
func (c Config) wrongToken(field string, id int) error {
	if c.reserved(id) {
		return wrong(field, id, "a token that is not reserved", loss.ErrReservedToken)
	}
	return wrong(field, id, fmt.Sprintf("a token from 0 to %d", c.Vocab-1), nil)
}

func wrong(field string, got any, want string, err error) error {
	return &rl.FieldError{Trajectory: -1, Turn: -1, Field: field, Got: fmt.Sprint(got), Want: want, Err: err}
}
