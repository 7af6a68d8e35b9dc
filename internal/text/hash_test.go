package text

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const dims = 4096

func cosine(a, b string) float64 {
	var sum float64
	x, y := Hash(make([]float64, dims), a), Hash(make([]float64, dims), b)
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func TestHashEntries(t *testing.T) {
	if got := fnv1a([]byte("w:place")); got != 1854938891558940415 || got%dims != 3839 {
		t.Errorf("FNV-1a-64(w:place) = %d mod %d, want 1854938891558940415 mod 3839", got, got%dims)
	}
	v := Hash(make([]float64, dims), "Place orders")
	count := map[string]int{}
	for i, x := range v {
		if x != 0 {
			count[fmt.Sprintf("%.6f", x)]++
		}
		if (i == 3839 || i == 2909) && math.Abs(x-0.583460) > 5e-7 || i == 3413 && math.Abs(x-0.291730) > 5e-7 {
			t.Errorf("entry %d is %.6f", i, x)
		}
	}
	if count["0.583460"] != 2 || count["0.291730"] != 1 || count["0.145865"] != 11 || len(count) != 3 {
		t.Errorf("entries %v, want 2 words, 1 bigram and 11 trigrams", count)
	}
}

func TestHashCosine(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		want   float64
		reason string
	}{
		{"Place an order", "Place orders", 0.537665, "inflected forms stay near"},
		{"Place an order on Amazon", "Order a Toshiba hard drive on Amazon", 0.456930, "shared words"},
		{"git", "digit", 0.100125, "a substring is not a match"},
		{"commit changes with git", "extract digit strings", 0.090539, "unrelated texts share trigrams only"},
		{"打开邮件附件", "下载邮件附件", 0.583333, "rune pairs of a script without spaces"},
		{"showCart", "show cart", 1, "camel case is split"},
		{"the of and", "order", 0, "stop words alone give the zero vector"},
		{"the of and", "the of and", 0, "a zero vector is like nothing, itself included"},
	} {
		if got := cosine(c.a, c.b); math.Abs(got-c.want) > 5e-7 {
			t.Errorf("cosine(%q, %q) = %.6f, want %.6f (%s)", c.a, c.b, got, c.want, c.reason)
		}
	}
}

// slowHash is [Hash] said again with strings, a map and hash/fnv.
func slowHash(s string, dim int) []float64 {
	count := map[string]int{}
	var toks []string
	Scan(s, func(tok string, dense bool) {
		toks = append(toks, tok)
		count["w:"+tok]++
		if n := len(toks); n > 1 {
			count["b:"+toks[n-2]+" "+tok]++
		}
		if r := []rune("^" + tok + "$"); !dense {
			for i := range r[:len(r)-2] {
				count["c:"+string(r[i:i+3])]++
			}
		}
	})
	var feats []string
	for f := range count {
		feats = append(feats, f)
	}
	slices.Sort(feats)
	v := make([]float64, dim)
	for _, f := range feats {
		h := fnv.New64a()
		h.Write([]byte(f))
		w := map[byte]float64{'w': 1, 'b': 0.5, 'c': 0.25}[f[0]]
		v[h.Sum64()%uint64(dim)] += w * (1 + math.Log(float64(count[f])))
	}
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	for i := range v {
		if sum > 0 {
			v[i] /= math.Sqrt(sum)
		}
	}
	return v
}

// The kernel equals the slow form bit for bit, overwrites what dst held, and has length 1 or 0.
func TestHashMatchesOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"order", "showCart", "邮件", "a", "é", "ภาษา", "x9"}))
		s := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
		dim := rapid.IntRange(1, 300).Draw(t, "dim")
		dst := slices.Repeat([]float64{7}, dim)
		got := Hash(dst, s)
		if want := slowHash(s, dim); !slices.Equal(got, want) {
			t.Fatalf("Hash(%q) = %v, want %v", s, got, want)
		}
		var sum float64
		for _, x := range got {
			if x < 0 {
				t.Fatalf("negative entry %g", x)
			}
			sum += x * x
		}
		if len(Tokens(s)) == 0 && sum != 0 || len(Tokens(s)) > 0 && math.Abs(sum-1) > 1e-12 {
			t.Fatalf("squared length %g with tokens %q", sum, Tokens(s))
		}
	})
}

// Repeating a text three times changes its counts but keeps it near itself.
func TestHashRepetition(t *testing.T) {
	words := []string{"place", "order", "customer", "refund", "ticket", "stock", "ship", "cancel", "item", "invoice"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(words), 5, 10, rapid.ID).Draw(t, "words"), " ")
		if got := cosine(s, s+" "+s+" "+s); got <= 0.9 {
			t.Fatalf("cosine of %q with itself said three times = %g, want > 0.9", s, got)
		}
	})
}

func BenchmarkHash(b *testing.B) {
	s := strings.Repeat("Retrieve the open orders of a customer and refund the damaged item. ", 4)
	dst := make([]float64, dims)
	b.ReportAllocs()
	for b.Loop() {
		Hash(dst, s)
	}
}
