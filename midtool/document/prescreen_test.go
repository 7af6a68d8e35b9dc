package document

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/throughline-go/throughline/midtool"
	"pgregory.net/rapid"
)

// docs is a source of documents without more abilities.
func docs(list ...Document) Source {
	return SourceFunc(func(context.Context, func(midtool.Rejection)) iter.Seq2[Document, error] {
		return func(yield func(Document, error) bool) {
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
		}
	})
}

func TestPrescreen(t *testing.T) {
	const on = "The API has an endpoint."
	for _, tt := range []struct {
		name   string
		p      Prescreen
		d      Document
		want   string // the reason; empty if it passes
		reason string
	}{
		{"words", Prescreen{}, Document{Text: on}, "", "two keywords"},
		{"one word twice", Prescreen{}, Document{Text: "An API is an api."}, "prescreen_keyword", "each counts once"},
		{"title", Prescreen{}, Document{Title: "API", Text: "endpoint"}, "", "it counts too"},
		{"parts of words", Prescreen{}, Document{Text: "apiary toolbox requested"}, "prescreen_keyword", "whole words count"},
		{"long word", Prescreen{}, Document{Text: strings.Repeat("api", 1000)}, "prescreen_keyword", "bounded"},
		{"least", Prescreen{Least: 3}, Document{Text: on}, "prescreen_keyword", "an own number"},
		{"none wanted", Prescreen{Least: -1}, Document{Text: "x"}, "", "an own number"},
		{"own words", Prescreen{Keywords: []string{"Größe"}, Least: 1}, Document{Text: "die GRÖSSE, die GRÖßE"}, "", "case by character"},
		{"blocked", Prescreen{}, Document{Text: on, URL: "https://gorilla.cs.berkeley.edu/blogs/8.html"}, "prescreen_url", "a benchmark"},
		{"blocked path", Prescreen{}, Document{Text: on, URL: "http://www.github.com/shishirpatil/gorilla?x=1"}, "prescreen_url", "case and www do not matter"},
		{"path beside", Prescreen{}, Document{Text: on, URL: "https://github.com/ShishirPatil/gorilla-fork"}, "", "parts count as wholes"},
		{"host beside", Prescreen{}, Document{Text: on, URL: "https://nottaubench.com/"}, "", "parts count as wholes"},
		{"no scheme", Prescreen{}, Document{Text: on, URL: "taubench.com"}, "prescreen_url", "as given"},
		{"broken URL", Prescreen{}, Document{Text: on, URL: "http://[::1"}, "", "no host that is known"},
		{"own block", Prescreen{Block: []string{"https://a.com/x/"}}, Document{Text: on, URL: "https://b.a.com/x/y"}, "prescreen_url", "hosts and paths below"},
		{"no block", Prescreen{Block: []string{}}, Document{Text: on, URL: "https://taubench.com"}, "", "an empty list"},
		{"allowed", Prescreen{Allow: []string{"a.com"}}, Document{Text: on, URL: "https://a.com:80/x"}, "", "below"},
		{"not allowed", Prescreen{Allow: []string{"a.com"}}, Document{Text: on, URL: "https://b.com"}, "prescreen_url", "elsewhere"},
		{"no URL", Prescreen{Allow: []string{"a.com"}}, Document{Text: on}, "", "nothing is known"},
	} {
		tt.d.ID = "d"
		tt.p.Source = docs(tt.d)
		got := ""
		n := 0
		for d, err := range tt.p.Documents(context.Background(), func(r midtool.Rejection) { got = r.Reason }) {
			if n++; err != nil || d.ID != "d" {
				t.Errorf("%s: %+v, %v", tt.name, d, err)
			}
		}
		if got != tt.want || (n == 0) == (tt.want == "") {
			t.Errorf("%s: %q and %d documents, want %q (%s)", tt.name, got, n, tt.want, tt.reason)
		}
	}
}

// count is the number of different keywords among the words of a text, as far as it matters.
func TestPrescreenCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"api", "API", "cli", "curl", "x", "apis"})).Draw(t, "words")
		var text strings.Builder
		for _, w := range words {
			text.WriteString(w + rapid.SampledFrom([]string{" ", ", ", "_", "\n", "-"}).Draw(t, "between"))
		}
		want := 0
		for _, k := range []string{"api", "cli", "curl"} {
			if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, k) }) {
				want++
			}
		}
		p := Prescreen{Source: docs(), Keywords: []string{"api", "CLI", "curl", "api"}, Least: rapid.IntRange(1, 3).Draw(t, "least")}
		s, err := p.screen()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.count(text.String()); got != min(want, p.Least) {
			t.Fatalf("%q: %d, want %d of at most %d", text.String(), got, want, p.Least)
		}
	})
}

func TestPrescreenAbilities(t *testing.T) {
	ctx := context.Background()
	text := strings.Repeat(`{"text":"an api endpoint"}`+"\n"+`{"text":"a poem"}`+"\n"+"bad\n", 5)
	p := Prescreen{Source: lines(text)}
	want, _ := results(p)
	parts, err := p.Split(ctx, 4)
	if err != nil || len(parts) != 4 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	var got []string
	for _, part := range parts {
		some, _ := results(part)
		got = append(got, some...)
	}
	if !slices.Equal(got, want) || len(want) != 15 {
		t.Errorf("parts %q, want %q", got, want)
	}
	a, err := p.Digest(ctx)
	p.Least = 1
	b, err2 := p.Digest(ctx)
	if a == b || err != nil || err2 != nil {
		t.Errorf("digests %s, %s, %v, %v", a, b, err, err2)
	}
	plain := Prescreen{Source: docs(Document{ID: "d", Text: "api cli"})}
	if parts, err := plain.Split(ctx, 1); err != nil || len(parts) != 1 {
		t.Errorf("one part: %d, %v", len(parts), err)
	}
	if _, err := plain.Digest(ctx); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("digest: %v", err)
	}
	for _, tt := range []struct {
		p    Prescreen
		want string
	}{{Prescreen{}, "Source is nil"}, {Prescreen{Source: docs(), Keywords: []string{"a b"}, Least: 1}, "Keywords[0]"}, {Prescreen{Source: docs(), Least: 1000}, "Least is 1000"}} {
		_, err := tt.p.Digest(ctx)
		_, err2 := tt.p.Split(ctx, 1)
		got, _ := results(tt.p)
		if err == nil || err2 == nil || !strings.Contains(err.Error(), tt.want) || len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%v, %v, %q, want %q", err, err2, got, tt.want)
		}
	}
}
