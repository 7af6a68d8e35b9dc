package build

import "sync"

// A room bounds the bytes in work. What is larger than all of it gets it all.
type room struct {
	mu     sync.Mutex
	freed  sync.Cond
	size   int64
	free   int64
	closed bool
}

func newRoom(size int64) *room {
	r := &room{size: size, free: size}
	r.freed.L = &r.mu
	return r
}

// take waits until there is room for n bytes, or returns false once the room is closed.
func (r *room) take(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = min(n, r.size)
	for r.free < n && !r.closed {
		r.freed.Wait()
	}
	r.free -= n
	return !r.closed
}

func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += min(n, r.size)
	r.freed.Broadcast()
}

func (r *room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.freed.Broadcast()
}
