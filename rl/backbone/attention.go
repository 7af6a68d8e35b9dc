package backbone

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// attention is causal multi-head attention (arXiv:1706.03762, section 3.2) for one query at a time, over the rows of its own and all
// earlier positions. A row holds a key and then a value, dim numbers each.
type attention struct{ dim, heads int }

func (a attention) width() int { return a.dim / a.heads }

func (a attention) scale() float64 { return 1 / math.Sqrt(float64(a.width())) }

// keys and values return those of head h in n rows.
func (a attention) keys(rows []float64, n, h int) blas64.General {
	return matrix(rows[h*a.width():], n, a.width(), 2*a.dim)
}

func (a attention) values(rows []float64, n, h int) blas64.General {
	return matrix(rows[a.dim+h*a.width():], n, a.width(), 2*a.dim)
}

// forward sets out to what the query reads in n rows. It leaves the n probabilities of each head in prob.
func (a attention) forward(out, prob, query, rows []float64, n int) {
	w := a.width()
	scale := a.scale()
	for h := range a.heads {
		p := prob[h*n:][:n]
		blas64.Gemv(blas.NoTrans, scale, a.keys(rows, n, h), vector(query[h*w:][:w]), 0, vector(p))
		softmax(p)
		blas64.Gemv(blas.Trans, 1, a.values(rows, n, h), vector(p), 0, vector(out[h*w:][:w]))
	}
}

// backward sets dQuery, and adds to dRows, the gradients for that of out. slope is scratch for n numbers.
func (a attention) backward(dQuery, dRows, slope, dOut, prob, query, rows []float64, n int) {
	w := a.width()
	scale := a.scale()
	slope = slope[:n]
	for h := range a.heads {
		p, d := prob[h*n:][:n], vector(dOut[h*w:][:w])
		blas64.Gemv(blas.NoTrans, 1, a.values(rows, n, h), d, 0, vector(slope))
		var dot float64
		for j, x := range p {
			dot += x * slope[j]
		}
		for j, x := range p {
			slope[j] = x * (slope[j] - dot)
		}
		blas64.Ger(1, vector(p), d, a.values(dRows, n, h))
		blas64.Gemv(blas.Trans, scale, a.keys(rows, n, h), vector(slope), 0, vector(dQuery[h*w:][:w]))
		blas64.Ger(scale, vector(slope), vector(query[h*w:][:w]), a.keys(dRows, n, h))
	}
}

// softmax turns x into probabilities proportional to exp(x).
func softmax(x []float64) {
	top := x[0]
	for _, v := range x[1:] {
		top = max(top, v)
	}
	var sum float64
	for i, v := range x {
		e := math.Exp(v - top)
		x[i] = e
		sum += e
	}
	sum = 1 / sum
	for i := range x {
		x[i] *= sum
	}
}
