package backbone

import (
	"fmt"
	"slices"
)

// A Session reads tokens one after the other and gives the logits of the next, with what it computed for those before: a transformer keeps
// their keys and values, a GRU its vector. One goroutine uses a session at a time. It sees the parameters as they are when a token is read,
// so that a session of before a Step is of no use after it: [Session.Reset] it.
type Session struct {
	net    *network
	state  state
	hidden []float64
	logits []float64
	fresh  bool // logits are those of hidden
	n      int
}

// NewSession returns a session without tokens. It takes memory for the scratch of the most tokens it reads at once and, in a transformer,
// 2*Layers*Dim numbers for each token read. It is nil for a model that was not made by a function of this package.
func (m *Model) NewSession() *Session {
	if m.ready() != nil {
		return nil
	}
	return m.net.newSession()
}

func (n *network) newSession() *Session {
	return &Session{net: n, state: n.trunk.newState(), hidden: make([]float64, n.config.Dim), logits: make([]float64, n.width)}
}

// Append reads further tokens. The error is about tokens that are reserved ([loss.ErrReservedToken]) or outside the vocabulary and about
// more than MaxLen in all; the session is then as it was. Memory that it takes for longer sequences is kept.
func (s *Session) Append(ids ...int) error {
	if s == nil || s.net == nil {
		return errZero
	}
	if s.n+len(ids) > s.net.config.MaxLen {
		return wrong("ids", fmt.Sprintf("%d after %d tokens", len(ids), s.n), fmt.Sprintf("at most %d in all", s.net.config.MaxLen), nil)
	}
	for k, id := range ids {
		if !s.net.config.takes(id) {
			return s.net.config.wrongToken(fmt.Sprintf("ids[%d]", k), id)
		}
	}
	if len(ids) > 0 {
		s.state.append(ids, s.hidden)
		s.n += len(ids)
		s.fresh = false
	}
	return nil
}

// Logits returns the logits of the next token, Vocab of them, reserved entries included. They are valid until the next Append or Reset, and
// nil while there is no token.
func (s *Session) Logits() []float64 {
	if s == nil || s.n == 0 {
		return nil
	}
	if !s.fresh {
		multiply(s.logits, s.hidden, s.net.head.W, len(s.hidden), len(s.logits), 0)
		s.fresh = true
	}
	return s.logits
}

// Len returns the number of tokens read.
func (s *Session) Len() int {
	if s == nil || s.net == nil {
		return 0
	}
	return s.n
}

// Fork returns a session that has read the same tokens and goes its own way. O(tokens) time and memory.
func (s *Session) Fork() *Session {
	if s == nil || s.net == nil {
		return nil
	}
	return &Session{s.net, s.state.clone(), slices.Clone(s.hidden), slices.Clone(s.logits), s.fresh, s.n}
}

// Reset forgets all tokens and keeps the memory.
func (s *Session) Reset() {
	if s == nil || s.net == nil {
		return
	}
	s.state.reset()
	s.n = 0
}
