package backbone

import (
	"fmt"
	"math/rand/v2"
)

// transformer is a causal transformer with norms before each part (arXiv:2002.04745) and learned positions. Each block is
//
//	y = x + attention(norm(x))    z = y + gelu(norm(y) up + bias) down + bias
type transformer struct {
	dim, vocab, maxLen, layers int
	attention                  attention
	all                        []*Param
}

// The parameters stand in this order: first those before the blocks, then those of each block, then those after.
const (
	embedding = iota
	positions
	before // their number
)

const (
	norm1Scale = iota
	norm1Bias
	queryWeight
	keyValueWeight
	outWeight
	norm2Scale
	norm2Bias
	upWeight
	upBias
	downWeight
	downBias
	perBlock // their number
)

const (
	normScale = iota
	normBias
)

// hidden is the width of the layer between up and down, in units of dim.
const hidden = 4

func newTransformer(c Config, rng *rand.Rand) trunk {
	d := c.Dim
	t := &transformer{dim: d, vocab: c.Vocab, maxLen: c.MaxLen, layers: c.Layers, attention: attention{d, c.Heads}}
	add := func(p *Param) { t.all = append(t.all, p) }
	add(newParam("embedding", c.Vocab, d).normal(rng, embeddingStd))
	add(newParam("positions", c.MaxLen, d).normal(rng, positionStd))
	for l := range c.Layers {
		name := func(s string) string { return fmt.Sprintf("block%d.%s", l, s) }
		add(newParam(name("norm1.scale"), 1, d).fill(1))
		add(newParam(name("norm1.bias"), 1, d))
		add(newParam(name("query"), d, d).normal(rng, scaled(d)))
		add(newParam(name("keyvalue"), d, 2*d).normal(rng, scaled(d)))
		add(newParam(name("out"), d, d).normal(rng, scaled(d)))
		add(newParam(name("norm2.scale"), 1, d).fill(1))
		add(newParam(name("norm2.bias"), 1, d))
		add(newParam(name("up"), d, hidden*d).normal(rng, scaled(d)))
		add(newParam(name("up.bias"), 1, hidden*d))
		add(newParam(name("down"), hidden*d, d).normal(rng, scaled(hidden*d)))
		add(newParam(name("down.bias"), 1, d))
	}
	add(newParam("norm.scale", 1, d).fill(1))
	add(newParam("norm.bias", 1, d))
	return t
}

// The scale of tokens and positions at the start (ours): associative recall is learned a little sooner with positions that are small beside
// the tokens; otherwise these numbers matter little between 0.1 and 1.
const (
	embeddingStd = 0.5
	positionStd  = 0.1
)

func (t *transformer) params() []*Param { return t.all }

// block returns the weights of parameter i of block l.
func (t *transformer) block(l, i int) []float64 { return t.all[before+l*perBlock+i].W }

// after returns the index of parameter i behind the blocks.
func (t *transformer) after(i int) int { return before + t.layers*perBlock + i }

// embed sets x to the vector of a token at a position.
func (t *transformer) embed(x []float64, token, position int) {
	e, p := t.all[embedding].W[token*t.dim:][:t.dim], t.all[positions].W[position*t.dim:][:t.dim]
	for i, v := range e {
		x[i] = v + p[i]
	}
}

// transformerPass is the pass of a transformer.
type transformerPass struct {
	*transformer
	tokens, lens []int
	blocks       []blockPass
	x            []float64 // embedded tokens
	final        normPass
	// Gradients, and scratch of the backward pass.
	dx, dBlock, dHidden, dNorm, dQuery, dRows, dAsked, slope []float64
}

// normPass holds what the backward pass of a norm needs, and its result.
type normPass struct{ y, unit, inverse []float64 }

func (n *normPass) forward(x, scale, bias []float64) {
	n.y, n.unit, n.inverse = grow(n.y, len(x)), grow(n.unit, len(x)), grow(n.inverse, len(x)/len(scale))
	layerNorm(n.y, n.unit, n.inverse, x, scale, bias)
}

