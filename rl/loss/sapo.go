package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// A SAPOTurn is one turn of a rollout as the joint loss of SAPO reads it: the logits at its positions under the model being
// trained, and constants from its collection and its credit, which [SAPOTurns] fills in.
type SAPOTurn struct {
	// Logits[j] are the logits that predict token j of the response; V is read from Logits[0], which stand at the last
	// token of the context.
	Logits [][]float64
	After  []float64 // the logits at the last token of the response, from which Q is read
	// Actions are the tokens of the response, as long as Logits, and none of those that are trained on is reserved.
	// OldLogProb are their log-probabilities under the policy that sampled them, RefLogProb those under the reference,
	// over the entries that are not reserved and at the same temperature, as [Head.LogProb] has them.
	Actions                []int
	OldLogProb, RefLogProb []float64
	Trainable              []bool // tokens in the policy mask; nil means all

	Advantage float64 // of every token of the turn, from [rl.SAPO]
	// Values are in units of reward, all four: SAPOOptions.RMax scales them. OldV and OldQ are those at collection, Value and
	// QValue of [rl.Turn], and TargetV and TargetQ are ValueTarget and QTarget of the credit.
	OldV, OldQ       float64
	TargetV, TargetQ float64

	// NoPolicy takes the turn out of the policy mask, NoV and NoQ out of those of V and Q. A turn that is excluded has all
	// three. What no mask needs is never read and may be missing.
	NoPolicy, NoV, NoQ bool
}

// SAPOGrad has the gradient with respect to the logits of a [SAPOTurn], in the same shape, as [NewSAPOGrad] makes it. Vectors
// that belong to logits that are not read may be missing; if not, they become 0.
type SAPOGrad struct {
	Logits [][]float64
	After  []float64
}

// SAPOOptions adjusts [SAPO]. A nil *SAPOOptions equals &SAPOOptions{}; but the Head needs its two reserved entries unless
// no value is read.
type SAPOOptions struct {
	Head      Head
	PPO       PPOOptions // of the policy loss
	ValueClip *float64   // clip of p of V around OldV/RMax, > 0; nil means 0.2 (ours), 0 turns it off
	QClip     *float64   // clip of p of Q around OldQ/RMax, likewise
	// RMax is the return at p = 1, the largest magnitude that the environment has, > 0; zero means 10 (ours). It turns values
	// in units of reward into those of [Head.Value]. The collector has used the same one: Turn.Value and Turn.QValue are
	// RMax*p, and so never beyond RMax.
	RMax          float64
	NoTargetClip  bool      // leave scaled targets beyond [-1, 1] as they are; otherwise they are clipped (ours)
	ValueWeight   *float64  // coefficient of the loss of V, which holds a 0.5 itself, >= 0; nil means 0.5 (ours)
	QWeight       *float64  // and of Q, likewise; 0 is SAPO without SARSA
	KLWeight      *float64  // beta, coefficient of the divergence from the reference, >= 0; nil means 0.01 (paper)
	KL            KLKind    // its estimate; zero means KL3 (paper)
	EntropyWeight *float64  // coefficient of the entropy, which is subtracted, >= 0; nil means 0.001 (verl-agent)
	Total         SAPOTotal // the denominators of the optimiser step
}

// SAPOTotal holds the numbers that the means of the joint loss divide by. Where an optimiser step is split into
// micro-batches, give each call the totals of the whole step, which [CountSAPO] has: losses and gradients of the parts then
// add up to those of the whole. The zero value means those of the call itself.
type SAPOTotal struct {
	Tokens int // tokens in the policy mask
	V, Q   int // turns in the masks of V and of Q
}

// CountSAPO returns the totals of turns, by their masks. O(turns + tokens) time.
func CountSAPO(turns []SAPOTurn) SAPOTotal {
	var n SAPOTotal
	for i := range turns {
		t := &turns[i]
		if !t.NoPolicy {
			for j := range t.Actions {
				if t.trains(j) {
					n.Tokens++
				}
			}
		}
		if !t.NoV {
			n.V++
		}
		if !t.NoQ {
			n.Q++
		}
	}
	return n
}

