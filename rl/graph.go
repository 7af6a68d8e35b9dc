package rl

// stateGraph is the union of the state graphs of all groups of a batch: a node for each pair of group and state key, and an
// edge for each pair of states between which a voting trajectory went. Nodes and edges of a group are adjacent, in order of
// first appearance. Its memory is reused.
type stateGraph struct {
	nodes int
	start []int // Credit.Start

	member  []int  // voters of group q are order[member[q]] up to order[member[q+1]]
	order   []int  // trajectories
	success []bool // per trajectory
	final   []int  // per trajectory, the node after its last turn

	firstNode []int // per group, and one more
	source    []int // per turn, its node; -1 in trajectories that do not vote
	target    []int // per turn, the node after it
	edge      []int // per turn

	out      []int // edges out of node u are out[u] up to out[u+1]
	from, to []int // per edge
	in       []int // edges into node v are inEdge[in[v]] up to inEdge[in[v+1]]
	inEdge   []int

	goal     []bool    // per node
	distance []int     // per node, steps to the nearest goal; -1 where none can be reached
	worth    []float64 // per node, the discounted return of a goal at that distance; 0 where none can be reached

	mixed          []float64 // per turn, shaped return or what becomes of it
	rank           []int     // per node, its group among the compared ones; -1 for none
	bySource, turn []int     // turns out of node u are turn[bySource[u]] up to turn[bySource[u+1]]
	latest         []int     // per node, the last edge made into it
	queue          []int

	mile milestones
}

// stateGraph returns the graph of c, which is to be built.
func (c *Credit) stateGraph() *stateGraph {
	if c.graph == nil {
		c.graph = new(stateGraph)
	}
	return c.graph
}

// build makes the graph of the voters of batch, whose groups are known to c. The numbers of c.keys become the nodes.
func (g *stateGraph) build(c *Credit, batch []Trajectory, successAbove float64) {
	groups, turns := len(c.groups.size), len(c.Advantage)
	g.start = c.Start
	c.keys.reset(turns + len(batch))
	g.member, g.order = bucket(g.member, g.order, c.groups.group, groups)
	g.success = resize(g.success, len(batch))
	g.final = resize(g.final, len(batch))
	g.firstNode = resize(g.firstNode, groups+1)
	g.source = resize(g.source, turns)
	g.target = resize(g.target, turns)
	for k := range g.source {
		g.source[k], g.target[k] = -1, -1
	}
	for q := range groups {
		g.firstNode[q] = len(c.keys.keys)
		for _, i := range g.order[g.member[q]:g.member[q+1]] {
			t, at := &batch[i], c.Start[i]
			for k := range t.Turns {
				v, _ := c.keys.numberState(q, t.Turns[k].State)
				g.source[at+k] = v
				if k > 0 {
					g.target[at+k-1] = v
				}
			}
			g.final[i], _ = c.keys.numberState(q, t.FinalState)
			g.target[c.Start[i+1]-1] = g.final[i]
			if t.Success != nil {
				g.success[i] = *t.Success
			} else {
				g.success[i] = t.Score() > successAbove
			}
		}
	}
	g.nodes = len(c.keys.keys)
	g.firstNode[groups] = g.nodes
	g.link()
	g.goal = resize(g.goal, g.nodes)
	for _, i := range g.order {
		if g.success[i] {
			g.goal[g.final[i]] = true
		}
	}
}

// link makes one edge of all turns between the same two nodes.
func (g *stateGraph) link() {
	g.bySource, g.turn = bucket(g.bySource, g.turn, g.source, g.nodes)
	g.out = resize(g.out, g.nodes+1)
	g.edge = resize(g.edge, len(g.source))
	g.latest = resize(g.latest, g.nodes)
	for v := range g.latest {
		g.latest[v] = -1
	}
	for k := range g.edge {
		g.edge[k] = -1
	}
	g.from, g.to = g.from[:0], g.to[:0]
	for u := range g.nodes {
		g.out[u] = len(g.to)
		for _, k := range g.turn[g.bySource[u]:g.bySource[u+1]] {
			v := g.target[k]
			if g.latest[v] < g.out[u] { // no edge from u yet
				g.latest[v] = len(g.to)
				g.from, g.to = append(g.from, u), append(g.to, v)
			}
			g.edge[k] = g.latest[v]
		}
	}
	g.out[g.nodes] = len(g.to)
	g.in, g.inEdge = bucket(g.in, g.inEdge, g.to, g.nodes)
}

// reach sets the distance of every node to its nearest goal, by one breadth-first search against the edges from all goals
// at once, and what a goal that far is worth.
func (g *stateGraph) reach(goalReturn, decay float64) {
	g.distance = resize(g.distance, g.nodes)
	g.worth = resize(g.worth, g.nodes)
	g.queue = g.queue[:0]
	for v, goal := range g.goal {
		g.distance[v] = -1
		if goal {
			g.distance[v], g.worth[v] = 0, goalReturn
			g.queue = append(g.queue, v)
		}
	}
	for head := 0; head < len(g.queue); head++ {
		v := g.queue[head]
		for _, e := range g.inEdge[g.in[v]:g.in[v+1]] {
			if u := g.from[e]; g.distance[u] < 0 {
				g.distance[u], g.worth[u] = g.distance[v]+1, decay*g.worth[v]
				g.queue = append(g.queue, u)
			}
		}
	}
}

// compareStates prepares c.steps to compare the voting turns that start in the same node.
func (g *stateGraph) compareStates(c *Credit) {
	c.steps.reset(len(g.source))
	g.rank = resize(g.rank, g.nodes)
	for v := range g.rank {
		g.rank[v] = -1
	}
	ranks := 0
	for k, v := range g.source {
		if !c.Vote[k] {
			continue
		}
		if g.rank[v] < 0 {
			g.rank[v] = ranks
			ranks++
		}
		c.steps.put(k, g.rank[v])
	}
}

// bucket sorts the indices of key by their key below keys, stably, leaving out those of key -1: indices of key q are
// item[start[q]] up to item[start[q+1]]. It writes over start and item.
func bucket(start, item, key []int, keys int) (s, i []int) {
	start = resize(start, keys+1)
	n := 0
	for _, q := range key {
		if q >= 0 {
			start[q]++
			n++
		}
	}
	sum := 0
	for q, size := range start {
		start[q] = sum
		sum += size
	}
	item = resize(item, n)
	for i, q := range key {
		if q >= 0 {
			item[start[q]] = i
			start[q]++
		}
	}
	copy(start[1:], start) // the end of each is the start of the next
	start[0] = 0
	return start, item
}
