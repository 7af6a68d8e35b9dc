package loss

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throughline-go/throughline/rl"
)

// ErrReservedToken reports a token that is a reserved entry of the vocabulary where an action is wanted.
var ErrReservedToken = errors.New("loss: a reserved entry of the vocabulary is no action")

// A Head reads the logits that a model gives at one position, as SAPO does (arXiv:2608.19842): those of the actions as a
// policy, and those of two reserved entries of the vocabulary as a value. The policy is the softmax over the entries that
// are not reserved, so that a change of the value leaves it alone, and a reserved entry is never sampled. The zero Head has no
// reserved entries.
//
// The gradient methods add scale times the gradient with respect to the logits z to dz, which is as long as z and does not
// overlap it, or nil if none is wanted: those of several terms add up. Only the entries that a method needs are read, and
// dz stays as it is at all others. Errors are [*rl.FieldError] values with [rl.ErrShape], or [rl.ErrNonFinite] for a logit
// that is read and is not finite and a result that overflows, [ErrReservedToken], and fields of the Head out of range; dz
// is then of no use. Logits up to 1e300 do no harm. O(len(z)) time, no allocation, deterministic.
type Head struct {
	// Plus and Minus are the reserved entries, two different positions in the vocabulary; both 0 means that there are none.
	Plus, Minus int
	Temperature float64 // divides the logits of the policy, that of the sampler, > 0; zero means 1
	Tau         float64 // divides the difference of the reserved logits, > 0; zero means 5 (ours)
	// Inward lets the gradient of a saturated value pass where a step against it moves the value back into [-1, 1] (ours).
	// Without it, as published, a saturated value has gradient 0 and cannot recover if it is wrong.
	Inward bool
}

// LogProb returns the log-probability l of action, in nats,
//
//	l = z[action]/T - log sum_k exp(z[k]/T), k not reserved
//
// and adds scale*dl/dz to dz: scale times (1[k=action] - p_k)/T, and 0 at reserved entries. scale is the derivative of a
// loss with respect to l, such as [PPO] returns.
func (h Head) LogProb(dz, z []float64, action int, scale float64) (float64, error) {
	r, err := h.read(dz, z, scale)
	if err != nil {
		return 0, err
	}
	if err := r.checkAction("action", action, len(z)); err != nil {
		return 0, err
	}
	s, bad := r.softmax(nil, z)
	if bad >= 0 {
		return 0, nonFinite(at("z", bad), z[bad])
	}
	l := r.scaled(z[action], s) - s.logSum
	if !finite(l) {
		return 0, nonFinite("the log-probability", l)
	}
	if dz == nil {
		return l, nil
	}
	scale *= r.inverse
	for k, v := range z {
		if k != r.plus && k != r.minus {
			dz[k] -= scale * (math.Exp(r.scaled(v, s)) / s.sum)
		}
	}
	dz[action] += scale
	return l, nil
}

// Entropy returns the entropy of the policy in nats, H = -sum_k p_k log p_k over the entries that are not reserved, in [0,
// log of their number], and adds scale*dH/dz to dz: scale times -p_k (log p_k + H)/T. A loss that contains -c*H has scale -c.
func (h Head) Entropy(dz, z []float64, scale float64) (float64, error) {
	r, err := h.read(dz, z, scale)
	if err != nil {
		return 0, err
	}
	s, bad := r.softmax(nil, z)
	if bad >= 0 {
		return 0, nonFinite(at("z", bad), z[bad])
	}
	entropy := s.entropy()
	if dz == nil {
		return entropy, nil
	}
	scale *= r.inverse
	var check float64 // NaN if a number is not finite
	for k, v := range z {
		if k == r.plus || k == r.minus {
			continue
		}
		x := r.scaled(v, s)
		if p := math.Exp(x) / s.sum; p > 0 { // x may be -Inf elsewhere
			g := scale * p * (x - s.logSum + entropy)
			dz[k] -= g
			check += g - g
		}
	}
	if check != 0 {
		return 0, nonFinite("the gradient of the entropy", check)
	}
	return entropy, nil
}

