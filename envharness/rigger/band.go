package rigger

import (
	"errors"
	"fmt"
	"math"
)

// ErrBandUnreachable reports a band that no number of passes out of K rollouts falls into.
var ErrBandUnreachable = errors.New("rigger: no success rate of so few rollouts lies in the band")

// A Band is the interval of success rates that a reshaped task is meant to have, bounds included. The paper aims at [0.4, 0.6].
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// bandTolerance keeps bounds like 0.6 from excluding 3 of 5 by rounding.
const bandTolerance = 1e-9

// Counts returns the numbers of passes out of k valid rollouts whose rate lies in the band, in ascending order. If there are none the
// error is [ErrBandUnreachable]: with k = 3, for example, no rate lies in [0.4, 0.6], so nothing could ever be accepted. A k below 1, or
// bounds that are not 0 <= Lo <= Hi <= 1, are an error too.
func (b Band) Counts(k int) ([]int, error) {
	if k < 1 {
		return nil, fmt.Errorf("rigger: %d rollouts, at least 1 is needed", k)
	}
	if !(b.Lo >= 0 && b.Lo <= b.Hi && b.Hi <= 1) {
		return nil, fmt.Errorf("rigger: the band [%v, %v] is not in [0, 1]", b.Lo, b.Hi)
	}
	lo := int(math.Ceil(b.Lo*float64(k) - bandTolerance))
	hi := int(math.Floor(b.Hi*float64(k) + bandTolerance))
	if lo > hi {
		return nil, fmt.Errorf("%w: %d rollouts, band [%v, %v]", ErrBandUnreachable, k, b.Lo, b.Hi)
	}
	counts := make([]int, 0, hi-lo+1)
	for x := lo; x <= hi; x++ {
		counts = append(counts, x)
	}
	return counts, nil
}
