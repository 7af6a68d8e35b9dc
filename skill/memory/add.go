package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/skill"
	"github.com/throughline-go/throughline/skill/internal/calls"
	"github.com/throughline-go/throughline/skill/internal/vector"
)

// maxName is the longest name in runes.
const maxName = 64

// An Action says what [Memory.Add] did with a skill.
type Action int

const (
	Created     Action = iota // it is a new entry
	Merged                    // text: it became part of a similar skill
	Overwritten               // code: it replaced the function of the same name
	Dropped                   // code: a similar skill is there already
)

// String returns "created", "merged", "overwritten" or "dropped".
func (a Action) String() string {
	switch a {
	case Created:
		return "created"
	case Merged:
		return "merged"
	case Overwritten:
		return "overwritten"
	case Dropped:
		return "dropped"
	}
	return fmt.Sprintf("Action(%d)", int(a))
}

// Added is what [Memory.Add] did.
type Added struct {
	Action     Action
	Name       string  // of the entry that now holds the skill; of the similar one if it was dropped
	Version    int     // of that entry
	Similarity float64 // of the description to that of the most similar stored skill before; 0 if there was none
}

// Add adds a skill as in arXiv:2608.20274. A text skill whose description has a similarity above MergeSim to that of a stored one, the
// most similar, of equals the first by name, is merged into it: its procedure replaces the stored one, if it has one, and its notes
// that are not there yet are appended. A code skill replaces the function of the same name; else it is dropped if its description has
// a similarity above MergeSim to that of any stored one. All others become new entries.
//
// So a failed episode's procedure replaces a solved one, as in the paper: to keep failures out, induce with skill.Solved as the Gate.
//
// Ours: notes are equal but for white space and case. A merge keeps name, description and the other fields of the stored skill, and
// appends the origins, of which the last 1,000 are kept, and of large ones the last MiB; where it changes nothing, the memory stays as
// it is. A stored body that [skill.TextBody] would write as it stands is written anew in that form. Any other, for example Markdown
// written by hand, keeps its text byte for byte: the unseen notes, after the procedure if it has none, are appended as bullets after a
// blank line. A skill with another statement of allowed tools than the stored one is not merged, nor is one into a skill with a record
// that cannot be read. If the name of a new entry
// is taken, it gets a suffix -2, -3 and so on, and the name before it is shortened to the limit of 64 runes. A description without
// content is like no other.
//
// The errors are those of [Memory.Put] but for a taken name, and [ErrUnsafe] also for what a merge makes.
func (m *Memory) Add(ctx context.Context, d *skill.Document) (Added, error) {
	dr, err := m.prepare(ctx, d)
	if err != nil {
		return Added{}, err
	}
	if err := m.begin(ctx); err != nil {
		return Added{}, err
	}
	defer m.end()
	buf := m.pool.Get().(*scratch)
	near, similarity := m.index.nearest(dr.vec, buf)
	m.pool.Put(buf)
	added := Added{Similarity: similarity}
	var e Entry
	same := m.graph.functions[dr.rec.Function] // nil for text
	switch similar := near != nil && similarity > *m.o.MergeSim; {
	case same != nil:
		added.Action = Overwritten
		e, err = m.overwrite(ctx, same, dr)
	case similar && m.o.Format == skill.FormatCode:
		added.Action = Dropped
		e = near.Entry
	case similar && sameTools(near.Document, dr.doc) && readable(near.Document):
		added.Action = Merged
		e, err = m.merge(ctx, near, dr)
	default:
		e, err = m.create(ctx, dr)
	}
	if err != nil {
		return Added{}, err
	}
	added.Name, added.Version = e.Name(), e.Record.Version
	return added, nil
}

// Put stores a skill under its own name, which must be free: else the error is [ErrExists], as for the function of another code skill.
// It is not compared with others. If a skill of that name was removed before, its versions are counted on.
//
// The memory keeps a copy, with the version in its record. The error is [ErrUnsafe], with the rule and the field, for a skill with a
// finding of severity scan.High, [*skill.VectorError] for an unusable answer of the embedder, [ErrReadOnly], and others for a
// document that [skill.Marshal] refuses, a record that cannot be read, one of the other format, a failed write, and a done ctx. Code
// needs a fenced block that defines the function in its record: in Python by def or async def, in JavaScript and TypeScript by function,
// async function, const, let or var; in any other language the name must occur as a word.
func (m *Memory) Put(ctx context.Context, d *skill.Document) (Entry, error) {
	dr, err := m.prepare(ctx, d)
	if err != nil {
		return Entry{}, err
	}
	if err := m.begin(ctx); err != nil {
		return Entry{}, err
	}
	defer m.end()
	if m.items[dr.doc.Name()] != nil {
		return Entry{}, fmt.Errorf("%w: %q", ErrExists, dr.doc.Name())
	}
	if other := m.graph.functions[dr.rec.Function]; other != nil {
		return Entry{}, fmt.Errorf("%w: function %q of %q is in %q", ErrExists, dr.rec.Function, dr.doc.Name(), other.Name())
	}
	return m.putNew(ctx, dr)
}

