package loss

import (
	"fmt"

	"github.com/throughline-go/throughline/rl"
)

// NewBatch returns what a policy loss and [KL] read of rollouts and their credit: one position per token of batch that has
// Trainable set, in the order of trajectories, turns and tokens. OldLogProb and RefLogProb are LogProb and RefLogProb of the
// tokens, Advantage is [rl.Credit.TokenAdvantages], and Weight is [Weights] with the options o: 0 at tokens of turns without a
// vote, which stay in the slices but are never read.
//
// RefLogProb is empty, and KL then refuses the batch, if none of the tokens has one: if it is 0 for all of them.
//
// Tokens of agents of package rl/rollout have no LogProb yet: note those of the model that sampled first (rl.SetLogProbs).
//
// LogProb is a copy of OldLogProb, so that each ratio is 1. The caller overwrites it with the log-probabilities under the model
// being trained, in the same order and before each pass; on the first pass, where the model is still the one that sampled,
// they are equal. [Turns] has the turns of the same positions for [TurnRatio].
//
// Pass the Batch of an earlier call to reuse its memory, or nil. Its slices are overwritten, must not overlap each other and
// share nothing with batch and c afterwards. Errors are those of [Weights]: a [*rl.FieldError] around [rl.ErrShape] if c does
// not fit batch, and options out of range; dst is then of no use. Numbers are checked by the losses, where they are read.
// O(tokens) time, deterministic; it allocates nothing if dst is large enough.
func NewBatch(dst *Batch, batch []rl.Trajectory, c *rl.Credit, o *WeightOptions) (*Batch, error) {
	if dst == nil {
		dst = new(Batch)
	}
	w, err := Weights(dst.Weight, batch, c, o)
	if err != nil {
		return nil, err
	}
	dst.Weight = w
	dst.Advantage = c.TokenAdvantages(dst.Advantage, batch)
	dst.OldLogProb, dst.RefLogProb = dst.OldLogProb[:0], dst.RefLogProb[:0]
	reference := false
	for i := range batch {
		for k := range batch[i].Turns {
			for _, t := range batch[i].Turns[k].Tokens {
				if t.Trainable {
					dst.OldLogProb = append(dst.OldLogProb, t.LogProb)
					dst.RefLogProb = append(dst.RefLogProb, t.RefLogProb)
					reference = reference || t.RefLogProb != 0
				}
			}
		}
	}
	if !reference {
		dst.RefLogProb = dst.RefLogProb[:0]
	}
	dst.LogProb = append(dst.LogProb[:0], dst.OldLogProb...)
	return dst, nil
}

// Take returns the given positions of b, in their order, for a mini-batch: a part of the rollouts that is an optimiser
// step of its own. Weights are scaled so that their sum is that of all of b, unless all that were taken are 0: the mean
// over the tokens of b becomes the mean over those that were taken. (Micro-batches, parts of one step, are plain slices
// of b, whose weights stay.) Slices of b that are empty are empty in the result.
//
// It is written over dst, whose memory must not be that of b, or a new Batch if that is nil. The error is a
// [*rl.FieldError] for a position that is not in b or a weight that no loss takes, or around [rl.ErrShape] for a slice of
// another length. O(length) time, deterministic.
func (b *Batch) Take(dst *Batch, positions []int) (*Batch, error) {
	n := len(b.LogProb)
	for i, j := range positions {
		if j < 0 || j >= n {
			return nil, wrong(at("positions", i), j, fmt.Sprintf("a position in %d", n), nil)
		}
	}
	if dst == nil {
		dst = new(Batch)
	}
	for _, x := range [...]struct {
		name string
		to   *[]float64
		from []float64
	}{
		{"LogProb", &dst.LogProb, b.LogProb}, {"OldLogProb", &dst.OldLogProb, b.OldLogProb}, {"RefLogProb", &dst.RefLogProb, b.RefLogProb},
		{"Advantage", &dst.Advantage, b.Advantage}, {"Weight", &dst.Weight, b.Weight},
	} {
		*x.to = (*x.to)[:0]
		if len(x.from) == 0 {
			continue
		}
		if err := length(x.name, len(x.from), "LogProb", n); err != nil {
			return nil, err
		}
		for _, j := range positions {
			*x.to = append(*x.to, x.from[j])
		}
	}
	if b.Weight == nil {
		dst.Weight = nil
		return dst, nil
	}
	if dst.Weight == nil {
		dst.Weight = []float64{} // nil weights mean something else
	}
	if err := weights("Weight", b.Weight, "LogProb", n); err != nil {
		return nil, err
	}
	var all, taken float64
	for _, w := range b.Weight {
		all += w
	}
	for _, w := range dst.Weight {
		taken += w
	}
	if taken > 0 {
		scale := all / taken
		if !finite(scale) {
			return nil, nonFinite("the scale of Weight", scale)
		}
		for j := range dst.Weight {
			dst.Weight[j] *= scale
		}
	}
	return dst, nil
}

