package forkbench

import "math/rand/v2"

// What a library is made of: 5*(1+1+2) + 5 + 6 = 31 documents, as many as in the paper.
const (
	lookAlikes  = 2 // for every kind: a short one and a long one
	Documents   = 31
	ownOffices  = 3 // offices of the look-alikes in one library
	sharedAbout = 4 // names and descriptions a kind has in each list
)

// A Library is the documents to choose from.
type Library struct {
	Documents   []Document
	definitions [][]definition // of each document, as its text has them
}

// newLibrary writes a library: set 0 is the one to learn from, set 1 the one to judge by. The look-alikes are issued by other offices than
// private rules; set 1 has some that set 0 does not have.
func newLibrary(r *rand.Rand, set int, private rules, wrong [kinds][lookAlikes]any, offices []string) *Library {
	w := writer{r: r, set: set, wordings: wordings()}
	home := offices[0]
	others := offices[1+2*set:][:ownOffices]
	var docs []Document
	for k := range kinds {
		about := r.Perm(sharedAbout)
		docs = append(docs, w.document(home, private, shortStyle(r), about[0:1], k), w.document(home, private, longStyle(r), about[1:2], k))
		for i, st := range [lookAlikes]style{shortStyle(r), longStyle(r)} {
			fooled := private
			fooled.set(wrong[k][i])
			d := w.document(others[r.IntN(len(others))], fooled, st, about[2+i:3+i], k)
			d.LookAlike = true
			docs = append(docs, d)
		}
		// Every kind is in two handbooks.
		next := (k + 1 + Kind(set)) % kinds
		docs = append(docs, w.document(home, private, bothStyle(r), []int{r.IntN(sharedAbout), r.IntN(sharedAbout)}, k, next))
	}
	for i, a := range asides()[set] {
		office := home
		if i%2 == 1 {
			office = others[r.IntN(len(others))]
		}
		docs = append(docs, w.aside(office, a, 1+r.IntN(6)))
	}
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return open(docs)
}

// open reads the definitions of documents.
func open(docs []Document) *Library {
	l := &Library{Documents: docs}
	for _, d := range docs {
		defs, _ := definitions(d.Body) // what cannot be read is no definition
		l.definitions = append(l.definitions, defs)
	}
	return l
}

// WithoutLookAlikes returns a library of the other documents.
func (l *Library) WithoutLookAlikes() *Library {
	var docs []Document
	for _, d := range l.Documents {
		if !d.LookAlike {
			docs = append(docs, d)
		}
	}
	return open(docs)
}

// Passes runs a task with the chosen documents, positions in l.Documents, in the given order, and reports whether all tests pass.
func (l *Library) Passes(t *Task, chosen []int) bool {
	defs := make([][]definition, len(chosen))
	for j, i := range chosen {
		defs[j] = l.definitions[i]
	}
	return t.passes(resolve(defs...))
}

// Tokens returns the tokens of the chosen documents.
func (l *Library) Tokens(chosen []int) int {
	sum := 0
	for _, i := range chosen {
		sum += l.Documents[i].Tokens
	}
	return sum
}

// Redundant returns the tokens of those chosen documents whose every definition comes after another of its kind. They change nothing.
func (l *Library) Redundant(chosen []int) int {
	sum := 0
	var known Set
	for _, i := range chosen {
		d := l.Documents[i]
		if d.Defines != 0 && d.Defines&^known == 0 {
			sum += d.Tokens
		}
		known |= d.Defines
	}
	return sum
}

// Oracle returns a set of documents with the fewest tokens that passes, or nil if none does. It looks at the documents that are no
// look-alikes only: what a look-alike defines is wrong or changes nothing, so a smallest passing set has none.
func (l *Library) Oracle(t *Task) []int {
	var best []int
	fewest := 0
	var grow func(from int, chosen []int, known Set, tokens int)
	grow = func(from int, chosen []int, known Set, tokens int) {
		if best != nil && tokens >= fewest {
			return
		}
		if t.Needs&^known == 0 {
			if l.Passes(t, chosen) {
				best, fewest = append([]int(nil), chosen...), tokens
			}
			return
		}
		for i := from; i < len(l.Documents); i++ {
			d := l.Documents[i]
			if !d.LookAlike && t.Needs&d.Defines&^known != 0 {
				grow(i+1, append(chosen, i), known|d.Defines, tokens+d.Tokens)
			}
		}
	}
	grow(0, nil, 0, 0)
	return best
}
