package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// A Query asks for the skills that fit.
type Query struct {
	Task    string // the instruction
	Subtask string // of the task; blank means that the task is looked for
	By      QueryBy

	TopK   int      // most skills to select; zero means that of the memory
	MinSim *float64 // similarity in [-1, 1] that a selected skill exceeds; nil means that of the memory
}

// QueryBy says which text of a [Query] is compared.
type QueryBy int

const (
	BySubtask QueryBy = iota // the subtask, or the task where there is none
	ByTask                   // the task
	ByBoth                   // both: for each skill the larger similarity counts
)

// A Hit is a skill that a query selected.
type Hit struct {
	Entry
	Similarity float64 // of its description to the query, in [-1, 1]
}

// A Retrieval is the answer to a query. It stays as it is when the memory changes.
type Retrieval struct {
	Selected   []Hit   // most similar first, of equals by name
	Pulled     []Entry // code: functions that the selected ones call, callees first; they have no similarity
	EmptyQuery bool    // the query has no content, so nothing was compared

	skills []Entry
}

// Skills returns the pulled and the selected skills, in the order in which code can be read: callees first. Text skills stand in the
// order of Selected. The caller owns the result.
func (r *Retrieval) Skills() []Entry { return slices.Clone(r.skills) }

// Retrieve returns the skills that fit q: those whose descriptions have a similarity above MinSim to it, the TopK most similar, as in
// arXiv:2608.20274; what it returns, also Selected, goes into [skill.Render] as it is. For code it pulls in the stored functions that they call, and what those call; a cycle stands together by name, and
// functions that are as far from one that calls none stand by name. A function that calls a quarantined one, at whatever distance,
// cannot run and is not selected.
//
// It changes nothing; note what was used by [Memory.RecordUse]. A query without content is no error and finds nothing. The error is for
// By, TopK or MinSim out of range, an unusable answer of the embedder ([*skill.VectorError]), and a done ctx. For n skills the time is
// O(n) and that of the products with vectors that share an entry with the query, besides one call of the embedder; the first query after
// a write to a memory with quarantined functions also walks their callers once.
func (m *Memory) Retrieve(ctx context.Context, q Query) (*Retrieval, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: retrieve: %w", err)
	}
	if err := m.resolve(&q); err != nil {
		return nil, err
	}
	subtask := q.Subtask
	if strings.TrimSpace(subtask) == "" {
		subtask = q.Task
	}
	var texts []string
	switch q.By {
	case BySubtask:
		texts = []string{subtask}
	case ByTask:
		texts = []string{q.Task}
	case ByBoth:
		texts = []string{q.Task}
		if subtask != q.Task {
			texts = append(texts, subtask)
		}
	}
	queries, err := m.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	queries = slices.DeleteFunc(queries, vector.Vector.Zero)
	if len(queries) == 0 {
		return &Retrieval{EmptyQuery: true}, nil
	}
	buf := m.pool.Get().(*scratch)
	defer m.pool.Put(buf)
	m.mu.RLock()
	defer m.mu.RUnlock()
	buf.sims = m.index.cosines(queries[0], buf, buf.sims)
	for _, v := range queries[1:] {
		buf.more = m.index.cosines(v, buf, buf.more)
		for i, c := range buf.more {
			buf.sims[i] = max(buf.sims[i], c)
		}
	}
	best := m.best(q.TopK, *q.MinSim, buf)
	r := &Retrieval{Selected: make([]Hit, len(best))}
	for i, f := range best {
		r.Selected[i] = Hit{f.it.Entry, f.similarity}
	}
	if m.o.Format == skill.FormatText {
		r.skills = make([]Entry, len(best))
		for i, f := range best {
			r.skills[i] = f.it.Entry
		}
		return r, nil
	}
	selected := make([]*item, len(best))
	for i, f := range best {
		selected[i] = f.it
	}
	for _, it := range reach(selected, m.graph.calls) {
		r.skills = append(r.skills, it.Entry)
		if !slices.Contains(selected, it) {
			r.Pulled = append(r.Pulled, it.Entry)
		}
	}
	return r, nil
}

// resolve checks a query and fills in what is the memory's.
func (m *Memory) resolve(q *Query) error {
	var errs []error
	if q.By < BySubtask || q.By > ByBoth {
		errs = append(errs, fmt.Errorf("memory: retrieve: By is %d, want BySubtask, ByTask or ByBoth", int(q.By)))
	}
	if q.TopK < 0 {
		errs = append(errs, fmt.Errorf("memory: retrieve: TopK is %d, want at least 1, or 0 for that of the memory", q.TopK))
	}
	q.TopK = cmp.Or(q.TopK, m.o.TopK)
	if q.MinSim == nil {
		q.MinSim = m.o.MinSim
	} else if !(*q.MinSim >= -1 && *q.MinSim <= 1) { // also for NaN
		errs = append(errs, fmt.Errorf("memory: retrieve: MinSim is %g, want it in [-1, 1]", *q.MinSim))
	}
	return errors.Join(errs...)
}

// best returns the topK most similar skills above minSim of the similarities in buf, in order. The result is part of buf.
func (m *Memory) best(topK int, minSim float64, buf *scratch) []match {
	k := min(topK, len(m.index.items))
	before := func(a, b match) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), strings.Compare(a.it.Name(), b.it.Name()))
	}
	best := buf.matches[:0]
	floor := minSim
	for slot, c := range buf.sims {
		it := m.index.items[slot]
		if it == nil || c < floor || c <= minSim || !m.graph.runs(it) {
			continue
		}
		best = append(best, match{it, c})
		if len(best) >= 2*k+64 { // sorting now and then keeps it short for the price of one sort a k skills
			slices.SortFunc(best, before)
			best = best[:k]
			floor = best[k-1].similarity
		}
	}
	slices.SortFunc(best, before)
	buf.matches = best
	return best[:min(k, len(best))]
}
