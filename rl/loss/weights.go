package loss

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// Aggregation says how the losses of tokens make one number: by which weight each counts.
type Aggregation uint8

// The aggregations, with their names in verl where it has them. N are the tokens, S the sequences and T the turns that
// count in the optimiser step, n the tokens that count in the sequence or turn of the token, and K is WeightOptions.Length.
const (
	TokenMean           Aggregation = iota // 1/N (token-mean)
	SeqMeanTokenSum                        // 1/S (seq-mean-token-sum)
	SeqMeanTokenMean                       // 1/(S*n) (seq-mean-token-mean)
	TurnMeanTokenMean                      // 1/(T*n), n of the turn
	SeqSumNorm                             // 1/K (seq-mean-token-sum-norm, with K its padded length)
	SeqMeanTokenSumNorm                    // 1/(S*K) (Dr. GRPO, arXiv:2503.20783, with K its longest response)
)

// WeightOptions adjusts [Weights]. A nil *WeightOptions equals &WeightOptions{}.
type WeightOptions struct {
	Aggregation   Aggregation // zero means TokenMean
	TurnSequences bool        // a sequence is a turn, as where each turn is a row of its own; otherwise a trajectory
	Length        int         // the constant K of SeqSumNorm and SeqMeanTokenSumNorm, > 0; not read by others
	// SkipFlat gives weight 0 to the tokens of trajectories whose score did not differ in their group (Credit.Flat) and
	// whose turns, and tokens where the credit is that of tokens, all have advantage 0, rounding of 1e-8 apart: for the terms
	// of divergence and entropy, which otherwise still move the policy there. Where steps are compared as well, as in
	// GiGPO, GraphGPO and MileGPO, a trajectory of equal score can have advantages, and is not skipped. The denominators
	// stay. It has no effect on the credit of an estimator that compares no scores.
	SkipFlat bool
}

// Weights returns one weight per token of batch that has Trainable set, in the order of trajectories, turns and tokens, that
// of [rl.Credit.TokenAdvantages]: the factor of the token in a loss, for Batch.Weight and the like. [NewBatch] calls it. Tokens of turns without a
// vote in c have weight 0, so that their contents are never read, and neither they nor sequences and turns without other
// tokens are in a denominator.
//
// Call it once over all of an optimiser step: slices of the result make micro-batches, and their losses and gradients add
// up to those of the step, however it is cut (the denominators are global).
//
// The weights are written over dst, which grows if need be. Errors: a [*rl.FieldError] around [rl.ErrShape] if c does not
// fit batch, and options out of range. O(tokens) time, deterministic; it allocates nothing if dst is large enough. Source:
// verl, and Dr. GRPO; TurnMeanTokenMean and SkipFlat are ours.
func Weights(dst []float64, batch []rl.Trajectory, c *rl.Credit, o *WeightOptions) ([]float64, error) {
	if o == nil {
		o = &WeightOptions{}
	}
	if int(o.Aggregation) >= len(aggregationNames) {
		return nil, fmt.Errorf("loss: WeightOptions.Aggregation is %d, want a named value below %d", o.Aggregation, len(aggregationNames))
	}
	if norm := o.Aggregation == SeqSumNorm || o.Aggregation == SeqMeanTokenSumNorm; norm && o.Length <= 0 {
		return nil, fmt.Errorf("loss: WeightOptions.Length is %d, want a number > 0 for this aggregation", o.Length)
	}
	if err := fits(batch, c); err != nil {
		return nil, err
	}
	var total count
	for i := range batch {
		n := countTokens(&batch[i], c.Vote[c.Start[i]:c.Start[i+1]])
		total.tokens += n.tokens
		total.turns += n.turns
		if n.tokens > 0 {
			total.sequences++
		}
	}
	if o.TurnSequences {
		total.sequences = total.turns
	}
	if dst = dst[:0]; dst == nil {
		dst = []float64{} // nil weights mean something else
	}
	for i := range batch {
		vote := c.Vote[c.Start[i]:c.Start[i+1]]
		skip := o.SkipFlat && c.Flat != nil && c.Flat[i] && still(c.Advantage[c.Start[i]:c.Start[i+1]])
		if skip && c.TokenAdvantage != nil {
			skip = still(c.TokenAdvantage[len(dst) : len(dst)+allTokens(&batch[i])])
		}
		n := countTokens(&batch[i], vote).tokens
		for k := range batch[i].Turns {
			tokens := batch[i].Turns[k].Tokens
			inTurn := trainable(tokens)
			w := 0.0
			if vote[k] && !skip && inTurn > 0 {
				inSequence := n
				if o.TurnSequences {
					inSequence = inTurn
				}
				w = o.weight(total, inSequence, inTurn)
			}
			for range inTurn {
				dst = append(dst, w)
			}
		}
	}
	return dst, nil
}

// fits returns an error unless c has the shape of batch.
func fits(batch []rl.Trajectory, c *rl.Credit) error {
	if c.Fits(batch) {
		return nil
	}
	return wrong("the credit", "of another batch", "the shape of this one", rl.ErrShape)
}

// weight returns the weight of a token in a sequence and a turn of so many tokens.
func (o *WeightOptions) weight(total count, inSequence, inTurn int) float64 {
	switch s := float64(total.sequences); o.Aggregation {
	case SeqMeanTokenSum:
		return 1 / s
	case SeqMeanTokenMean:
		return 1 / (s * float64(inSequence))
	case TurnMeanTokenMean:
		return 1 / (float64(total.turns) * float64(inTurn))
	case SeqSumNorm:
		return 1 / float64(o.Length)
	case SeqMeanTokenSumNorm:
		return 1 / (s * float64(o.Length))
	}
	return 1 / float64(total.tokens)
}

// count holds what counts in a batch or trajectory.
type count struct{ tokens, turns, sequences int }

// countTokens counts the trainable tokens of voting turns, and the turns that have some.
func countTokens(t *rl.Trajectory, vote []bool) (n count) {
	for k := range t.Turns {
		if !vote[k] {
			continue
		}
		if tokens := trainable(t.Turns[k].Tokens); tokens > 0 {
			n.tokens += tokens
			n.turns++
		}
	}
	return n
}

// still reports whether no advantage is beyond 1e-8 in magnitude, the bound of [rl.Diagnostics] too: equal scores with a mean
// that is rounded leave 1e-17.
func still(advantages []float64) bool {
	for _, a := range advantages {
		if !(math.Abs(a) <= 1e-8) { // NaN is the loss's to refuse
			return false
		}
	}
	return true
}

// allTokens counts the trainable tokens of turns, voting or not.
func allTokens(t *rl.Trajectory) (n int) {
	for k := range t.Turns {
		n += trainable(t.Turns[k].Tokens)
	}
	return n
}

func trainable(tokens []rl.Token) (n int) {
	for j := range tokens {
		if tokens[j].Trainable {
			n++
		}
	}
	return n
}
