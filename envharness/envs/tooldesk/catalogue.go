package tooldesk

import "sync"

// maxKept bounds the tasks that a catalogue keeps. All splits together have 1,760.
const maxKept = 1760

// A catalogue keeps the tasks that were made, since an episode needs its task four times: to play, to judge, and both again for the
// replay. What it hands out is never written to, so desks that share one share nothing that can change. The zero value is empty, and nil
// keeps nothing. It is safe for concurrent use.
type catalogue struct {
	mu    sync.Mutex
	tasks map[string]*task
}

// task returns the task with the id, the default task if that is empty.
func (c *catalogue) task(id string) (*task, error) {
	if id == "" {
		id = defaultTask
	}
	if c == nil {
		return makeTask(id)
	}
	if t := c.kept(id); t != nil {
		return t, nil
	}
	t, err := makeTask(id) // without the lock: that two make the same task does no harm
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