// blockPass holds the activations of one block. The queries, and all that follows, are there only for the positions asked for.
type blockPass struct {
	from        []int // first position asked for in each sequence
	asked       []int // rows of x that are asked for
	norm1       normPass
	normAsked   []float64 // norm1.y at them
	query       []float64
	rows        []float64 // keys and values
	prob        []float64
	read        []float64 // out of the attention
	mid         []float64 // x + attention
	norm2       normPass
	up, gate, z []float64 // gelu(...), its slope, result
}

func (t *transformer) newPass() pass {
	return &transformerPass{transformer: t, blocks: make([]blockPass, t.layers)}
}

func (p *transformerPass) forward(tokens, lens, from []int) []float64 {
	d := p.dim
	p.tokens, p.lens = append(p.tokens[:0], tokens...), append(p.lens[:0], lens...)
	p.x = grow(p.x, len(tokens)*d)
	row := 0
	for _, n := range lens {
		for t := range n {
			p.embed(p.x[row*d:][:d], tokens[row], t)
			row++
		}
	}
	x := p.x
	for l := range p.blocks {
		b := &p.blocks[l]
		b.from = grow(b.from, len(lens))
		clear(b.from)
		if l == p.layers-1 { // what follows needs no more
			copy(b.from, from)
		}
		x = p.forwardBlock(l, x)
	}
	p.final.forward(x, p.all[p.after(normScale)].W, p.all[p.after(normBias)].W)
	return p.final.y
}

func (p *transformerPass) forwardBlock(l int, x []float64) []float64 {
	d, b := p.dim, &p.blocks[l]
	b.norm1.forward(x, p.block(l, norm1Scale), p.block(l, norm1Bias))
	b.rows = grow(b.rows, 2*len(x))
	multiply(b.rows, b.norm1.y, p.block(l, keyValueWeight), d, 2*d, 0)

	b.asked = b.asked[:0]
	row, probs := 0, 0
	for i, n := range p.lens {
		for t := b.from[i]; t < n; t++ {
			b.asked = append(b.asked, row+t)
			probs += p.attention.heads * (t + 1)
		}
		row += n
	}
	size := len(b.asked) * d
	b.normAsked, b.query, b.read, b.mid = grow(b.normAsked, size), grow(b.query, size), grow(b.read, size), grow(b.mid, size)
	for k, r := range b.asked {
		copy(b.normAsked[k*d:][:d], b.norm1.y[r*d:])
		copy(b.mid[k*d:][:d], x[r*d:])
	}
	multiply(b.query, b.normAsked, p.block(l, queryWeight), d, d, 0)
	b.prob = grow(b.prob, probs)
	p.eachQuery(b, func(k, first, n, prob int) {
		p.attention.forward(b.read[k*d:][:d], b.prob[prob:], b.query[k*d:], b.rows[first*2*d:], n)
	})
	multiply(b.mid, b.read, p.block(l, outWeight), d, d, 1)

	b.norm2.forward(b.mid, p.block(l, norm2Scale), p.block(l, norm2Bias))
	b.up, b.gate, b.z = grow(b.up, hidden*size), grow(b.gate, hidden*size), grow(b.z, size)
	repeat(b.up, p.block(l, upBias))
	multiply(b.up, b.norm2.y, p.block(l, upWeight), d, hidden*d, 1)
	for i, v := range b.up {
		b.up[i], b.gate[i] = geluSlope(v)
	}
	copy(b.z, b.mid)
	addToRows(b.z, p.block(l, downBias))
	multiply(b.z, b.up, p.block(l, downWeight), hidden*d, d, 1)
	return b.z
}

// eachQuery calls f for each query k, with the first row of its sequence, the number of rows it reads, and where its probabilities begin.
func (p *transformerPass) eachQuery(b *blockPass, f func(k, first, n, prob int)) {
	k, row, prob := 0, 0, 0
	for i, n := range p.lens {
		for t := b.from[i]; t < n; t++ {
			f(k, row, t+1, prob)
			k++
			prob += p.attention.heads * (t + 1)
		}
		row += n
	}
}

