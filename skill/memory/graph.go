package memory

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
)

// A graph knows which stored function calls which. An edge needs both ends; calls of unknown functions and of itself are none.
type graph struct {
	functions map[string]*item              // by the name of the function
	callers   map[string]map[*item]struct{} // by the name of the function, stored or not

	quarantined map[*item]struct{} // functions that may not be used

	blocked atomic.Pointer[map[*item]struct{}] // what runs found out about the present graph; nil if nothing
}

func (g *graph) add(it *item) {
	if g.functions == nil {
		g.functions, g.callers = make(map[string]*item), make(map[string]map[*item]struct{})
		g.quarantined = make(map[*item]struct{})
	}
	g.blocked.Store(nil)
	for _, call := range it.Record.Calls {
		if g.callers[call] == nil {
			g.callers[call] = make(map[*item]struct{})
		}
		g.callers[call][it] = struct{}{}
	}
	if fn := it.Record.Function; fn != "" && g.functions[fn] == nil {
		g.functions[fn] = it
		if it.Quarantined {
			g.quarantined[it] = struct{}{}
		}
	}
}

func (g *graph) remove(it *item) {
	g.blocked.Store(nil)
	delete(g.quarantined, it)
	for _, call := range it.Record.Calls {
		delete(g.callers[call], it)
		if len(g.callers[call]) == 0 {
			delete(g.callers, call)
		}
	}
	if g.functions[it.Record.Function] == it {
		delete(g.functions, it.Record.Function)
	}
}

// runs says whether no function that it leads to is quarantined. The first call after a change walks the callers of those that are,
// once each; readers may call it side by side.
func (g *graph) runs(it *item) bool {
	if len(g.quarantined) == 0 {
		return true
	}
	blocked := g.blocked.Load()
	if blocked == nil {
		blocked = new(g.leadTo(g.quarantined))
		g.blocked.Store(blocked)
	}
	_, ok := (*blocked)[it]
	return !ok
}

// leadTo returns the stored functions that lead to one of some, and these.
func (g *graph) leadTo(some map[*item]struct{}) map[*item]struct{} {
	found := maps.Clone(some)
	next := slices.Collect(maps.Keys(some)) // in any order: the result is a set
	for len(next) > 0 {
		it := next[len(next)-1]
		next = next[:len(next)-1]
		if g.functions[it.Record.Function] != it {
			continue
		}
		for caller := range g.callers[it.Record.Function] {
			if _, ok := found[caller]; !ok {
				found[caller] = struct{}{}
				next = append(next, caller)
			}
		}
	}
	return found
}

// calls returns the stored functions that it calls.
func (g *graph) calls(it *item) []*item {
	var out []*item
	for _, call := range it.Record.Calls {
		if callee := g.functions[call]; callee != nil && callee != it {
			out = append(out, callee)
		}
	}
	return out
}

// calledBy returns the stored functions that call it, by name.
func (g *graph) calledBy(it *item) []*item {
	if g.functions[it.Record.Function] != it {
		return nil
	}
	out := slices.SortedFunc(maps.Keys(g.callers[it.Record.Function]), func(a, b *item) int { return cmp.Compare(a.Name(), b.Name()) })
	return slices.DeleteFunc(out, func(caller *item) bool { return caller == it })
}

// reach returns what can be reached from start over the edges, start itself too, in an order in which an item comes after all that its
// edges lead to; those of a cycle stand together by name, and of what is as far from the ends smaller names come first. The order of
// start does not matter. The time is linear but for the sorting.
func reach(start []*item, edges func(*item) []*item) []*item {
	// Tarjan's strongly connected components: each is complete only after all that it leads to.
	type node struct {
		it         *item
		index, low int
		group      int // -1 while it is on the stack
	}
	var groups [][]*node
	var stack []*node
	nodes := make(map[*item]*node)
	var visit func(it *item) *node
	visit = func(it *item) *node {
		n := &node{it: it, index: len(nodes), low: len(nodes), group: -1}
		nodes[it] = n
		stack = append(stack, n)
		for _, to := range edges(it) {
			t := nodes[to]
			if t == nil {
				t = visit(to)
				n.low = min(n.low, t.low)
			} else if t.group < 0 {
				n.low = min(n.low, t.index)
			}
		}
		if n.low == n.index {
			i := len(stack) - 1
			for stack[i] != n {
				i--
			}
			group := slices.Clone(stack[i:])
			stack = stack[:i]
			for _, member := range group {
				member.group = len(groups)
			}
			groups = append(groups, group)
		}
		return n
	}
	for _, it := range start {
		if nodes[it] == nil {
			visit(it)
		}
	}
	level := make([]int, len(groups)) // the most groups on a way from the ends
	order := make([]int, len(groups))
	for i, group := range groups {
		order[i] = i
		slices.SortFunc(group, func(a, b *node) int { return cmp.Compare(a.it.Name(), b.it.Name()) })
		for _, n := range group {
			for _, to := range edges(n.it) {
				if g := nodes[to].group; g != i {
					level[i] = max(level[i], level[g]+1)
				}
			}
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(level[a], level[b]), cmp.Compare(groups[a][0].it.Name(), groups[b][0].it.Name()))
	})
	out := make([]*item, 0, len(nodes))
	for _, i := range order {
		for _, n := range groups[i] {
			out = append(out, n.it)
		}
	}
	return out
}
