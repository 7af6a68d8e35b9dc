package backbone

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix products go row by row through Gemv. Its kernels are twice as fast as those of Gemm here, since they keep partial sums of four
// rows in registers, it allocates nothing, and it starts no goroutines, which would compete with the workers of the call.

// matrix returns a view of rows x cols numbers, stride apart by row.
func matrix(data []float64, rows, cols, stride int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: data[:(rows-1)*stride+cols]}
}

func vector(data []float64) blas64.Vector { return blas64.Vector{N: len(data), Inc: 1, Data: data} }

// multiply sets y = x w + beta y, where w is in x out, and x and y have as many rows as each other.
func multiply(y, x, w []float64, in, out int, beta float64) {
	m := matrix(w, in, out, out)
	for ; len(x) > 0; x, y = x[in:], y[out:] {
		blas64.Gemv(blas.Trans, 1, m, vector(x[:in]), beta, vector(y[:out]))
	}
}

// multiplyBack sets dx to dy times the transpose of w, the gradient of multiply with respect to x.
func multiplyBack(dx, dy, w []float64, in, out int) {
	m := matrix(w, in, out, out)
	for ; len(dy) > 0; dx, dy = dx[in:], dy[out:] {
		blas64.Gemv(blas.NoTrans, 1, m, vector(dy[:out]), 0, vector(dx[:in]))
	}
}

// weightRows is how many rows of dy weightGrad goes over at a time, so that they stay in the cache.
const weightRows = 64

// weightGrad adds the transpose of x times dy to dw, the gradient of multiply with respect to w.
func weightGrad(dw, x, dy []float64, in, out int) {
	for rows := len(x) / in; rows > 0; {
		n := min(rows, weightRows)
		m := matrix(dy, n, out, out)
		for i := range in {
			blas64.Gemv(blas.Trans, 1, m, blas64.Vector{N: n, Inc: in, Data: x[i:]}, 1, vector(dw[i*out:][:out]))
		}
		rows -= n
		x, dy = x[n*in:], dy[n*out:]
	}
}

// addRows adds each row of x to sum.
func addRows(sum, x []float64) {
	for ; len(x) > 0; x = x[len(sum):] {
		for i, v := range x[:len(sum)] {
			sum[i] += v
		}
	}
}

// addToRows adds row to each row of x.
func addToRows(x, row []float64) {
	for ; len(x) > 0; x = x[len(row):] {
		for i, v := range row {
			x[i] += v
		}
	}
}

// repeat sets each row of x to row.
func repeat(x, row []float64) {
	for ; len(x) > 0; x = x[len(row):] {
		copy(x, row)
	}
}
