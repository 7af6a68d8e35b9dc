package skill

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throughline-go/throughline/skill/internal/vector"
)

// plain hides from embed that its embedder is one of the package.
type plain struct{ Embedder }

// Vectors have unit length or none, do not depend on what is embedded with them, and are the same by way of Embed.
func TestHashEmbedderVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := append(genTexts(t, "texts", 1, 6), rapid.String().Draw(t, "any"))
		h := HashEmbedder{Dim: rapid.SampledFrom([]int{0, 64, 65, 1000}).Draw(t, "dim")}
		fast, err := embed(context.Background(), h, texts)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := embed(context.Background(), plain{h}, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range fast {
			if w := slow[i]; v.Dim != w.Dim || !slices.Equal(v.At, w.At) || !slices.Equal(v.Val, w.Val) {
				t.Fatalf("vectors of %q differ: %v and %v", texts[i], v, w)
			}
			alone, err := h.Embed(context.Background(), texts[i:i+1])
			if err != nil || len(alone) != 1 || len(alone[0]) != v.Dim {
				t.Fatal(len(alone), err)
			}
			if sq := dot(alone[0], alone[0]); v.Zero() && sq != 0 || !v.Zero() && !near(sq, 1, 1e-12) {
				t.Fatalf("%q has squared length %g", texts[i], sq)
			}
			if u := vector.Unit(alone[0]); !slices.Equal(v.At, u.At) || !slices.Equal(v.Val, u.Val) {
				t.Fatalf("%q alone has another vector than in a batch", texts[i])
			}
		}
	})
}

// The vectors, worked out by hand: one entry a feature, and cosines of related and unrelated texts.
func TestHashEmbedderExamples(t *testing.T) {
	e := HashEmbedder{}
	count := map[float64]int{}
	v, err := e.Embed(context.Background(), []string{"Place orders"})
	if err != nil || len(v[0]) != 4096 {
		t.Fatal(err)
	}
	for i, x := range v[0] {
		if x != 0 {
			count[math.Round(x*1e6)/1e6]++
		}
		if (i == 3839 || i == 2909) && !near(x, 0.583460, 5e-7) || i == 3413 && !near(x, 0.291730, 5e-7) {
			t.Errorf("entry %d is %.6f", i, x)
		}
	}
	if len(count) != 3 || count[0.583460] != 2 || count[0.291730] != 1 || count[0.145865] != 11 {
		t.Errorf("entries %v, want 2 of words, 1 of a pair of words and 11 of trigrams", count)
	}
	for _, c := range []struct {
		a, b   string
		want   float64
		reason string
	}{
		{"Place an order", "Place orders", 0.537665, "forms of one word"},
		{"Place an order on Amazon", "Order a Toshiba hard drive on Amazon", 0.456930, "shared words"},
		{"git", "digit", 0.100125, "a part of a word is not the word"},
		{"commit changes with git", "extract digit strings", 0.090539, "unrelated"},
		{"打开邮件附件", "下载邮件附件", 0.583333, "a script without spaces"},
		{"showCart", "show cart", 1, "camel case"},
		{"the of and", "Place an order", 0, "stop words alone are like nothing"},
		{"the of and", "the of and", 0, "not even like themselves"},
	} {
		v, err := e.Embed(context.Background(), []string{c.a, c.b})
		if err != nil || !near(dot(v[0], v[1]), c.want, 5e-7) {
			t.Errorf("%s: %q and %q: %.6f, %v, want %.6f", c.reason, c.a, c.b, dot(v[0], v[1]), err, c.want)
		}
	}
}