// KL returns the exact divergence KL(p||q) = sum_k p_k (log p_k - log q_k), in nats, of the policy from that of the
// reference logits ref at the same temperature, over the entries that are not reserved, and adds scale times its gradient
// with respect to z, p_k [(log p_k - log q_k) - KL]/T, to dz. The reference is a constant.
func (h Head) KL(dz, z, ref []float64, scale float64) (float64, error) {
	r, err := h.read(dz, z, scale)
	if err != nil {
		return 0, err
	}
	if err := length("ref", len(ref), "z", len(z)); err != nil {
		return 0, err
	}
	p, bad := r.softmax(nil, z)
	if bad >= 0 {
		return 0, nonFinite(at("z", bad), z[bad])
	}
	q, bad := r.softmax(nil, ref)
	if bad >= 0 {
		return 0, nonFinite(at("ref", bad), ref[bad])
	}
	var kl float64
	for k, v := range z {
		if k == r.plus || k == r.minus {
			continue
		}
		x := r.scaled(v, p)
		if pk := math.Exp(x) / p.sum; pk > 0 {
			kl += pk * ((x - p.logSum) - (r.scaled(ref[k], q) - q.logSum))
		}
	}
	if !finite(kl) {
		return 0, nonFinite("the divergence", kl)
	}
	if dz != nil {
		scale *= r.inverse
		var check float64 // NaN if a number is not finite
		for k, v := range z {
			if k == r.plus || k == r.minus {
				continue
			}
			x := r.scaled(v, p)
			if pk := math.Exp(x) / p.sum; pk > 0 {
				g := scale * pk * ((x - p.logSum) - (r.scaled(ref[k], q) - q.logSum) - kl)
				dz[k] += g
				check += g - g
			}
		}
		if check != 0 {
			return 0, nonFinite("the gradient of the divergence", check)
		}
	}
	return max(0, kl), nil
}

// Value returns the value that the reserved entries hold,
//
//	p = clip(x, -1, 1), x = (z[Plus] - z[Minus])/Tau
//
// and whether it is saturated, |x| >= 1, and adds scale*dp/dz to dz: ±scale/Tau, or exactly 0 where it is saturated, unless
// Inward is set and scale, the derivative of a loss with respect to p, has the sign of x.
//
// RMax*p is the value in units of reward. A collector stores that as Value of [rl.Turn], and what it reads at the last
// token of the response as QValue, with the RMax that SAPOOptions has later.
func (h Head) Value(dz, z []float64, scale float64) (p float64, saturated bool, err error) {
	r, err := h.read(dz, z, scale)
	if err != nil {
		return 0, false, err
	}
	if err := r.checkReserved(); err != nil {
		return 0, false, err
	}
	for _, k := range [...]int{r.plus, r.minus} {
		if !finite(z[k]) {
			return 0, false, nonFinite(at("z", k), z[k])
		}
	}
	x := (z[r.plus] - z[r.minus]) / r.tau
	if dz != nil && r.passes(x, scale) {
		dz[r.plus] += scale / r.tau
		dz[r.minus] -= scale / r.tau
	}
	return max(-1, min(1, x)), math.Abs(x) >= 1, nil
}

// FromFull returns what LogProb and Value return, from log-probabilities over the full vocabulary, reserved entries
// included, as a remote service gives them: those of the action and of the entries Plus and Minus at the same position. With P
// = exp(plus) + exp(minus) the log-probability of the policy is action - log(1-P), and the value is that of the logits, since
// their normaliser cancels. Temperature must be 1. Source: ours.
func (h Head) FromFull(action, plus, minus float64) (logProb, p float64, err error) {
	r, rest, err := h.full(plus, minus)
	if err != nil {
		return 0, 0, err
	}
	if !isLogProb(action) {
		return 0, 0, notLogProb("action", action)
	}
	logProb = action - math.Log(rest)
	if !isLogProb(logProb) {
		return 0, 0, notLogProb("action less log(1-P)", logProb)
	}
	return logProb, max(-1, min(1, (plus-minus)/r.tau)), nil
}

