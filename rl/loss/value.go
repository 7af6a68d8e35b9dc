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

// Value returns the clipped value loss (Stable-Baselines3 and verl have the same form), summed with weights, and its
// gradient with respect to pred. With q the prediction, y its target and q_c = old + clip(q - old, ±Clip) each position adds
// weight times
//
//	0.5 * max((q-y)², (q_c-y)²)
//
// and to the gradient weight times q - y if (q-y)² >= (q_c-y)², else 0. The loss holds the 0.5, so a coefficient of 0.5
// makes a quarter of the squared error. With Huber each square e² is Huber*(2|e| - Huber) beyond |e| = Huber, and the
// gradient is at most Huber.
//
// old is the prediction at the time of collection; it may be nil if Clip is 0, and is not read then. weight is that of
// [Batch]: nil means 1/len(pred) each, and a position of weight 0 is never read. The gradient overwrites grad, which must
// not overlap the others, or be nil. Errors are those of [PPO]. O(length) time, no allocation, deterministic.
func Value(grad, pred, old, target, weight []float64, o *ValueOptions) (loss float64, stats ValueStats, err error) {
	if o == nil {
		o = &ValueOptions{}
	}
	v, err := newValueClip("ValueOptions.Clip", o.Clip)
	huber, errHuber := orPositive("ValueOptions", "Huber", o.Huber, math.Inf(1), math.Inf(1))
	if err := errors.Join(err, errHuber); err != nil {
		return 0, ValueStats{}, err
	}
	v.huber = huber
	n := len(pred)
	if err := length("target", len(target), "pred", n); err != nil {
		return 0, ValueStats{}, err
	}
	if old != nil || v.clip > 0 {
		if err := length("old", len(old), "pred", n); err != nil {
			return 0, ValueStats{}, err
		}
	}
	if err := weights("weight", weight, "pred", n); err != nil {
		return 0, ValueStats{}, err
	}
	if grad != nil {
		if err := length("grad", len(grad), "pred", n); err != nil {
			return 0, ValueStats{}, err
		}
		clear(grad)
	}
	each := 1 / float64(n)
	var count valueTally
	for j := range pred {
		w := each
		if weight != nil {
			w = weight[j]
		}
		if w == 0 {
			continue
		}
		before := pred[j]
		if v.clip > 0 {
			before = old[j]
		}
		switch {
		case !finite(pred[j]):
			return 0, ValueStats{}, nonFinite(at("pred", j), pred[j])
		case !finite(before):
			return 0, ValueStats{}, nonFinite(at("old", j), before)
		case !finite(target[j]):
			return 0, ValueStats{}, nonFinite(at("target", j), target[j])
		}
		l, g, clipped := v.token(pred[j], before, target[j])
		count.add(clipped, g)
		loss += w * l
		if grad != nil && g != 0 {
			grad[j] = w * g
			if !finite(grad[j]) {
				return 0, ValueStats{}, nonFinite(at("the gradient at pred", j), grad[j])
			}
		}
	}
	if !finite(loss) {
		return 0, ValueStats{}, nonFinite("the loss", loss)
	}
	return loss, count.stats(), nil
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