// SAPOStats describes one [SAPO]. The losses are the terms before their coefficients, divided by the totals, so that those
// of micro-batches add up; shares are over what the call has read.
type SAPOStats struct {
	PolicyLoss   float64
	ValueLoss    float64
	QLoss        float64
	KL           float64 // 0 if KLWeight is 0
	Entropy      float64 // of the policy, in nats
	Policy       Stats
	V, Q         ReadoutStats
	AllSaturated bool // every value that was read is saturated, and there was one: worth a warning, no value learns
}

// ReadoutStats describes the values that were read in one [SAPO].
type ReadoutStats struct {
	ValueStats         // ZeroGradient is about the loss; a saturated value has gradient 0 besides
	Saturated  float64 // share of values with |x| >= 1 in [Head.Value]
	OutOfRange int     // targets beyond [-1, 1] after division by RMax, which are clipped unless NoTargetClip is set
}

// SAPO returns the joint loss of SAPO (arXiv:2608.19842) over turns, and its gradient with respect to the logits:
//
//	L = L_pol + ValueWeight*L_V + QWeight*L_Q + KLWeight*L_KL - EntropyWeight*H
//
// L_pol is that of [PPO], L_KL that of [KL] and H that of [Head.Entropy], each the mean over the tokens of the policy mask.
// L_V and L_Q are the loss of [Value] on the values that [Head.Value] reads, each the mean over the turns of its own mask,
// with old values and targets divided by RMax. Advantages are constants, so that no policy loss reaches the reserved entries, and values
// reach no others: at the position of V the two meet in one vector on disjoint entries. The paper does not give the
// coefficients of V, Q and H, the clips, RMax and Tau.
//
// A term whose coefficient is 0 is not computed, nor is what only it needs read; H always is. The gradient overwrites grad,
// which has one entry per turn, or is nil if none is wanted; it must not overlap the logits, and is exactly 0 wherever
// nothing is read. Without turns the loss is 0.
//
// Errors are those of [PPO] and [Head], an old value that is read and is beyond RMax, as no read-out can be, a
// total below the number in the call, and options out of range; they name the turn.
// After an error the content of grad is of no use. O(logits) time with one exponential for each, no allocation,
// deterministic. Two other methods of that name exist: see [SoftGate].
func SAPO(grad []SAPOGrad, turns []SAPOTurn, o *SAPOOptions) (loss float64, stats SAPOStats, err error) {
	if o == nil {
		o = &SAPOOptions{}
	}
	s, err := newSAPO(o, turns)
	if err != nil {
		return 0, SAPOStats{}, err
	}
	if grad != nil {
		if err := length("grad", len(grad), "turns", len(turns)); err != nil {
			return 0, SAPOStats{}, err
		}
	}
	for i := range turns {
		t := &turns[i]
		g := SAPOGrad{}
		if grad != nil {
			g = grad[i]
			clear(g.After)
			for j := range g.Logits {
				clear(g.Logits[j])
			}
		}
		if err := s.turn(g, grad != nil, t); err != nil {
			return 0, SAPOStats{}, inTurn(i, err)
		}
	}
	if err := s.count.check(); err != nil {
		return 0, SAPOStats{}, err
	}
	stats = SAPOStats{
		PolicyLoss: s.policyLoss, ValueLoss: s.v.loss, QLoss: s.q.loss, KL: s.divergence, Entropy: s.entropy,
		Policy: s.count.stats(), V: s.v.stats(), Q: s.q.stats(),
	}
	read := s.v.count.n + s.q.count.n
	stats.AllSaturated = read > 0 && s.v.saturated+s.q.saturated == read
	loss = s.policyLoss + s.v.weight*s.v.loss + s.q.weight*s.q.loss + s.beta*s.divergence - s.entropyWeight*s.entropy
	if !finite(loss) {
		return 0, SAPOStats{}, nonFinite("the loss", loss)
	}
	return loss, stats, nil
}