// Supersede replaces a skill, whose version must be the current one: else the error is [ErrConflict], or [ErrNotFound] if there is no
// such skill. The new one gets the given name; a code skill must keep its function, which others may call. Other errors are those of
// [Memory.Put].
func (m *Memory) Supersede(ctx context.Context, name string, version int, d *skill.Document) (Entry, error) {
	dr, err := m.prepare(ctx, d)
	if err != nil {
		return Entry{}, err
	}
	if err := m.begin(ctx); err != nil {
		return Entry{}, err
	}
	defer m.end()
	old := m.items[name]
	if old == nil {
		return Entry{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	if old.Record.Version != version {
		return Entry{}, fmt.Errorf("%w: %q has version %d, not %d", ErrConflict, name, old.Record.Version, version)
	}
	return m.replace(ctx, old, dr)
}

// Restore makes an old version of a current or a removed skill current again, as a new version. The current version stays as it is.
// A code skill that calls a removed function cannot come back before it, and the error names what to restore first, unless the removed
// one leads back to it: what [Memory.Remove] removed can be restored in the reverse order of its result. The error is [ErrNotFound] if
// there is no such version; others are those of [Memory.Put]. For a call that is not stored it reads the newest version of each removed
// skill.
func (m *Memory) Restore(ctx context.Context, name string, version int) (Entry, error) {
	if m.o.ReadOnly {
		return Entry{}, ErrReadOnly
	}
	d, err := m.store.version(ctx, name, version)
	if err != nil {
		return Entry{}, err
	}
	dr, err := m.prepare(ctx, d)
	if err != nil {
		return Entry{}, err
	}
	if err := m.begin(ctx); err != nil {
		return Entry{}, err
	}
	defer m.end()
	old := m.items[name]
	if old != nil {
		if old.Record.Version == version {
			return old.Entry, nil
		}
	}
	if err := m.checkCalls(ctx, name, version, dr.rec); err != nil {
		return Entry{}, err
	}
	if old != nil {
		return m.replace(ctx, old, dr)
	}
	if other := m.graph.functions[dr.rec.Function]; other != nil {
		return Entry{}, fmt.Errorf("%w: function %q of %q is in %q", ErrExists, dr.rec.Function, name, other.Name())
	}
	return m.putNew(ctx, dr)
}

// checkCalls returns an error if a function calls removed ones that do not lead back to it.
func (m *Memory) checkCalls(ctx context.Context, name string, version int, rec skill.Record) error {
	stored := func(function string) bool { return function == rec.Function || m.graph.functions[function] != nil }
	if m.o.Format != skill.FormatCode || !slices.ContainsFunc(rec.Calls, func(c string) bool { return !stored(c) }) {
		return nil
	}
	removed, err := m.store.removedFunctions(ctx)
	if err != nil {
		return err
	}
	var first []string
	for _, call := range rec.Calls {
		r, ok := removed[call]
		if stored(call) || !ok {
			continue
		}
		next, seen := []string{call}, map[string]bool{}
		for len(next) > 0 && !seen[rec.Function] {
			function := next[len(next)-1]
			next = next[:len(next)-1]
			if !seen[function] && (function == rec.Function || !stored(function)) {
				seen[function] = true
				next = append(next, removed[function].calls...)
			}
		}
		if !seen[rec.Function] {
			first = append(first, strconv.Quote(r.skill))
		}
	}
	if len(first) > 0 {
		return fmt.Errorf("memory: version %d of %q calls removed functions: restore %s first", version, name, strings.Join(first, ", "))
	}
	return nil
}

// A draft is a checked skill that is not stored yet.
type draft struct {
	doc *skill.Document // a copy
	rec skill.Record
	vec vector.Vector
}

// prepare checks a skill and embeds its description, without a lock.
func (m *Memory) prepare(ctx context.Context, d *skill.Document) (draft, error) {
	fail := func(err error) (draft, error) { return draft{}, err }
	if m.o.ReadOnly {
		return fail(ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return fail(fmt.Errorf("memory: %w", err))
	}
	if d == nil {
		return fail(errors.New("memory: the skill is nil"))
	}
	if _, err := skill.Marshal(d); err != nil {
		return fail(fmt.Errorf("memory: %w", err))
	}
	doc := *d
	doc.Frontmatter.Name = strings.TrimSpace(d.Name())
	doc.Frontmatter.Description = strings.TrimSpace(d.Description())
	doc.Content = strings.ReplaceAll(d.Content, "\r\n", "\n")
	rec, err := doc.ParseRecord()
	if err != nil {
		return fail(fmt.Errorf("memory: %w", err))
	}
	if rec.Format == skill.FormatText && m.o.Format == skill.FormatCode {
		return fail(fmt.Errorf("memory: skill %q is text, want code as the memory: name the function by Document.SetRecord with a Record "+
			"that has Format and Function, and put its code in a fenced block with a language in the body", doc.Name()))
	}
	if rec.Format != m.o.Format {
		return fail(fmt.Errorf("memory: skill %q is %v, want %v as the memory", doc.Name(), rec.Format, m.o.Format))
	}
	rec.Version, rec.Replaced = 0, 0
	switch rec.Format {
	case skill.FormatText:
		rec.Function, rec.Calls = "", nil
	case skill.FormatCode:
		lang, source, ok := skill.Code(doc.Content)
		if !ok {
			return fail(fmt.Errorf("memory: skill %q has no fenced block of code with a language", doc.Name()))
		}
		if rec.Function == "" {
			return fail(fmt.Errorf("memory: skill %q has no Function in its record", doc.Name()))
		}
		if !defines(lang, source, rec.Function) {
			return fail(fmt.Errorf("memory: skill %q: its block of %s does not define the Function %q of its record", doc.Name(), lang, rec.Function))
		}
		rec.Calls = calls.Of(lang, source)
	}
	if f, ok := m.unsafe(&doc); ok {
		return fail(fmt.Errorf("%w: %q: rule %s matches in %s", ErrUnsafe, doc.Name(), f.Rule, f.Field))
	}
	vecs, err := m.embed(ctx, []string{doc.Description()})
	if err != nil {
		return fail(err)
	}
	return draft{&doc, rec, vecs[0]}, nil
}

// commit stores a document with a record as the version after base, 0 for a new skill, and returns its item.
func (m *Memory) commit(ctx context.Context, d *skill.Document, rec skill.Record, base int) (*item, error) {
	doc := *d
	if err := doc.SetRecord(rec); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	s, err := m.store.commit(ctx, &doc, base)
	if err != nil {
		return nil, m.resync(ctx, err, doc.Name())
	}
	it, _ := m.newItem(s)
	return it, nil
}

// create stores a new skill under its name or the first free one with a suffix.
func (m *Memory) create(ctx context.Context, dr draft) (Entry, error) {
	asked := dr.doc.Name()
	name := asked
	for k := max(2, m.suffixes[asked]); ; k++ {
		if m.items[name] == nil {
			dr.doc.Frontmatter.Name = name
			e, err := m.putNew(ctx, dr)
			if !errors.Is(err, ErrExists) { // else a file is there that no one can read
				return e, err
			}
		}
		suffix := "-" + strconv.Itoa(k)
		name = shorten(asked, maxName-len(suffix)) + suffix
		if m.items[name] == nil {
			if m.suffixes == nil {
				m.suffixes = make(map[string]int)
			}
			m.suffixes[asked] = k
		}
	}
}

// shorten returns the first runes of a name, without a hyphen at the end.
func shorten(name string, runes int) string {
	n := 0
	for i := range name {
		if n == runes {
			name = name[:i]
			break
		}
		n++
	}
	return strings.TrimRight(name, "-")
}

// putNew stores a skill whose name is free.
func (m *Memory) putNew(ctx context.Context, dr draft) (Entry, error) {
	// The uses of a skill that was removed do not count against the new one, also if its versions were purged.
	dr.rec.Replaced = m.store.last(dr.doc.Name())
	it, err := m.commit(ctx, dr.doc, dr.rec, 0)
	if err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	m.put(it, dr.vec)
	m.mu.Unlock()
	return it.Entry, nil
}

// replace stores a skill in the place of old, under its name.
func (m *Memory) replace(ctx context.Context, old *item, dr draft) (Entry, error) {
	if dr.rec.Function != old.Record.Function {
		return Entry{}, fmt.Errorf("memory: function of %q is %q, want %q as before", old.Name(), dr.rec.Function, old.Record.Function)
	}
	dr.doc.Frontmatter.Name = old.Name()
	dr.rec.Replaced = old.Record.Version
	it, err := m.commit(ctx, dr.doc, dr.rec, old.Record.Version)
	if err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	m.put(it, dr.vec)
	m.mu.Unlock()
	return it.Entry, nil
}

// overwrite is replace, but for a skill that is stored already it does nothing.
func (m *Memory) overwrite(ctx context.Context, old *item, dr draft) (Entry, error) {
	rec := dr.rec
	rec.Version, rec.Replaced = old.Record.Version, old.Record.Replaced
	before, after := *old.Document, *dr.doc
	after.Frontmatter.Name = old.Name()
	err := errors.Join(before.SetRecord(old.Record), after.SetRecord(rec))
	for _, d := range []*skill.Document{&before, &after} { // when it was stored makes no difference
		d.Frontmatter.Metadata = maps.Clone(d.Frontmatter.Metadata)
		delete(d.Frontmatter.Metadata, keyTime)
	}
	if err == nil && reflect.DeepEqual(before, after) {
		return old.Entry, nil
	}
	return m.replace(ctx, old, dr)
}

// readable says whether all of a record can be read. What a merge writes would lose the rest.
func readable(d *skill.Document) bool {
	_, err := d.ParseRecord()
	return err == nil
}

// sameTools says whether two skills allow the same tools, in any order.
func sameTools(a, b *skill.Document) bool {
	x, y := a.Frontmatter.AllowedTools, b.Frontmatter.AllowedTools
	if (x == nil) != (y == nil) {
		return false
	}
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	return slices.Equal(slices.Compact(x), slices.Compact(y))
}
