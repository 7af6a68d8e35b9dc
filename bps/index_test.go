package bps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// sameAsIndex checks that an index of the texts gives what [FromTexts] gave, to the bit.
func sameAsIndex(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, query string, texts []Text, budget int, o TextOptions, want *Selection, wantErr error,
) {
	t.Helper()
	x, err := NewIndex(texts, o.Count)
	if err != nil {
		t.Fatalf("%v", err)
	}
	o.Count = nil
	got, err := x.Select(context.Background(), query, budget, &o)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("the index says %v, the texts %v", err, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Selection{})); diff != "" {
		t.Fatalf("the index differs (-texts +index):\n%s", diff)
	}
}

// An index gives exactly what its texts give, for whatever query and options, also when it is used again.
func TestIndexSame(t *testing.T) {
	word := rapid.SampledFrom([]string{"refund", "order", "getOrder", "send_mail", "the", "and", "C++", "status.", "payment,", "返金する", "x"})
	phrase := func(most int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, most).Draw(t, "words"), " ") })
	}
	text := rapid.Custom(func(t *rapid.T) Text {
		return Text{Name: phrase(2).Draw(t, "name"), Description: phrase(4).Draw(t, "description"), Body: phrase(9).Draw(t, "body")}
	})
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(text, 0, 12).Draw(t, "texts")
		x, err := NewIndex(texts, words)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			o := TextOptions{
				Keep:            rapid.IntRange(0, 5).Draw(t, "keep"),
				PinNamed:        rapid.Bool().Draw(t, "named"),
				PenaltyPerToken: rapid.SampledFrom([]float64{0, 0.01, 0.1}).Draw(t, "price"),
				Overhead:        rapid.IntRange(0, 3).Draw(t, "overhead"),
			}
			for i := range texts {
				switch rapid.IntRange(0, 9).Draw(t, "fate") {
				case 0:
					o.Pinned = append(o.Pinned, i)
				case 1:
					o.Excluded = append(o.Excluded, i)
				}
			}
			query, budget := phrase(9).Draw(t, "query"), rapid.IntRange(0, 60).Draw(t, "budget")
			got, gotErr := x.Select(context.Background(), query, budget, &o)
			o.Count = words
			want, wantErr := FromTexts(context.Background(), query, texts, budget, &o)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Fatalf("the index says %v, the texts %v", gotErr, wantErr)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Selection{})); diff != "" {
				t.Fatalf("the index differs (-texts +index):\n%s", diff)
			}
			if want == nil {
				continue
			}
			if slices.ContainsFunc(o.Pinned, func(i int) bool { return !slices.Contains(want.Items, i) }) ||
				slices.ContainsFunc(o.Excluded, func(i int) bool { return slices.Contains(want.Items, i) }) {
				t.Fatalf("%v chosen with %v pinned and %v excluded", want.Items, o.Pinned, o.Excluded)
			}
		}
	})
}

// The candidates are the first of all that match in the order of relevance, as a full sort finds them.
func TestRanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 3.5}), 0, 20).Draw(t, "scores")
		var r ranking
		var want, got []int
		for i := range score {
			r.items = append(r.items, i)
			want = append(want, i)
		}
		slices.SortStableFunc(want, func(i, j int) int {
			return int(2 * (score[j] - score[i]))
		})
		for r.start(score); len(r.items) > 0; {
			got = append(got, r.next())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestNewIndex(t *testing.T) {
	calls := map[string]int{}
	x, err := NewIndex(desk, func(s string) int {
		calls[s]++
		return words(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range desk {
		if calls[text.String()] != 1 {
			t.Errorf("%q was counted %d times, want once", text.Name, calls[text.String()])
		}
	}
	if _, err := x.Select(context.Background(), "refund the payment", 99,
		&TextOptions{Count: words}); err == nil || !strings.Contains(err.Error(), "TextOptions.Count is set") {
		t.Errorf("a second counter: %v", err)
	}
	if x, err := NewIndex(desk, func(s string) int { return 40 - len(s) }); x != nil || !errors.Is(err,
		ErrTokens) || !strings.Contains(err.Error(), `text 0, "get_order"`) {
		t.Errorf("a negative count: %v, %v", x, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if sel, err := x.Select(ended, "refund the payment", 99, nil); sel != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, %v", sel, err)
	}
	if x, err = NewIndex(nil, nil); err != nil {
		t.Fatal(err)
	}
	if sel, err := x.Select(context.Background(), "refund", 99, nil); err != nil || len(sel.Items) != 0 {
		t.Errorf("an empty index: %v, %v", sel, err)
	}
}

// Queries at the same time do not disturb each other.
func TestIndexConcurrent(t *testing.T) {
	x, err := NewIndex(desk, nil)
	if err != nil {
		t.Fatal(err)
	}
	queries := []string{"refund the payment", "send email, forecast weather", "look up the order status", "use refund_policy"}
	o := &TextOptions{PinNamed: true}
	var want []*Selection
	for _, q := range queries {
		sel, err := x.Select(context.Background(), q, 60, o)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, sel)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for k, q := range queries {
				got, err := x.Select(context.Background(), q, 60, o)
				if diff := cmp.Diff(want[k], got, cmpopts.IgnoreUnexported(Selection{})); diff != "" || err != nil {
					t.Errorf("%q, %v (-alone +together):\n%s", q, err, diff)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkIndexSelect(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		texts, query := benchTexts(n)
		x, err := NewIndex(texts, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, budget := range []int{2000, 8000} {
			b.Run(fmt.Sprintf("%d/%d", n, budget), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := x.Select(context.Background(), query, budget, &TextOptions{Search: &Options{Certify: new(false)}}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNewIndex(b *testing.B) {
	texts, _ := benchTexts(1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewIndex(texts, nil); err != nil {
			b.Fatal(err)
		}
	}
}