// FullWeights turns the derivatives of a loss with respect to the log-probability of an action and to the value p into
// weights on the three log-probabilities that [Head.FromFull] reads: a linear loss with these weights, which a remote service
// can differentiate, has the same gradient. With P as there and w = dLogProb these are
//
//	w on the action, w*exp(plus)/(1-P) + u on Plus, w*exp(minus)/(1-P) - u on Minus
//
// where u = dP/Tau, or 0 where the value is saturated as in Value. Errors are those of FromFull.
func (h Head) FullWeights(plus, minus, dLogProb, dP float64) (onAction, onPlus, onMinus float64, err error) {
	r, rest, err := h.full(plus, minus)
	if err != nil {
		return 0, 0, 0, err
	}
	onPlus, onMinus = dLogProb*math.Exp(plus)/rest, dLogProb*math.Exp(minus)/rest
	if r.passes((plus-minus)/r.tau, dP) {
		onPlus += dP / r.tau
		onMinus -= dP / r.tau
	}
	for _, w := range [...]float64{dLogProb, onPlus, onMinus} {
		if !finite(w) {
			return 0, 0, 0, nonFinite("a weight", w)
		}
	}
	return dLogProb, onPlus, onMinus, nil
}

// full checks h and the log-probabilities of the reserved entries, and returns the probability of all others.
func (h Head) full(plus, minus float64) (head, float64, error) {
	r, err := h.fill()
	if err != nil {
		return head{}, 0, err
	}
	if err := r.checkReserved(); err != nil {
		return head{}, 0, err
	}
	if r.inverse != 1 {
		return head{}, 0, fmt.Errorf("loss: Head.Temperature is %v, want 1 for log-probabilities of a service", h.Temperature)
	}
	if !finite(plus) {
		return head{}, 0, nonFinite("plus", plus)
	}
	if !finite(minus) {
		return head{}, 0, nonFinite("minus", minus)
	}
	reserved := math.Exp(plus) + math.Exp(minus)
	if !(reserved < 1) {
		return head{}, 0, wrong("the probability of the reserved entries", reserved, "a number below 1", nil)
	}
	return r, 1 - reserved, nil
}

// CalibrateTau returns a Tau for the model from which differences z[Plus] - z[Minus] are taken: twice the smallest
// magnitude that at least 99 % of them do not exceed, and at least 1, so that 99 % of its values lie in [-0.5, 0.5]. Source:
// ours. Errors are no difference at all and one that is not finite. O(n log n) time.
func CalibrateTau(differences []float64) (float64, error) {
	if len(differences) == 0 {
		return 0, wrong("differences", "empty", "at least one", nil)
	}
	x := make([]float64, len(differences))
	for i, d := range differences {
		if !finite(d) {
			return 0, nonFinite(at("differences", i), d)
		}
		x[i] = math.Abs(d)
	}
	slices.Sort(x)
	tau := max(1, 2*x[(99*len(x)+99)/100-1])
	if !finite(tau) {
		return 0, nonFinite("twice the magnitude", tau)
	}
	return tau, nil
}

// head is a Head with its fields read.
type head struct {
	plus, minus  int // -1 where there are none
	inverse, tau float64
	inward       bool
}

