package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A Use is one use of a skill in one episode.
type Use struct {
	Skill   string `json:"skill"`
	Version int    `json:"version"`
	Episode string `json:"episode"`
	Success *bool  `json:"success,omitempty"` // nil means unknown
}

// Usage counts the uses of a skill over all its versions, also those before another took its place, which [Memory.Prune] leaves out.
type Usage struct {
	Uses, Known, Successes int
}

// usage holds the last outcome of each use.
type usage map[string]map[run]outcome

// A run is a use of one skill.
type run struct {
	version int
	episode string
}

type outcome int8

const (
	unknown outcome = iota
	failure
	success
)

func outcomeOf(u Use) outcome {
	switch {
	case u.Success == nil:
		return unknown
	case *u.Success:
		return success
	}
	return failure
}

// record notes a use and says whether that changes anything.
func (us usage) record(u Use) bool {
	runs := us[u.Skill]
	if runs == nil {
		runs = make(map[run]outcome)
		us[u.Skill] = runs
	}
	r := run{u.Version, u.Episode}
	old, ok := runs[r]
	runs[r] = outcomeOf(u)
	return !ok || old != outcomeOf(u)
}

// since counts the uses of versions after one.
func (us usage) since(name string, version int) Usage {
	var n Usage
	for r, o := range us[name] {
		if r.version <= version {
			continue
		}
		n.Uses++
		if o != unknown {
			n.Known++
		}
		if o == success {
			n.Successes++
		}
	}
	return n
}

// RecordUse notes uses. A second record of one skill, version and episode replaces the first, so that a retry does not count twice. A
// skill may have been superseded or removed since, but the version must not be later than its last: else the error is [ErrNotFound]. An empty
// episode, and one that is not UTF-8, is an error too. All errors are joined, and then none of the uses is noted.
func (m *Memory) RecordUse(ctx context.Context, uses ...Use) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.end()
	var errs []error
	reject := func(u Use, format string, args ...any) {
		errs = append(errs, fmt.Errorf("memory: use of %q version %d in %.80q: "+format, append([]any{u.Skill, u.Version, u.Episode}, args...)...))
	}
	last := make(map[string]int) // version by skill
	for _, u := range uses {
		if _, ok := last[u.Skill]; !ok {
			if it := m.items[u.Skill]; it != nil {
				last[u.Skill] = it.Record.Version
			} else {
				versions, err := m.store.versions(ctx, u.Skill)
				if len(versions) > 0 {
					last[u.Skill] = versions[len(versions)-1].Record.Version
				} else if err != nil && !errors.Is(err, ErrNotFound) {
					return err
				}
			}
		}
		switch {
		case u.Version < 1 || u.Version > last[u.Skill]:
			reject(u, "%w", ErrNotFound)
		case u.Episode == "":
			reject(u, "the episode has no name")
		case !utf8.ValidString(u.Episode):
			reject(u, "the episode is not UTF-8")
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	// The last use of each run counts, and one that is noted already need not be written.
	type key struct {
		skill string
		run
	}
	final := make(map[key]int, len(uses))
	for i, u := range uses {
		final[key{u.Skill, run{u.Version, u.Episode}}] = i
	}
	var fresh []Use
	for i, u := range uses {
		r := run{u.Version, u.Episode}
		old, ok := m.usage[u.Skill][r]
		if final[key{u.Skill, r}] == i && !(ok && old == outcomeOf(u)) {
			fresh = append(fresh, u)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := m.store.appendUses(ctx, fresh); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range fresh {
		m.usage.record(u)
	}
	return nil
}

// Usage returns the counts of a current or a removed skill over all its versions, all zero if there are none, in time linear in its
// uses. [Memory.Prune] counts only those since the skill was last replaced.
func (m *Memory) Usage(name string) Usage {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.usage.since(name, 0)
}

// PruneOptions adjusts [Memory.Prune]. A nil *PruneOptions equals &PruneOptions{}.
type PruneOptions struct {
	MinUses int      // uses with a known outcome below which a skill stays; zero means 3
	Below   *float64 // share of successes in [0, 1] below which it goes; nil means 0.5
}

// Prune removes the skills that were used and failed, after Memp (arXiv:2508.06433): those with at least MinUses uses of known outcome
// of which a share below Below were successes. Ours: it counts the uses since the last replacement, that is of the present version and of
// those that it was merged from, not of another skill that had the place before; [Memory.Usage] counts all. Memp's reflection,
// which revises what failed, is up to the caller: give the last text of [Memory.History] and the failed episode to a model and call
// [Memory.Supersede] with the reply before Prune takes the skill. The result and its errors are those of [Memory.Remove]. Nothing calls it by itself.
func (m *Memory) Prune(ctx context.Context, o *PruneOptions) (removed []string, err error) {
	var opts PruneOptions
	if o != nil {
		opts = *o
	}
	var errs []error
	if opts.MinUses < 0 {
		errs = append(errs, fmt.Errorf("memory: prune: MinUses is %d, want at least 1", opts.MinUses))
	}
	opts.MinUses = cmp.Or(opts.MinUses, 3)
	if opts.Below == nil {
		opts.Below = new(0.5)
	}
	if !(*opts.Below >= 0 && *opts.Below <= 1) { // also for NaN
		errs = append(errs, fmt.Errorf("memory: prune: Below is %g, want it in [0, 1]", *opts.Below))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.end()
	reasons := make(map[*item]string)
	for _, it := range m.sorted {
		n := m.usage.since(it.Name(), it.Record.Replaced)
		if n.Known >= opts.MinUses && float64(n.Successes)/float64(n.Known) < *opts.Below {
			reasons[it] = fmt.Sprintf("%d of %d uses with a known outcome succeeded", n.Successes, n.Known)
		}
	}
	return m.remove(ctx, reasons)
}
