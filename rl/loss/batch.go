package loss

import (
	"fmt"
	"math"

	"github.com/throughline-go/throughline/rl"
)

// A Batch holds the positions that a loss over tokens runs over, in parallel slices of equal length. [NewBatch] makes one of
// trajectories and their credit. Log-probabilities are in nats and at most 0; up to 1e-3, which is rounding in the low
// precision of models, they are taken as they are. A slice that a loss does not read may be nil.
type Batch struct {
	LogProb    []float64 // under the policy being trained
	OldLogProb []float64 // under the policy that sampled the tokens, at the same temperature; [Reinforce] and [KL] do not read it
	RefLogProb []float64 // under the reference policy; read by [KL] alone
	Advantage  []float64 // constants: no gradient flows into them; [KL] does not read it
	// Weight is the factor of each position in the loss, finite and >= 0. A position of weight 0 is never read, and its
	// gradient is exactly 0. nil means 1/len(LogProb) each, the mean over all positions: tokens of excluded turns and
	// trajectories are read then, and count in the mean, though they have no vote. Where there are such, take the weights
	// of [NewBatch] or [Weights].
	//
	// Those are of a whole optimiser step; slices of them serve micro-batches, whose losses and gradients then add up to
	// those of the whole, however it is cut.
	Weight []float64
}

// Stats describes the positions of weight above 0 in one policy loss. Shares and means are over these positions, each
// counted once whatever its weight, and 0 if there are none. Ratios are those that the loss uses: clamped, and in
// [TurnRatio] that of the turn.
type Stats struct {
	Tokens       int     // positions of weight above 0
	ClipFraction float64 // share with a ratio outside the band of the loss; 0 in [SoftGate], which has none
	ZeroGradient float64 // share with gradient 0
	MeanKL       float64 // mean of -D, D the log-ratio of the token: estimate k1 of KL(old||new)
	ApproxKL     float64 // mean of e^D - 1 - D, with D clamped as in the loss: estimate k3 of the same, never negative
	ESS          float64 // effective sample size of importance sampling as a share of n: (sum ratio)²/(n * sum ratio²), in (0, 1]
}

// tally gathers Stats.
type tally struct {
	n, outside, still        int
	kl, approx, sum, squares float64
}

// add counts a token with log-ratio d, the ratio that its loss uses and its gradient.
func (t *tally) add(d, clamped, exp, ratio float64, outside bool, grad float64) {
	t.n++
	if outside {
		t.outside++
	}
	if grad == 0 {
		t.still++
	}
	t.kl -= d
	t.approx += k3(clamped, exp)
	t.sum += ratio
	t.squares += ratio * ratio
}

// check returns an error if log-ratios overflowed; ratios are clamped, and do not.
func (t *tally) check() error {
	if finite(t.kl) {
		return nil
	}
	return nonFinite("the sum of OldLogProb - LogProb", t.kl)
}

func (t *tally) stats() Stats {
	if t.n == 0 {
		return Stats{}
	}
	n := float64(t.n)
	s := Stats{t.n, float64(t.outside) / n, float64(t.still) / n, t.kl / n, t.approx / n, 0}
	if t.squares > 0 { // ratios of e^-300 have it
		s.ESS = t.sum / n * t.sum / t.squares
	}
	return s
}

// maxClamp bounds RatioClamp: the squares of ratios up to e^300, and sums of them, do not overflow.
const maxClamp = 300

// k3 returns e^d - 1 - d for exp = e^d, never negative.
func k3(d, exp float64) float64 {
	if math.Abs(d) < 1e-2 { // the difference would cancel; the first term left out is below 1e-13 of the sum
		return d * d / 2 * (1 + d/3*(1+d/4*(1+d/5*(1+d/6))))
	}
	return exp - 1 - d
}

// A term is the loss of one token.
type term interface {
	// token returns the loss and its derivative with respect to logProb. slope is the derivative of ratio: ratio itself, or
	// 0 where the clamp binds. outside says whether ratio is outside the band.
	token(logProb, ratio, slope, advantage float64) (loss, grad float64, outside bool)
}

// sum runs t over the positions of b.
func sum[T term](grad []float64, b Batch, clamp float64, t T) (float64, Stats, error) {
	if err := b.check(grad, readOld|readAdvantage); err != nil {
		return 0, Stats{}, err
	}
	clear(grad)
	each := 1 / float64(len(b.LogProb))
	var total float64
	var count tally
	for j := range b.LogProb {
		w := each
		if b.Weight != nil {
			w = b.Weight[j]
		}
		if w == 0 {
			continue
		}
		d := b.LogProb[j] - b.OldLogProb[j] // finite, since neither is above maxLogProb
		clamped := max(-clamp, min(clamp, d))
		ratio := math.Exp(clamped)
		slope := ratio
		if math.Abs(d) >= clamp {
			slope = 0
		}
		l, g, outside := t.token(b.LogProb[j], ratio, slope, b.Advantage[j])
		total += w * l
		if grad != nil && g != 0 { // not -0, whose sign would show
			grad[j] = w * g
			if !finite(grad[j]) {
				return 0, Stats{}, nonFinite(at("the gradient at LogProb", j), grad[j])
			}
		}
		count.add(d, clamped, ratio, ratio, outside, g)
	}
	if !finite(total) {
		return 0, Stats{}, nonFinite("the loss", total)
	}
	if err := count.check(); err != nil {
		return 0, Stats{}, err
	}
	return total, count.stats(), nil
}

