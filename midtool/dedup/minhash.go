package dedup

import (
	"crypto/sha256"
	"math"
	"math/bits"
	"strings"
	"sync"
)

// prime is that of the family of hash functions, a Mersenne prime, by which a product is reduced without a division.
const prime = 1<<61 - 1

// A Sketcher makes sketches. It is safe for concurrent use.
type Sketcher struct {
	words      int
	rows       int
	factors    []uint64 // of the hash functions h -> (factor h + addend) mod prime
	addends    []uint64
	workspaces sync.Pool
}

// A workspace is the memory for one sketch.
type workspace struct {
	cutter
	minima []uint64
	folded []byte
}

// NewSketcher returns a Sketcher. Of the options only Seed, ShingleWords, Bands and Rows matter; all are checked.
func NewSketcher(o *Options) (*Sketcher, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return newSketcher(&opts), nil
}

func newSketcher(o *Options) *Sketcher {
	n := o.Bands * o.Rows
	s := &Sketcher{words: o.ShingleWords, rows: o.Rows, factors: make([]uint64, n), addends: make([]uint64, n)}
	state := o.Seed
	next := func() uint64 { // SplitMix64
		state += 0x9e3779b97f4a7c15
		return mix(state)
	}
	for i := range n {
		s.factors[i] = 1 + next()%(prime-1)
		s.addends[i] = next() % prime
	}
	s.workspaces.New = func() any { return &workspace{minima: make([]uint64, n)} }
	return s
}

// Sketch returns the sketch of a record. The time is that of Bands times Rows multiplications for each distinct shingle, some
// tenths of a microsecond in all, and of SHA-256 of the content.
func (s *Sketcher) Sketch(r *Record) Sketch {
	w := s.workspaces.Get().(*workspace)
	defer s.workspaces.Put(w)
	return s.sketch(w, r)
}

// sketch leaves the shingles in w.set.
func (s *Sketcher) sketch(w *workspace, r *Record) Sketch {
	set := w.shingles(r.Content, s.words, r.Zero)
	k := Sketch{ID: r.ID, Source: r.Source, Exact: r.Exact, Length: len(r.Content), Zero: r.Zero}
	if k.Exact == ([32]byte{}) {
		if w.folded = fold(w.folded[:0], r.Content); len(w.folded) > 0 {
			k.Exact = sha256.Sum256(w.folded)
		}
	}
	if len(set) == 0 {
		return k
	}
	s.minHash(w.minima, set)
	k.Bands = make([]uint64, len(w.minima)/s.rows)
	for b := range k.Bands {
		h := mix(uint64(b) + 1) // equal rows of two bands have different hashes
		for _, v := range w.minima[b*s.rows : (b+1)*s.rows] {
			h = mix(h ^ v)
		}
		k.Bands[b] = h
	}
	return k
}

// minHash sets minima[i] to the least value of the i-th function on the set.
func (s *Sketcher) minHash(minima, set []uint64) {
	for i := range minima {
		minima[i] = math.MaxUint64
	}
	const block = 1024 // elements that stay in the first-level cache while all functions pass over them
	for len(set) > 0 {
		part := set[:min(len(set), block)]
		set = set[len(part):]
		for i, f := range s.factors {
			minima[i] = least(part, f, s.addends[i], minima[i])
		}
	}
}

// least returns the smallest of low and (f h + c) mod prime for all h; f is below prime. Nearly all the time of a sketch is
// spent here: as a function of its own it has all it needs in registers, and the branch is seldom taken.
//
//go:noinline
func least(set []uint64, f, c, low uint64) uint64 {
	f <<= 3 // so that hi is the product's part above 2^61, and lo>>3 the one below
	for _, h := range set {
		hi, lo := bits.Mul64(f, h)
		v := lo>>3 + hi + c // 2^61 is 1 modulo prime; below 3*2^61
		v = v&prime + v>>61 // at most prime + 2
		if v < low || v >= prime {
			low = min(low, v, v-prime) // v-prime is huge for v below prime
		}
	}
	return low
}

// fold appends a text with line ends as \n and without blanks at the ends of lines and of the text.
func fold(dst []byte, text string) []byte {
	start := len(dst)
	ends := start // of what is no trailing blank or line break
	for len(text) > 0 {
		line := text
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			text = ""
		} else {
			line = text[:i]
			if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			text = text[i+1:]
		}
		line = strings.TrimRight(line, " \t")
		dst = append(dst, line...)
		if len(line) > 0 {
			ends = len(dst)
		}
		if i >= 0 {
			dst = append(dst, '\n')
		}
	}
	return dst[:ends]
}

// CandidateProbability is the probability 1-(1-s^rows)^bands that two texts of Jaccard similarity s, in [0, 1], share a band
// of hash functions drawn at random (the S-curve of banded MinHash). It rises most steeply near (1/bands)^(1/rows). Bands and
// rows are at least 1.
func CandidateProbability(s float64, bands, rows int) float64 {
	return -math.Expm1(float64(bands) * math.Log1p(-math.Pow(s, float64(rows))))
}
