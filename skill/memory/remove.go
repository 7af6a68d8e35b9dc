package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/skill"
)

// Remove removes a skill and, for code, all that call it, directly or not, as in arXiv:2608.20274. It returns their names: callers
// before callees, those of a cycle together by name. All go or none, also over a crash. They stay in [Memory.History], each with the
// reason, a caller with the function before it that it calls: "calls last_order, removed: crm is gone". [Memory.Restore] brings them back
// one by one, in reverse order. An empty reason is noted as "no reason given". The error is [ErrNotFound] if there is no such skill,
// [ErrConflict] if one was edited by hand meanwhile, and others for a failed write and a done ctx. If the write fails after the skills
// have gone, their names come with the error.
func (m *Memory) Remove(ctx context.Context, name, reason string) (removed []string, err error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.end()
	it := m.items[name]
	if it == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	if reason == "" {
		reason = "no reason given"
	}
	return m.remove(ctx, map[*item]string{it: reason})
}

// Check removes the code skills that load refuses and all that call them, as in arXiv:2608.20274; the library itself runs no code. It
// calls load for each skill by name but those in quarantine, while others read and write; a skill that has changed since stays. The
// result is that of [Memory.Remove]. An error of load that comes with a done ctx ends the check, and nothing is removed. A nil load
// checks nothing. For a memory of text it is an error.
func (m *Memory) Check(ctx context.Context, load func(context.Context, Entry) error) (removed []string, err error) {
	if m.o.Format != skill.FormatCode {
		return nil, errors.New("memory: check: the skills are text, want code")
	}
	if m.o.ReadOnly {
		return nil, ErrReadOnly
	}
	if load == nil {
		return nil, nil
	}
	type refused struct {
		Entry
		err error
	}
	var failing []refused
	for e := range m.All() {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("memory: check: %w", err)
		}
		if err := load(ctx, e); err != nil {
			failing = append(failing, refused{e, err})
		}
	}
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.end()
	reasons := make(map[*item]string)
	for _, f := range failing {
		if it := m.items[f.Name()]; it != nil && it.Record.Version == f.Record.Version {
			reasons[it] = "does not load: " + f.err.Error()
		}
	}
	return m.remove(ctx, reasons)
}

// remove removes skills, each for its reason, and all that call them.
func (m *Memory) remove(ctx context.Context, reasons map[*item]string) ([]string, error) {
	if len(reasons) == 0 {
		return nil, nil
	}
	start := make([]*item, 0, len(reasons))
	for it := range reasons { // reach takes them in any order
		start = append(start, it)
	}
	gone := reach(start, m.graph.calledBy)
	// A caller gets the reason of the nearest skill that has one of its own, of equals the first by name.
	type cause struct{ root, text string }
	causes := make(map[*item]cause, len(gone))
	slices.SortFunc(start, func(a, b *item) int { return strings.Compare(a.Name(), b.Name()) })
	for _, it := range start {
		causes[it] = cause{reasons[it], reasons[it]}
	}
	for next := start; len(next) > 0; next = next[1:] {
		callee := next[0]
		for _, caller := range m.graph.calledBy(callee) {
			if _, ok := causes[caller]; !ok {
				root := causes[callee].root
				causes[caller] = cause{root, fmt.Sprintf("calls %s, removed: %s", callee.Record.Function, root)}
				next = append(next, caller)
			}
		}
	}
	victims := make([]victim, len(gone))
	names := make([]string, len(gone))
	for i, it := range gone {
		names[i] = it.Name()
		victims[i] = victim{it.Name(), it.Record.Version, causes[it].text}
	}
	if err := m.store.remove(ctx, victims); err != nil {
		err = m.resync(ctx, err, names...)
		if slices.ContainsFunc(names, func(name string) bool { return m.items[name] != nil }) {
			return nil, err
		}
		return names, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		m.unlink(name)
	}
	clear(m.suffixes)
	return names, nil
}
