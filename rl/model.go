package rl

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// A Sequence is one row that a model reads: the tokens of a context and, from Start on, those of a response to it. In this package's
// losses a turn of a trajectory is one such row; see [Sequences].
type Sequence struct {
	Tokens []int
	Start  int // index in Tokens of the first token of the response, from 1 to len(Tokens); len(Tokens) makes an empty response
	// Allowed[j], if not empty, lists the tokens that could be drawn in place of Tokens[Start+j], itself among them, each once: the
	// log-probability is over these alone. Allowed is nil, or as long as the response.
	Allowed [][]int
}

// A Backbone is an autoregressive policy that is trained through the log-probabilities of its tokens: all that the policy losses of
// [github.com/throughline-go/throughline/rl/loss] need. A loss L depends on the parameters through the log-probabilities l alone, so that
// adding the gradient of sum w*l with the constants w = dL/dl adds exactly that of L.
//
// Log-probabilities are in nats, over the tokens that the model can sample, at the temperature at which it was sampled for training.
// Implementations check their input and return errors; they do not keep it.
//
// A service with the calls sample, forward, forward_backward and optim_step, as Tinker has them, maps onto a Backbone and a [Sampler] one to
// one: Sample is sample, LogProbs is forward, AddGrad is forward_backward with the linear loss whose weights per token are given, and
// Step is optim_step, which must never be repeated blindly after a failure. Where its log-probabilities are over the full vocabulary,
// reserved entries included, Head.FromFull of package loss takes these out, and Head.FullWeights turns weights of tokens and of values into
// weights on log-probabilities of the service. Entropies and exact divergences need all logits, which services do not give.
type Backbone interface {
	// LogProbs returns out[i][j], the log-probability of batch[i].Tokens[Start+j] given all tokens before it.
	LogProbs(ctx context.Context, batch []Sequence) ([][]float64, error)
	// AddGrad adds the gradient of sum weight[i][j]*LogProbs[i][j] with respect to the parameters to that collected since the last Step.
	AddGrad(ctx context.Context, batch []Sequence, weight [][]float64) error
	// Step moves the parameters against the collected gradient at a learning rate, drops it, and returns its norm before any clipping.
	// A gradient that is not finite is dropped and the parameters stay; the error is then [ErrNonFinite].
	Step(ctx context.Context, rate float64) (norm float64, err error)
}

// A Sampler draws responses. It must be safe for concurrent use as long as nothing trains the model.
type Sampler interface {
	// Sample appends to dst the response to a context, drawn token by token.
	Sample(ctx context.Context, dst, context []int, o SampleOptions) ([]int, error)
}

// SampleOptions is one request to a [Sampler].
type SampleOptions struct {
	Temperature float64 // >= 0; 0 takes the most probable token, the lowest id among equals
	Stop        int     // the response ends with this token, ...
	Limit       int     // or after this many tokens, >= 1
	// Allowed returns the tokens that may follow the response so far, each once; nil, or an empty result, means all that the model can
	// sample.
	Allowed func(response []int) []int
	Rand    *rand.Rand // source of the draws; nil means rand.New(rand.NewPCG(1, 2)), made anew
}

// A Network gives a vector for each position of a response: what [LogitModel] and [Critic] have in common.
//
// The callback f gets the vectors of sequence i: out[j], j = 0 to n for a response of n tokens, is read at the token before token j of
// the response; out[0] stands at the end of the context and out[n] at the last token of all. f may be called for several sequences at the
// same time and in any order, but once for each, and keeps nothing. An error of f ends the call and is returned.
type Network interface {
	// Forward computes the vectors alone.
	Forward(ctx context.Context, batch []Sequence, f func(i int, out [][]float64) error) error
	// ForwardBackward lets f fill in the gradient of a loss with respect to the vectors, in grad, which has their shape and holds zeros,
	// and adds the gradient with respect to the parameters to that collected since the last Step.
	ForwardBackward(ctx context.Context, batch []Sequence, f func(i int, grad, out [][]float64) error) error
	// Step is that of [Backbone].
	Step(ctx context.Context, rate float64) (norm float64, err error)
}

// A LogitModel is a [Backbone] that gives all logits and takes their gradients: out[j][k] of [Network] is the logit of token k. Exact
// entropies and divergences, and the values that SAPO reads off two entries of the vocabulary, need one. Where it is there, training
// takes one pass instead of two.
type LogitModel interface {
	Backbone
	Network
}

// A Critic is a [Network] of width 1 that predicts returns: out[j][0] is the value, in units of reward, before token j of the
// response.
type Critic interface{ Network }

// Sequences appends to dst one sequence for each turn of batch: its tokens up to the last trainable one, the response beginning with the first
// trainable one. A turn without a trainable token is all context; one without tokens has no tokens, and no model takes it.
// Allowed is that of the turn. The sequences share no tokens with batch.
func Sequences(dst []Sequence, batch []Trajectory) []Sequence {
	for i := range batch {
		for k := range batch[i].Turns {
			turn := &batch[i].Turns[k]
			first, end := -1, len(turn.Tokens)
			for j := range turn.Tokens {
				if turn.Tokens[j].Trainable {
					if first < 0 {
						first = j
					}
					end = j + 1
				}
			}
			if first < 0 {
				first = end
			}
			ids := make([]int, end)
			for j := range ids {
				ids[j] = turn.Tokens[j].ID
			}
			dst = append(dst, Sequence{Tokens: ids, Start: first, Allowed: turn.Allowed})
		}
	}
	return dst
}

// SetLogProbs notes the log-probabilities that a [Backbone] gives for the rows of [Sequences]: logProb[k][j] becomes LogProb of the token of turn k,
// counted over all trajectories, that is token j of its response, if it is trainable. Call it with those of the model that sampled, before it is
// trained. The error is a [*FieldError] around [ErrShape] for another number of rows or of tokens; batch is then unchanged.
func SetLogProbs(batch []Trajectory, logProb [][]float64) error {
	rows := Sequences(nil, batch)
	if len(rows) != len(logProb) {
		return &FieldError{-1, -1, "logProb", fmt.Sprintf("%d rows", len(logProb)), fmt.Sprintf("one for each of %d turns", len(rows)), ErrShape}
	}
	k := 0
	for i := range batch {
		for turn := range batch[i].Turns {
			if n := len(rows[k].Tokens) - rows[k].Start; len(logProb[k]) != n {
				return &FieldError{i, turn, "logProb", fmt.Sprintf("%d numbers", len(logProb[k])), fmt.Sprintf("one for each of %d tokens of the response", n), ErrShape}
			}
			k++
		}
	}
	k = 0
	for i := range batch {
		for turn := range batch[i].Turns {
			for j, l := range logProb[k] {
				if t := &batch[i].Turns[turn].Tokens[rows[k].Start+j]; t.Trainable {
					t.LogProb = l
				}
			}
			k++
		}
	}
	return nil
}
