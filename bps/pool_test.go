package bps

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The sorted members that a record comes with are scratch of the chain, which the pool does not keep: neither with a new set nor with
// one that takes the place of an equal one.
func TestPoolKeepsNoScratch(t *testing.T) {
	var p pool
	scratch := []int{0, 0}
	add := func(set ...int) {
		copy(scratch, set)
		p.add(record{tokens: 5, benefit: 1, items: set, sorted: scratch})
	}
	add(2, 3)
	add(1, 4) // smaller
	add(1, 3) // smaller again, unless the one before is taken for what scratch has now
	copy(scratch, []int{9, 9})
	if diff := cmp.Diff([]int{1, 3}, p.frontier()[0].items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	add(0, 9)
	if diff := cmp.Diff([]int{0, 9}, p.frontier()[0].ascending()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	copy(scratch, []int{8, 8})
	if diff := cmp.Diff([]int{0, 9}, p.frontier()[0].ascending()); diff != "" {
		t.Errorf("after the scratch has changed (-want +got):\n%s", diff)
	}
}
