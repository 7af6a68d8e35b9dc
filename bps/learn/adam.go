package learn

import "math"

// adam is the optimizer of arXiv:1412.6980, algorithm 1, with the constants proposed there.
type adam struct {
	mean, square   []float64 // moving averages of the derivatives and their squares
	decay1, decay2 float64   // powers of the decay rates
}

func newAdam(n int) *adam {
	return &adam{mean: make([]float64, n), square: make([]float64, n), decay1: 1, decay2: 1}
}

// step moves param against its derivatives der.
func (a *adam) step(param, der []float64, rate float64) {
	const beta1, beta2, eps = 0.9, 0.999, 1e-8
	a.decay1 *= beta1
	a.decay2 *= beta2
	c1, c2 := 1/(1-a.decay1), 1/(1-a.decay2)
	for i, d := range der {
		a.mean[i] = beta1*a.mean[i] + (1-beta1)*d
		a.square[i] = beta2*a.square[i] + (1-beta2)*d*d
		param[i] -= rate * a.mean[i] * c1 / (math.Sqrt(a.square[i]*c2) + eps)
	}
}
