package backbone

import (
	"math"
	"math/rand/v2"
)

// gru is the recurrent trunk: one layer of gated units (arXiv:1406.1078, with the reset gate behind the product as in cuDNN) on an embedding.
// With x the embedding of a token and h the vector before it, 0 at first,
//
//	r = sigmoid(Wr x + br + Ur h)    z = sigmoid(Wz x + bz + Uz h)
//	n = tanh(Wn x + bn + r (Un h + c))
//	h = (1-z) n + z h
//
// The matrices act from the right on rows, the three gates beside one another in the order r, z, n.
type gru struct {
	dim       int
	embedding *Param // Vocab x Dim
	input     *Param // W, Dim x 3 Dim
	bias      *Param // b, 1 x 3 Dim
	hidden    *Param // U, Dim x 3 Dim
	inner     *Param // c, 1 x Dim
}

func newGRU(c Config, rng *rand.Rand) trunk {
	d := c.Dim
	return &gru{
		dim:       d,
		embedding: newParam("embedding", c.Vocab, d).normal(rng, 1), // one weight reaches each element
		input:     newParam("gru.input", d, 3*d).normal(rng, scaled(d)),
		bias:      newParam("gru.bias", 1, 3*d),
		hidden:    newParam("gru.hidden", d, 3*d).normal(rng, scaled(d)),
		inner:     newParam("gru.inner", 1, d),
	}
}

// The positions of its parameters in params.
const (
	gruEmbedding = iota
	gruInput
	gruBias
	gruHidden
	gruInner
)

func (g *gru) params() []*Param {
	return []*Param{gruEmbedding: g.embedding, gruInput: g.input, gruBias: g.bias, gruHidden: g.hidden, gruInner: g.inner}
}

// cell computes one step: h from the vector prev before it, gx = W x + b, and gates = U prev, which it replaces by r, z and n; q receives
// Un prev + c.
func (g *gru) cell(h, q, gates, gx, prev []float64) {
	d := len(h)
	c := g.inner.W[:d]
	r, z, n := gates[:d], gates[d:2*d], gates[2*d:3*d]
	xr, xz, xn := gx[:d], gx[d:2*d], gx[2*d:3*d]
	q, prev = q[:d], prev[:d]
	for j := range h {
		r[j] = 1 / (1 + math.Exp(-r[j]-xr[j]))
		z[j] = 1 / (1 + math.Exp(-z[j]-xz[j]))
		q[j] = n[j] + c[j]
		// tanh in its form with one exp, exact to rounding of 1, which is what h is added to.
		n[j] = 1 - 2/(1+math.Exp(2*(xn[j]+r[j]*q[j])))
		h[j] = n[j] + z[j]*(prev[j]-n[j])
	}
}

// gruPass runs one sequence after the other; to step through all at once would save nothing, since products go row by row anyway. Input
// products are shared by all positions of a token.
type gruPass struct {
	*gru
	lens []int
	from []int
	slot []int // by id, 1 + the row of the token in x; all 0 between calls
	ids  []int // by row of x
	row  []int // by position, the row of x

	x, gx    []float64 // by row of x: embedding, W x + b
	h        []float64 // by position: vector
	gates, q []float64 // by position: r, z and n; Un prev + c
	out      []float64 // the vectors that were asked for
	zero     []float64 // the vector before the first

	// Gradients: dgates is with respect to U prev, dprev to prev through that, and carry to a vector through the step after it.
	dx, dgx, dgates, dprev, carry []float64
}

func (g *gru) newPass() pass {
	d := g.dim
	return &gruPass{gru: g, slot: make([]int, g.embedding.Rows), zero: make([]float64, d), dprev: make([]float64, d), carry: make([]float64, d)}
}

func (p *gruPass) forward(tokens, lens, from []int) []float64 {
	d := p.dim
	p.lens, p.from = append(p.lens[:0], lens...), append(p.from[:0], from...)
	p.ids, p.row, p.x, p.gx = p.ids[:0], p.row[:0], p.x[:0], p.gx[:0]
	for _, id := range tokens {
		if p.slot[id] == 0 {
			p.ids = append(p.ids, id)
			p.slot[id] = len(p.ids)
			p.x = append(p.x, p.embedding.W[id*d:(id+1)*d]...)
			p.gx = append(p.gx, p.bias.W...)
		}
		p.row = append(p.row, p.slot[id]-1)
	}
	for _, id := range p.ids {
		p.slot[id] = 0
	}
	n := len(tokens)
	multiply(p.gx, p.x, p.input.W, d, 3*d, 1)

	p.h, p.gates, p.q, p.out = grow(p.h, n*d), grow(p.gates, n*3*d), grow(p.q, n*d), p.out[:0]
	at := 0
	for i, length := range p.lens {
		prev := p.zero
		for t := range length {
			gates := p.gates[at*3*d : (at+1)*3*d]
			if t == 0 {
				clear(gates)
			} else {
				multiply(gates, prev, p.hidden.W, d, 3*d, 0)
			}
			h, gx := p.h[at*d:(at+1)*d], p.gx[p.row[at]*3*d:]
			p.cell(h, p.q[at*d:(at+1)*d], gates, gx, prev)
			prev = h
			at++
		}
		p.out = append(p.out, p.h[(at-length+p.from[i])*d:at*d]...)
	}
	return p.out
}

