package backbone

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/throughline-go/throughline/rl"
)

// Sample appends to dst the response to a context of one token or more. Each token is drawn with probability proportional to
// exp(logit/Temperature) among those that are not reserved or those allowed; Config.Head.Temperature, which is of the log-probabilities, is
// not applied. A draw is one number of Rand; greedy choices take none. A Stop that is never drawn, such as -1, ends nothing.
//
// Errors are about a context that is empty or has tokens that are reserved or outside the vocabulary, len(context)+Limit above MaxLen,
// options out of range, tokens of Allowed that are reserved, outside the vocabulary or repeated, logits that are not finite
// ([rl.ErrNonFinite]), and the end of ctx, which is looked at before each token; dst then has the tokens drawn so far. Sessions are kept
// for later calls, so that a token allocates nothing.
func (m *Model) Sample(ctx context.Context, dst, context []int, o rl.SampleOptions) ([]int, error) {
	if err := m.ready(); err != nil {
		return dst, err
	}
	switch {
	case len(context) == 0:
		return dst, wrong("context", "empty", "one token or more", nil)
	case !(o.Temperature >= 0) || math.IsInf(o.Temperature, 1):
		return dst, wrong("SampleOptions.Temperature", o.Temperature, "a finite number >= 0", nil)
	case o.Limit < 1 || o.Limit > m.MaxLen()-len(context):
		return dst, wrong("SampleOptions.Limit", o.Limit, fmt.Sprintf("a number from 1 to %d, what %d tokens of context leave of MaxLen %d",
			m.MaxLen()-len(context), len(context), m.MaxLen()), nil)
	}
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(1, 2))
	}
	s := m.net.sampler()
	defer s.release()
	if err := s.Append(context...); err != nil {
		return dst, err
	}
	first := len(dst)
	for {
		if err := ctx.Err(); err != nil {
			return dst, err
		}
		var allowed []int
		if o.Allowed != nil {
			allowed = o.Allowed(dst[first:])
		}
		id, err := s.draw(allowed, o)
		if err != nil {
			return dst, err
		}
		dst = append(dst, id)
		if id == o.Stop || len(dst)-first == o.Limit {
			return dst, nil
		}
		s.last[0] = id
		if err := s.Append(s.last[:]...); err != nil {
			return dst, err
		}
	}
}

func (n *network) sampler() *sampler {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := len(n.samplers) - 1; k >= 0 {
		s := n.samplers[k]
		n.samplers = n.samplers[:k]
		return s
	}
	s := &sampler{Session: n.newSession(), weight: make([]float64, n.config.Vocab), seen: make([]int, n.config.Vocab)}
	for id := range n.config.Vocab {
		if n.config.takes(id) {
			s.all = append(s.all, id)
		}
	}
	return s
}

func (s *sampler) release() {
	s.Reset()
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	s.net.samplers = append(s.net.samplers, s)
}

// A sampler is a session with the scratch of draws.
type sampler struct {
	*Session
	last   [1]int
	all    []int     // tokens that are not reserved
	weight []float64 // by position in allowed
	seen   []int     // by token: the last draw that it was allowed in
	draws  int
}

// draw returns one of the tokens allowed, or of all if there are none.
func (s *sampler) draw(allowed []int, o rl.SampleOptions) (int, error) {
	if len(allowed) == 0 {
		allowed = s.all
	} else if err := s.check(allowed); err != nil {
		return 0, err
	}
	z := s.Logits()
	best := allowed[0]
	for _, id := range allowed {
		if z[id]-z[id] != 0 {
			return 0, wrong(fmt.Sprintf("the logit of token %d after %d tokens", id, s.n), z[id], "a finite number", rl.ErrNonFinite)
		}
		if z[id] > z[best] || z[id] == z[best] && id < best {
			best = id
		}
	}
	if o.Temperature == 0 {
		return best, nil
	}
	weight := s.weight[:len(allowed)]
	var sum float64
	for k, id := range allowed {
		weight[k] = math.Exp((z[id] - z[best]) / o.Temperature)
		sum += weight[k]
	}
	x := o.Rand.Float64() * sum
	for k, w := range weight {
		if x -= w; x < 0 {
			return allowed[k], nil
		}
	}
	return best, nil // rounding left a rest
}

func (s *sampler) check(allowed []int) error {
	s.draws++
	for k, id := range allowed {
		field := "SampleOptions.Allowed"
		switch {
		case !s.net.config.takes(id):
			return s.net.config.wrongToken(fmt.Sprintf("%s()[%d]", field, k), id)
		case s.seen[id] == s.draws:
			return wrong(fmt.Sprintf("%s()[%d]", field, k), id, "each token once", nil)
		}
		s.seen[id] = s.draws
	}
	return nil
}
