package tooldesk

import "sync"

// maxKept bounds the tasks that a catalogue keeps. All splits of a preset together have 1,712.
const maxKept = 1712

// A catalogue keeps the tasks that were made, since an episode needs its task four times: to play, to judge, and both again for the
// replay. What it hands out is never written to, so desks that share one share nothing that can change. It is safe for concurrent use.
type catalogue struct {
	preset *preset
	keeps  bool      // or makes each task anew
	drafts sync.Pool // of *draft, for whoever plays

	mu    sync.Mutex
	tasks map[string]*task
}

func newCatalogue(p *preset, keeps bool) *catalogue {
	return &catalogue{preset: p, keeps: keeps, drafts: sync.Pool{New: func() any { return new(draft) }}}
}

// task returns the task with the id.
func (c *catalogue) task(id string) (*task, error) {
	if !c.keeps {
		return c.preset.makeTask(id, &c.drafts)
	}
	if t := c.kept(id); t != nil {
		return t, nil
	}
	t, err := c.preset.makeTask(id, &c.drafts) // without the lock: that two make the same task does no harm
	if err != nil {
		return nil, err
	}
	c.keep(t)
	return t, nil
}

func (c *catalogue) kept(id string) *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tasks[id]
}

func (c *catalogue) keep(t *task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks == nil || len(c.tasks) >= maxKept {
		c.tasks = make(map[string]*task)
	}
	c.tasks[t.id] = t
}
