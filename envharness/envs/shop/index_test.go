package shop

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var tokenPattern = regexp.MustCompile(`[a-z0-9]+`)

func slowTokens(s string) []string { return tokenPattern.FindAllString(strings.ToLower(s), -1) }

// slowScores is the textbook formula over the words of every product.
func slowScores(products []product, query string) []float64 {
	documents := make([][]string, len(products))
	total := 0.0
	for i, p := range products {
		var text strings.Builder
		text.WriteString(p.title + " " + p.description)
		if len(p.bullets) > 0 {
			text.WriteString(" " + p.bullets[0])
		}
		for _, g := range p.groups {
			text.WriteString(" " + strings.Join(g.values, " "))
		}
		documents[i] = slowTokens(text.String())
		total += float64(len(documents[i]))
	}
	n := float64(len(products))
	scores := make([]float64, len(products))
	for _, q := range slowTokens(query) {
		df := 0.0
		for _, d := range documents {
			if slices.Contains(d, q) {
				df++
			}
		}
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for i, d := range documents {
			tf := 0.0
			for _, w := range d {
				if w == q {
					tf++
				}
			}
			scores[i] += idf * tf * 1.9 / (tf + 0.9*(1-0.4+0.4*float64(len(d))/(total/n)))
		}
	}
	return scores
}

// The index ranks as the textbook formula does, whatever the query, and with a dirty destination.
func TestSearchOracle(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			s := shopOf(o)
			products := s.products[:min(len(s.products), 200)] // the slow one is slow
			x := newIndex(products)
			scores := make([]float64, len(products))
			words := slices.Concat(s.describe().Vocabulary, []string{"nowhere", "LAMP", "Bag!", "usb-port", "é", ""})
			rapid.Check(t, func(t *rapid.T) {
				query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(t, "words"), " ")
				limit := rapid.IntRange(1, 60).Draw(t, "limit")
				hits := x.search(query, limit, scores)
				want := slowScores(products, query)
				for i := range want {
					if math.Abs(want[i]-scores[i]) > 1e-12*max(1, want[i]) {
						t.Fatalf("query %q: product %d scores %v, want %v", query, i, scores[i], want[i])
					}
				}
				var ranked []int32
				for i := range products {
					if want[i] > 0 {
						ranked = append(ranked, int32(i))
					}
				}
				slices.SortStableFunc(ranked, func(a, b int32) int {
					if math.Abs(want[a]-want[b]) <= 1e-9 { // the order of the sums decides, and then the index
						return cmp.Compare(scores[b], scores[a])
					}
					return cmp.Compare(want[b], want[a])
				})
				ranked = ranked[:min(limit, len(ranked))]
				if !slices.Equal(hits, ranked) {
					t.Fatalf("query %q, limit %d: hits %v, want %v", query, limit, hits, ranked)
				}
			})
		})
	})
}

func TestSearchTable(t *testing.T) {
	products := []product{
		{title: "red lamp"},
		{title: "Blue lamp", description: "a lamp", bullets: []string{"for desks", "never found"}},
		{title: "red lamp", groups: []group{{"size", []string{"x-large", "2"}}}},
		{title: "red lamp"},
	}
	x := newIndex(products)
	for _, tt := range []struct {
		query  string
		limit  int
		want   []int32
		reason string
	}{
		{"red", 9, []int32{0, 3, 2}, "equal ones by index; product 2 is longer"},
		{"RED!", 9, []int32{0, 3, 2}, "case and signs do not count"},
		{"red", 2, []int32{0, 3}, "the limit keeps the best"},
		{"lamp", 9, []int32{1, 0, 3, 2}, "product 1 has it twice: 2/(2+.9(.6+.4*6/3.75)) > 1/(1+.9(.6+.4*2/3.75))"},
		{"desks", 9, []int32{1}, "the first bullet counts"},
		{"never", 9, []int32{}, "the second does not"},
		{"large", 9, []int32{2}, "options count, in parts"},
		{"2", 9, []int32{2}, "digits are tokens"},
		{"", 9, []int32{}, "no tokens"},
		{"é", 9, []int32{}, "no token of ASCII"},
		{"blue red", 9, []int32{1, 0, 3, 2}, "blue has idf ln(1+3.5/1.5)=1.204, red ln(1+1.5/3.5)=.357: 1.204*1.9/2.116 > .357*1.9/1.732"},
		{"blue red, red & red", 9, []int32{0, 3, 1, 2}, "each word counts: 3*.391 > 1.081 > 3*.336, product 2 has 5 words: .357*1.9/(1+.9*(.6+.4*5/3.75))"},
	} {
		if got := x.search(tt.query, tt.limit, make([]float64, 4)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v: %s", tt.query, got, tt.want, tt.reason)
		}
	}
}

// The queries that are offered find a product for every goal: all products of the category with the noun alone.
func TestQueriesFind(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			s := shopOf(o)
			scores := make([]float64, len(s.products))
			first := 0
			every := 1
			if testing.Short() {
				every = 10
			}
			tried := 0
			for i := 0; i < len(s.tasks); i += every {
				tried++
				task := &s.tasks[i]
				wanted := int32(task.goal.product.index)
				queries := task.queries()
				if n := len(queries); n < 3 || n > 6 {
					t.Errorf("%s: %d queries", task.id, n)
				}
				if !slices.Contains(s.index.search(queries[0], s.hits, scores), wanted) {
					t.Errorf("%s: %q does not find %q", task.id, queries[0], task.goal.product.title)
				}
				best := len(s.products)
				for _, q := range queries {
					for w := range strings.FieldsSeq(q) {
						if !strings.Contains(task.sentence, w) {
							t.Errorf("%s: %q is not of the words of %q", task.id, q, task.sentence)
						}
					}
					if k := slices.Index(s.index.search(q, s.hits, scores), wanted); k >= 0 {
						best = min(best, k)
					}
				}
				if best < s.perPage {
					first++
				}
				// A search, the pages, the product, the options and the purchase.
				if n := 3 + best/s.perPage + len(task.goal.options); n > s.turns {
					t.Errorf("%s: takes %d turns by the queries", task.id, n)
				}
			}
			if share := float64(first) / float64(tried); share < 0.6 {
				t.Errorf("of %d goals the queries bring %.2f to the first page", tried, share)
			} else {
				t.Logf("the queries bring %.3f of the wanted products to the first page", share)
			}
		})
	})
}