// TurnWeights returns one weight per turn of batch, in the order of trajectories and turns, for the losses of critics of turns:
// 1/N for each of the N turns whose target may be trained on, and 0 elsewhere. Those are the turns that are not excluded, of
// trajectories that are not excluded either and whose targets the estimator has not given up, as it says in Credit.NoVote. A
// turn without a trainable token has no vote, but its target is as good as any.
//
// Call it once over all of an optimiser step; slices of the result make micro-batches, as with [Weights]. The weights are
// written over dst, which grows if need be. The error is a [*rl.FieldError] around [rl.ErrShape] if c does not fit batch.
// O(turns) time, deterministic; it allocates nothing if dst is large enough. Source: ours.
func TurnWeights(dst []float64, batch []rl.Trajectory, c *rl.Credit) ([]float64, error) {
	if err := fits(batch, c); err != nil {
		return nil, err
	}
	if dst = dst[:0]; dst == nil {
		dst = []float64{} // nil weights mean something else
	}
	n := 0
	for i := range batch {
		for k := range batch[i].Turns {
			w := 0.0
			if hasTarget(batch, c, i, k) {
				w = 1
				n++
			}
			dst = append(dst, w)
		}
	}
	for k, w := range dst {
		if w > 0 {
			dst[k] = 1 / float64(n)
		}
	}
	return dst, nil
}

// noTrainable is the reason in Credit.NoVote of a trajectory that has no vote but targets: none of its tokens is trained on.
const noTrainable = "no trainable token"

// hasTarget reports whether the targets of turn k of trajectory i may be trained on.
func hasTarget(batch []rl.Trajectory, c *rl.Credit, i, k int) bool {
	t := &batch[i]
	return t.Excluded == "" && !t.Turns[k].Excluded && (c.NoVote[i] == "" || c.NoVote[i] == noTrainable)
}

// NewValueBatch returns what [Value] reads of rollouts and their credit for a critic of turns: one position per turn of batch,
// in the order of trajectories and turns. Value and Old are Value of the turns, Target is ValueTarget of the credit, all in
// units of reward, and Weight is [TurnWeights]. The caller overwrites Value with what the critic being trained predicts, before
// each pass.
//
// The default clip of [ValueOptions] is for values in [-1, 1]: set it for units of reward, or turn it off. Memory of dst is
// reused as in [NewBatch]. Errors are those of TurnWeights, and one for a credit without ValueTarget, which only estimators
// with a critic of turns have; dst is then of no use. O(turns) time, deterministic; it allocates nothing if dst is large
// enough.
func NewValueBatch(dst *ValueBatch, batch []rl.Trajectory, c *rl.Credit) (*ValueBatch, error) {
	if dst == nil {
		dst = new(ValueBatch)
	}
	w, err := TurnWeights(dst.Weight, batch, c)
	if err != nil {
		return nil, err
	}
	if c.ValueTarget == nil {
		return nil, noTarget()
	}
	dst.Weight = w
	dst.Old = dst.Old[:0]
	for i := range batch {
		for k := range batch[i].Turns {
			dst.Old = append(dst.Old, batch[i].Turns[k].Value)
		}
	}
	dst.Value = append(dst.Value[:0], dst.Old...)
	dst.Target = append(dst.Target[:0], c.ValueTarget...)
	return dst, nil
}

func noTarget() error {
	return wrong("Credit.ValueTarget", "nil", "the targets of an estimator with a critic of turns", nil)
}

