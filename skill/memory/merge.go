package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/skill"
)

// maxOrigins is the most origins that a merge keeps: each takes about 200 bytes of a file of at most 2 MiB, which is written again at
// each merge.
const maxOrigins = 1000

// merge makes a draft part of a stored skill.
func (m *Memory) merge(ctx context.Context, old *item, dr draft) (Entry, error) {
	doc, rec := *old.Document, old.Record
	body, changed := mergeBodies(doc.Content, dr.doc.Content)
	origins := mergeOrigins(rec.Origins, dr.rec.Origins)
	if !changed && len(origins) == len(rec.Origins) {
		return old.Entry, nil
	}
	if changed {
		doc.Content = body
	}
	rec.Origins = origins[max(0, len(origins)-maxOrigins):]
	if f, ok := m.unsafe(&doc); ok { // parts that are safe alone can be unsafe together
		return Entry{}, fmt.Errorf("%w: %q merged into %q: rule %s matches in %s", ErrUnsafe, dr.doc.Name(), old.Name(), f.Rule, f.Field)
	}
	it, err := m.commit(ctx, &doc, rec, rec.Version)
	if err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	m.keep(it, old)
	m.mu.Unlock()
	return it.Entry, nil
}

// mergeBodies returns the stored body with the procedure of the other, if that has one, and its unseen notes; changed is false if both
// are there already.
func mergeBodies(stored, other string) (merged string, changed bool) {
	into, from := skill.ParseTextBody(stored), skill.ParseTextBody(other)
	if len(from.Procedure) > 0 && !slices.Equal(into.Procedure, from.Procedure) {
		into.Procedure, changed = from.Procedure, true
	}
	seen := make(map[string]bool, len(into.Notes)+len(from.Notes))
	for _, n := range into.Notes {
		seen[noteKey(n)] = true
	}
	for _, n := range from.Notes {
		if k := noteKey(n); !seen[k] {
			seen[k] = true
			into.Notes, changed = append(into.Notes, n), true
		}
	}
	return into.String(), changed
}

// noteKey is equal for notes that differ in white space and case alone.
func noteKey(note string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, strings.Join(strings.Fields(note), " "))
}

// mergeOrigins returns the stored origins and the others that are not among them, in order.
func mergeOrigins(stored, others []skill.Origin) []skill.Origin {
	type key struct { // an origin by value
		skill.Origin
		known  bool
		reward float64
	}
	keyOf := func(o skill.Origin) key {
		k := key{Origin: o}
		if o.Reward != nil {
			k.known, k.reward, k.Reward = true, *o.Reward, nil
		}
		return k
	}
	seen := make(map[key]bool, len(stored)+len(others))
	for _, o := range stored {
		seen[keyOf(o)] = true
	}
	out := slices.Clip(stored)
	for _, o := range others {
		if k := keyOf(o); !seen[k] {
			seen[k] = true
			out = append(out, o)
		}
	}
	return out
}
