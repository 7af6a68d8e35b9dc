package text

import "math"

// The usual constants of BM25: k1 saturates repeated tokens, b is the weight of the length correction.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// A Field is one part of a document. Each of its tokens counts Weight times, as if the text were written that often; a weight
// below 1 leaves the field out.
type Field struct {
	Text   string
	Weight int
}

// A BM25 scores documents against queries by Okapi BM25 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N-df+0.5)/(df+0.5)), which is
// never negative. Lengths are weighted token counts. The zero value is an empty index of all tokens; [NewBM25] makes one of a few.
// Any number of goroutines may call Score at a time, but none while Add runs.
type BM25 struct {
	only     bool           // tokens that are not in terms from the start count for the length alone
	terms    map[string]int // position in postings
	postings [][]posting    // by term; documents in ascending order
	lengths  []int          // by document
	total    int            // sum of lengths
}

type posting struct {
	doc   int
	count int
}

// NewBM25 returns an empty index of the given tokens, for which Score gives what an index of all tokens gives. It scores other
// tokens 0. It is made for one query: Add then stores and allocates next to nothing.
func NewBM25(only []string) *BM25 {
	x := &BM25{only: true, terms: make(map[string]int)}
	for _, tok := range only {
		if _, ok := x.terms[tok]; !ok {
			x.terms[tok] = len(x.postings)
			x.postings = append(x.postings, nil)
		}
	}
	return x
}

// Add appends one document; the first one is document 0.
func (x *BM25) Add(fields ...Field) {
	if x.terms == nil {
		x.terms = make(map[string]int)
	}
	doc, length := len(x.lengths), 0
	for _, f := range fields {
		if f.Weight < 1 {
			continue
		}
		scan(f.Text, func(tok []byte, _ bool) {
			length += f.Weight
			t, ok := x.terms[string(tok)]
			if !ok {
				if x.only {
					return
				}
				t = len(x.postings)
				x.terms[string(tok)] = t
				x.postings = append(x.postings, nil)
			}
			list := x.postings[t]
			if n := len(list); n > 0 && list[n-1].doc == doc {
				list[n-1].count += f.Weight
				return
			}
			x.postings[t] = append(list, posting{doc: doc, count: f.Weight})
		})
	}
	x.lengths = append(x.lengths, length)
	x.total += length
}

// Len returns the number of documents.
func (x *BM25) Len() int { return len(x.lengths) }

// Score returns the score of every document, at its position, for a query split by [Tokens]; a token that occurs twice counts
// twice, and a document without any of them scores 0. It writes into dst if dst has room for Len values, else into a new slice.
// The cost is that of clearing dst plus one step for each document that holds a token, for each token.
func (x *BM25) Score(dst []float64, query []string) []float64 {
	n := len(x.lengths)
	if cap(dst) < n {
		dst = make([]float64, n)
	}
	dst = dst[:n]
	clear(dst)
	if x.total == 0 {
		return dst
	}
	average := float64(x.total) / float64(n)
	for _, tok := range query {
		t, ok := x.terms[tok]
		if !ok {
			continue
		}
		list := x.postings[t]
		df := float64(len(list))
		idf := math.Log1p((float64(n) - df + 0.5) / (df + 0.5))
		for _, p := range list {
			tf := float64(p.count)
			norm := bm25K1 * (1 - bm25B + bm25B*float64(x.lengths[p.doc])/average)
			dst[p.doc] += idf * tf * (bm25K1 + 1) / (tf + norm)
		}
	}
	return dst
}
