package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/throughline-go/throughline/skill"
)

// Remove removes a skill and, for code, all that call it, directly or not, as in arXiv:2608.20274. It returns their names: callers
// before callees, those of a cycle together by name. All go or none, also over a crash. They stay in [Memory.History] with the reason,
// and [Memory.Restore] brings them back one by one. An empty reason is noted as "no reason given". The error is [ErrNotFound] if there
// is no such skill, [ErrConflict] if one was edited by hand meanwhile, and others for a failed write and a done ctx.
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
		if e.Quarantined {
			continue
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
	victims := make([]victim, len(gone))
	names := make([]string, len(gone))
	going := make(map[*item]bool, len(gone))
	for _, it := range gone {
		going[it] = true
	}
	for i, it := range gone {
		names[i] = it.Name()
		victims[i] = victim{it.Name(), it.Record.Version, reasons[it]}
		if victims[i].reason != "" {
			continue
		}
		for _, callee := range m.graph.calls(it) {
			if going[callee] {
				victims[i].reason = fmt.Sprintf("calls %s, which goes: %s", callee.Record.Function, cmp.Or(reasons[callee], "it calls another that goes"))
				break
			}
		}
	}
	if err := m.store.remove(ctx, victims); err != nil {
		return nil, m.resync(ctx, err, names...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		m.unlink(name)
	}
	clear(m.suffixes)
	return names, nil
}