func TestHashEmbedderErrors(t *testing.T) {
	for _, dim := range []int{-1, 1, 63, 1<<20 + 1, math.MaxInt, math.MinInt} {
		h := HashEmbedder{Dim: dim}
		if _, err := h.Embed(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "want 0 or 64 to 1048576") {
			t.Errorf("Dim %d: %v", dim, err)
		}
		if _, err := embed(context.Background(), h, []string{"x"}); err == nil {
			t.Errorf("Dim %d: embedded", dim)
		}
	}
	if id := (HashEmbedder{Dim: 100}).ID(); id != "hash-ngrams-1/100" {
		t.Errorf("ID %q", id)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (HashEmbedder{}).Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// What cannot be used is an error that names the embedder, the text and the rule.
func TestVectorError(t *testing.T) {
	e := mine{EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		return [][]float64{{1}, {math.Inf(-1)}}, nil
	})}
	_, err := embed(context.Background(), e, []string{"a", "b"})
	if want := `embedder "mine": vector of text 1 of 2 has entry 0 = -Inf, want a finite number`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = embed(context.Background(), e, []string{"a"})
	if want := `embedder "mine": 2 vectors for 1 texts`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Score(context.Background(), documents("x", "y"), Tasks("a"), &ScoreOptions{Embedder: e})
	if want := `skill: score: texts of 1 tasks, 12 off-topic ones and 2 skills: embedder "mine": 2 vectors for 15 texts`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	broken := errors.New("no connection")
	fails := EmbedderFunc(func(context.Context, []string) ([][]float64, error) { return nil, broken })
	if _, err := embed(context.Background(), fails, []string{"a"}); !errors.Is(err, broken) {
		t.Errorf("%v, want the embedder's own error", err)
	}
}

type mine struct{ Embedder }

func (mine) ID() string { return "mine" }

// An embedder of any scale and sign gives cosines in range, and a large batch is cut into requests of at most 256.
func TestEmbedBoundary(t *testing.T) {
	var sizes []int
	scale := []float64{1, 1e300, 1e-300, 5e-324}
	e := EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		sizes = append(sizes, len(texts))
		out := make([][]float64, len(texts))
		for i := range out {
			s := scale[i%len(scale)]
			out[i] = []float64{s, -s}
		}
		return out, nil
	})
	vs, err := embed(context.Background(), e, make([]string, 600))
	if err != nil || !slices.Equal(sizes, []int{256, 256, 88}) {
		t.Fatalf("batches %v, %v", sizes, err)
	}
	late := EmbedderFunc(func(_ context.Context, texts []string) ([][]float64, error) {
		return slices.Repeat([][]float64{make([]float64, 300-len(texts))}, len(texts)), nil
	})
	var ve *VectorError
	if _, err := embed(context.Background(), late, make([]string, 300)); !errors.As(err, &ve) || ve.Index != 256 {
		t.Errorf("second batch of another length: %v, want index 256", err)
	}
	row := make([]float64, len(vs))
	vs[0].Cosines(row, vs, make([]float64, 2))
	for i, c := range row {
		if !near(c, 1, 1e-12) {
			t.Fatalf("cosine %d of parallel vectors is %g", i, c)
		}
	}
}

// The measured figures of the hashed embedder on 812 public task texts: it tells pairs of the same template from others.
func TestHashEmbedderOnPublicTasks(t *testing.T) {
	in := loadIntents(t)
	var all []string
	for _, x := range in {
		all = append(all, x.Intent)
	}
	vs, err := embed(context.Background(), HashEmbedder{}, all)
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		cos  float64
		same bool
	}
	var pairs []pair
	var same, other []float64
	row, buf := make([]float64, len(vs)), make([]float64, defaultDim)
	zero := 0.0
	for i, v := range vs {
		v.Cosines(row[i+1:], vs[i+1:], buf)
		for k := i + 1; k < len(vs); k++ {
			s := in[i].Template == in[k].Template
			pairs = append(pairs, pair{row[k], s})
			switch {
			case s:
				same = append(same, row[k])
			default:
				other = append(other, row[k])
				if row[k] <= pairTolerance {
					zero++
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.cos, b.cos) })
	var auc, below float64
	for i := 0; i < len(pairs); { // ties count half
		j, s, o := i, 0.0, 0.0
		for ; j < len(pairs) && pairs[j].cos == pairs[i].cos; j++ {
			if pairs[j].same {
				s++
			} else {
				o++
			}
		}
		auc += s * (below + o/2)
		below += o
		i = j
	}
	auc /= float64(len(same)) * float64(len(other))
	slices.Sort(same)
	slices.Sort(other)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"AUC", auc, 0.9945},
		{"share of unrelated pairs at 0", zero / float64(len(other)), 0.08},
		{"99th percentile of unrelated pairs", other[len(other)*99/100], 0.241},
		{"10th percentile of related pairs", same[len(same)/10], 0.326},
	} {
		if !near(c.got, c.want, 0.005) {
			t.Errorf("%s = %.4f, want %.4f", c.name, c.got, c.want)
		}
	}
}

func BenchmarkHashEmbedder(b *testing.B) {
	in := []string{"Retrieve the open orders of a customer and refund the damaged item when the warranty allows it."}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (HashEmbedder{}).Embed(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