// sapo is the joint loss with its options read, and what it has summed up.
type sapo struct {
	head                head
	clip                clip
	kl                  KLKind
	beta, entropyWeight float64
	perToken            float64 // 1 over the tokens of the step
	v, q                readout

	policyLoss, divergence, entropy float64
	count                           tally
}

// readout is the loss of V or of Q.
type readout struct {
	value       valueClip
	weight      float64 // coefficient
	each        float64 // 1 over the turns of the step
	rMax        float64
	clipTargets bool

	loss                  float64
	count                 valueTally
	saturated, outOfRange int
}

func newSAPO(o *SAPOOptions, turns []SAPOTurn) (s sapo, err error) {
	var errs [10]error
	s.head, errs[0] = o.Head.fill()
	s.clip, errs[1] = newClip("SAPOOptions.PPO", &o.PPO)
	s.v.value, errs[2] = newValueClip("SAPOOptions.ValueClip", o.ValueClip)
	s.q.value, errs[3] = newValueClip("SAPOOptions.QClip", o.QClip)
	rMax, err := orPositive("SAPOOptions", "RMax", o.RMax, 10, math.Inf(1))
	errs[4] = err
	s.kl = o.KL
	errs[5] = o.KL.check("SAPOOptions.KL")
	s.v.weight, s.q.weight = orDefault(o.ValueWeight, 0.5), orDefault(o.QWeight, 0.5)
	s.beta, s.entropyWeight = orDefault(o.KLWeight, 0.01), orDefault(o.EntropyWeight, 0.001)
	errs[6] = notNegative("SAPOOptions.ValueWeight", s.v.weight)
	errs[7] = notNegative("SAPOOptions.QWeight", s.q.weight)
	errs[8] = notNegative("SAPOOptions.KLWeight", s.beta)
	errs[9] = notNegative("SAPOOptions.EntropyWeight", s.entropyWeight)
	if err := errors.Join(errs[:]...); err != nil {
		return s, err
	}
	own, total := CountSAPO(turns), o.Total
	if total == (SAPOTotal{}) {
		total = own
	}
	for _, n := range [...]struct {
		name       string
		total, own int
	}{{"Tokens", total.Tokens, own.Tokens}, {"V", total.V, own.V}, {"Q", total.Q, own.Q}} {
		if n.total < n.own {
			return s, wrong("SAPOOptions.Total."+n.name, n.total, fmt.Sprintf("at least %d, the number in this call", n.own), nil)
		}
	}
	s.perToken = 1 / float64(max(1, total.Tokens))
	s.v.each, s.q.each = 1/float64(max(1, total.V)), 1/float64(max(1, total.Q))
	s.v.rMax, s.q.rMax = rMax, rMax
	s.v.clipTargets, s.q.clipTargets = !o.NoTargetClip, !o.NoTargetClip
	if (own.V > 0 && s.v.weight > 0) || (own.Q > 0 && s.q.weight > 0) {
		return s, s.head.checkReserved()
	}
	return s, nil
}

// trains reports whether token j is in the policy mask, if the turn is.
func (t *SAPOTurn) trains(j int) bool {
	return t.Trainable == nil || j < len(t.Trainable) && t.Trainable[j]
}

// inTurn adds the turn to an error about one of its fields.
func inTurn(i int, err error) error {
	if f, ok := errors.AsType[*rl.FieldError](err); ok {
		f.Field = fmt.Sprintf("turns[%d].%s", i, f.Field)
	}
	return err
}

