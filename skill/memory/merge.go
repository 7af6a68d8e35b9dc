package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/skill"
)

// What a merge keeps of the origins: each takes about 200 bytes of a file of at most 2 MiB, which is written again at each merge.
const (
	maxOrigins     = 1000
	maxOriginBytes = 1 << 20 // of their JSON
)

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
	rec.Origins = lastOrigins(origins)
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
// are there already. A stored body in another form keeps its text, with its procedure if it has one, and gets the rest behind it.
func mergeBodies(stored, other string) (merged string, changed bool) {
	into, from := skill.ParseTextBody(stored), skill.ParseTextBody(other)
	var add skill.TextBody
	seen := make(map[string]bool, len(into.Notes)+len(from.Notes))
	for _, n := range into.Notes {
		seen[noteKey(n)] = true
	}
	for _, n := range from.Notes {
		if k := noteKey(n); !seen[k] {
			seen[k] = true
			add.Notes = append(add.Notes, n)
		}
	}
	if strings.TrimSpace(into.String()) == strings.TrimSpace(stored) {
		if len(from.Procedure) > 0 && !slices.Equal(into.Procedure, from.Procedure) {
			into.Procedure, changed = from.Procedure, true
		}
		into.Notes = append(into.Notes, add.Notes...)
		return into.String(), changed || len(add.Notes) > 0
	}
	if len(into.Procedure) == 0 {
		add.Procedure = from.Procedure
	}
	bullets := add.String()
	if bullets == "" {
		return stored, false
	}
	gap := "\n\n"
	if strings.HasSuffix(stored, "\n") {
		gap = "\n"
	}
	return stored + gap + bullets, true
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

// lastOrigins returns the last origins that fit in a file beside a body.
func lastOrigins(origins []skill.Origin) []skill.Origin {
	origins = origins[max(0, len(origins)-maxOrigins):]
	size := 0
	for i := len(origins) - 1; i >= 0; i-- {
		data, err := json.Marshal(origins[i])
		if err != nil {
			break // the record will say what is wrong
		}
		if size += len(data) + 1; size > maxOriginBytes {
			return origins[i+1:]
		}
	}
	return origins
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
