package draw

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestKeyHash(t *testing.T) {
	for _, tt := range []struct {
		seed, id string
		want     uint64
		u        float64
	}{ // each part after its length in 4 bytes, by sha256sum
		{"7", "web/doc-000", 0x5fcd71404d1d5fae, 0.374229}, {"7", "web/doc-001", 0x3baaaea68ecf4516, 0.233073},
		{"7", "web/doc-002", 0x7410589b21c311d9, 0.453374}, {"8", "web/doc-000", 0x1e05a9646f6cf1ce, 0},
	} {
		got := Hash(Prefix("midtool/1", tt.seed, "mix", tt.id))
		if u := float64(got) / math.Exp2(64); got != tt.want || tt.u != 0 && math.Abs(u-tt.u) > 5e-7 {
			t.Errorf("K(%s, %s) = %#x, %f; want %#x, %f", tt.seed, tt.id, got, u, tt.want, tt.u)
		}
	}
	if d := New(7, "mix", "web/doc-000"); d.Key() != Hash(Prefix("midtool/1", "7", "mix", "web/doc-000", "0")) ||
		d.Key() != Hash(Prefix("midtool/1", "7", "mix", "web/doc-000", "1")) {
		t.Error("draws do not append the number of the choice")
	}
}

// choose is floor(k*n/2^64): in range, monotone in k.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<40).Draw(t, "n")
		k := rapid.Uint64().Draw(t, "k")
		i := choose(k, n)
		if i < 0 || i >= n || choose(0, n) != 0 || choose(math.MaxUint64, n) != n-1 || k > 0 && choose(k-1, n) > i {
			t.Fatalf("choose(%d, %d) = %d", k, n, i)
		}
	})
}

// A choice is the hash of the parts and of its number, whatever their lengths, and costs no allocation.
func TestDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		id := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "id")
		d := New(seed, "stage", id...)
		for n := range rapid.IntRange(1, 120).Draw(t, "n") {
			parts := append([]string{"midtool/1", strconv.FormatUint(seed, 10), "stage"}, id...)
			if want := Hash(Prefix(append(parts, strconv.Itoa(n))...)); d.Key() != want {
				t.Fatalf("key %d of seed %d and %q is not %#x", n, seed, id, want)
			}
		}
	})
	d := New(1, "stage", "item")
	if n := testing.AllocsPerRun(100, func() { d.Key() }); n != 0 {
		t.Errorf("%v allocations for a key", n)
	}
}

func BenchmarkKey(b *testing.B) {
	d := New(1, "stage", "t_0123456789abcdef", "17")
	b.ReportAllocs()
	for b.Loop() {
		d.Key()
	}
}