// turn adds turn t. g has its gradient, if that is wanted.
func (s *sapo) turn(g SAPOGrad, wanted bool, t *SAPOTurn) error {
	if !t.NoPolicy {
		if err := s.policy(g, wanted, t); err != nil {
			return err
		}
	}
	if !t.NoV && s.v.weight > 0 {
		if len(t.Logits) == 0 {
			return wrong("Logits", "empty", "the position at which V is read", rl.ErrShape)
		}
		var dz []float64
		if wanted {
			if len(g.Logits) == 0 {
				return wrong("gradient of Logits", "empty", "that of the position at which V is read", rl.ErrShape)
			}
			dz = g.Logits[0]
		}
		if err := s.v.add(s.head, dz, wanted, "Logits[0]", t.Logits[0], "V", t.OldV, t.TargetV); err != nil {
			return err
		}
	}
	if !t.NoQ && s.q.weight > 0 {
		return s.q.add(s.head, g.After, wanted, "After", t.After, "Q", t.OldQ, t.TargetQ)
	}
	return nil
}

// policy adds the terms of the policy at the tokens of t.
func (s *sapo) policy(g SAPOGrad, wanted bool, t *SAPOTurn) error {
	n := len(t.Logits)
	if n == 0 && len(t.Actions) > 0 {
		return wrong("Logits", "empty", fmt.Sprintf("%d vectors of the model being trained, one for each of Actions", len(t.Actions)), rl.ErrShape)
	}
	if err := length("Actions", len(t.Actions), "Logits", n); err != nil {
		return err
	}
	if err := length("OldLogProb", len(t.OldLogProb), "Logits", n); err != nil {
		return err
	}
	if s.beta > 0 {
		if err := length("RefLogProb", len(t.RefLogProb), "Logits", n); err != nil {
			return err
		}
	}
	if wanted {
		if err := length("gradient of Logits", len(g.Logits), "Logits", n); err != nil {
			return err
		}
	}
	if t.Trainable != nil {
		if err := length("Trainable", len(t.Trainable), "Logits", n); err != nil {
			return err
		}
	}
	for j := range t.Actions {
		if !t.trains(j) {
			continue
		}
		var dz []float64
		if wanted {
			dz = g.Logits[j]
		}
		if err := s.token(dz, wanted, t, j); err != nil {
			return err
		}
	}
	return nil
}

// token adds the terms of the policy at token j of t.
func (s *sapo) token(dz []float64, wanted bool, t *SAPOTurn, j int) error {
	z, a := t.Logits[j], t.Actions[j]
	if err := s.head.checkLogits(dz, wanted, "Logits", j, z); err != nil {
		return err
	}
	if a < 0 || a >= len(z) || a == s.head.plus || a == s.head.minus {
		return s.head.checkAction(at("Actions", j), a, len(z))
	}
	if !finite(t.Advantage) {
		return nonFinite("Advantage", t.Advantage)
	}
	p, bad := s.head.softmax(dz, z) // dz holds the exponentials until it gets the gradient
	if bad >= 0 {
		return nonFinite(at(at("Logits", j), bad), z[bad])
	}
	logProb := s.head.scaled(z[a], p) - p.logSum
	d := logProb - t.OldLogProb[j]
	if !finite(d) {
		return nonFinite(fmt.Sprintf("the log-probability %v less OldLogProb[%d]", logProb, j), d)
	}
	if t.OldLogProb[j] > maxLogProb {
		return notLogProb(at("OldLogProb", j), t.OldLogProb[j])
	}
	clamped := max(-s.clip.clamp, min(s.clip.clamp, d))
	ratio := math.Exp(clamped)
	slope := ratio
	if math.Abs(d) >= s.clip.clamp {
		slope = 0
	}
	l, grad, outside := s.clip.token(logProb, ratio, slope, t.Advantage)
	s.policyLoss += s.perToken * l
	s.count.add(d, clamped, ratio, ratio, outside, grad)
	if s.beta > 0 {
		d := t.RefLogProb[j] - logProb
		if !finite(d) {
			return nonFinite(fmt.Sprintf("RefLogProb[%d] less the log-probability %v", j, logProb), d)
		}
		if t.RefLogProb[j] > maxLogProb {
			return notLogProb(at("RefLogProb", j), t.RefLogProb[j])
		}
		l, g := s.kl.token(d)
		s.divergence += s.perToken * l
		grad += s.beta * g
	}
	entropy := p.entropy()
	s.entropy += s.perToken * entropy
	if wanted {
		s.head.gradient(dz, z, p, a, s.perToken*grad, -s.perToken*s.entropyWeight, entropy)
		var check float64 // NaN if a number is not finite
		for _, g := range dz {
			check += g - g
		}
		if check != 0 {
			return nonFinite(at("the gradient of Logits", j), check)
		}
	}
	return nil
}

