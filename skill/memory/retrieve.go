package memory

import (
	"cmp"
	"context"
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
// arXiv:2608.20274. For code it pulls in the stored functions that they call, and what those call; a cycle stands together by name, and
// functions that are as far from one that calls none stand by name. A function that calls a quarantined one, at whatever distance,
// cannot run and is not selected.
//
// It changes nothing; note what was used by [Memory.RecordUse]. A query without content is no error and finds nothing. The error is for
// By out of range, an unusable answer of the embedder ([*skill.VectorError]), and a done ctx. For n skills the time is O(n) and that of
// the products with vectors that share an entry with the query, besides one call of the embedder.
func (m *Memory) Retrieve(ctx context.Context, q Query) (*Retrieval, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: retrieve: %w", err)
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
	default:
		return nil, fmt.Errorf("memory: retrieve: By is %d, want BySubtask, ByTask or ByBoth", int(q.By))
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
	best := m.best(buf)
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

// best returns the TopK most similar skills above MinSim of the similarities in buf, in order. The result is part of buf.
func (m *Memory) best(buf *scratch) []match {
	k := min(m.o.TopK, len(m.index.items))
	before := func(a, b match) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), strings.Compare(a.it.Name(), b.it.Name()))
	}
	best := buf.matches[:0]
	floor := *m.o.MinSim
	for slot, c := range buf.sims {
		it := m.index.items[slot]
		if it == nil || c < floor || c <= *m.o.MinSim || !m.runs(it) {
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

// runs says whether no function that it leads to is quarantined.
func (m *Memory) runs(it *item) bool {
	if m.graph.quarantined == 0 {
		return true
	}
	for _, callee := range reach([]*item{it}, m.graph.calls) {
		if callee.Quarantined {
			return false
		}
	}
	return true
}
