package loss

import (
	"errors"
	"math"
)

// ValueOptions adjusts [Value]. A nil *ValueOptions equals &ValueOptions{}.
type ValueOptions struct {
	// Clip is how far a prediction may leave the old one before the loss stops pulling it on, > 0; nil means 0.2, which is
	// for values in [-1, 1] (ours; verl has 0.5 for a critic in units of reward), 0 turns it off.
	Clip *float64
	// Huber makes the loss linear where the error is above it, > 0; zero means that it is quadratic throughout.
	Huber float64
}

// ValueStats describes the positions of weight above 0 in one value loss, each counted once; shares are 0 if there are
// none.
type ValueStats struct {
	Values       int
	Clipped      float64 // share of predictions further than Clip from the old one
	ZeroGradient float64 // share with gradient 0
}

// A ValueBatch holds the values that the loss of a critic runs over, in parallel slices of equal length and all in the same
// units. [NewValueBatch] makes one of trajectories and their credit.
type ValueBatch struct {
	Value  []float64 // what the critic being trained predicts
	Old    []float64 // what the critic predicted at collection; nil if the clip is off, which alone reads it
	Target []float64 // what it should predict, constants
	Weight []float64 // as Batch.Weight: nil means 1/len(Value) each, and a position of weight 0 is never read
}

// Value returns the clipped value loss (Stable-Baselines3 and verl have the same form), summed with the weights of b, and its
// gradient with respect to Value. With q the value, y its target and q_c = Old + clip(q - Old, ±Clip) each position adds
// Weight times
//
//	0.5 * max((q-y)², (q_c-y)²)
//
// and to the gradient Weight times q - y if (q-y)² >= (q_c-y)², else 0. The loss holds the 0.5, so a coefficient of 0.5
// makes a quarter of the squared error. With Huber each square e² is Huber*(2|e| - Huber) beyond |e| = Huber, and the
// gradient is at most Huber.
//
// What becomes of grad, errors, cost and determinism are those of [PPO].
func Value(grad []float64, b ValueBatch, o *ValueOptions) (loss float64, stats ValueStats, err error) {
	if o == nil {
		o = &ValueOptions{}
	}
	v, err := newValueClip("ValueOptions.Clip", o.Clip)
	huber, errHuber := orPositive("ValueOptions", "Huber", o.Huber, math.Inf(1), math.Inf(1))
	if err := errors.Join(err, errHuber); err != nil {
		return 0, ValueStats{}, err
	}
	v.huber = huber
	if err := b.check(grad, v.clip > 0); err != nil {
		return 0, ValueStats{}, err
	}
	clear(grad)
	each := 1 / float64(len(b.Value))
	var count valueTally
	for j, q := range b.Value {
		w := each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		if w == 0 {
			continue
		}
		old := q
		if v.clip > 0 {
			old = b.Old[j]
		}
		l, g, clipped := v.token(q, old, b.Target[j])
		count.add(clipped, g)
		loss += w * l
		if grad != nil && g != 0 {
			grad[j] = w * g
			if !finite(grad[j]) {
				return 0, ValueStats{}, nonFinite(at("the gradient at Value", j), grad[j])
			}
		}
	}
	if !finite(loss) {
		return 0, ValueStats{}, nonFinite("the loss", loss)
	}
	return loss, count.stats(), nil
}

// check checks lengths, weights and the numbers that are read, Old among them if the loss clips.
func (b *ValueBatch) check(grad []float64, old bool) error {
	n := len(b.Value)
	if err := length("Target", len(b.Target), "Value", n); err != nil {
		return err
	}
	if old || b.Old != nil {
		if err := length("Old", len(b.Old), "Value", n); err != nil {
			return err
		}
	}
	if err := weights("Weight", b.Weight, "Value", n); err != nil {
		return err
	}
	if grad != nil {
		if err := length("grad", len(grad), "Value", n); err != nil {
			return err
		}
	}
	for j := range b.Value {
		switch {
		case b.Weight != nil && b.Weight[j] == 0:
		case !finite(b.Value[j]):
			return nonFinite(at("Value", j), b.Value[j])
		case old && !finite(b.Old[j]):
			return nonFinite(at("Old", j), b.Old[j])
		case !finite(b.Target[j]):
			return nonFinite(at("Target", j), b.Target[j])
		}
	}
	return nil
}

// valueClip is the loss of one value with its options read.
type valueClip struct{ clip, huber float64 }

func newValueClip(option string, clip *float64) (valueClip, error) {
	v := valueClip{orDefault(clip, 0.2), math.Inf(1)}
	return v, notNegative(option, v.clip)
}

func (v valueClip) token(q, old, y float64) (loss, grad float64, clipped bool) {
	near := q // not old + (q - old), which rounding moves away from q
	if v.clip > 0 {
		switch {
		case q-old > v.clip:
			near, clipped = old+v.clip, true
		case q-old < -v.clip:
			near, clipped = old-v.clip, true
		}
	}
	e := q - y
	if !(math.Abs(e) >= math.Abs(near-y)) { // the squares compare as the magnitudes do
		return v.half(near - y), 0, clipped
	}
	return v.half(e), max(-v.huber, min(v.huber, e)), clipped
}

// half returns half the square of e, or what Huber has instead.
func (v valueClip) half(e float64) float64 {
	if e = math.Abs(e); e > v.huber {
		return v.huber * (e - v.huber/2)
	}
	return 0.5 * e * e
}

// valueTally gathers ValueStats.
type valueTally struct{ n, clipped, still int }

func (t *valueTally) add(clipped bool, grad float64) {
	t.n++
	if clipped {
		t.clipped++
	}
	if grad == 0 {
		t.still++
	}
}

func (t *valueTally) stats() ValueStats {
	n := float64(max(1, t.n))
	return ValueStats{t.n, float64(t.clipped) / n, float64(t.still) / n}
}