// SAPOTurns returns what [SAPO] reads of rollouts and their credit, that of [rl.SAPO]: one element per turn of batch, in the
// order of trajectories and turns. Logits and After are the caller's to fill in before each pass, and stay as they are in dst.
//
// The response of a turn begins at its first trainable token and ends at its last one: Actions, OldLogProb and RefLogProb are
// those of its tokens, and Trainable is false at the others in between, whose contents are not read. Tokens before it are
// context, at the end of which V is read, and tokens after it, such as what a tool has answered, are left out, since Q, which
// is read at the end of the response, must not see them. OldV, OldQ, TargetV and TargetQ are Value and QValue of the turn and
// ValueTarget and QTarget of the credit.
//
// NoPolicy is set where the turn has no vote, NoV and NoQ where [TurnWeights] is 0. If the credit has no QTarget, as that of
// [rl.TurnGAE], NoQ is set everywhere: SAPO without SARSA. A turn without a trainable token has no Actions, but V and Q are
// read of it as of others: give it Logits[0] and After, or set NoV and NoQ.
//
// The result is written over dst, whose memory is reused and which grows if need be; it shares nothing with batch and c.
// Errors are those of [NewValueBatch], and one for credit of tokens, since a turn has one advantage here. O(tokens) time,
// deterministic; it allocates nothing if dst comes from a batch of the same shape.
func SAPOTurns(dst []SAPOTurn, batch []rl.Trajectory, c *rl.Credit) ([]SAPOTurn, error) {
	if err := fits(batch, c); err != nil {
		return nil, err
	}
	if c.ValueTarget == nil {
		return nil, noTarget()
	}
	if c.TokenAdvantage != nil {
		return nil, wrong("Credit.TokenAdvantage", "set", "credit per turn alone", nil)
	}
	n := len(c.Advantage)
	if dst = dst[:cap(dst)]; len(dst) < n {
		dst = append(dst, make([]SAPOTurn, n-len(dst))...)
	}
	dst = dst[:n]
	at := 0
	for i := range batch {
		for k := range batch[i].Turns {
			turn, t := &batch[i].Turns[k], &dst[at]
			t.response(turn.Tokens)
			t.Advantage = c.Advantage[at]
			t.OldV, t.TargetV = turn.Value, c.ValueTarget[at]
			t.OldQ, t.TargetQ = turn.QValue, 0
			t.NoPolicy, t.NoV = !c.Vote[at] || len(t.Actions) == 0, !hasTarget(batch, c, i, k)
			t.NoQ = t.NoV || c.QTarget == nil
			if c.QTarget != nil {
				t.TargetQ = c.QTarget[at]
			}
			at++
		}
	}
	return dst, nil
}

// response fills in what t has of the tokens of its turn.
func (t *SAPOTurn) response(tokens []rl.Token) {
	t.Actions, t.Trainable = t.Actions[:0], t.Trainable[:0]
	t.OldLogProb, t.RefLogProb = t.OldLogProb[:0], t.RefLogProb[:0]
	n := 0 // tokens up to the last trainable one
	for j := range tokens {
		x := &tokens[j]
		if !x.Trainable && len(t.Actions) == 0 {
			continue
		}
		t.Actions = append(t.Actions, x.ID)
		t.Trainable = append(t.Trainable, x.Trainable)
		t.OldLogProb = append(t.OldLogProb, x.LogProb)
		t.RefLogProb = append(t.RefLogProb, x.RefLogProb)
		if x.Trainable {
			n = len(t.Actions)
		}
	}
	t.Actions, t.Trainable = t.Actions[:n], t.Trainable[:n]
	t.OldLogProb, t.RefLogProb = t.OldLogProb[:n], t.RefLogProb[:n]
}

// NewSAPOGrad returns room for the gradient of turns, in the shape of their Logits and After: one vector of zeros for each of
// theirs, empty ones included. It serves every pass over turns of this shape. O(logits) time and memory.
func NewSAPOGrad(turns []SAPOTurn) []SAPOGrad {
	grad := make([]SAPOGrad, len(turns))
	for i := range turns {
		grad[i].Logits = make([][]float64, len(turns[i].Logits))
		for j, z := range turns[i].Logits {
			grad[i].Logits[j] = make([]float64, len(z))
		}
		grad[i].After = make([]float64, len(turns[i].After))
	}
	return grad
}