func (p *transformerPass) backward(dHidden []float64, grad [][]float64) {
	scale, bias := p.after(normScale), p.after(normBias)
	layerNormBack(dHidden, grad[scale], grad[bias], dHidden, p.final.unit, p.final.inverse, p.all[scale].W)
	d := p.dim
	dx := dHidden
	for l := p.layers - 1; l >= 0; l-- {
		dx = p.backwardBlock(l, dx, grad[before+l*perBlock:])
	}
	row := 0
	for _, n := range p.lens {
		for t := range n {
			e, pos := grad[embedding][p.tokens[row]*d:][:d], grad[positions][t*d:][:d]
			for i, g := range dx[row*d:][:d] {
				e[i] += g
				pos[i] += g
			}
			row++
		}
	}
}

// backwardBlock takes the gradient with respect to the result of block l, which it overwrites, and returns that with respect to its input.
func (p *transformerPass) backwardBlock(l int, dz []float64, grad [][]float64) []float64 {
	d, b := p.dim, &p.blocks[l]
	p.dHidden = grow(p.dHidden, hidden*len(dz))
	multiplyBack(p.dHidden, dz, p.block(l, downWeight), hidden*d, d)
	weightGrad(grad[downWeight], b.up, dz, hidden*d, d)
	addRows(grad[downBias], dz)
	for i, s := range b.gate {
		p.dHidden[i] *= s
	}
	p.dNorm = grow(p.dNorm, len(dz))
	multiplyBack(p.dNorm, p.dHidden, p.block(l, upWeight), d, hidden*d)
	weightGrad(grad[upWeight], b.norm2.y, p.dHidden, d, hidden*d)
	addRows(grad[upBias], p.dHidden)
	layerNormBack(p.dNorm, grad[norm2Scale], grad[norm2Bias], p.dNorm, b.norm2.unit, b.norm2.inverse, p.block(l, norm2Scale))
	dMid := dz
	for i, g := range p.dNorm {
		dMid[i] += g
	}

	dRead := p.dNorm
	multiplyBack(dRead, dMid, p.block(l, outWeight), d, d)
	weightGrad(grad[outWeight], b.read, dMid, d, d)
	p.dQuery, p.dRows, p.slope = grow(p.dQuery, len(dz)), grow(p.dRows, len(b.rows)), grow(p.slope, p.maxLen)
	clear(p.dRows)
	p.eachQuery(b, func(k, first, n, prob int) {
		p.attention.backward(p.dQuery[k*d:][:d], p.dRows[first*2*d:], p.slope, dRead[k*d:][:d], b.prob[prob:], b.query[k*d:], b.rows[first*2*d:], n)
	})

	// dx and dz take turns in two buffers, of which dz may be one.
	dx := grow(p.dx, len(b.norm1.y))
	p.dx, p.dBlock = p.dBlock, dx
	multiplyBack(dx, p.dRows, p.block(l, keyValueWeight), d, 2*d)
	weightGrad(grad[keyValueWeight], b.norm1.y, p.dRows, d, 2*d)
	p.dAsked = grow(p.dAsked, len(dz))
	multiplyBack(p.dAsked, p.dQuery, p.block(l, queryWeight), d, d)
	weightGrad(grad[queryWeight], b.normAsked, p.dQuery, d, d)
	for k, r := range b.asked {
		for i, g := range p.dAsked[k*d:][:d] {
			dx[r*d+i] += g
		}
	}
	layerNormBack(dx, grad[norm1Scale], grad[norm1Bias], dx, b.norm1.unit, b.norm1.inverse, p.block(l, norm1Scale))
	for k, r := range b.asked {
		for i, g := range dMid[k*d:][:d] {
			dx[r*d+i] += g
		}
	}
	return dx
}