func (h Head) fill() (head, error) {
	t, errT := orPositive("Head", "Temperature", h.Temperature, 1, math.Inf(1))
	tau, errTau := orPositive("Head", "Tau", h.Tau, 5, math.Inf(1))
	r := head{h.Plus, h.Minus, 1 / t, tau, h.Inward}
	var errInverse, errReserved error
	if errT == nil && !finite(r.inverse) {
		errInverse = fmt.Errorf("loss: Head.Temperature is %v, want a number whose inverse is finite", h.Temperature)
	}
	switch {
	case h.Plus == 0 && h.Minus == 0:
		r.plus, r.minus = -1, -1
	case h.Plus < 0 || h.Minus < 0 || h.Plus == h.Minus:
		errReserved = fmt.Errorf("loss: Head.Plus is %d and Head.Minus is %d, want two different positions, or 0 and 0", h.Plus, h.Minus)
	}
	return r, errors.Join(errT, errTau, errInverse, errReserved)
}

// read checks h against a vector of logits and the place for its gradient, which is taken scale times.
func (h Head) read(dz, z []float64, scale float64) (head, error) {
	r, err := h.fill()
	if err != nil {
		return head{}, err
	}
	if dz != nil {
		if err := length("dz", len(dz), "z", len(z)); err != nil {
			return head{}, err
		}
		if s := scale * max(r.inverse, 1/r.tau); !finite(s) {
			return head{}, nonFinite("scale over the temperature", s)
		}
	}
	return r, r.checkLength("z", len(z))
}

// checkLength returns an error unless n logits hold the reserved entries and one more.
func (r head) checkLength(field string, n int) error {
	least := 1
	if r.plus >= 0 {
		least = 3
	}
	switch last := max(r.plus, r.minus); {
	case n < least:
		return wrong(field, fmt.Sprintf("of length %d", n), fmt.Sprintf("length %d or more for the reserved entries and an action", least), rl.ErrShape)
	case n <= last:
		return wrong(field, fmt.Sprintf("of length %d", n), fmt.Sprintf("a length above %d, a reserved entry", last), rl.ErrShape)
	}
	return nil
}

func (r head) checkReserved() error {
	if r.plus >= 0 {
		return nil
	}
	return errors.New("loss: Head.Plus and Head.Minus are 0, want the two reserved entries that hold a value")
}

func (r head) checkAction(field string, action, n int) error {
	switch {
	case action < 0 || action >= n:
		return wrong(field, action, fmt.Sprintf("a position in %d logits", n), nil)
	case action == r.plus || action == r.minus:
		return wrong(field, action, "an entry that is not reserved", ErrReservedToken)
	}
	return nil
}

// passes reports whether the value at x passes its derivative grad on.
func (r head) passes(x, grad float64) bool {
	return math.Abs(x) < 1 || r.inward && (x > 0 && grad > 0 || x < 0 && grad < 0)
}

// softmax is what the log-probabilities (x_k - logSum) need, with x_k = (z_k - top)/T.
type softmax struct{ top, sum, logSum, dot float64 }

// scaled returns x_k <= 0, -Inf if it overflows.
func (r head) scaled(z float64, s softmax) float64 { return (z - s.top) * r.inverse }

// entropy returns -sum p log p = logSum - sum p x.
func (s softmax) entropy() float64 { return max(0, s.logSum-s.dot/s.sum) }

// softmax reads the entries of z that are not reserved, and writes exp(x_k) into e, if that is not nil. bad is the position
// of a logit that is not finite, else -1.
func (r head) softmax(e, z []float64) (s softmax, bad int) {
	s.top = math.Inf(-1)
	for k, v := range z {
		if k == r.plus || k == r.minus {
			continue
		}
		if !finite(v) {
			return s, k
		}
		s.top = max(s.top, v)
	}
	for k, v := range z {
		if k == r.plus || k == r.minus {
			continue
		}
		x := r.scaled(v, s)
		exp := math.Exp(x)
		s.sum += exp
		if exp > 0 { // x may be -Inf elsewhere
			s.dot += exp * x
		}
		if e != nil {
			e[k] = exp
		}
	}
	s.logSum = math.Log(s.sum)
	return s, -1
}
