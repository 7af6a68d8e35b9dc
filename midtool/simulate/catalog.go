package simulate

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/throughline-go/throughline/midtool"
)

// An identity is all of a tool that answers depend on.
type identity struct{ Name, ID, Parameters, Returns string }

// is says whether t is the tool, without copying its schemas.
func (i *identity) is(t *midtool.Tool) bool {
	return i.Name == t.Name && i.ID == t.ID && i.Parameters == string(t.Parameters) && i.Returns == string(t.Returns)
}

func (i *identity) compare(o *identity) int {
	return cmp.Or(cmp.Compare(i.Name, o.Name), cmp.Compare(i.ID, o.ID),
		cmp.Compare(i.Parameters, o.Parameters), cmp.Compare(i.Returns, o.Returns))
}

func (i *identity) size() int { return len(i.Name) + len(i.ID) + len(i.Parameters) + len(i.Returns) }

// A catalog holds what is derived from tools, so that this is done once however many sessions there are. Its zero value
// is empty. It is safe for concurrent use.
type catalog struct {
	mu       sync.RWMutex
	tools    map[identity]*tool
	toolText int                   // bytes of the definitions of tools
	plans    map[string]*tablePlan // by the stem and the numbers of the tools
	planText int                   // bytes of the definitions of the tools of all plans
	count    uint64
}

// A catalog that has seen more than any collection has starts anew, so that a stream of tools without end does not fill
// the memory: what is derived grows with the definitions. What was handed out stays valid.
const (
	maxKept = 1 << 15  // tools, and plans
	maxText = 16 << 20 // bytes of definitions; what is derived takes some seven times as much
)

// all looks up tools, in order.
func (c *catalog) all(tools []midtool.Tool) []*tool {
	out := make([]*tool, len(tools))
	c.mu.RLock()
	for i := range tools {
		out[i] = c.find(&tools[i])
	}
	c.mu.RUnlock()
	for i := range out {
		if out[i] == nil {
			out[i] = c.add(&tools[i])
		}
	}
	return out
}

func (c *catalog) get(t *midtool.Tool) *tool {
	c.mu.RLock()
	found := c.find(t)
	c.mu.RUnlock()
	if found == nil {
		found = c.add(t)
	}
	return found
}

// find looks a tool up; in this form the compiler copies no schema to do so.
func (c *catalog) find(t *midtool.Tool) *tool {
	return c.tools[identity{t.Name, t.ID, string(t.Parameters), string(t.Returns)}]
}

func (c *catalog) add(t *midtool.Tool) *tool {
	// Copies, for the caller's memory may change or be part of something large; outside the lock, for reading may take a while.
	made := newTool(identity{strings.Clone(t.Name), strings.Clone(t.ID), string(t.Parameters), string(t.Returns)})
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.tools[made.identity]; known != nil {
		return known
	}
	if c.tools == nil || len(c.tools) >= maxKept || c.toolText+made.size() > maxText {
		c.tools, c.toolText = make(map[identity]*tool), 0
		c.plans, c.planText = nil, 0
	}
	c.count++
	made.number = c.count
	c.tools[made.identity] = made
	c.toolText += made.size()
	return made
}

// planOf makes the plan of a noun from the tools about it.
func (c *catalog) planOf(stem string, members []*tool) *tablePlan {
	slices.SortFunc(members, func(a, b *tool) int { return a.compare(&b.identity) }) // whatever the order of the session
	members = slices.Compact(members)
	key := []byte(stem)
	size := len(stem)
	for _, t := range members {
		key = binary.BigEndian.AppendUint64(key, t.number)
		size += t.size()
	}
	c.mu.RLock()
	p := c.plans[string(key)]
	c.mu.RUnlock()
	if p != nil {
		return p
	}
	p = newTablePlan(stem, members)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.plans[string(key)]; known != nil {
		return known
	}
	if c.plans == nil || len(c.plans) >= maxKept || c.planText+size > maxText {
		c.plans, c.planText = make(map[string]*tablePlan), 0
	}
	c.plans[string(key)] = p
	c.planText += size
	return p
}
