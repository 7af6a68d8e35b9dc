package learn

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

const (
	maxZ    = -1e-6 // z is cut off here, so that p < 1
	minZ    = -700  // and here in predictions, so that p > 0
	maxFail = 1e3   // largest slope of the loss of a failure
)

// steepZ is where the loss of a failure reaches the slope maxFail.
var steepZ = -math.Log1p(1 / float64(maxFail))

// outcomes is a log in which equal runs are one group with counts, in ascending order of the query, the skills and the tokens.
type outcomes struct {
	query   []int32
	start   []int // members of group g are member[start[g]:start[g+1]]
	member  []int32
	tokens  []float64
	passes  []float64
	failed  []float64
	records float64
}

// run is a record with numbers in place of names; skills ascend.
type run struct {
	query  int32
	skills []int32
	tokens int
	pass   bool
}

func (a run) compare(b run) int {
	return cmp.Or(cmp.Compare(a.query, b.query), slices.Compare(a.skills, b.skills), cmp.Compare(a.tokens, b.tokens))
}

// group sorts runs and counts equal ones.
func group(runs []run) *outcomes {
	slices.SortFunc(runs, run.compare)
	o := &outcomes{records: float64(len(runs))}
	for i, r := range runs {
		if i == 0 || r.compare(runs[i-1]) != 0 {
			o.query = append(o.query, r.query)
			o.start = append(o.start, len(o.member))
			o.member = append(o.member, r.skills...)
			o.tokens = append(o.tokens, float64(r.tokens))
			o.passes = append(o.passes, 0)
			o.failed = append(o.failed, 0)
		}
		if g := len(o.query) - 1; r.pass {
			o.passes[g]++
		} else {
			o.failed[g]++
		}
	}
	o.start = append(o.start, len(o.member))
	return o
}

// point is what the probability depends on. Rows have dim entries.
type point struct {
	dim    int
	remain []float64 // exp(-u) of every skill
	demand []float64 // w of every query
	base   []float64 // z of every query once all of it is covered
	kappa  float64
}

// slope collects the derivatives of a sum of losses.
type slope struct {
	loss                 float64
	supply, demand, base []float64 // by u, w and base
	kappa                float64
	left                 []float64 // scratch, dim entries
}

func newSlope(p *point) *slope {
	return &slope{
		supply: make([]float64, len(p.remain)),
		demand: make([]float64, len(p.demand)),
		base:   make([]float64, len(p.base)),
		left:   make([]float64, p.dim),
	}
}

func (s *slope) reset() {
	s.loss, s.kappa = 0, 0
	clear(s.supply)
	clear(s.demand)
	clear(s.base)
}

func (s *slope) add(t *slope) {
	s.loss += t.loss
	s.kappa += t.kappa
	for i, v := range t.supply {
		s.supply[i] += v
	}
	for i, v := range t.demand {
		s.demand[i] += v
	}
	for i, v := range t.base {
		s.base[i] += v
	}
}

// The loss of a pass is -z, constant where z is cut off. passSlope is its derivative by z.
func passLoss(z float64) float64 { return -min(z, maxZ) }

func passSlope(z float64) float64 {
	if z > maxZ {
		return 0
	}
	return -1
}

// The loss of a failure is -ln(1-e^z), continued as a straight line from where its slope is maxFail. So the slope is bounded, does not
// vanish where z is cut off, and is that of a function that grows everywhere. failSlope is its derivative by z.
func failLoss(z float64) float64 {
	switch {
	case z >= steepZ:
		return math.Log1p(maxFail) + maxFail*(z-steepZ)
	case z > -math.Ln2:
		return -math.Log(-math.Expm1(z))
	default:
		return -math.Log1p(-math.Exp(z))
	}
}

func failSlope(z float64) float64 {
	switch {
	case z >= steepZ:
		return maxFail
	case z > -math.Ln2:
		fail := -math.Expm1(z)
		return (1 - fail) / fail
	default:
		p := math.Exp(z)
		return p / (1 - p)
	}
}

// want says what a sum is asked for.
type want struct{ loss, slope bool }

// sum adds what is wanted of groups from..to-1 of o to s. It allocates nothing.
func (p *point) sum(o *outcomes, from, to int, want want, s *slope) {
	dim, left := p.dim, s.left
	for g := from; g < to; g++ {
		q := int(o.query[g])
		members := o.member[o.start[g]:o.start[g+1]]
		for k := range left {
			left[k] = 1
		}
		for _, i := range members {
			row := p.remain[int(i)*dim:][:len(left)]
			for k, e := range row {
				left[k] *= e
			}
		}
		w := p.demand[q*dim:][:len(left)]
		z := p.base[q] - p.kappa*o.tokens[g]
		for k, e := range left {
			z -= w[k] * e
		}
		passes, failed := o.passes[g], o.failed[g]
		if want.loss {
			if passes > 0 {
				s.loss += passes * passLoss(z)
			}
			if failed > 0 {
				s.loss += failed * failLoss(z)
			}
		}
		if !want.slope {
			continue
		}
		dz := 0.0
		if passes > 0 {
			dz += passes * passSlope(z)
		}
		if failed > 0 {
			dz += failed * failSlope(z)
		}
		s.base[q] += dz
		s.kappa -= dz * o.tokens[g]
		dw := s.demand[q*dim:][:len(left)]
		for k, e := range left {
			dw[k] -= dz * e
			left[k] = dz * w[k] * e
		}
		for _, i := range members {
			du := s.supply[int(i)*dim:][:len(left)]
			for k, v := range left {
				du[k] += v
			}
		}
	}
}

// A pass over the groups is cut into chunks that do not depend on the number of workers, and the chunks are added in order.
const (
	chunkSize = 2048
	maxChunks = 16
)

type summer struct {
	p       *point
	o       *outcomes
	chunks  []*slope
	want    want
	jobs    chan int
	wait    sync.WaitGroup // for the jobs of a call
	workers sync.WaitGroup
}

// newSummer starts the workers; stop ends them.
func newSummer(p *point, o *outcomes, want want, workers int) *summer {
	n := min(maxChunks, (len(o.query)+chunkSize-1)/chunkSize)
	s := &summer{p: p, o: o, want: want}
	for range n {
		s.chunks = append(s.chunks, newSlope(p))
	}
	if workers = min(workers, n); workers > 1 {
		s.jobs = make(chan int)
		for range workers {
			s.workers.Go(func() {
				for c := range s.jobs {
					s.chunk(c)
					s.wait.Done()
				}
			})
		}
	}
	return s
}

func (s *summer) chunk(c int) {
	groups, n := len(s.o.query), len(s.chunks)
	s.chunks[c].reset()
	s.p.sum(s.o, c*groups/n, (c+1)*groups/n, s.want, s.chunks[c])
}

// sum returns the sum over all groups, valid until the next call. With one worker it starts nothing and allocates nothing.
func (s *summer) sum() *slope {
	s.wait.Add(len(s.chunks))
	for c := range s.chunks {
		if s.jobs != nil {
			s.jobs <- c
		} else {
			s.chunk(c)
			s.wait.Done()
		}
	}
	s.wait.Wait()
	for _, t := range s.chunks[1:] {
		s.chunks[0].add(t)
	}
	return s.chunks[0]
}

func (s *summer) stop() {
	if s.jobs != nil {
		close(s.jobs)
		s.workers.Wait()
	}
}