func (p *gruPass) backward(dHidden []float64, grad [][]float64) {
	d, k, n := p.dim, len(p.ids), len(p.row)
	p.dgx, p.dgates = grow(p.dgx, k*3*d), grow(p.dgates, n*3*d)
	clear(p.dgx)
	end := n
	for i := len(p.lens) - 1; i >= 0; i-- {
		start := end - p.lens[i]
		first := start + p.from[i] // the first position with a gradient of its own
		clear(p.carry)
		for at := end - 1; at >= start; at-- {
			prev := p.zero
			if at > start {
				prev = p.h[(at-1)*d : at*d]
			}
			if at >= first {
				last := len(dHidden) - d
				addRows(p.carry, dHidden[last:])
				dHidden = dHidden[:last]
			}
			dgates := p.dgates[at*3*d : (at+1)*3*d]
			p.cellBackward(dgates, p.dgx[p.row[at]*3*d:], grad[gruInner], p.gates[at*3*d:], p.q[at*d:], prev)
			if at > start {
				multiplyBack(p.dprev, dgates, p.hidden.W, d, 3*d)
				addRows(p.carry, p.dprev)
			} else {
				clear(dgates) // U has no part in a first step
			}
		}
		end = start
	}
	// Row i of h is the vector before row i+1 of dgates, and where it is not, that row is 0.
	weightGrad(grad[gruHidden], p.h[:(n-1)*d], p.dgates[3*d:], d, 3*d)
	weightGrad(grad[gruInput], p.x, p.dgx, d, 3*d)
	addRows(grad[gruBias], p.dgx)
	p.dx = grow(p.dx, k*d)
	multiplyBack(p.dx, p.dgx, p.input.W, d, 3*d)
	for i, id := range p.ids {
		addRows(grad[gruEmbedding][id*d:(id+1)*d], p.dx[i*d:(i+1)*d])
	}
}

// cellBackward takes the gradient of a vector, in carry, through a step. It sets dgates, and carry to the part of the gradient of prev that
// does not go through U, and adds to dgx and dc.
func (p *gruPass) cellBackward(dgates, dgx, dc, gates, q, prev []float64) {
	d := len(p.carry)
	r, z, n := gates[:d], gates[d:2*d], gates[2*d:3*d]
	dr, dz, dn := dgates[:d], dgates[d:2*d], dgates[2*d:3*d]
	xr, xz, xn := dgx[:d], dgx[d:2*d], dgx[2*d:3*d]
	dc, q, prev, carry := dc[:d], q[:d], prev[:d], p.carry[:d]
	for j, g := range carry {
		carry[j] = g * z[j]
		gz := g * (prev[j] - n[j]) * z[j] * (1 - z[j])
		gn := g * (1 - z[j]) * (1 - n[j]*n[j])
		gr := gn * q[j] * r[j] * (1 - r[j])
		xr[j] += gr
		xz[j] += gz
		xn[j] += gn
		dr[j], dz[j], dn[j] = gr, gz, gn*r[j]
		dc[j] += gn * r[j]
	}
}

// gruState is a session: the last vector and the scratch of a step.
type gruState struct {
	*gru
	h, q, gates, gx []float64
}

func (g *gru) newState() state {
	return &gruState{g, make([]float64, g.dim), make([]float64, g.dim), make([]float64, 3*g.dim), make([]float64, 3*g.dim)}
}

func (s *gruState) append(ids []int, hidden []float64) {
	d := s.dim
	for _, id := range ids {
		copy(s.gx, s.bias.W)
		multiply(s.gx, s.embedding.W[id*d:(id+1)*d], s.input.W, d, 3*d, 1)
		multiply(s.gates, s.h, s.hidden.W, d, 3*d, 0)
		s.cell(s.h, s.q, s.gates, s.gx, s.h) // in place: an element of h needs no other of prev
	}
	copy(hidden, s.h)
}

func (s *gruState) clone() state {
	c := s.newState().(*gruState)
	copy(c.h, s.h)
	return c
}

func (s *gruState) reset() { clear(s.h) }
