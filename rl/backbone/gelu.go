package backbone

import "math"

// GELU in its form with tanh (arXiv:1606.08415), x (1+tanh(t))/2 with t = sqrt(2/pi) (x + 0.044715 x³). Since (1+tanh(t))/2 is the logistic
// function of 2t, it costs one exponential.
const (
	geluScale = 2 * 0.7978845608028653558798921198687637 // 2 sqrt(2/pi)
	geluCubic = 0.044715
)

func gelu(x float64) float64 {
	return x / (1 + math.Exp(-geluScale*x*(1+geluCubic*x*x)))
}

// geluSlope returns gelu(x) and its derivative.
func geluSlope(x float64) (y, slope float64) {
	s := 1 / (1 + math.Exp(-geluScale*x*(1+geluCubic*x*x)))
	return x * s, s + x*s*(1-s)*geluScale*(1+3*geluCubic*x*x)
}
