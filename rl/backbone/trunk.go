package backbone

import (
	"math"
	"math/rand/v2"
)

// A Param is one tensor of parameters with its gradient, both in row-major order. Whoever changes W or G does so while no call runs.
type Param struct {
	Name       string // unique in its model
	Rows, Cols int    // Rows is 1 for a one-dimensional parameter, which weight decay leaves alone
	W          []float64
	G          []float64 // the gradient collected since the last Step
}

// newParam returns a parameter of zeros.
func newParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, W: make([]float64, rows*cols), G: make([]float64, rows*cols)}
}

// normal draws the parameter from a normal distribution of mean 0, in index order.
func (p *Param) normal(rng *rand.Rand, std float64) *Param {
	for i := range p.W {
		p.W[i] = std * rng.NormFloat64()
	}
	return p
}

// fill sets the parameter to x.
func (p *Param) fill(x float64) *Param {
	for i := range p.W {
		p.W[i] = x
	}
	return p
}

// scaled returns the standard deviation of weights with so many inputs that keeps the variance of what goes through.
func scaled(inputs int) float64 { return 1 / math.Sqrt(float64(inputs)) }

// A trunk is an architecture: it turns tokens into hidden vectors of width Dim. Token ids and lengths have been checked.
type trunk interface {
	params() []*Param // in a fixed order
	newPass() pass
	newState() state
}

// A pass is the scratch of one worker: it grows to its largest input and is used again.
type pass interface {
	// forward takes sequences laid end to end, lens[i] > 0 tokens each, and returns the hidden vectors that were asked for: those at the
	// positions from[i] to lens[i]-1 of each sequence i, 0 <= from[i] < lens[i], end to end, Dim numbers each. They are valid until the next
	// forward, and not to be changed.
	forward(tokens, lens, from []int) []float64
	// backward takes the gradient with respect to what the last forward returned, in the same layout, and adds that with respect to params()[i]
	// to grad[i]. It may overwrite dHidden. It is called at most once after a forward.
	backward(dHidden []float64, grad [][]float64)
}

// A state is the cache of a session.
type state interface {
	// append reads one or more further tokens, and writes the hidden vector at the last into hidden.
	append(ids []int, hidden []float64)
	clone() state // shares nothing
	reset()
}

// grow returns a slice of length n in the memory of x, or in new memory, with contents that are of no use.
func grow[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/4)
	}
	return x[:n]
}
