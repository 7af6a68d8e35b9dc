package benefit

import (
	"fmt"
	"math"
	"sync"

	"github.com/throughline-go/throughline/bps"
)

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// invalid returns an error for input that no benefit can be made of.
func invalid(format string, args ...any) error {
	return fmt.Errorf("benefit: %w: %s", bps.ErrBenefit, fmt.Sprintf(format, args...))
}

// notNegative checks one number, named by format and args.
func notNegative(x float64, format string, args ...any) error {
	if !finite(x) || x < 0 {
		return invalid("%s is %v, want a finite number >= 0", fmt.Sprintf(format, args...), x)
	}
	return nil
}

func checkWeights(weights []float64) error {
	for k, w := range weights {
		if !finite(w) || w < 0 {
			return notNegative(w, "weights[%d]", k)
		}
	}
	return nil
}

// maxUnweighted bounds the points or elements where only the lists say how many there are: a state holds a number of each, so that a
// single large index, perhaps a hash by mistake, would take all memory.
const maxUnweighted = 1 << 28

// width returns the length of the rows, which must be equal, and that of weights unless they are nil.
func width(name string, rows [][]float64, weights []float64) (int, error) {
	d := len(weights)
	if weights == nil && len(rows) > 0 {
		d = len(rows[0])
	}
	for i, row := range rows {
		if len(row) != d {
			return 0, invalid("%s[%d] has %d entries, want %d", name, i, len(row), d)
		}
	}
	return d, nil
}

// A scratch lends slices of zeros to Value, which must be safe for concurrent use and had better not allocate.
type scratch struct {
	size int
	pool sync.Pool
}

func (s *scratch) get() *[]float64 {
	if x, ok := s.pool.Get().(*[]float64); ok {
		return x
	}
	x := make([]float64, s.size)
	return &x
}

// put takes back a slice, which must be all zeros again.
func (s *scratch) put(x *[]float64) { s.pool.Put(x) }