// gradient replaces the exponentials in dz by the gradient of onAction times the log-probability of action plus onEntropy
// times the entropy.
func (r head) gradient(dz, z []float64, s softmax, action int, onAction, onEntropy, entropy float64) {
	onAction *= r.inverse
	onEntropy *= r.inverse
	for k, v := range z {
		if k == r.plus || k == r.minus {
			continue
		}
		p := dz[k] / s.sum
		dz[k] = 0
		if p > 0 { // elsewhere the logarithm may be -Inf
			dz[k] = -p * (onAction + onEntropy*(r.scaled(v, s)-s.logSum+entropy))
		}
	}
	dz[action] += onAction
}

// checkLogits checks the lengths of logits and of the place for their gradient.
func (r head) checkLogits(dz []float64, wanted bool, field string, j int, z []float64) error {
	if len(z) <= max(r.plus, r.minus, 0) || len(z) < 3 {
		if j >= 0 {
			field = at(field, j)
		}
		if err := r.checkLength(field, len(z)); err != nil {
			return err
		}
	}
	if wanted && len(dz) != len(z) {
		if j >= 0 {
			field = at(field, j)
		}
		return length("gradient of "+field, len(dz), field, len(z))
	}
	return nil
}

// add adds the value that z holds.
func (r *readout) add(h head, dz []float64, wanted bool, field string, z []float64, name string, old, target float64) error {
	if err := h.checkLogits(dz, wanted, field, -1, z); err != nil {
		return err
	}
	plus, minus := z[h.plus], z[h.minus]
	switch {
	case !finite(plus):
		return nonFinite(at(field, h.plus), plus)
	case !finite(minus):
		return nonFinite(at(field, h.minus), minus)
	case !finite(target):
		return nonFinite("Target"+name, target)
	case r.value.clip > 0 && !finite(old):
		return nonFinite("Old"+name, old)
	case r.value.clip > 0 && math.Abs(old) > r.rMax*(1+1e-2): // more than rounding of RMax*p, in low precision too
		return wrong("Old"+name, old, fmt.Sprintf("a magnitude of at most RMax, %v, as read-outs have", r.rMax), nil)
	}
	y := target / r.rMax
	if math.Abs(y) > 1 {
		r.outOfRange++
		if r.clipTargets {
			y = max(-1, min(1, y))
		}
	}
	x := (plus - minus) / h.tau
	l, g, clipped := r.value.token(max(-1, min(1, x)), old/r.rMax, y)
	r.loss += r.each * l
	r.count.add(clipped, g)
	if math.Abs(x) >= 1 {
		r.saturated++
	}
	if wanted && g != 0 && h.passes(x, g) {
		u := r.weight * r.each * g / h.tau
		if !finite(u) {
			return nonFinite("the gradient of "+name, u)
		}
		dz[h.plus], dz[h.minus] = u, -u
	}
	return nil
}

func (r *readout) stats() ReadoutStats {
	return ReadoutStats{r.count.stats(), float64(r.saturated) / float64(max(1, r.count.n)), r.outOfRange}
}
