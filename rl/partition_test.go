package rl

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Numbers are those of a map that is asked in the same order, from the first use on and after each reset; a key without text
// is new each time.
func TestNumbering(t *testing.T) {
	var m numbering
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			group int
			key   string
		}
		known, next := map[pair]int{}, 0
		n := rapid.IntRange(0, 80).Draw(t, "n")
		m.reset(n)
		for range n {
			p := pair{rapid.IntRange(0, 3).Draw(t, "group"), rapid.StringN(0, 2, -1).Draw(t, "key")}
			want, ok := known[p]
			if !ok || p.key == "" {
				want, ok = next, false
				known[p] = next
				next++
			}
			if got, added := m.numberState(p.group, p.key); got != want || added == ok {
				t.Fatalf("%v is %d, new %v, want %d, new %v", p, got, added, want, !ok)
			}
		}
	})
}

// Keys that share a hash are told apart by themselves.
func TestNumberingCollision(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*numbered)
		reason string
	}{
		{"key", func(k *numbered) { k.key = "other" }, "same hash, another key"},
		{"group", func(k *numbered) { k.group = 1 }, "same hash, another group"},
		{"hash", func(k *numbered) { k.hash++ }, "same slot, another hash"},
	} {
		var m numbering
		m.reset(3)
		m.number(0, "key")
		tt.change(&m.keys[0])
		if n, added := m.number(0, "key"); n != 1 || !added {
			t.Errorf("%s: number %d, new %v", tt.reason, n, added)
		}
		if n, added := m.number(0, "key"); n != 1 || added {
			t.Errorf("%s: number %d, new %v the second time", tt.reason, n, added)
		}
	}
}

// Unpacking what was packed gives the rows back; within a group packed rows keep their order.
func TestPack(t *testing.T) {
	var p partition
	rapid.Check(t, func(t *rapid.T) {
		group := rapid.SliceOf(rapid.IntRange(-1, 4)).Draw(t, "groups")
		number := map[int]int{}
		p.reset(len(group))
		x, byGroup := make([]float64, len(group)), [5][]float64{}
		for i, g := range group {
			x[i] = float64(i)
			if g < 0 {
				continue
			}
			n, ok := number[g]
			if !ok {
				n = len(number)
				number[g] = n
			}
			p.put(i, n)
			byGroup[n] = append(byGroup[n], x[i])
		}
		p.pack(x)
		if diff := cmp.Diff(append([]float64{}, slices.Concat(byGroup[:]...)...), p.packed); diff != "" {
			t.Fatalf("packed (-want +got):\n%s", diff)
		}
		back := make([]float64, len(x))
		p.unpack(back)
		for i, g := range group {
			if want := x[i]; g >= 0 && back[i] != want || g < 0 && back[i] != 0 {
				t.Fatalf("row %d of group %d is %v", i, g, back[i])
			}
		}
	})
}