// reads is the set of slices, LogProb and Weight apart, that a loss reads.
type reads uint8

const (
	readOld reads = 1 << iota
	readRef
	readAdvantage
)

// check checks lengths, weights and the numbers that are read.
func (b *Batch) check(grad []float64, r reads) error {
	n := len(b.LogProb)
	if r&readOld != 0 {
		if err := length("OldLogProb", len(b.OldLogProb), "LogProb", n); err != nil {
			return err
		}
	}
	if r&readRef != 0 {
		if err := length("RefLogProb", len(b.RefLogProb), "LogProb", n); err != nil {
			return err
		}
	}
	if r&readAdvantage != 0 {
		if err := length("Advantage", len(b.Advantage), "LogProb", n); err != nil {
			return err
		}
	}
	if err := weights("Weight", b.Weight, "LogProb", n); err != nil {
		return err
	}
	if grad != nil {
		if err := length("grad", len(grad), "LogProb", n); err != nil {
			return err
		}
	}
	for j := range b.LogProb {
		switch {
		case b.Weight != nil && b.Weight[j] == 0:
		case !isLogProb(b.LogProb[j]):
			return notLogProb(at("LogProb", j), b.LogProb[j])
		case r&readOld != 0 && !isLogProb(b.OldLogProb[j]):
			return notLogProb(at("OldLogProb", j), b.OldLogProb[j])
		case r&readRef != 0 && !isLogProb(b.RefLogProb[j]):
			return notLogProb(at("RefLogProb", j), b.RefLogProb[j])
		case r&readAdvantage != 0 && !finite(b.Advantage[j]):
			return nonFinite(at("Advantage", j), b.Advantage[j])
		}
	}
	return nil
}

// maxLogProb is what rounding in the low precision of models may make of log-probability 0, as in [rl.Validate]. A
// probability or a value that is given by mistake is mostly above it.
const maxLogProb = 1e-3

func isLogProb(x float64) bool { return finite(x) && x <= maxLogProb }

// notLogProb returns the error for a number x for which isLogProb is false.
func notLogProb(field string, x float64) error {
	if !finite(x) {
		return nonFinite(field, x)
	}
	return wrong(field, x, "a log-probability, at most 0", nil)
}

// weights checks a slice of weights, which may be nil.
func weights(field string, weight []float64, of string, n int) error {
	if weight == nil {
		return nil
	}
	if err := length(field, len(weight), of, n); err != nil {
		return err
	}
	for j, w := range weight {
		if !finite(w) {
			return nonFinite(at(field, j), w)
		}
		if w < 0 {
			return wrong(at(field, j), w, "a number >= 0", nil)
		}
	}
	return nil
}

// length returns an error unless a slice has the length n of another.
func length(field string, got int, of string, n int) error {
	if got == n {
		return nil
	}
	return wrong(field, fmt.Sprintf("of length %d", got), fmt.Sprintf("length %d of %s", n, of), rl.ErrShape)
}

func wrong(field string, got any, want string, err error) error {
	return &rl.FieldError{Trajectory: -1, Turn: -1, Field: field, Got: fmt.Sprint(got), Want: want, Err: err}
}

// nonFinite returns the error for the value x of a field.
func nonFinite(field string, x float64) error {
	return wrong(field, x, "a finite number", rl.ErrNonFinite)
}

// at names element j of a slice.
func at(slice string, j int) string { return fmt.Sprintf("%s[%d]", slice, j) }

// finite reports whether x is neither NaN nor infinite: only then does it cancel itself.
func finite(x float64) bool { return x-x == 0 }

// orDefault reads an option whose nil means def.
func orDefault(p *float64, def float64) float64 {
	if p == nil {
		return def
	}
	return *p
}

// orPositive reads an option > 0 whose zero means def. The error names it.
func orPositive(options, field string, x, def, most float64) (float64, error) {
	switch {
	case x == 0:
		return def, nil
	case x > 0 && x <= most && finite(x):
		return x, nil
	case math.IsInf(most, 1):
		return 0, fmt.Errorf("loss: %s.%s is %v, want a finite number > 0", options, field, x)
	}
	return 0, fmt.Errorf("loss: %s.%s is %v, want a number in (0, %v]", options, field, x, most)
}

// notNegative checks an option that may be 0.
func notNegative(option string, x float64) error {
	if x >= 0 && finite(x) {
		return nil
	}
	return fmt.Errorf("loss: %s is %v, want a finite number >= 0", option, x)
}
