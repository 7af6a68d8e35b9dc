package backbone

import "math"

// normEps is added to the variance in a layer norm, as is usual.
const normEps = 1e-5

// layerNorm computes y = scale (x-mean)/sqrt(variance+eps) + bias for each row of x (arXiv:1607.06450). It leaves the bracket over the root
// in unit, which is as large as x, and one over the root of each row in inverse; the backward pass reads both.
func layerNorm(y, unit, inverse, x, scale, bias []float64) {
	d := len(scale)
	for r := range inverse {
		row, u, out := x[r*d:][:d], unit[r*d:][:d], y[r*d:][:d]
		var mean float64
		for _, v := range row {
			mean += v
		}
		mean /= float64(d)
		var square float64
		for i, v := range row {
			v -= mean
			u[i] = v
			square += v * v
		}
		inv := 1 / math.Sqrt(square/float64(d)+normEps)
		inverse[r] = inv
		for i, v := range u {
			v *= inv
			u[i] = v
			out[i] = scale[i]*v + bias[i]
		}
	}
}

// layerNormBack sets dx to the gradient with respect to x, and adds those with respect to scale and bias. dx may be dy.
func layerNormBack(dx, dScale, dBias, dy, unit, inverse, scale []float64) {
	d := len(scale)
	for r, inv := range inverse {
		row, u, out := dy[r*d:][:d], unit[r*d:][:d], dx[r*d:][:d]
		var mean, dot float64 // of the gradient with respect to unit, and of its product with unit
		for i, g := range row {
			dScale[i] += g * u[i]
			dBias[i] += g
			g *= scale[i]
			mean += g
			dot += g * u[i]
		}
		mean /= float64(d)
		dot /= float64(d)
		for i, g := range row {
			out[i] = inv * (g*scale[i] - mean - u[i]*dot)
		}
	}
}
